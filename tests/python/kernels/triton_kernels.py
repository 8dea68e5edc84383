"""The kernels of conformance.py in Triton."""

import os

import triton
import triton.language as tl

import pgas.triton as shm

LIBRARY = "torch"


@triton.jit
def put(ctx, dst, src, count, pe):
    shm.put(ctx, dst, src, count, pe, BLOCK=256)


@triton.jit
def get(ctx, dst, src, count, pe):
    shm.get(ctx, dst, src, count, pe, BLOCK=256)


@triton.jit
def ring(ctx, dst, src, count, arrived, taken, rounds):
    me = shm.my_pe(ctx)
    n = shm.n_pes(ctx)
    right = (me + 1) % n
    left = (me + n - 1) % n
    at = tl.arange(0, 1024)
    for i in range(rounds):
        shm.wait_until(ctx, taken, "ge", i)
        shm.put_signal(ctx, dst, src, count, arrived, i + 1, "set", right, BLOCK=256)
        shm.wait_until(ctx, arrived, "ge", i + 1)
        # The next message is this message plus one. All threads store it, and the next put_signal must order these
        # stores.
        tl.store(src + at, tl.load(dst + at, at < count) + 1, at < count)
        shm.signal_add(ctx, taken, 1, left)


@triton.jit
def add(ctx, word, value, pe):
    shm.atomic_add(ctx, word, value, pe)


@triton.jit
def barriers(ctx, words, wrong, rounds):
    me = shm.my_pe(ctx)
    n = shm.n_pes(ctx)
    for i in range(rounds):
        for k in range(n):
            tl.store(shm.peer(ctx, words + me, k), i + 1)  # only the barrier orders stores to a peer
        shm.barrier(ctx)
        for k in range(n):
            seen = tl.load(words + k, cache_modifier=".cg")
            tl.store(wrong, tl.load(wrong) + (seen != i + 1).to(tl.int64))
        shm.barrier(ctx)


@triton.jit
def wait(ctx, word, value):
    shm.wait_until(ctx, word, "ge", value)


@triton.jit
def signals(ctx, word, out, pe):
    shm.signal_set(ctx, word, 40, pe)
    shm.wait_until(ctx, word, "ge", 40)
    shm.barrier(ctx)
    shm.signal_add(ctx, word, 2, pe)
    shm.wait_until(ctx, word, "eq", 42)
    tl.store(out, shm.signal_fetch(ctx, word))


KERNELS = {each.__name__: each for each in (put, get, ring, add, barriers, wait, signals)}


class Launcher:
    def __init__(self, world):
        if world.device is not None:
            import torch

            torch.cuda.set_device(world.device)
        stands_in = hasattr(world, "context_bytes")
        make = shm.direct_context if os.environ.get("DIRECT") else shm.context
        self.context = make(world.context_bytes(), device="cpu") if stands_in else make(world)

    def __call__(self, name, *arguments):
        KERNELS[name][(1,)](self.context, *arguments)

    def wait(self):
        if self.context.is_cuda:
            import torch

            torch.cuda.synchronize()
