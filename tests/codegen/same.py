#!/usr/bin/env python3
"""Compiles KERNELS with nvcc and compares the machine code of each pair NAME_native, NAME_nvshmem.

Usage: same.py KERNELS --nvcc NVCC --include DIR --arch 90 --cuobjdump CUOBJDUMP

They must be the same but for where constants come from: the native call finds its context among the kernel's parameters,
the other one in constant memory. Exit status 77 means that machine code cannot be looked at here.
"""

import argparse
import pathlib
import re
import sys
import tempfile

import check


def code(sass: str) -> dict[str, list[str]]:
    """Name -> instructions with every constant alike."""
    return {name: [re.sub(r"c\[0x\w+\]\s?\[[^\]]*\]", "c[]", text) for _, text in instructions]
            for name, instructions in check.sass_code(sass).items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", type=pathlib.Path)
    parser.add_argument("--nvcc", required=True)
    parser.add_argument("--include", required=True)
    parser.add_argument("--arch", required=True)
    parser.add_argument("--cuobjdump", default="")
    options = parser.parse_args()
    if not options.cuobjdump:
        print("skipped: needs cuobjdump")
        return check.SKIPPED

    with tempfile.TemporaryDirectory() as folder:
        cubin = f"{folder}/kernels.cubin"
        check.run([options.nvcc, "-std=c++20", f"-arch=sm_{options.arch}", f"-I{options.include}", "-cubin", "-o", cubin,
                   str(options.kernels)])
        functions = code(check.run([options.cuobjdump, "-sass", cubin]))

    pairs = [name.removesuffix("_native") for name in functions if name.endswith("_native")]
    faults = 0
    for name in pairs:
        native, compat = functions[name + "_native"], functions.get(name + "_nvshmem", [])
        if native != compat:
            faults += 1
            print(f"{name}: {len(native)} instructions natively, {len(compat)} from NVSHMEM's name")
            for number, (a, b) in enumerate(zip(native, compat)):
                if a != b:
                    print(f"  first difference, at {number}:\n    {a}\n    {b}")
                    break
    print(f"{len(pairs)} pairs, {faults} differ")
    return 1 if faults or not pairs else 0


if __name__ == "__main__":
    sys.exit(main())
