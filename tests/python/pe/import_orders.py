"""Finds the order of imports, and the step after them, at which a process that uses pgas, torch and Triton ends.

    python import_orders.py                      runs every order in a separate process, on a GPU heap if there is a GPU
    python import_orders.py torch,triton,pgas    runs one order in this process, as the children of the first command do

Orders of two modules show whether these two work without the third.

A process prints each step before it executes the step, so the last printed step has failed. A process that a signal
ends also prints Python's stack, and the C stack with names of libraries. It is then started again with glibc's checks
of the heap, which end it at the first bad free() instead of a later one.
"""

import concurrent.futures
import ctypes
import faulthandler
import itertools
import os
import pathlib
import signal
import subprocess
import sys

MODULES = ("torch", "triton", "pgas")
LIMIT = 120
OF_INTEREST = ("libstdc++", "libgcc_s", "libpgas", "libfmt", "libcudart", "libcuda.so", "libucs", "malloc", "_core.")
CHECKED = {"MALLOC_CHECK_": "3", "MALLOC_PERTURB_": "165", "LD_PRELOAD": "libc_malloc_debug.so.0"}


def step(text):
    print(f"  {text}", flush=True)


def show_c_stack_on_abort():
    """Prints the C stack when the process aborts, with the names that libraries export."""
    libc = ctypes.CDLL(None)
    frames = (ctypes.c_void_p * 64)()
    libc.backtrace(frames, 64)  # loads a library that backtrace() needs later

    @ctypes.CFUNCTYPE(None, ctypes.c_int)
    def aborted(number):
        libc.backtrace_symbols_fd(frames, libc.backtrace(frames, 64), 2)
        faulthandler.dump_traceback(all_threads=True)
        libc.signal(number, 0)
        os.kill(os.getpid(), number)

    libc.signal(signal.SIGABRT, aborted)
    return aborted


def show_libraries():
    """Prints the paths of the libraries of which two copies may be loaded."""
    paths = {line.split()[-1] for line in pathlib.Path("/proc/self/maps").read_text().splitlines() if ".so" in line}
    for path in sorted(paths):
        if any(name in path for name in OF_INTEREST):
            step(f"loaded {path}")


def use(world):
    import torch

    if world.device is not None:
        step("torch.cuda.set_device")
        torch.cuda.set_device(world.device)
    step("world.zeros as a tensor")
    x = world.zeros(1024, "float32", like="torch")
    step("a tensor is written and read")
    x += 1
    assert float(x.sum()) == 1024
    step("put, barrier")
    world.put(x, x, world.my_pe)
    world.barrier()
    world.synchronize()
    step("pgas.triton")
    import pgas.triton as shm

    context = shm.context(world)
    if world.device is not None:
        use_triton(world, shm, context, x)
    step("tensors are dropped")
    del x, context
    world.collect()
    step("the world is left")


def use_without_pgas():
    import torch
    import triton

    if torch.cuda.is_available():
        step("torch on the GPU")
        assert float(torch.ones(1024, device="cuda").sum()) == 1024
        step("Triton's driver")
        print(f"    {triton.runtime.driver.active.get_current_target()}", flush=True)


def use_triton(world, shm, context, x):
    import torch
    import triton_programs

    step("Triton's driver")
    import triton

    print(f"    {triton.runtime.driver.active.get_current_target()}", flush=True)
    step("a Triton kernel without pgas")
    y = torch.zeros(1024, device=f"cuda:{world.device}")
    triton_programs.increment[(8,)](y, BLOCK=128)
    torch.cuda.synchronize()
    assert float(y.sum()) == 1024
    step("a Triton kernel on the heap")
    triton_programs.increment[(8,)](x, BLOCK=128)
    torch.cuda.synchronize()
    step("a Triton kernel with pgas.triton")
    word = world.zeros(1, "int64", like="torch")
    triton_programs.signal_self[(1,)](context, word)
    world.synchronize()
    assert int(word) == 1


def one(order):
    faulthandler.enable()
    kept = show_c_stack_on_abort()  # noqa: F841: it has to live
    for name in order.split(","):
        step(f"import {name}")
        if name == "pgas":
            import pgas._core  # noqa: F401: the extension, which `import pgas` alone may load later
        else:
            __import__(name)
    if "pgas" not in order:
        use_without_pgas()
    elif "torch" in order:
        import pgas

        step("join")
        with pgas.join() as world:
            show_libraries()
            use(world)
    step("end of the program")
    return 0


def start(order, **environment):
    try:
        done = subprocess.run([sys.executable, __file__, order], capture_output=True, text=True, timeout=LIMIT, check=False,
                              errors="replace", env=os.environ | environment)
    except subprocess.TimeoutExpired as late:
        return f"none within {LIMIT} s", (late.stdout or b"").decode(errors="replace"), (late.stderr or b"").decode(errors="replace")
    return done.returncode, done.stdout, done.stderr


def main():
    if len(sys.argv) > 1:
        return one(sys.argv[1])
    bad = []
    orders = [",".join(order) for count in (2, 3) for order in itertools.permutations(MODULES, count)]
    with concurrent.futures.ThreadPoolExecutor(max(1, (os.cpu_count() or 1) // 2)) as several:
        ended = several.map(start, orders)
    for order, (status, out, err) in zip(orders, ended):
        steps = [line.strip() for line in out.splitlines() if not line.startswith("  loaded")]
        print(f"{order}: {'passed' if status == 0 else f'failed at step: {steps[-1] if steps else None}'} (status {status})", flush=True)
        if status != 0:
            bad.append((order, steps[-1:]))
            if [step for _, step in bad].count(steps[-1:]) == 1:  # other cases that fail at the same step usually have
                                                                  # the same output
                print(f"{out}\n{err}\n--- the same with glibc's checks of the heap:", flush=True)
                print(*start(order, **CHECKED)[1:], sep="\n", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
