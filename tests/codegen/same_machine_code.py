#!/usr/bin/env python3
"""Compiles KERNELS with nvcc and compares the machine code of each pair of kernels NAME_native and NAME_nvshmem.

Usage: same_machine_code.py KERNELS --nvcc NVCC --include DIR --arch 90 --cuobjdump CUOBJDUMP

The native call reads its context from the kernel's parameters, and NVSHMEM's call reads it from constant memory.
Therefore the compiler may choose other registers and another order of instructions. The accesses to memory must be
equal: as many loads, stores, atomics, fences and barriers of each kind. Neither kernel may have 5 % more instructions
than the other. Exit status 77 means that machine code cannot be examined on this machine.
"""

import argparse
import collections
import pathlib
import re
import sys
import tempfile

import check

MEMORY = re.compile(r"(?:LDG|LD|STG|ST|LDS|STS|ATOMG|ATOM|RED|REDG|MEMBAR|CCTL|BAR|WARPSYNC|ERRBAR)\b")
MORE = 1.05


def opcode(instruction: str) -> str:
    return re.sub(r"^@!?U?P\w+\s+", "", instruction.strip()).split()[0].rstrip(";")


def on_memory(instructions: list[str]) -> collections.Counter:
    """Returns the number of instructions of each kind that access memory or order accesses."""
    return collections.Counter(name for name in map(opcode, instructions) if MEMORY.match(name))


def differences(native: list[str], compat: list[str]) -> list[str]:
    found = []
    if max(len(native), len(compat)) > MORE * min(len(native), len(compat)):
        found.append(f"{len(native)} instructions natively, {len(compat)} from NVSHMEM's name")
    ours, theirs = on_memory(native), on_memory(compat)
    found += [f"{name}: {ours[name]} natively, {theirs[name]} from NVSHMEM's name"
              for name in sorted(ours | theirs) if ours[name] != theirs[name]]
    return found


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
        functions = {name: [text for _, text in instructions]
                     for name, instructions in check.sass_code(check.disassembled(options.cuobjdump, cubin)).items()}

    pairs = [name.removesuffix("_native") for name in functions if name.endswith("_native")]
    faults = 0
    for name in pairs:
        found = differences(functions[name + "_native"], functions.get(name + "_nvshmem", []))
        faults += bool(found)
        for line in found:
            print(f"{name}: {line}")
    print(f"{len(pairs)} pairs, {faults} differ")
    return 1 if faults or not pairs else 0


if __name__ == "__main__":
    sys.exit(main())
