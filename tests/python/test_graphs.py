"""Public threads about symmetric memory with CUDA graphs, pools and groups (docs/graphs.md), on the host heap. Stream
captures need a GPU: on_gpu.sh runs the same programs there, and tests/multi_pe/capture_tests.cpp captures with the CUDA
driver of the tests."""

import pathlib
import sys

import pytest

from conftest import launcher, run

PROGRAM = pathlib.Path(__file__).parent / "pe" / "torch_threads.py"


@pytest.fixture(scope="session", autouse=True)
def compiled():
    """Compiles the extension once, before many processes need it."""
    pytest.importorskip("torch")
    run([sys.executable, "-c", "import pgas._load_torch_backend; pgas._load_torch_backend.load()"], timeout=300).check()


def threads(tmp_path, n, *parts, **environment):
    return run([*launcher(n), PROGRAM, tmp_path / "meeting", *parts], timeout=90, **environment)


@pytest.mark.parametrize("n", [2, 4])
@pytest.mark.parametrize("part", ["sglang_34230", "sglang_33037", "sglang_29946", "vllm_54626"])
def test_a_thread_is_right_or_refused(n, part, tmp_path):
    assert threads(tmp_path, n, part).check().out.count("is content") == n


@pytest.mark.parametrize("n", [2, 4])
def test_sglang_36943_ends_on_all_ranks(n, tmp_path):
    job = threads(tmp_path, n, "sglang_36943", PGAS_WAIT_TIMEOUT="2s")
    assert job.status == 0 and job.out.count("is content") == n, job.out + job.err


@pytest.mark.parametrize("n", [3, 4])
def test_pytorch_196082_a_subgroup_meets_before_all_ranks(n, tmp_path):
    assert threads(tmp_path, n, "pytorch_196082").check().out.count("is content") == n


@pytest.mark.parametrize("n", [1, 2])
def test_pytorch_188567_a_rendezvous_is_the_first_operation(n, tmp_path):
    assert threads(tmp_path, n, "pytorch_188567").check().out.count("is content") == n


def test_vllm_38550_groups_of_some_gpus_of_a_host(tmp_path):
    job = threads(tmp_path, 2, "vllm_38550", CUDA_VISIBLE_DEVICES="6,7")
    assert job.check().out.count("is content") == 2


@pytest.mark.parametrize("n", [1, 3])
def test_functions_of_torchs_module(n, tmp_path):
    import torch.distributed._symmetric_memory as symm_mem

    job = threads(tmp_path, n, "functions_of_torch").check()
    assert job.out.count("is content") == n
    assert job.out.count("symm_mem.get copied") == (n if hasattr(symm_mem, "get") else 0)
