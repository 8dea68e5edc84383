"""The programs that come with the package."""

from __future__ import annotations

import argparse
import os
import sys
from typing import NoReturn

from . import _paths


def _run(name: str) -> NoReturn:
    program = os.path.join(os.path.dirname(_paths.library_dir()), "bin", name)
    if not os.access(program, os.X_OK):  # some installers remove the permission
        os.chmod(program, 0o755)
    os.execv(program, [name, *sys.argv[1:]])


def pgasrun() -> NoReturn:
    """Starts the PEs of a job on this host."""
    _run("pgasrun")


def pgas_info() -> NoReturn:
    """Prints the capabilities of the library on this host, and its settings."""
    _run("pgas-info")


def pgas_perf() -> NoReturn:
    """Measures latency and bandwidth."""
    _run("pgas-perf")


def pgas_doctor() -> NoReturn:
    """Tests whether programs run on this host, and whether they run fast."""
    _run("pgas-doctor")


def pgas_why() -> NoReturn:
    """Prints which PE waits for which PE in a running job."""
    _run("pgas-why")


def pgas_trace() -> NoReturn:
    """Joins and reads the traces of a job."""
    _run("pgas-trace")


def pgas_config() -> None:
    """Prints flags for compilers."""
    parser = argparse.ArgumentParser(prog="pgas-config", description="Flags for programs that use the installed pgas.")
    for option, what in (("--cflags", "flags for the compiler"), ("--libs", "flags for the linker"),
                         ("--includedir", "directory of the headers"), ("--libdir", "directory of the library"),
                         ("--cmakedir", "directory of the CMake package"), ("--version", "the version")):
        parser.add_argument(option, action="store_true", help=what)
    given = parser.parse_args()
    lib = _paths.library_dir()
    words = []
    if given.version:
        from ._core import version

        words.append(version)
    if given.cflags:
        words += ["-std=c++20", *(f"-I{one}" for one in _paths.include_dirs())]
    if given.libs:
        words += [f"-L{lib}", f"-Wl,-rpath,{lib}", "-lpgas"]
    if given.includedir:
        words += _paths.include_dirs()
    if given.libdir:
        words.append(lib)
    if given.cmakedir:
        words.append(_paths.cmake_dir())
    if not words:
        parser.error("ask for something")
    print(" ".join(words))
