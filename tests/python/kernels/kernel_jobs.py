"""Starts programs with kernels on several PEs, and loads the kernels of examples."""

import importlib
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import pgas

HERE = pathlib.Path(__file__).parent
NEEDS = {"triton": ["triton", "torch"], "cupy": ["cupy"], "numba": ["numba_cuda", "cupy"]}
EXAMPLES = HERE.parents[2] / "examples" / "python"


def launcher() -> str:
    if not hasattr(pgas, "join"):
        pytest.skip("the package's extension is not built")
    beside = pathlib.Path(sys.executable).parent / "pgasrun"
    found = os.environ.get("PGASRUN") or (str(beside) if beside.exists() else shutil.which("pgasrun"))
    if not found:
        pytest.skip("no pgasrun: set PGASRUN")
    return found


def run(program, *words, n_pes, **environment):
    path = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
    return subprocess.run([launcher(), "-n", str(n_pes), sys.executable, str(HERE / program), *words],
                          env=os.environ | {"PYTHONPATH": path, "PGAS_WAIT_TIMEOUT": "20s"} | environment,
                          capture_output=True, text=True, timeout=300, check=False)


def need(front_end):
    for module in NEEDS[front_end]:
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"no {module}")


class Joining(Exception):
    """Raised instead of joining a world. All kernels of an example are defined before it joins."""


def kernels_of(name, monkeypatch):
    def join(*_, **__):
        raise Joining

    if name.startswith("symm_mem"):
        monkeypatch.setattr(importlib.import_module("pgas.torch"), "init_process_group", join)
    monkeypatch.setattr(pgas, "join", join, raising=False)
    monkeypatch.setattr(sys, "argv", [name])
    scope = {"__name__": "__main__"}
    path = EXAMPLES / name
    with pytest.raises(Joining):
        exec(compile(path.read_text(), str(path), "exec"), scope)
    return scope
