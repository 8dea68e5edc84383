#!/usr/bin/env python3
"""Compiles the library's GPU backend with the headers of several versions of CUDA. Needs no GPU.

Usage: compile_library.py ROOT --toolkits DIR [--download] [--cxx COMPILER]

DIR has a folder for each version of CUDA, such as DIR/12.4, which cmake/cuda_wheels.py makes. --download makes the missing
folders. For each version, the program compiles the sources of src/device/cuda, and compares the type of each function of
the driver (driver_api in driver.hpp) with the type that CUDA's cudaTypedefs.h states for the version of the driver
interface that the library asks for.

Prints a line for each version. Exit status 77: a version of VERSIONS is missing, and no other has failed.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.fspath(pathlib.Path(__file__).resolve().parents[2] / "cmake"))
from cuda_wheels import download, unpacked  # noqa: E402

SKIPPED = 77
VERSIONS = ("12.4", "12.9", "13.0", "13.5")
DEFAULT_INTERFACE = 12000  # driver_function::version
MEMBER = re.compile(r"(\w+)\)?(?:\([^)]*\))? =\s+driver_function\{\"(\w+)\"(?:, (\d+))?")


def functions(header: str) -> list[tuple[str, str, int]]:
    """Returns the members of driver_api: the member, the function of the driver, and the version of the interface."""
    return [(member, name, int(version or DEFAULT_INTERFACE)) for member, name, version in MEMBER.findall(header)]


def typedefs(toolkit: pathlib.Path) -> dict[str, list[int]]:
    """Returns the versions of each function's types in cudaTypedefs.h, which are named PFN_FUNCTION_vVERSION."""
    known: dict[str, list[int]] = {}
    for name, version in re.findall(r"\*PFN_(\w+)_v(\d+)\)", (toolkit / "include/cudaTypedefs.h").read_text()):
        known.setdefault(name, []).append(int(version))
    return known


def signature_test(members: list[tuple[str, str, int]], known: dict[str, list[int]], newest: int) -> str:
    """Returns a source whose assertions state the types of the driver's functions."""
    lines = ['#include "device/cuda/driver.hpp"', "#include <cudaTypedefs.h>", "#include <type_traits>",
             "using api = pgas::detail::cuda::driver_api;"]
    for member, name, interface in members:
        if interface > newest:  # these headers do not know the function yet
            continue
        versions = [each for each in known.get(name, []) if each <= interface]
        if not versions:
            lines.append(f'static_assert(false, "cudaTypedefs.h has no {name} of interface {interface} or older");')
            continue
        lines.append(f'static_assert(std::is_same_v<decltype(api::{member}), PFN_{name}_v{max(versions)}>, "{name}");')
    return "\n".join(lines) + "\n"


def failure(compiler: str, root: pathlib.Path, toolkit: pathlib.Path, source: pathlib.Path) -> str:
    """Returns the first error of a compilation, or an empty text."""
    words = [compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-DFMT_SHARED", f"-I{root}/include",
             f"-I{root}/src", "-isystem", os.fspath(toolkit / "include"), os.fspath(source)]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = [line for line in done.stdout.splitlines() if re.search(r"error|fatal", line)]
    return "" if done.returncode == 0 else (lines or [done.stdout])[0]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--toolkits", type=pathlib.Path, required=True, metavar="DIR")
    parser.add_argument("--download", action="store_true")
    parser.add_argument("--cxx", default="c++", metavar="COMPILER")
    options = parser.parse_args()
    root = options.root.resolve()
    members = functions((root / "src/device/cuda/driver.hpp").read_text(encoding="utf-8"))
    sources = sorted((root / "src/device/cuda").rglob("*.cpp"))
    assert len(members) > 60 and len(sources) > 15, "driver.hpp or the folder of the GPU backend has changed"

    failed = missing = False
    for version in VERSIONS:
        folder = options.toolkits.resolve() / version
        if options.download and not folder.exists():
            download(folder)
        if not folder.exists():
            print(f"CUDA {version}: no wheels in {folder}")
            missing = True
            continue
        toolkit = unpacked(folder)
        major, minor = version.split(".")
        with tempfile.TemporaryDirectory() as scratch:
            signatures = pathlib.Path(scratch) / "signatures.cpp"
            signatures.write_text(signature_test(members, typedefs(toolkit), int(major) * 1000 + int(minor) * 10))
            errors = [text for each in [*sources, signatures] if (text := failure(options.cxx, root, toolkit, each))]
        failed = failed or bool(errors)
        print(f"CUDA {version}: {len(sources)} sources, {len(members)} functions of the driver: {'no' if errors else 'yes'}", flush=True)
        for text in errors:
            print(f"  {text}")
    return 1 if failed else SKIPPED if missing else 0


if __name__ == "__main__":
    sys.exit(main())
