"""The kernels of conformance.py in Numba."""

from numba import cuda

import pgas.numba as shm

LIBRARY = "cupy"  # arrays with __cuda_array_interface__


@shm.jit
def put(ctx, dst, src, count, pe):
    shm.put_block(ctx, dst, src, count, pe)


@shm.jit
def get(ctx, dst, src, count, pe):
    shm.get_block(ctx, dst, src, count, pe)


@shm.jit
def ring(ctx, dst, src, count, arrived, taken, rounds):
    n = shm.n_pes(ctx)
    right = (shm.my_pe(ctx) + 1) % n
    left = (shm.my_pe(ctx) + n - 1) % n
    for i in range(rounds):
        shm.wait_until_block(ctx, taken, shm.GE, i)
        shm.put_signal_block(ctx, dst, src, count, arrived, i + 1, shm.SET, right)
        shm.wait_until_block(ctx, arrived, shm.GE, i + 1)
        for k in range(cuda.threadIdx.x, count, cuda.blockDim.x):
            src[k] = dst[k] + 1
        shm.fence_block(ctx)
        shm.signal_add_block(ctx, taken, 1, left)


@shm.jit
def add(ctx, word, value, pe):
    if cuda.threadIdx.x == 0:
        shm.atomic_add(ctx, word, value, pe)


@shm.jit
def barriers(ctx, words, wrong, rounds):
    me = shm.my_pe(ctx)
    n = shm.n_pes(ctx)
    k = cuda.threadIdx.x
    for i in range(rounds):
        if k < n:
            shm.peer(ctx, words, k)[me] = i + 1
        shm.barrier_block(ctx)
        if k < n and words[k] != i + 1:
            wrong[0] += 1
        shm.barrier_block(ctx)


@shm.jit
def wait(ctx, word, value):
    shm.wait_until_block(ctx, word, shm.GE, value)


@shm.jit
def signals(ctx, word, out, pe):
    shm.signal_set_block(ctx, word, 40, pe)
    shm.wait_until_block(ctx, word, shm.GE, 40)
    shm.barrier_block(ctx)
    shm.signal_add_block(ctx, word, 2, pe)
    shm.wait_until_block(ctx, word, shm.EQ, 42)
    if cuda.threadIdx.x == 0:
        out[0] = shm.signal_fetch(ctx, word)


KERNELS = {"put": put, "get": get, "ring": ring, "add": add, "barriers": barriers, "wait": wait, "signals": signals}


class Launcher:
    def __init__(self, world):
        cuda.select_device(world.device)
        self.context = shm.context(world)

    def __call__(self, name, *arguments):
        KERNELS[name][1, 128](self.context, *arguments)

    def wait(self):
        cuda.synchronize()
