#!/usr/bin/env python3
"""Finds host code that calls a function which only GPUs have.

Usage: check_host_calls.py NM OBJECT...

nvcc refuses such a call, except in a template where the callee depends on a parameter. There nvcc compiles exit(1) in
place of the call, without a message, and the program ends at that line. So no object that nvcc compiles may call
exit(). Code that needs exit() belongs in another file.
"""

import subprocess
import sys


def calls_exit(nm: str, compiled: str) -> bool:
    listing = subprocess.run([nm, "--undefined-only", compiled], check=True, capture_output=True, text=True).stdout
    return any(line.split()[-1:] == ["exit"] for line in listing.splitlines())


def main() -> int:
    nm, *objects = sys.argv[1:]
    by_nvcc = [name for name in objects if name.endswith(".cu.o")]
    if not by_nvcc:
        print("no object that nvcc compiled was given")
        return 1
    wrong = [name for name in by_nvcc if calls_exit(nm, name)]
    for name in wrong:
        print(f"{name} calls exit(): does host code of a template call a function marked PGAS_FN? PGAS_HD is for both sides")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
