#!/usr/bin/env python3
"""Compiles kernels that call operations in loops, in many forms, and lists the kernels that take more registers than
allowed.

    sweep.py --nvcc NVCC --include DIR --arch 90 [--seed N] [--kernels 120] [--all] [--only REGEX] [--table]

A form is a call, its group, its element type, its interface and the loop around it. The interfaces are native with a
context, native with a direct_context, and NVSHMEM's names with and without PGAS_NVSHMEM_DIRECT. --all compiles every
form, which takes minutes. Otherwise a random sample is compiled that contains every call; --seed selects the sample.
--only selects kernels by name. --table prints the registers of all kernels. Status 1: a kernel is above its limit.
"""
import argparse
import itertools
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
from typing import NamedTuple

TYPES = {"byte": "char", "half": "short", "float": "float", "double": "double", "vec": "float4"}
NVSHMEM_TYPES = {"byte": "char", "half": "short", "float": "float", "double": "double"}
WORD_TYPES = {"int": "int", "long": "long long"}
GROUPS = {"thread": "", "warp": "this_warp(this_block()), ", "warpgroup": "this_warpgroup(this_block()), ",
          "block": "this_block(), "}

# The registers that a kernel may have. Blocks of 1024 threads have 64 registers for each thread. Loops that repeat a
# call, or keep values of their own, take more registers.
WORD, COPY, COLLECTIVE = 48, 64, 136
REPEATED = {WORD: 56, COPY: 72, COLLECTIVE: 176}


class Call(NamedTuple):
    """`native` and `nvshmem` are the texts of a call. {d} and {s} stand for the addresses of this round, {g} for the
    group, {n} and {t} for the type."""
    limit: int
    native: str
    nvshmem: str
    groups: tuple[str, ...]
    types: dict[str, str]


def copy_call(name: str, suffix: str = "") -> Call:
    return Call(COPY, f"{name}{suffix}(ctx, {{g}}{{d}}, {{s}}, count, {{pe}});",
                f"nvshmem{{x}}_{{n}}_{name}{suffix}{{of}}({{d}}, {{s}}, count, {{pe}});", tuple(GROUPS), TYPES)


def word_call(name: str, operands: str = "", result: bool = True, native: str = "") -> Call:
    before = "*{r} = " if result else ""
    return Call(WORD, f"{before}{native or 'atomic_' + name}(ctx, {{d}}, {operands}{{pe}});",
                f"{before}nvshmem_{{n}}_atomic_{name}({{d}}, {operands}{{pe}});", ("thread",), WORD_TYPES)


CALLS = {
    "p": Call(WORD, "p(ctx, {d}, value, {pe});", "nvshmem_{n}_p({d}, value, {pe});", ("thread",), TYPES),
    "g": Call(WORD, "*{r} = g(ctx, {s}, {pe});", "*{r} = nvshmem_{n}_g({s}, {pe});", ("thread",), TYPES),
    "put": copy_call("put"),
    "put_nbi": copy_call("put", "_nbi"),
    "get": copy_call("get"),
    "get_nbi": copy_call("get", "_nbi"),
    "put_signal": Call(COPY, "put_signal(ctx, {g}{d}, {s}, count, {w}, 1, signal_op::add, {pe});",
                       "nvshmem{x}_{n}_put_signal{of}({d}, {s}, count, {w}, 1, NVSHMEM_SIGNAL_ADD, {pe});", tuple(GROUPS), TYPES),
    "put_signal_nbi": Call(COPY, "put_signal_nbi(ctx, {g}{d}, {s}, count, {w}, 1, signal_op::set, {pe});",
                           "nvshmem{x}_{n}_put_signal_nbi{of}({d}, {s}, count, {w}, 1, NVSHMEM_SIGNAL_SET, {pe});",
                           tuple(GROUPS), TYPES),
    "iput": Call(COPY, "iput(ctx, {g}{d}, {s}, 3, stride, count, {pe});",
                 "nvshmem{x}_{n}_iput{of}({d}, {s}, 3, stride, count, {pe});", tuple(GROUPS), TYPES),
    "iget": Call(COPY, "iget(ctx, {g}{d}, {s}, 3, stride, count, {pe});",
                 "nvshmem{x}_{n}_iget{of}({d}, {s}, 3, stride, count, {pe});", tuple(GROUPS), TYPES),
    "ibput": Call(COPY, "ibput(ctx, {g}{d}, {s}, 48, stride, 17, count, {pe});", "", tuple(GROUPS), TYPES),
    "ibget": Call(COPY, "ibget(ctx, {g}{d}, {s}, 48, stride, 17, count, {pe});", "", tuple(GROUPS), TYPES),
    "add": word_call("add", "7, ", False),
    "set": word_call("set", "7, ", False),
    "fetch": word_call("fetch"),
    "fetch_add": word_call("fetch_add", "7, "),
    "fetch_or": Call(WORD, "*{r} = atomic_fetch_or(ctx, {d}, 7, {pe});", "", ("thread",), WORD_TYPES),
    "swap": word_call("swap", "7, "),
    "compare_swap": word_call("compare_swap", "3, 7, "),
    "signal_set": Call(WORD, "signal_set(ctx, {w}, 7, {pe});", "nvshmemx_signal_op({w}, 7, NVSHMEM_SIGNAL_SET, {pe});", ("thread",), {}),
    "signal_add": Call(WORD, "signal_add(ctx, {w}, 7, {pe});", "nvshmemx_signal_op({w}, 7, NVSHMEM_SIGNAL_ADD, {pe});", ("thread",), {}),
    "signal_wait": Call(WORD, "signal_wait_until(ctx, {w}, cmp::ge, 7);", "nvshmem_signal_wait_until({w}, NVSHMEM_CMP_GE, 7);",
                        ("thread",), {}),
    "signal_wait_by": Call(COPY, "signal_wait_until(ctx, {g}{w}, cmp::ge, 7);", "", ("warp", "block"), {}),
    "signal_take": Call(WORD, "signal_take(ctx, {w}, 7);", "", ("thread",), {}),
    "wait": Call(WORD, "wait_until(ctx, {d}, cmp::ge, 7);", "nvshmem_{n}_wait_until({d}, NVSHMEM_CMP_GE, 7);", ("thread",), WORD_TYPES),
    "test": Call(WORD, "*{r} = test(ctx, {d}, cmp::ge, 7);", "*{r} = nvshmem_{n}_test({d}, NVSHMEM_CMP_GE, 7);", ("thread",), WORD_TYPES),
    "quiet": Call(WORD, "p(ctx, {d}, value, {pe}); quiet(ctx);", "nvshmem_{n}_p({d}, value, {pe}); nvshmem_quiet();", ("thread",),
                  {"float": "float"}),
    "fence": Call(WORD, "p(ctx, {d}, value, {pe}); fence(ctx); p(ctx, {d} + 1, value, {pe});",
                  "nvshmem_{n}_p({d}, value, {pe}); nvshmem_fence(); nvshmem_{n}_p({d} + 1, value, {pe});", ("thread",),
                  {"float": "float"}),
    "p_wait": Call(WORD, "p(ctx, {d}, value, {pe}); signal_add(ctx, {w}, 1, {pe}); signal_wait_until(ctx, {w}, cmp::ge, 7);",
                   "nvshmem_{n}_p({d}, value, {pe}); nvshmemx_signal_op({w}, 1, NVSHMEM_SIGNAL_ADD, {pe}); "
                   "nvshmem_signal_wait_until({w}, NVSHMEM_CMP_GE, 7);", ("thread",), {"float": "float"}),
    "put_get": Call(COPY, "put(ctx, {g}{d}, {s}, count, {pe}); get(ctx, {g}{r}, {d}, count, {pe} + 1);",
                    "nvshmem{x}_{n}_put{of}({d}, {s}, count, {pe}); nvshmem{x}_{n}_get{of}({r}, {d}, count, {pe} + 1);",
                    tuple(GROUPS), TYPES),
    "put_quiet": Call(COPY, "put_nbi(ctx, {g}{d}, {s}, count, {pe}); quiet(ctx);",
                      "nvshmem{x}_{n}_put_nbi{of}({d}, {s}, count, {pe}); nvshmem_quiet();", tuple(GROUPS), TYPES),
    "put_signal_wait": Call(COPY, "put_signal(ctx, {g}{d}, {s}, count, {w}, 1, signal_op::add, {pe}); "
                                  "signal_wait_until(ctx, {w}, cmp::ge, 7);",
                            "nvshmem{x}_{n}_put_signal{of}({d}, {s}, count, {w}, 1, NVSHMEM_SIGNAL_ADD, {pe}); "
                            "nvshmem_signal_wait_until({w}, NVSHMEM_CMP_GE, 7);", tuple(GROUPS), {"float": "float"}),
    "barrier": Call(COLLECTIVE, "barrier(ctx, {G});", "nvshmem{x}_barrier_all{of}();", tuple(GROUPS), {}),
    "broadcast": Call(COLLECTIVE, "broadcast(ctx, {g}ctx.team(), {d}, {s}, count, 0);",
                      "nvshmem{x}_{n}_broadcast{of}(NVSHMEM_TEAM_WORLD, {d}, {s}, count, 0);", tuple(GROUPS), TYPES),
    "fcollect": Call(COLLECTIVE, "fcollect(ctx, {g}ctx.team(), {d}, {s}, count);",
                     "nvshmem{x}_{n}_fcollect{of}(NVSHMEM_TEAM_WORLD, {d}, {s}, count);", tuple(GROUPS), TYPES),
    "alltoall": Call(COLLECTIVE, "alltoall(ctx, {g}ctx.team(), {d}, {s}, count);",
                     "nvshmem{x}_{n}_alltoall{of}(NVSHMEM_TEAM_WORLD, {d}, {s}, count);", tuple(GROUPS), TYPES),
    "reduce": Call(COLLECTIVE, "reduce(ctx, {g}ctx.team(), {d}, {s}, count, op::sum{{}});",
                   "nvshmem{x}_{n}_sum_reduce{of}(NVSHMEM_TEAM_WORLD, {d}, {s}, count);", tuple(GROUPS),
                   {"float": "float", "double": "double", "short": "short"}),
}

# The loops by name. Each entry has the text of the loop, in which {call} is replaced, and the addresses and the PE for
# the call.
AT = {"d": "(d + i * count)", "s": "(s + i * count)", "r": "(r + i)", "w": "(w + i)", "pe": "pe"}
LOOPS = {
    "index": ("for (int i = 0; i < n; ++i) {{ {call} }}", AT),
    "step": ("for (int i = 0; i < n; ++i, d += count, s += count, ++w, ++r) {{ {call} }}",
             {"d": "d", "s": "s", "r": "r", "w": "w", "pe": "pe"}),
    "peers": ("for (int i = 1; i < ctx_n_pes; ++i) {{ {call} }}", {**AT, "pe": "((ctx_my_pe + i) % ctx_n_pes)"}),
    "unrolled": ("_Pragma(\"unroll 4\") for (int i = 0; i < n; ++i) {{ {call} }}", AT),
    "grid": ("const long first = long(blockIdx.x) * blockDim.x + threadIdx.x; "
             "for (long i = first; i < n; i += long(gridDim.x) * blockDim.x) {{ {call} }}", AT),
    "keeps": ("float kept[4] = {{}}; for (int i = 0; i < n; ++i) {{ {call} "
              "for (int k = 0; k < 4; ++k) kept[k] += x[i * 4 + k]; }} for (int k = 0; k < 4; ++k) x[k] = kept[k];", AT),
}

INTERFACES = ("context", "direct", "nvshmem", "nvshmem_direct")
PARAMETERS = "{t}* d, {t}* s, {t}* r, std::uint64_t* w, float* x, {t} value, long stride, int n, std::size_t count, int pe"


class Form(NamedTuple):
    interface: str
    call: str
    group: str
    type: str
    loop: str

    @property
    def name(self) -> str:
        return "__".join(self)


def forms() -> list[Form]:
    found = []
    for interface, (name, call), loop in itertools.product(INTERFACES, CALLS.items(), LOOPS):
        by_name = interface.startswith("nvshmem")
        if by_name and not call.nvshmem:
            continue
        for group in call.groups:
            if by_name and (group == "warpgroup" or (group != "thread" and call.limit == WORD)):
                continue
            for of in call.types or {"float": "float"}:
                if by_name and of == "vec":
                    continue
                found.append(Form(interface, name, group, of, loop))
    return found


def kernel_of(form: Form) -> str:
    call = CALLS[form.call]
    kind = {"byte": "char", "half": "short", "vec": "float4", "long": "long long"}.get(form.type, form.type)
    loop, at = LOOPS[form.loop]
    by_name = form.interface.startswith("nvshmem")
    nvshmem_name = {"byte": "char", "half": "short", "long": "longlong"}.get(form.type, form.type)
    text = (call.nvshmem if by_name else call.native).format(
        g=GROUPS[form.group], G=GROUPS[form.group].rstrip(", ") or "this_thread{}", n=nvshmem_name, t=kind,
        x="" if form.group == "thread" else "x", of="" if form.group == "thread" else f"_{form.group}", **at)
    pes = "const int ctx_n_pes = nvshmem_n_pes(), ctx_my_pe = nvshmem_my_pe();" if by_name else \
        "const int ctx_n_pes = ctx.n_pes(), ctx_my_pe = ctx.my_pe();"
    context = "" if by_name else "any_context ctx, "
    body = loop.format(call=text)
    return f"__global__ void {form.name}({context}{PARAMETERS.format(t=kind)}) {{\n" \
           f"{'  ' + pes if form.loop == 'peers' else ''}\n  {body}\n}}\n"


def limit_of(form: Form) -> int:
    limit = CALLS[form.call].limit
    return REPEATED[limit] if form.loop in ("unrolled", "keeps") else limit


def sample_of(everything: list[Form], count: int, seed: int) -> list[Form]:
    """Draws forms at random, the rarest calls first, so that each call occurs about as often as every other call."""
    draw = random.Random(seed)
    by_call: dict[str, list[Form]] = {}
    for form in everything:
        by_call.setdefault(form.call, []).append(form)
    for of in by_call.values():
        draw.shuffle(of)
    turns = [form for turn in itertools.zip_longest(*by_call.values()) for form in turn if form]
    return turns[:count]


def registers_of(options: argparse.Namespace, unit: list[Form]) -> dict[str, tuple[int, bool]]:
    """Returns the number of registers of each kernel, and whether registers are spilled, by name. All forms in `unit`
    have the same interface."""
    lines = ["#include <pgas/compat/nvshmem.h>", '#include "any_context.cuh"', 'extern "C" {', *map(kernel_of, unit), "}"]
    define = {"direct": ["-DCODEGEN_DIRECT"], "nvshmem_direct": ["-DPGAS_NVSHMEM_DIRECT"]}.get(unit[0].interface, [])
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "sweep.cu")
        source.write_text("\n".join(lines), encoding="utf-8")
        command = [options.nvcc, "-std=c++20", f"-arch=sm_{options.arch}", f"-I{options.include}",
                   f"-I{pathlib.Path(__file__).resolve().parent}", *define, str(source), "-cubin", "-Xptxas=-v", "-o", f"{folder}/sweep.cubin"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(" ".join(command) + "\n" + done.stdout[-4000:])
    found = re.findall(r"Compiling entry function '(\w+)'.*?(\d+) bytes spill stores.*?Used (\d+) registers", done.stdout, re.S)
    return {name: (int(used), spilled != "0") for name, spilled, used in found}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nvcc", required=True)
    parser.add_argument("--include", required=True)
    parser.add_argument("--arch", required=True)
    parser.add_argument("--seed", type=int, default=0, help="of the sample; 0 draws one, which is printed")
    parser.add_argument("--kernels", type=int, default=120, help="in the sample")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    chosen = [form for form in forms() if re.search(options.only, form.name)]
    of_all = len(chosen)
    seed = options.seed or int.from_bytes(os.urandom(3), "little")
    if not options.all:
        chosen = sample_of(chosen, options.kernels, seed)
    faults, compiled = 0, 0
    for interface in INTERFACES:
        mine = [form for form in chosen if form.interface == interface]
        for first in range(0, len(mine), 60):
            unit = mine[first:first + 60]
            used = registers_of(options, unit)
            for form in unit:
                registers, spilled = used[form.name]
                limit = limit_of(form)
                compiled += 1
                above = registers > limit or spilled
                faults += above
                if above or options.table:
                    print(f"{form.name}: {registers} registers{', spilled' if spilled else ''}{f', at most {limit}' if above else ''}", flush=True)
    print(f"{compiled} of {of_all} forms{'' if options.all else f', seed {seed}'}: {faults} above their limit")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
