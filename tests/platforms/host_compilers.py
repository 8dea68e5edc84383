#!/usr/bin/env python3
"""Builds the library, pgasrun and the halo exchange with each host compiler of the machine, and runs the exchange on 4 PEs.

Usage: host_compilers.py ROOT [--only NAME ...]

A compiler is a command such as g++-11 or clang++-19. The compilers compile the sources of a folder together, and
warnings are errors. Prints a row for each compiler. A compiler that cannot use the libraries of this machine, such as
Clang 14 with the headers of GCC 13, is named and not used. Ends with 77, as a skipped test, if the machine has no other
compiler."""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

COMPILERS = [f"g++-{version}" for version in range(11, 15)] + [f"clang++-{version}" for version in range(14, 20)]
TARGETS = ("pgas", "pgasrun", "06_halo_exchange")
OPTIONS = ("-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS=-O0", "-DPGAS_WERROR=ON", "-DPGAS_CUDA=OFF", "-DPGAS_UCX=AUTO",
           "-DPGAS_PMIX=AUTO", "-DPGAS_BUILD_TESTS=OFF", "-DPGAS_TEST_TIER=fast", "-DPGAS_UNITY_BUILD=ON")
EXCHANGE = ("-nx", "512", "-ny", "512", "-niter", "50", "-nccheck", "10")
RIGHT = "equal the serial result bit for bit"
LIBRARIES = """#include <chrono>
#include <fmt/chrono.h>
#include <future>
#include <ranges>
int main() { fmt::print("{}\\n", std::chrono::seconds(1)); }
"""


def uses_libraries(name: str, folder: pathlib.Path) -> bool:
    """Whether a program that uses only the standard library and fmt compiles and links."""
    source = folder / "libraries.cpp"
    source.write_text(LIBRARIES, encoding="utf-8")
    command = [name, "-std=c++20", str(source), "-o", str(folder / "libraries"), "-lfmt"]
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def fault_of(root: pathlib.Path, builds: pathlib.Path, name: str) -> str:
    """Builds and runs with one compiler. Returns the output of the step that failed, or nothing."""
    build = builds / name
    c = name.replace("clang++", "clang").replace("g++", "gcc")
    launcher = [f"-DCMAKE_CXX_COMPILER_LAUNCHER={found}" for found in [shutil.which("ccache")] if found]
    steps = (["cmake", "-S", str(root), "-B", str(build), "-G", "Ninja", f"-DCMAKE_C_COMPILER={c}", f"-DCMAKE_CXX_COMPILER={name}", *OPTIONS, *launcher],
             ["cmake", "--build", str(build), "-j", "2", "--target", *TARGETS],
             [str(build / "bin/pgasrun"), "-n", "4", str(build / "examples/06_halo_exchange"), *EXCHANGE])
    for step in steps:
        done = subprocess.run(step, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=os.environ | {"PGAS_HEAP": "host"})
        if done.returncode != 0 or (step is steps[-1] and RIGHT not in done.stdout):
            return f"{' '.join(step[:2])} ended with {done.returncode}:\n{done.stdout[-4000:]}"
    return ""


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("root", type=pathlib.Path)
    options.add_argument("--only", nargs="+", choices=COMPILERS, default=COMPILERS)
    asked = options.parse_args()
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        there = [name for name in asked.only if shutil.which(name)]
        found = [name for name in there if uses_libraries(name, pathlib.Path(folder))]
        missing = ", ".join(name for name in asked.only if name not in there)
        if unusable := ", ".join(name for name in there if name not in found):
            print(f"cannot use the libraries of this machine: {unusable}")
        if not found:
            print(f"skipped: this machine has none of {missing}")
            return 77
        print("| compiler | builds, and the halo exchange is right |\n| --- | --- |", flush=True)
        for name in found:
            fault = fault_of(asked.root.resolve(), pathlib.Path(folder), name)
            faults += [f"{name}: {fault}"] if fault else []
            print(f"| {name} | {'no' if fault else 'yes'} |", flush=True)
    print(f"not on this machine: {missing}" if missing else "", *faults, sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
