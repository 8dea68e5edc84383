#!/usr/bin/env python3
"""Compares the functions that nvshmem.h declares with the functions that the tests call.

Usage: declared.py --called CALLED_TXT --sources FOLDER... -- COMPILER WITH OPTIONS

The compiler is run with -E on a unit that includes nvshmem.h and nvshmemx.h. Fails if a function is declared and not
called, or if fewer functions are declared than NVSHMEM 3.8 has.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

LEAST = 3459  # the number of functions of NVSHMEM 3.8

NAME = re.compile(r"\b(nvshmemx?_\w+)\s*\(")

# Functions that are declared, and that no test program can call.
NOT_CALLED = {
    "nvshmem_global_exit": "ends the process: tests/compat/nvshmem_host calls it where it is there",
}


def names(text: str) -> set[str]:
    return set(NAME.findall(text))


def main() -> int:
    own, _, compiler = " ".join(sys.argv[1:]).partition(" -- ")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--called", type=pathlib.Path, required=True)
    parser.add_argument("--sources", type=pathlib.Path, nargs="+", required=True)
    options = parser.parse_args(own.split())

    with tempfile.TemporaryDirectory() as folder:
        unit = pathlib.Path(folder) / "unit.cu"
        unit.write_text("#include <nvshmem.h>\n#include <nvshmemx.h>\n", encoding="utf-8")
        done = subprocess.run([*compiler.split(), "-E", str(unit)], stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            return 1
        declared = names(done.stdout)

    called = set(options.called.read_text(encoding="utf-8").split())
    for folder in options.sources:
        for path in folder.rglob("*"):
            if path.suffix in (".cu", ".cpp", ".hpp", ".c", ".h"):
                called |= names(path.read_text(encoding="utf-8"))

    missing = sorted(declared - called - NOT_CALLED.keys())
    for name in missing:
        print(f"{name} is declared, and no test calls it")
    print(f"{len(declared)} functions declared, {len(declared & called)} called")
    if len(declared) < LEAST:
        print(f"NVSHMEM 3.8 has {LEAST}")
    return 1 if missing or len(declared) < LEAST else 0


if __name__ == "__main__":
    sys.exit(main())
