"""Kernels of import_orders.py. The kernels are in a separate file, because import_orders.py imports Triton at different
times."""

import triton
import triton.language as tl

import pgas.triton as shm


@triton.jit
def increment(x, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at) + 1)


@triton.jit
def signal_self(ctx, word):
    shm.signal_add(ctx, word, 1, shm.my_pe(ctx))
    shm.wait_until(ctx, word, "ge", 1)
