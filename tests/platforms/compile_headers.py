#!/usr/bin/env python3
"""Compiles the device headers, and a call of every device operation, with several versions of CUDA. Needs no GPU.

Usage: compile_headers.py ROOT --toolkits DIR [--download] [--only TEXT] [--jobs N]

DIR has a folder for each version of CUDA, such as DIR/12.4, which cmake/cuda_wheels.py makes. --download makes the missing
folders. Of each version, the program uses NVRTC, nvcc where the wheels have all of nvcc, and a clang++ of the machine that
knows the version. Each compiler makes machine code, because only ptxas reads inline assembly.

Prints a table in Markdown, and below it the first error of each cell that says "no". Exit status 77: a compiler of
VERSIONS is missing, and none of the others has failed.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from typing import NamedTuple

CMAKE = pathlib.Path(__file__).resolve().parents[2] / "cmake"
sys.path.insert(0, os.fspath(CMAKE))
from cuda_wheels import download, unpacked  # noqa: E402

NVRTC = os.fspath(CMAKE / "compile_with_nvrtc.py")
SKIPPED = 77
VERSIONS = ("12.4", "12.6", "12.9", "13.0", "13.5")
ARCHITECTURES = ("75", "80", "86", "89", "90", "100", "120")
# For each version of Clang, the newest CUDA whose headers Clang can read, and the architectures that Clang knows.
CLANG_READS = {18: (12, 3), 19: (12, 6), 20: (12, 8), 21: (12, 9)}
CLANG_KNOWS = {18: ("75", "80", "86", "89", "90"), 19: ("75", "80", "86", "89", "90")}


class Compiler(NamedTuple):
    name: str
    kind: str  # nvrtc, nvcc, clang
    program: str
    toolkit: pathlib.Path
    architectures: tuple[str, ...]


# ---- the compilers --------------------------------------------------------------------------------------------------


def compilers(toolkit: pathlib.Path, version: str, clangs: list[tuple[int, str]]) -> list[Compiler]:
    found = []
    if library := next(iter(sorted(toolkit.glob("lib/libnvrtc.so.*"))), None):
        found.append(Compiler(f"NVRTC {version}", "nvrtc", os.fspath(library), toolkit, known_to_nvrtc(library)))
    nvcc = toolkit / "bin" / "nvcc"
    if all((toolkit / part).exists() for part in ("bin/nvcc", "bin/cudafe++", "bin/ptxas", "nvvm/bin/cicc")):
        names = subprocess.run([nvcc, "--list-gpu-arch"], stdout=subprocess.PIPE, text=True, check=True).stdout
        found.append(Compiler(f"nvcc {version}", "nvcc", os.fspath(nvcc), toolkit,
                              tuple(re.findall(r"compute_(\d+)$", names, re.M))))
    for number, clang in clangs:
        if tuple(map(int, version.split("."))) <= CLANG_READS.get(number, (0, 0)) and (toolkit / "bin/ptxas").exists():
            found.append(Compiler(f"Clang {number}, CUDA {version}", "clang", clang, toolkit,
                                  CLANG_KNOWS.get(number, ARCHITECTURES)))
    return found


def installed_clangs() -> list[tuple[int, str]]:
    names = ((number, shutil.which(f"clang++-{number}")) for number in CLANG_READS)
    return [(number, path) for number, path in names if path]


# ---- one compilation ------------------------------------------------------------------------------------------------


def known_to_nvrtc(library: pathlib.Path) -> tuple[str, ...]:
    text = subprocess.run([sys.executable, "-B", NVRTC, library], stdout=subprocess.PIPE, text=True, check=True).stdout
    return tuple(text.split())


def command(compiler: Compiler, architecture: str, source: pathlib.Path, root: pathlib.Path) -> list[str]:
    include = compiler.toolkit / "include"
    ours = [f"-I{root}/include"]
    cudas = [f"-I{each}" for each in (include, include / "cccl") if each.is_dir()]
    # The files are only compiled and not run. Inlining fewer functions halves the time.
    common = ["-DPGAS_INLINED=inline", *ours]
    if compiler.kind == "nvrtc":
        return [sys.executable, "-B", NVRTC, compiler.program, os.fspath(source), os.devnull, f"--gpu-architecture=sm_{architecture}",
                "--std=c++17", "-default-device", "--device-debug", *common, *cudas]
    if compiler.kind == "nvcc":
        return [compiler.program, f"-arch=sm_{architecture}", "-std=c++20", "-Werror=all-warnings", "-Xcicc", "-O0",
                *common, *cudas, "-x", "cu", "-cubin", "-o", os.devnull, os.fspath(source)]
    return [compiler.program, "-x", "cuda", f"--cuda-path={compiler.toolkit}", f"--cuda-gpu-arch=sm_{architecture}",
            "--cuda-device-only", "-Wno-unknown-cuda-version", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-O1", *common,
            *(f"-isystem{each[2:]}" for each in cudas), "-c", "-o", os.devnull, os.fspath(source)]


def failure(compiler: Compiler, architecture: str, source: pathlib.Path, root: pathlib.Path) -> str:
    """Returns the first error of a compilation, or an empty text."""
    done = subprocess.run(command(compiler, architecture, source, root), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode == 0:
        return ""
    lines = [line for line in done.stdout.splitlines() if re.search(r"error|fatal|warning", line)]
    return (lines or done.stdout.splitlines() or [f"status {done.returncode}"])[0]


# ---- the table ------------------------------------------------------------------------------------------------------


def device_headers(root: pathlib.Path) -> list[str]:
    names = subprocess.run([sys.executable, "-B", root / "tests/structure/list_headers.py", root, "--of",
                            "pgas/device.hpp"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    return [name for name in names if not name.endswith("cpu_block.hpp")]  # the header is for groups of CPU threads


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--toolkits", type=pathlib.Path, required=True, metavar="DIR")
    parser.add_argument("--download", action="store_true")
    parser.add_argument("--only", default="", metavar="TEXT", help="only compilers with this text in their names")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    root = options.root.resolve()

    found, missing = [], []
    clangs = installed_clangs()
    for version in VERSIONS:
        folder = options.toolkits.resolve() / version
        if options.download and not folder.exists():
            download(folder)
        if not any(folder.glob("*.whl")) and not (folder / "toolkit").exists():
            missing.append(f"the wheels of CUDA {version} in {folder}")
            continue
        found += [each for each in compilers(unpacked(folder), version, clangs) if options.only in each.name]
    if not any(each.kind == "clang" for each in found) and not options.only:
        missing.append("clang++ of version " + ", ".join(map(str, CLANG_READS)))

    with tempfile.TemporaryDirectory() as scratch:
        headers = "".join(f'#include "{name}"\n' for name in device_headers(root))
        source = pathlib.Path(scratch) / "headers.cu"
        source.write_text(f'{headers}{headers}#include "{root}/tests/platforms/operations.cu"\n', encoding="utf-8")
        print("| compiler | " + " | ".join(f"sm_{each}" for each in ARCHITECTURES) + " |")
        print("| --- " * (len(ARCHITECTURES) + 1) + "|")
        failures = []
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            cells = {(each.name, architecture): pool.submit(failure, each, architecture, source, root)
                     for each in found for architecture in ARCHITECTURES if architecture in each.architectures}
            for each in found:
                words = []
                for architecture in ARCHITECTURES:
                    cell = cells.get((each.name, architecture))
                    words.append("-" if cell is None else "no" if cell.result() else "yes")
                    if cell is not None and cell.result():
                        failures.append(f"{each.name}, sm_{architecture}: {cell.result()}")
                print(f"| {each.name} | " + " | ".join(words) + " |", flush=True)
    for text in failures:
        print(text)
    for text in missing:
        print(f"missing: {text}")
    return 1 if failures else SKIPPED if missing or not found else 0


if __name__ == "__main__":
    sys.exit(main())
