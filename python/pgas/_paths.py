"""The directories of the library, its headers and its CMake package in the installed package."""

from __future__ import annotations

import os
import pathlib

_here = pathlib.Path(__file__).resolve().parent


def include_dirs() -> list[str]:
    """Directories for -I."""
    return [os.fspath(_here / "include")]


def library_dir() -> str:
    """The directory of libpgas.so, for -L and for the loader."""
    return os.fspath(_here / "lib")


def cmake_dir() -> str:
    """The directory of pgas-config.cmake: -Dpgas_DIR, or an entry of CMAKE_PREFIX_PATH."""
    return os.fspath(_here / "cmake")
