"""Loads the extension with torch's backend for the installed torch, from a file in the directory of this file. If there
is no such file, compiles the extension at its first use."""

from __future__ import annotations

import fcntl
import hashlib
import importlib.machinery
import importlib.util
import os
import pathlib
import shutil
from types import ModuleType

import torch

from . import _core
from ._lto import cache_directory
from ._paths import include_dirs, library_dir
from ._compile_torch_backend import compile_to, file_name, name, sources

_here = pathlib.Path(__file__).resolve().parent


def build(made: pathlib.Path) -> None:
    """Compiles the extension to the file `made`, in about 40 s. *Errors* RuntimeError."""
    compiler = (os.environ.get("CXX") or "c++").split()
    if shutil.which(compiler[0]) is None:
        raise RuntimeError(
            f"pgas.torch must be compiled once for torch {torch.__version__}, and there is no C++ compiler '{compiler[0]}': "
            f"install a C++20 compiler (apt install g++, or set CXX), or copy {made} from a machine that has one")
    compile_to(made, compiler, include_dirs(), library_dir())


def _digest() -> str:
    """A hash of all inputs of the extension except torch."""
    parts = [each.read_bytes() for each in sorted(sources.glob("*.[ch]pp"))]
    parts += [each.read_bytes() for each in sorted(pathlib.Path(include_dirs()[0]).rglob("*.hpp"))]
    return hashlib.sha256(b"\0".join(parts) + _core.version.encode() + library_dir().encode()).hexdigest()[:24]


def load() -> ModuleType:
    """Loads and returns the extension. If several processes need the extension at the same time, one of them compiles
    it."""
    made = _here / file_name()
    if not made.exists():
        folder = cache_directory() / f"torch-{_digest()}"
        folder.mkdir(parents=True, exist_ok=True)
        made = folder / file_name()
        with open(folder / f"{file_name()}.lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not made.exists():
                build(made)
    loader = importlib.machinery.ExtensionFileLoader(name, str(made))
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module
