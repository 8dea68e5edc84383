"""Tests the examples with kernels: in Triton's interpreter on the host heap, compiled for a GPU if there is none, and
on GPUs."""

import importlib.util
import os
import re
import subprocess
import sys

import pytest

from kernel_jobs import EXAMPLES, kernels_of, launcher

SMALL = {"triton_halo.py": ["--rows", "16", "--width", "130", "--steps", "12"]}
TRITON = ("triton_ring.py", "triton_all_reduce.py", "triton_halo.py", "triton_moe.py")
SYMM_MEM = ("symm_mem_all_reduce.py", "symm_mem_matmul.py")
NEEDS = {"cupy_kernel.py": ["cupy"], "numba_kernel.py": ["numba_cuda", "cupy"]} | {name: ["triton", "torch"] for name in TRITON + SYMM_MEM}


def run(name, n_pes, *words, **environment):
    for module in NEEDS[name]:
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"no {module}")
    done = subprocess.run([launcher(), "-n", str(n_pes), sys.executable, str(EXAMPLES / name), *words],
                          env=os.environ | {"PGAS_WAIT_TIMEOUT": "30s", "PYTHONUNBUFFERED": ""} | environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    said = re.findall(r"^PE (\d+)", done.stdout, flags=re.M)
    assert sorted(map(int, said)) == list(range(n_pes)), done.stdout


@pytest.mark.parametrize("name", TRITON)
def test_interpreted_on_the_host_heap(name):
    run(name, 3 if name == "triton_ring.py" else 2, *SMALL.get(name, []), PGAS_HEAP="host", TRITON_INTERPRET="1")


@pytest.mark.gpu
@pytest.mark.parametrize("n_pes", [2, 4])
@pytest.mark.parametrize("name", NEEDS)
def test_on_a_gpu(name, n_pes):
    run(name, n_pes, PGAS_HEAP="cuda")


def test_the_halo_exchange_draws_its_result(tmp_path):
    pytest.importorskip("matplotlib")
    run("triton_halo.py", 2, *SMALL["triton_halo.py"], "--plot", str(tmp_path / "plate.png"), PGAS_HEAP="host", TRITON_INTERPRET="1")
    assert (tmp_path / "plate.png").read_bytes().startswith(b"\x89PNG")


POINTERS = {"ctx": "*i64", "arrived": "*i64", "expected": "*i64", "done": "*i64", "counts": "*i64", "origin": "*i32", "expert": "*i32",
            "slot": "*i32"} | {name: "*fp32" for name in ("inbox", "row", "out", "x", "staging", "old", "new", "tokens", "returned", "weights")}
POINTERS |= {"b": "*fp16", "buffers": "i64", "pads": "i64"}
CONSTANTS = {"BLOCK": 128, "HIDDEN": 256, "TOP": 2, "ROOM": 96, "TRIES": 1000, "ROWS": 64, "COLUMNS": 64, "INNER": 64}


@pytest.mark.parametrize("name, kernel", [("triton_ring.py", "shift"), ("triton_all_reduce.py", "all_reduce"), ("triton_halo.py", "step"),
                                          ("triton_moe.py", "dispatch"), ("triton_moe.py", "apply_expert"), ("triton_moe.py", "combine"),
                                          ("symm_mem_all_reduce.py", "all_reduce"), ("symm_mem_matmul.py", "all_gather_matmul")])
def test_kernels_compile_for_a_gpu(name, kernel, monkeypatch, tmp_path):
    triton = pytest.importorskip("triton", minversion="3.6")
    pytest.importorskip("torch")
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    function = kernels_of(name, monkeypatch)[kernel]
    names = function.arg_names
    constants = {each: CONSTANTS[each] for each in names if each in CONSTANTS}
    signature = {each: "constexpr" if each in constants else POINTERS.get(each, "i32") for each in names}
    source = ASTSource(fn=function, signature=signature, constexprs=constants)
    assert triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["cubin"]
