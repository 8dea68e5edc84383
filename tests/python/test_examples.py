"""Runs the examples and checks their output. Separate tests run the examples with kernels."""

import json
import pathlib
import sys

import numpy as np
import pytest

from conftest import launcher, needs_interpreter_of_triton, run

TESTS = pathlib.Path(__file__).resolve().parents[1]
EXAMPLES = TESTS.parent / "examples" / "python"


def test_numpy_ring():
    job = run([*launcher(4), EXAMPLES / "numpy_ring.py"]).check()
    assert sorted(job.out.splitlines()) == [f"PE {pe} of 4 has got {(pe - 1) % 4} from its left" for pe in range(4)]


@pytest.mark.parametrize("n", [1, 3])
def test_numpy_halo(n):
    job = run([*launcher(n), EXAMPLES / "numpy_halo.py", "--size", 50, "--steps", 60]).check()
    plate = np.zeros((52, 50))
    plate[:, 0] = 1
    for _ in range(60):
        new = plate.copy()
        new[1:-1, 1:-1] = 0.25 * (plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:])
        plate = new
    assert job.out == f"50 x 50, 60 steps: the plate holds {plate[1:-1].sum() / 2500:.6f}\n"


def test_share_array():
    assert run([sys.executable, EXAMPLES / "share_array.py"]).check().out.endswith("by the other process: 100.0\n")


@pytest.mark.parametrize("what, every", [("transfers", 30), ("kill-prefill", 67), ("kill-decode", 67)])
def test_kv_cache(what, every):
    run([sys.executable, TESTS / "sharing/kv_cache_test.py", f"{sys.executable}|{EXAMPLES / 'kv_cache.py'}", what, every], timeout=200).check()


@pytest.mark.parametrize("what, number", [("transfers", 30), ("kill-trainer", 5), ("kill-engine", 2)])
def test_weights(what, number):
    run([sys.executable, TESTS / "sharing/weights_test.py", f"{sys.executable}|{EXAMPLES / 'weights.py'}", launcher(1)[0], what, number],
        timeout=200).check()


@pytest.mark.parametrize("n", [2, 4])
@pytest.mark.parametrize("name", ["tutorial", "all_reduce", "matmul", "shared_weights"])
def test_symmetric_memory_of_torch(name, n):
    pytest.importorskip("torch")
    if name in ("all_reduce", "matmul"):
        needs_interpreter_of_triton()
    job = run([*launcher(n), EXAMPLES / f"symm_mem_{name}.py"], timeout=180, TRITON_INTERPRET="1").check()
    assert sorted(line[:4] for line in job.out.splitlines()) == [f"PE {pe}" for pe in range(n)]


def test_symmetric_memory_of_torch_by_torchrun():
    pytest.importorskip("torch")
    job = run([sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", 2, EXAMPLES / "symm_mem_tutorial.py"], timeout=180)
    assert job.check().out.count("are right") == 2


def test_the_notebook():
    cells = json.loads((EXAMPLES / "four_pes.ipynb").read_text())["cells"]
    code = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    lines = run([sys.executable, "-W", "ignore::DeprecationWarning", "-c", code]).check().out.splitlines()
    assert lines[0] == str([[(pe - 1) % 4] * 3 for pe in range(4)]) and lines[1] == str([[10 * pe] * 4 for pe in range(4)])
    estimates = json.loads(lines[2])
    assert len(set(estimates)) == 1 and abs(estimates[0] - 3.1416) < 0.01
