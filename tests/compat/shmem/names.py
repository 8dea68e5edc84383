#!/usr/bin/env python3
"""Compares the functions that shmem.h declares with the functions that the tests call and with the functions that the
library exports.

Usage: names.py COMPILER INCLUDE_FOLDER LIBRARY SOURCES...
"""

import pathlib
import re
import subprocess
import sys

NAME = re.compile(r"\b(p?shmem_\w+|start_pes|_my_pe|_num_pes|shmalloc|shmemalign|shrealloc|shfree)\s*\(")


def output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main() -> int:
    compiler, include, library, *sources = sys.argv[1:]
    header = pathlib.Path(include) / "shmem.h"
    declared = set(NAME.findall(output(compiler, "-std=c99", "-E", "-P", f"-I{include}", str(header))))
    plain = {name for name in declared if not name.startswith("pshmem_")}
    called = {name for source in sources for name in NAME.findall(pathlib.Path(source).read_text(encoding="utf-8"))}
    generic = set(re.findall(r"#define (shmem_\w+)\(\.\.\.\)", output(compiler, "-std=c11", "-E", "-dM", f"-I{include}", str(header))))

    symbols = dict(line.split()[1:][::-1] for line in output("nm", "-D", "--defined-only", library).splitlines())
    old = {name for name in plain if not name.startswith("shmem_")}  # old names have no profiling names
    findings = {
        "declared, and called by no test": (plain | generic) - called,
        "called, and not declared": called - declared - generic,
        "declared, and not in the library": declared - set(symbols),
        "without a profiling name": {name for name in plain - old if f"p{name}" not in declared},
        "not weak, so that nobody can put his own in front": {name for name in plain - old if symbols.get(name) != "W"},
        "in the library, and not declared": {name for name in symbols if NAME.match(name + "(")} - declared,
    }
    for what, names in findings.items():
        for name in sorted(names):
            print(f"{name}: {what}")
    print(f"{len(plain)} functions, {len(generic)} type-generic names")
    return any(findings.values()) or len(plain) < 1700


if __name__ == "__main__":
    sys.exit(main())
