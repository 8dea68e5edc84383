#!/usr/bin/env python3
"""Compares all-reduces and shifts on pgas' memory in torch and Triton with NCCL's in the same run, alternately: one
process per GPU, in CUDA graphs.

    PYTHONPATH=site PGAS_HEAP=cuda timeout 90 python3 torch_beside_nccl.py 4      site: the unpacked wheel; 2, 4 or 8 GPUs
    PYTHONPATH=site PGAS_HEAP=host python3 torch_beside_nccl.py 2                 no GPU: gloo for NCCL, kernels interpreted, checks only

Prints comma-separated values: operation, PEs, bytes of a PE, microseconds of a call, microseconds of NCCL's call, and
the ratio of the two. Times are medians of --rounds rounds on PE 0. A round replays a graph of 24 calls of NCCL, and
then one of each variant. A call that can't be captured is made 24 times instead, and its line says "without a graph". A
variant that fails on all PEs has a line with the reason. Numbers are checked before and after the measurement, through
the same graphs; a wrong number ends the program. During the measurement all numbers are 0.

    all_reduce              sum of bf16, NCCL's by dist.all_reduce
      pgas.torch            pgas.torch.all_reduce, in place on symmetric memory
      one_shot, two_shot    torch.ops.symm_mem.one_shot_all_reduce_out and two_shot_all_reduce_, on the same memory
      triton                the kernel of examples/python/triton_all_reduce.py, one-shot, with a loop
    shift                   a row to the right neighbour, and the left one's here, NCCL's by dist.batch_isend_irecv
      triton                put_signal and wait_until, as in examples/python/triton_ring.py; the program knows that the inbox is free
      triton asks           the same, after a check that the right neighbour's inbox is free, as in NCCL

PGAS_WAIT_TIMEOUT=20 bounds the waits of pgas, not those of torch's kernels.
"""
import argparse
import itertools
import os
import socket
import statistics
import sys
import time
import types

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

HOST = os.environ.get("PGAS_HEAP") == "host" or not torch.cuda.is_available()
if HOST:
    os.environ.update(PGAS_HEAP="host", TRITON_INTERPRET="1")  # Triton reads these variables when it is imported

import torch.distributed._symmetric_memory as symm_mem  # noqa: E402
import triton  # noqa: E402
import triton.language as tl  # noqa: E402

import pgas.torch  # noqa: E402
import pgas.triton as shm  # noqa: E402

import graph_timing  # noqa: E402

KIB = 1024
ALL_REDUCES, SHIFTS = ((8, 32), (8, 32)) if HOST else ((8, 32, 128, 512, 2048, 8192), (8, 128, 2048))
TOGETHER, WARM = (3, 1) if HOST else (graph_timing.TOGETHER, graph_timing.WARM)
PROGRAMS = 128  # the largest number, because all programs have to be resident


@triton.jit
def all_reduce(ctx, out, x, staging, arrived, calls, count, BLOCK: tl.constexpr):
    """The number of the call is in memory, because a graph replays the same arguments."""
    me, n, program = shm.my_pe(ctx), shm.n_pes(ctx), tl.program_id(0)
    first, step = program * BLOCK, tl.num_programs(0) * BLOCK
    call = tl.load(calls + program) + 1
    signals = arrived + program * n
    half = staging + (call % 2) * n * count  # PEs that are one call behind may still read the other half
    for k in range(n):
        pe = (me + k) % n
        for begin in range(first, count, step):
            at = begin + tl.arange(0, BLOCK)
            tl.store(shm.peer(ctx, half + me * count + at, pe), tl.load(x + at, at < count), at < count)
        shm.signal_set(ctx, signals + me, call, pe)
    for pe in range(n):
        shm.wait_until(ctx, signals + pe, "ge", call)
    for begin in range(first, count, step):
        at = begin + tl.arange(0, BLOCK)
        total = tl.zeros((BLOCK,), tl.float32)
        for pe in range(n):
            total += tl.load(half + pe * count + at, at < count)
        tl.store(out + at, total.to(out.dtype.element_ty), at < count)
    tl.store(calls + program, call)


@triton.jit
def shift(ctx, inbox, row, part, arrived, begun, calls, ASKS: tl.constexpr, BLOCK: tl.constexpr):
    """Program i sends part i. The inbox has two halves. A PE that has begun the previous call has read the data of the
    call before it, which was in this half."""
    me, n, program = shm.my_pe(ctx), shm.n_pes(ctx), tl.program_id(0)
    right, left = (me + 1) % n, (me + n - 1) % n
    call = tl.load(calls + program) + 1
    if ASKS:
        shm.signal_set(ctx, begun + program, call, left)
        shm.wait_until(ctx, begun + program, "ge", call - 1)
    half = inbox + (call % 2) * tl.num_programs(0) * part
    shm.put_signal(ctx, half + program * part, row + program * part, part, arrived + program, call, "set", right, BLOCK=BLOCK)
    shm.wait_until(ctx, arrived + program, "ge", call)
    tl.store(calls + program, call)


def all_reduces(job, count):
    """Returns for each variant the tensor to fill, the call, the function that gives the result, and whether it is in
    place."""
    plain, out = (torch.empty(count, dtype=torch.bfloat16, device=job.device) for _ in range(2))
    x, name = symm_mem.empty(count, dtype=torch.bfloat16, device=job.device), dist.group.WORLD.group_name
    symm_mem.rendezvous(x, dist.group.WORLD)
    block = KIB if count <= 64 * KIB else 4 * KIB
    programs, warps = min(PROGRAMS, count // block), block // 256
    staging = job.world.empty((2, job.n, count), "bfloat16", like="torch")
    arrived = job.world.zeros((programs, job.n), "int64", like="torch")
    calls = torch.zeros(programs, dtype=torch.int64, device=job.device)

    def by_triton():
        all_reduce[(programs,)](job.context, out, x, staging, arrived, calls, count, BLOCK=block, num_warps=warps)

    return {
        "nccl": (plain, lambda: dist.all_reduce(plain), lambda: plain, True),
        "pgas.torch": (x, lambda: pgas.torch.all_reduce(x), lambda: x, True),
        "one_shot": (x, lambda: torch.ops.symm_mem.one_shot_all_reduce_out(x, "sum", name, out), lambda: out, False),
        "two_shot": (x, lambda: torch.ops.symm_mem.two_shot_all_reduce_(x, "sum", name), lambda: x, True),
        "triton": (x, by_triton, lambda: out, False),
    }


def shifts(job, count):
    row, received = (torch.empty(count, dtype=torch.bfloat16, device=job.device) for _ in range(2))
    block = 4 * KIB
    programs = min(PROGRAMS, count // block)

    def by_nccl():
        both = [dist.P2POp(dist.isend, row, (job.rank + 1) % job.n), dist.P2POp(dist.irecv, received, (job.rank - 1) % job.n)]
        for work in dist.batch_isend_irecv(both):
            work.wait()

    def by_triton(asks):
        inbox = job.world.empty((2, count), "bfloat16", like="torch")
        arrived, begun = (job.world.zeros(programs, "int64", like="torch") for _ in range(2))
        calls = torch.zeros(programs, dtype=torch.int64, device=job.device)

        def call():
            shift[(programs,)](job.context, inbox, row, count // programs, arrived, begun, calls, ASKS=asks, BLOCK=block)

        return row, call, lambda: inbox[int(calls[0]) % 2], False

    return {"nccl": (row, by_nccl, lambda: received, False), "triton": by_triton(False), "triton asks": by_triton(True)}


def together(call):
    """Returns a function that makes TOGETHER calls at the same time, and a remark about it."""
    def calls():
        for _ in range(TOGETHER):
            call()

    if HOST:
        return calls, ""
    try:
        return graph_timing.capture(call).replay, ""
    except RuntimeError as raised:
        print(f"not captured: {raised}", file=sys.stderr, flush=True)
        return calls, " without a graph"


def await_ranks(job):
    """Returns when the GPUs of all ranks have finished their work."""
    if not HOST:
        torch.cuda.synchronize()
    job.world.check()
    dist.barrier(job.control)


def check(job, what, x, calls, result, in_place):
    """Checks a variant with numbers that no earlier check has used. Their sums are exact, even n to the power of
    TOGETHER - 1 times as large, because n is a power of two."""
    generator = torch.Generator(job.device).manual_seed(next(job.seeds))
    values = [torch.randint(-8, 9, x.shape, generator=generator, device=job.device).bfloat16() for _ in range(job.n)]
    x.copy_(values[job.rank])
    calls()
    await_ranks(job)
    expected = values[job.rank - 1] if what.startswith("shift") else sum(values) * float(job.n)**(TOGETHER - 1 if in_place else 0)
    if not torch.equal(result(), expected):
        raise SystemExit(f"rank {job.rank} of {job.n}: {what} of {x.nbytes} bytes has a wrong result")
    x.zero_()
    await_ranks(job)


def microseconds(job, calls):
    await_ranks(job)
    if HOST:
        began = time.perf_counter()
        calls()
        return (time.perf_counter() - began) * 1e6 / TOGETHER
    return graph_timing.microseconds(calls, job.token)


def compare(job, name, make, count, rounds):
    """Prints a line for each variant of one size."""
    def say(what, *words):
        if job.rank == 0:
            print(what, job.n, 2 * count, *words, sep=",", flush=True)

    ready, taken = {}, {}
    for variant, (x, call, result, in_place) in make(job, count).items():
        what, failed = f"{name} {variant}", None
        if HOST and "_shot" in variant:
            say(what, "left out: torch has it for CUDA only")
            continue
        await_ranks(job)  # the shared memory is zero on all PEs
        try:
            x.zero_()
            calls, how = together(call)
            check(job, what, x, calls, result, in_place)
        except Exception as raised:
            failed = f"{type(raised).__name__}: {raised}".splitlines()[0]
        of_all = [None] * job.n
        dist.all_gather_object(of_all, failed, group=job.control)
        if any(of_all):
            say(what, "failed: " + next(each for each in of_all if each))
        else:
            ready[variant], taken[variant] = (what, how, x, calls, result, in_place), []
    for i in range(WARM + rounds):
        for variant, (_, _, _, calls, _, _) in ready.items():
            us = microseconds(job, calls)
            if i >= WARM:
                taken[variant].append(us)
    median = {variant: statistics.median(each) for variant, each in taken.items()}
    for variant, (what, how, x, calls, result, in_place) in ready.items():
        check(job, what, x, calls, result, in_place)
        if variant != "nccl":
            beside = (f"{median['nccl']:.2f}", f"{median[variant] / median['nccl']:.2f}") if "nccl" in median else ("", "")
            say(what + how, f"{median[variant]:.2f}", *beside)


def run(rank, n, port, rounds):
    device = torch.device("cpu") if HOST else torch.device("cuda", rank)
    at = {"init_method": f"tcp://127.0.0.1:{port}", "rank": rank, "world_size": n}
    if HOST:
        dist.init_process_group("gloo", **at)
    else:
        torch.cuda.set_device(device)
        torch.cuda.set_stream(torch.cuda.Stream())  # one stream for all calls, because graphs are captured on it
        dist.init_process_group("nccl", device_id=device, **at)
    control = dist.group.WORLD if HOST else dist.new_group(backend="gloo")
    world = pgas.torch.enable()
    try:
        context = shm.direct_context(world)
    except ValueError:  # the addresses are not all evenly spaced
        context = shm.context(world)
    job = types.SimpleNamespace(rank=rank, n=n, device=device, control=control, world=world, context=context, seeds=itertools.count(),
                                token=torch.zeros(1, device=device))
    if rank == 0:
        print("what", "pes", "bytes", "us", "nccl_us", "ratio", sep=",", flush=True)
    for kib in ALL_REDUCES:
        compare(job, "all_reduce", all_reduces, kib * KIB // 2, rounds)
    for kib in SHIFTS:
        compare(job, "shift", shifts, kib * KIB // 2, rounds)
    await_ranks(job)
    world.leave()
    sys.stdout.flush()
    os._exit(0)  # graphs outlive the communicator otherwise


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pes", type=int, choices=(2, 4, 8), help="processes, each with a GPU")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    if not HOST and torch.cuda.device_count() < options.pes:
        sys.exit(f"{options.pes} GPUs are asked for, and {torch.cuda.device_count()} are there")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    mp.spawn(run, (options.pes, port, options.rounds), options.pes)
