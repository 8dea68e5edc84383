"""Runs conformance.py with all front ends: with 2 and 4 PEs on one GPU, and with Triton's interpreter on the host heap
if the library is built."""

import pytest

from kernel_jobs import NEEDS, need, run

CHECKS = 6


@pytest.mark.gpu
@pytest.mark.parametrize("n_pes", [1, 2, 4])
@pytest.mark.parametrize("front_end", NEEDS)
def test_on_a_gpu(front_end, n_pes):
    need(front_end)
    done = run("conformance.py", front_end, n_pes=n_pes, PGAS_HEAP="cuda")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("ok check_") == CHECKS, done.stdout


@pytest.mark.parametrize("n_pes", [2, 4])
def test_interpreted_on_the_host_heap(n_pes):
    need("triton")
    done = run("conformance.py", "triton", n_pes=n_pes, PGAS_HEAP="host", TRITON_INTERPRET="1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("ok check_") == CHECKS, done.stdout


def expect_lost(front_end, **environment):
    done = run("lost_wait.py", front_end, n_pes=1, PGAS_WAIT_TIMEOUT="500ms", **environment)
    assert "raised: " in done.stdout and "PGAS_WAIT_TIMEOUT" in done.stdout, done.stdout + done.stderr
    assert "did not become >= 7; its last value is 0" in done.stdout, done.stdout


@pytest.mark.gpu
@pytest.mark.parametrize("front_end", NEEDS)
def test_a_lost_wait_raises_on_the_host(front_end):
    need(front_end)
    expect_lost(front_end, PGAS_HEAP="cuda")


def test_a_lost_wait_of_the_interpreter_raises_on_the_host():
    need("triton")
    expect_lost("triton", PGAS_HEAP="host", TRITON_INTERPRET="1")
