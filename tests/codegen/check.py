#!/usr/bin/env python3
"""Compiles KERNELS with nvcc and compares the code with the expectations that are written above each kernel.

Usage: check.py STAGES KERNELS --nvcc NVCC --include DIR --arch 90 [--cuobjdump CUOBJDUMP]

STAGES are one or more of ptx (which includes registers and stacks), linked, sass and sizes, separated by commas. Stage
`linked` checks the registers after the device linker, in programs that are compiled with -rdc=true. Stage `sizes` prints
a table of the kernels that have a limit of their size. Without cuobjdump, or for another architecture than sm_90, the
stages sass and sizes are skipped. Exit status 77 means that stages are skipped, and that the others found no fault.
"""

import argparse
import functools
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from typing import NamedTuple

SKIPPED = 77
EXPECTATION = re.compile(r"//  (ptx|sass|callee|whole|size|general|registers|stack)\s+(.*)")


class Expectation(NamedTuple):
    kernel: str
    kind: str
    text: str


def expectations(source: str) -> list[Expectation]:
    found, waiting = [], []
    for line in source.splitlines():
        if match := EXPECTATION.match(line):
            waiting.append((match.group(1), match.group(2).strip()))
        elif match := re.match(r"__global__ void (\w+)\(", line):
            found += [Expectation(match.group(1), *w) for w in waiting]
            waiting = []
    if waiting or not found:
        raise SystemExit("expectations without a kernel")
    return found


def run(command: list[str], **options) -> str:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        raise SystemExit(" ".join(command) + "\n" + done.stdout)
    return done.stdout


def disassembled(cuobjdump: str, cubin: str) -> str:
    """Returns the machine code as text. cuobjdump calls nvdisasm, which is in the same folder."""
    return run([cuobjdump, "-sass", cubin],
               env=dict(os.environ, PATH=f"{pathlib.Path(cuobjdump).parent}{os.pathsep}{os.environ['PATH']}"))


# ---- what the compiler made -----------------------------------------------------------------------------------------


def ptx_functions(ptx: str) -> dict[str, list[str]]:
    """Returns the instructions of entries and out-of-line functions, by name."""
    functions: dict[str, list[str]] = {}
    name = None
    for line in ptx.splitlines():
        if match := re.match(r"\s*(?:\.\w+\s+)*\.(?:entry|func)\s+(?:\([^)]*\)\s*)?([\w$]+)", line):
            name = match.group(1)
        elif line.startswith("{") and name:
            functions[name] = []
        elif line.startswith("}"):
            name = None
        elif name in functions:
            text = line.strip()
            if text and text[0] not in "/.$" and not text.startswith(("ld.param", "st.param")):
                functions[name].append(text)
    return functions


def called(functions: dict[str, list[str]], name: str) -> set[str]:
    """Returns the functions that `name` calls, directly or indirectly."""
    reached: set[str] = set()
    todo = [name]
    while todo:
        for line in functions[todo.pop()]:
            for other in functions:
                if other not in reached and other != name and re.search(rf"(?<![\w$]){re.escape(other)}(?![\w$])", line):
                    reached.add(other)
                    todo.append(other)
    return reached


def sass_code(sass: str) -> dict[str, list[tuple[int, str]]]:
    """Returns the addresses and instructions of kernels, by name."""
    functions: dict[str, list[tuple[int, str]]] = {}
    name = None
    for line in sass.splitlines():
        if match := re.search(r"Function : (\w+)", line):
            name = match.group(1)
            functions[name] = []
        elif (match := re.match(r"\s+/\*([0-9a-f]{4,})\*/\s+(.*?);", line)) and name:
            functions[name].append((int(match.group(1), 16), match.group(2).strip()))
    return functions


def sass_functions(sass: str) -> dict[str, list[str]]:
    """Returns the instructions of each kernel itself, by name: the code before the first out-of-line function."""
    own = {}
    for name, code in sass_code(sass).items():
        targets = [int(t.group(1), 16) for _, text in code if (t := re.search(r"CALL\.\S+ 0x([0-9a-f]+)", text))]
        end = min(targets, default=1 << 60)
        own[name] = [text for at, text in code if at < end and not text.startswith("NOP")]
    return own


# ---- comparison -----------------------------------------------------------------------------------------------------


def count_fault(what: str, often: str, pattern: str, code: list[str]) -> str | None:
    hits = [line for line in code if re.search(pattern, line)]
    least = int(often.rstrip("+"))
    if len(hits) == least or (often.endswith("+") and len(hits) >= least):
        return None
    return f"{what}: expected {often} of /{pattern}/, found {len(hits)}" + "".join(f"\n      {h}" for h in hits[:5])


def check_ptx(wanted: list[Expectation], ptx: str, ptxas: str) -> list[str]:
    functions = ptx_functions(ptx)
    about = re.findall(r"Compiling entry function '(\w+)'.*?(\d+) bytes stack frame.*?Used (\d+) registers", ptxas, re.S)
    used = {name: {"stack": int(stack), "registers": int(registers)} for name, stack, registers in about}
    faults = [f"ptxas spills: {line.strip()}" for line in ptxas.splitlines() if re.search(r"[1-9]\d* bytes spill", line)]
    for kernel, kind, text in wanted:
        if kernel not in functions:
            faults.append(f"{kernel}: not in the PTX")
        elif kind == "ptx":
            often, pattern = text.split(maxsplit=1)
            faults.append(count_fault(kernel, often, pattern, functions[kernel]))
        elif kind == "callee":
            name, often, pattern = text.split(maxsplit=2)
            callees = [c for c in called(functions, kernel) if re.search(name, c)]
            if not callees:
                faults.append(f"{kernel}: calls nothing like {name}")
            faults += [count_fault(f"{kernel}, {c}", often, pattern, functions[c]) for c in sorted(callees)]
        elif kind in ("registers", "stack") and used[kernel][kind] > int(text):
            faults.append(f"{kernel}: {used[kernel][kind]} of {kind}, at most {text}")
    return [f for f in faults if f]


def check_linked(wanted: list[Expectation], nvlink: str) -> list[str]:
    """Compares the registers of linked kernels with the limit for blocks of 1024 threads, or of 512 threads for kernels
    that are allowed more than 64 registers without -rdc=true."""
    used = dict(re.findall(r"Function properties for '(\w+)'.*?used (\d+) registers", nvlink, re.S))
    faults = []
    for kernel, kind, text in wanted:
        limit = 64 if int(text) <= 64 else 128
        if kind == "registers" and int(used[kernel]) > limit:
            faults.append(f"{kernel}: {used[kernel]} registers after the device linker, at most {limit}")
    return faults


def check_sass(wanted: list[Expectation], direct: str, general: str) -> list[str]:
    functions = {"general": sass_functions(general),
                 "whole": {name: [text for _, text in code] for name, code in sass_code(general).items()}}
    functions["size"] = functions["sass"] = sass_functions(direct)
    faults = []
    for kernel, kind, text in wanted:
        if kind not in functions:
            continue
        code = functions[kind].get(kernel)
        if not code:
            faults.append(f"{kernel}: not in the SASS")
        elif kind in ("sass", "whole"):
            often, pattern = text.split(maxsplit=1)
            faults.append(count_fault(kernel, often, pattern, code))
        elif len(code) > int(text):
            faults.append(f"{kernel}: {len(code)} instructions ({kind}), at most {text}")
    return [f for f in faults if f]


def print_sizes(wanted: list[Expectation], direct: str, general: str, registers: list[dict[str, str]]) -> None:
    """Prints a line for each kernel: its own instructions with each context, the instructions with out-of-line
    functions, and the registers."""
    print("| kernel | direct_context | context | with what it calls | registers |\n| --- | ---: | ---: | ---: | ---: |")
    own, general_own = sass_functions(direct), sass_functions(general)
    everything = sass_code(general)
    for kernel in dict.fromkeys(e.kernel for e in wanted if e.kind in ("size", "general")):
        whole = sum(not text.startswith("NOP") for _, text in everything[kernel])
        taken = ", ".join(dict.fromkeys(variant[kernel] for variant in registers))
        print(f"| `{kernel}` | {len(own[kernel])} | {len(general_own[kernel])} | {whole} | {taken} |")


class Compiled:
    """The kernels, compiled for one kind of context. Each compilation takes up to a minute, so it is made once for all
    stages."""

    def __init__(self, compiler: list[str], folder: str, name: str, cuobjdump: str):
        self.compiler, self.path, self.cuobjdump = compiler, f"{folder}/{name}", cuobjdump

    @functools.cached_property
    def ptx(self) -> str:
        run([*self.compiler, "-ptx", "-o", f"{self.path}.ptx"])
        return pathlib.Path(f"{self.path}.ptx").read_text()

    @functools.cached_property
    def ptxas(self) -> str:
        """Compiles the PTX to machine code. Returns what the assembler says of each kernel."""
        assert self.ptx
        arch = next(word for word in self.compiler if word.startswith("-arch="))
        return run([self.compiler[0], arch, "-cubin", "-Xptxas=-v", "-o", f"{self.path}.cubin", f"{self.path}.ptx"])

    @functools.cached_property
    def machine_code(self) -> str:
        assert self.ptxas
        return disassembled(self.cuobjdump, f"{self.path}.cubin")

    @property
    def registers(self) -> dict[str, str]:
        return dict(re.findall(r"Compiling entry function '(\w+)'.*?Used (\d+) registers", self.ptxas, re.S))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stages", type=lambda text: text.split(","))
    parser.add_argument("kernels", type=pathlib.Path)
    parser.add_argument("--nvcc", required=True)
    parser.add_argument("--include", required=True)
    parser.add_argument("--arch", required=True)
    parser.add_argument("--cuobjdump", default="")
    options = parser.parse_args()
    if unknown := set(options.stages) - {"ptx", "linked", "sass", "sizes"}:
        parser.error(f"no such stage: {', '.join(sorted(unknown))}")
    stages = options.stages
    if not options.cuobjdump or not options.arch.startswith("90"):
        stages = [stage for stage in stages if stage in ("ptx", "linked")]
        if len(stages) < len(options.stages):
            print("skipped: SASS is compared for sm_90 and needs cuobjdump")
        if not stages:
            return SKIPPED

    wanted = expectations(options.kernels.read_text())
    compiler = [options.nvcc, "-std=c++20", f"-arch=sm_{options.arch}", f"-I{options.include}", str(options.kernels)]
    with tempfile.TemporaryDirectory() as folder:
        general = Compiled(compiler, folder, "general", options.cuobjdump)
        direct = Compiled([*compiler, "-DCODEGEN_DIRECT"], folder, "direct", options.cuobjdump)
        faults = []
        if "ptx" in stages:
            faults += check_ptx(wanted, direct.ptx, general.ptxas)
        if "linked" in stages:
            run([*compiler, "-rdc=true", "-dc", "-o", f"{folder}/kernels.o"])
            faults += check_linked([each for each in wanted if each.kind == "registers"],
                                   run([options.nvcc, f"-arch=sm_{options.arch}", "-dlink", f"{folder}/kernels.o", "-Xnvlink", "-v", "-o",
                                        f"{folder}/linked.o"]))
        if "sass" in stages:
            faults += check_sass(wanted, direct.machine_code, general.machine_code)
        if "sizes" in stages:
            print_sizes(wanted, direct.machine_code, general.machine_code, [direct.registers, general.registers])
    for fault in faults:
        print(fault)
    if stages != ["sizes"]:
        print(f"{len(wanted)} expectations, {len(faults)} not met")
    return 1 if faults else SKIPPED if len(stages) < len(options.stages) else 0


if __name__ == "__main__":
    sys.exit(main())
