"""The extension that is torch's backend, for the torch that is there: a file for it beside this one, or compiled at first
use."""

from __future__ import annotations

import fcntl
import hashlib
import importlib.machinery
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from types import ModuleType

import torch

from . import _core
from ._lto import cache_directory
from ._paths import include_dirs, library_dir

_here = pathlib.Path(__file__).resolve().parent
sources = _here / "torch_backend"
name = "_torch_backend"


def _file_name() -> str:
    """torch's C++ interface is that of each version and build; the extension is for one Python too."""
    version = torch.__version__.replace("+", "_")
    return f"{name}.{version}.{sys.implementation.cache_tag}.so"


def _command(source: pathlib.Path, made: pathlib.Path, compiler: str) -> list[str]:
    abi = int(torch._C._GLIBCXX_USE_CXX11_ABI)
    # As torch.utils.cpp_extension has them, which needs ninja and looks for nvcc.
    torch_lib = pathlib.Path(torch.__file__).parent / "lib"
    torch_include = pathlib.Path(torch.__file__).parent / "include"
    headers = [torch_include, torch_include / "torch" / "csrc" / "api" / "include", sysconfig.get_paths()["include"]]
    lib = library_dir()
    return [compiler, "-std=c++20", "-O2", "-g0", "-fPIC", "-shared", "-fvisibility=hidden", "-w", f"-D_GLIBCXX_USE_CXX11_ABI={abi}",
            f"-DTORCH_EXTENSION_NAME={name}", f"-I{sources}", *(f"-I{each}" for each in include_dirs()),
            *(word for each in headers for word in ("-isystem", str(each))),
            str(source), "-o", str(made), f"-L{torch_lib}", "-lc10", "-ltorch_cpu", "-ltorch_python", f"-L{lib}", "-lpgas",
            f"-Wl,-rpath,{torch_lib}", f"-Wl,-rpath,{lib}", "-Wl,--exclude-libs,ALL", "-ldl"]


def build(made: pathlib.Path) -> None:
    """Compiles the extension to the file `made`, as one unit: most of the time goes into torch's headers. Some 40 s."""
    compiler = os.environ.get("CXX") or "c++"
    if shutil.which(compiler.split()[0]) is None:
        raise RuntimeError(
            f"pgas.torch has to be compiled for torch {torch.__version__}, once, and there is no C++ compiler '{compiler}': install "
            f"one of C++20 (apt install g++, or set CXX), or copy {made} from a machine that has one")
    with tempfile.TemporaryDirectory(dir=made.parent) as folder:
        unit = pathlib.Path(folder) / "unit.cpp"
        unit.write_text("".join(f'#include "{each.name}"\n' for each in sorted(sources.glob("*.cpp"))))
        done = subprocess.run(_command(unit, pathlib.Path(folder) / "made.so", compiler), capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"compiling pgas.torch for torch {torch.__version__} failed; a compiler of C++20 is needed (CXX names "
                               f"one):\n{done.stderr[-4000:]}")
        os.replace(pathlib.Path(folder) / "made.so", made)


def _digest() -> str:
    """Of all that the extension is made from, but torch."""
    parts = [each.read_bytes() for each in sorted(sources.glob("*.[ch]pp"))]
    parts += [each.read_bytes() for each in sorted(pathlib.Path(include_dirs()[0]).rglob("*.hpp"))]
    return hashlib.sha256(b"\0".join(parts) + _core.version.encode() + library_dir().encode()).hexdigest()[:24]


def load() -> ModuleType:
    """The extension. Processes that need it at the same time compile it once."""
    made = _here / _file_name()
    if not made.exists():
        folder = cache_directory() / f"torch-{_digest()}"
        folder.mkdir(parents=True, exist_ok=True)
        made = folder / _file_name()
        with open(folder / f"{_file_name()}.lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not made.exists():
                build(made)
    loader = importlib.machinery.ExtensionFileLoader(name, str(made))
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module
