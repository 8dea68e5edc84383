"""The versions that a report of a problem should contain."""

from __future__ import annotations

import ctypes
import importlib.metadata
import platform
import sys
from typing import TextIO


def _driver() -> str:
    """The CUDA version of the driver. The query neither needs nor initializes a GPU."""
    try:
        number = ctypes.c_int()
        if ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(number)) == 0:
            return f"{number.value // 1000}.{number.value % 1000 // 10}"
    except OSError:
        pass
    return "none"


def show_versions(file: TextIO | None = None) -> None:
    """Prints the versions of pgas, of Python, and of the libraries that pgas supports. Does not use a GPU."""
    from . import _core, _paths

    out = sys.stdout if file is None else file
    print(f"pgas      {_core.version} ({_paths.library_dir()})", file=out)
    print(f"Python    {platform.python_version()} ({platform.platform()})", file=out)
    print(f"CUDA      {_driver()} (driver)", file=out)
    for package in ("numpy", "torch", "triton", "cupy", "cupy-cuda12x", "cupy-cuda13x", "jax", "numba-cuda", "mpi4py", "nanobind"):
        try:
            print(f"{package:<9} {importlib.metadata.version(package)}", file=out)
        except importlib.metadata.PackageNotFoundError:
            continue
