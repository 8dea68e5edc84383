#!/usr/bin/env python3
"""Measures what the device headers cost a compiler: units without a call, and a unit with many calls of nvshmem.h,
compared with NVIDIA's headers.

    compile_time.py [--calls 200] [--nvcc nvcc] [--arch sm_90] [--nvshmem DIR] [--runs 1]
    compile_time.py --registers [--nvcc nvcc] [--arch sm_90] [--nvshmem DIR]

The unit with calls has a kernel for each call: copies, signals, atomics, waits and collectives, by a thread, a warp and
a block, of eight types. NVSHMEM is found as a Python package (nvidia-nvshmem-cu13), or in the folder of --nvshmem;
without NVSHMEM, its column is empty. Times are the CPU time of nvcc and its child processes, the least of the runs.
Sizes are those of the object file. Prints a Markdown table. Exit status 1 means that a unit did not compile.

--registers prints the registers of kernels with one call, and of kernels with that call in a loop, including the
functions that they call. nvcc reports them for pgas, with a context and with PGAS_NVSHMEM_DIRECT. The linker reports
them for NVSHMEM, whose functions are in a library.
"""
import argparse
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE / "side_by_side"))
import building  # noqa: E402

TYPES = {"float": "float", "double": "double", "int": "int", "long": "long", "uint64": "uint64_t", "char": "char", "short": "short",
         "uint": "unsigned int"}
OF_ALL = """nvshmem_{n}_put(d, s, count, pe); nvshmem_{n}_get(d, s, count, pe); nvshmem_{n}_p(d, *s, pe); *d = nvshmem_{n}_g(s, pe);
nvshmemx_{n}_put_block(d, s, count, pe); nvshmemx_{n}_get_block(d, s, count, pe); nvshmemx_{n}_put_warp(d, s, count, pe);
nvshmemx_{n}_put_nbi_block(d, s, count, pe); nvshmem_{n}_put_nbi(d, s, count, pe); nvshmem_{n}_iput(d, s, 2, 3, count, pe);
nvshmem_{n}_iget(d, s, 2, 3, count, pe); nvshmem_{n}_put_signal(d, s, count, sig, 1, NVSHMEM_SIGNAL_ADD, pe);
nvshmemx_{n}_put_signal_block(d, s, count, sig, 1, NVSHMEM_SIGNAL_SET, pe);
nvshmemx_{n}_put_signal_nbi_warp(d, s, count, sig, 1, NVSHMEM_SIGNAL_SET, pe);
nvshmemx_{n}_broadcast_block(NVSHMEM_TEAM_WORLD, d, s, count, 0); nvshmemx_{n}_fcollect_block(NVSHMEM_TEAM_WORLD, d, s, count);
nvshmemx_{n}_alltoall_block(NVSHMEM_TEAM_WORLD, d, s, count);"""
OF_NUMBERS = """nvshmemx_{n}_sum_reduce_block(NVSHMEM_TEAM_WORLD, d, s, count);
nvshmemx_{n}_max_reduce_warp(NVSHMEM_TEAM_WORLD, d, s, count);"""
OF_WORDS = """nvshmem_{n}_atomic_add(d, 1, pe); *d = nvshmem_{n}_atomic_fetch_add(d, 1, pe); *d = nvshmem_{n}_atomic_compare_swap(d, 1, 2, pe);
*d = nvshmem_{n}_atomic_fetch(s, pe); nvshmem_{n}_wait_until(d, NVSHMEM_CMP_GE, 1); nvshmem_{n}_test(d, NVSHMEM_CMP_GE, 1);
nvshmem_{n}_wait_until_all(d, count, nullptr, NVSHMEM_CMP_GE, 1); nvshmem_{n}_atomic_swap(d, 1, pe); nvshmem_{n}_atomic_inc(d, pe);
nvshmem_{n}_atomic_fetch_inc(d, pe); nvshmem_{n}_wait_until_any(d, count, nullptr, NVSHMEM_CMP_GE, 1);"""
OF_BITS = """nvshmem_{n}_atomic_fetch_or(d, 1, pe); nvshmem_{n}_atomic_or(d, 1, pe); nvshmem_{n}_atomic_fetch_and(d, 1, pe);
nvshmem_{n}_atomic_xor(d, 1, pe);"""

ONE_CALL = {
    "p": "nvshmem_float_p(d, *s, pe);",
    "put": "nvshmem_float_put(d, s, count, pe);",
    "put_block": "nvshmemx_float_put_block(d, s, count, pe);",
    "put_signal": "nvshmem_float_put_signal(d, s, count, sig, 1, NVSHMEM_SIGNAL_SET, pe);",
    "put_signal_block": "nvshmemx_float_put_signal_block(d, s, count, sig, 1, NVSHMEM_SIGNAL_SET, pe);",
    "signal_wait_until": "nvshmem_signal_wait_until(sig, NVSHMEM_CMP_GE, count);",
    "atomic_fetch_add": "*sig = nvshmem_uint64_atomic_fetch_add(sig, 1, pe);",
    "barrier_all": "nvshmem_barrier_all();",
    "barrier_all_block": "nvshmemx_barrier_all_block();",
    "broadcast_block": "nvshmemx_float_broadcast_block(NVSHMEM_TEAM_WORLD, d, s, count, 0);",
    "fcollect_block": "nvshmemx_float_fcollect_block(NVSHMEM_TEAM_WORLD, d, s, count);",
    "alltoall_block": "nvshmemx_float_alltoall_block(NVSHMEM_TEAM_WORLD, d, s, count);",
    "sum_reduce_block": "nvshmemx_float_sum_reduce_block(NVSHMEM_TEAM_WORLD, d, s, count);",
}


def calls():
    """Returns a statement for each call, with its type. Types alternate, so that the first statements have all
    kinds."""
    by_type = []
    for name, text in TYPES.items():
        mine = OF_ALL + ("" if name == "char" else OF_NUMBERS) + (OF_WORDS if name in ("int", "long", "uint64", "uint") else "") + \
            (OF_BITS if name in ("uint64", "uint") else "")
        by_type.append([(each.strip() + ";", text) for each in mine.format(n=name).split(";") if each.strip()])
    return [of[i] for i in range(max(map(len, by_type))) for of in by_type if i < len(of)]


def unit_of(count):
    lines = ["#include <nvshmem.h>", "#include <nvshmemx.h>"]
    for i, (call, of) in enumerate(calls()[:count]):
        lines.append(f"__global__ void kernel_{i}({of}* d, const {of}* s, size_t count, uint64_t* sig, int pe) {{ {call} }}")
    return "\n".join(lines) + "\n"


def compile_once(command, text):
    """Returns the CPU seconds and the bytes of the object file, or None."""
    with tempfile.TemporaryDirectory() as folder:
        unit, made = pathlib.Path(folder) / "unit.cu", pathlib.Path(folder) / "unit.o"
        unit.write_text(text, encoding="utf-8")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([*command, "-c", str(unit), "-o", str(made)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode != 0:
            print(done.stdout[-2000:], file=sys.stderr)
            return None
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, made.stat().st_size


def registers_of(command, link=()):
    """Returns {kernel: registers} of ONE_CALL. `loop_KERNEL` has the call in a loop. @param link: the command that
    links the object file, if the called functions are in a library"""
    lines = ["#include <nvshmem.h>", "#include <nvshmemx.h>"]
    for name, call in ONE_CALL.items():
        parameters = "float* d, const float* s, size_t count, uint64_t* sig, int n, int pe"
        lines.append(f'extern "C" __global__ void kernel_{name}({parameters}) {{ {call} }}')
        steps = "for (int i = 0; i < n; ++i, d += count, s += count, ++sig)"
        lines.append(f'extern "C" __global__ void kernel_loop_{name}({parameters}) {{ {steps} {{ {call} }} }}')
    with tempfile.TemporaryDirectory() as folder:
        unit, made = pathlib.Path(folder) / "unit.cu", pathlib.Path(folder) / "unit.o"
        unit.write_text("\n".join(lines) + "\n", encoding="utf-8")
        said = run_or_exit([*command, "-Xptxas=-v", "-c", str(unit), "-o", str(made)])
        if link:
            said = run_or_exit([*link, "-Xnvlink=-v", str(made), "-o", str(made.with_suffix(".linked.o"))])
    return dict(re.findall(r"'kernel_(\w+)'(?:(?!'kernel_).)*?[Uu]sed (\d+) registers", said, re.DOTALL))


def run_or_exit(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout[-2000:]}")
    return done.stdout


def print_registers(ours, theirs, link):
    columns = [registers_of(ours), registers_of([*ours, "-DPGAS_NVSHMEM_DIRECT"]), registers_of(theirs, link) if theirs else {}]
    print("| call, alone and in a loop | pgas | PGAS_NVSHMEM_DIRECT | NVSHMEM |\n| --- | ---: | ---: | ---: |")
    for name in ONE_CALL:
        cells = [", ".join(filter(None, (each.get(name), each.get(f"loop_{name}")))) for each in columns]
        print(f"| `{name}` | {' | '.join(cells)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--nvshmem", help="where NVSHMEM is installed")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--registers", action="store_true", help="print registers instead")
    asked = parser.parse_args()
    common = [asked.nvcc, "-std=c++17", "-O3", f"-arch={asked.arch}"]
    ours = [*common, "-isystem", str(ROOT / "include"), "-isystem", str(ROOT / "include/pgas/compat")]
    home = asked.nvshmem or building.package("nvshmem")
    theirs = [*common, "-rdc=true", "-isystem", os.path.join(home, "include")] if home else None
    if asked.registers:
        link = [asked.nvcc, f"-arch={asked.arch}", "-dlink", "-L" + os.path.join(home, "lib"), "-lnvshmem_device"] if home else []
        print_registers(ours, theirs, link)
        return 0
    count = min(asked.calls, len(calls()))
    empty = "__global__ void kernel() {}\n"
    failed = False
    print("| unit | pgas | NVSHMEM | ratio |\n| --- | ---: | ---: | ---: |")
    for name, text, peer in (("nothing but a kernel", empty, None), ("`pgas/device.hpp`", "#include <pgas/device.hpp>\n" + empty, None),
                             ("`cooperative_groups.h`, which `nvshmem.h` brings", "#include <cooperative_groups.h>\n" + empty, None),
                             ("`nvshmem.h`", "#include <nvshmem.h>\n" + empty, theirs),
                             ("`nvshmem.h` with `PGAS_NVSHMEM_NO_GROUPS`", "#define PGAS_NVSHMEM_NO_GROUPS\n#include <nvshmem.h>\n" + empty, None),
                             (f"`nvshmem.h`, {count} calls", unit_of(count), theirs)):
        cells, seconds = [], []
        for command in (ours, peer):
            found = [compile_once(command, text) for _ in range(asked.runs)] if command else []
            failed |= None in found
            found = [each for each in found if each]
            cells.append(f"{min(found)[0]:.1f} s, {min(found)[1] / 1e6:.2f} MB" if found else "")
            seconds += [min(found)[0]] if found else []
        print(f"| {name} | {cells[0]} | {cells[1]} | {f'{seconds[0] / seconds[1]:.2f}' if len(seconds) == 2 else ''} |", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
