"""A one-shot all-reduce in one Triton kernel on torch's symmetric memory: every rank reads the numbers of all others,
and adds them up.

The kernel takes only the addresses of the handle. The kernel synchronizes with the other ranks by the signal pads, as
torch's kernels do: a block waits only for the same block of each rank.

    pgasrun -n 4 python symm_mem_all_reduce.py
    torchrun --nproc-per-node 4 symm_mem_all_reduce.py
    PGAS_HEAP=host TRITON_INTERPRET=1 pgasrun -n 4 python symm_mem_all_reduce.py        without a GPU
"""

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem
import triton
import triton.language as tl

import pgas.torch

COUNT, BLOCK = 3000, 512
TRIES = 10_000_000  # takes some seconds; after that a rank stops waiting for a rank that has died


@triton.jit
def synchronize(pads, rank, n, TRIES: tl.constexpr):
    """Returns when the same block has called this function on all ranks. The caller sets a flag on each peer from 0 to
    1. The peer waits for the flag and sets it back to 0."""
    tl.debug_barrier()  # a thread's release covers all earlier accesses of the block's threads
    first = tl.program_id(0) * n
    for peer in range(n):
        flag = tl.load(pads + peer).to(tl.pointer_type(tl.int32)) + first + rank
        tries = 0
        while (tl.atomic_cas(flag, 0, 1, sem="release", scope="sys") != 0) & (tries < TRIES):
            tries += 1
    for peer in range(n):
        flag = tl.load(pads + rank).to(tl.pointer_type(tl.int32)) + first + peer
        tries = 0
        while (tl.atomic_cas(flag, 1, 0, sem="acquire", scope="sys") != 1) & (tries < TRIES):
            tries += 1
    tl.debug_barrier()


@triton.jit
def all_reduce(out, buffers, pads, rank, n, count, BLOCK: tl.constexpr, TRIES: tl.constexpr):
    buffers = buffers.to(tl.pointer_type(tl.int64))
    pads = pads.to(tl.pointer_type(tl.int64))
    synchronize(pads, rank, n, TRIES)  # all ranks have written their numbers
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for peer in range(n):  # in the same order on all ranks, so all get the same bits
        there = tl.load(buffers + peer).to(tl.pointer_type(tl.float32))
        total += tl.load(there + at, at < count)
    tl.store(out + at, total, at < count)
    synchronize(pads, rank, n, TRIES)  # all ranks have read the numbers


def main() -> None:
    world = pgas.torch.init_process_group()
    device = torch.device("cpu") if world.device is None else torch.device("cuda", world.device)
    if world.device is None and not triton.knobs.runtime.interpret:
        raise SystemExit("without a GPU Triton has to interpret the kernel: set TRITON_INTERPRET=1")
    rank, n = dist.get_rank(), dist.get_world_size()
    x = symm_mem.empty(COUNT, device=device)
    handle = symm_mem.rendezvous(x, dist.group.WORLD)
    out = torch.empty_like(x)  # the result needs no symmetric memory
    for call in range(1, 6):
        values = [torch.arange(COUNT, dtype=torch.float32) % 100 + peer * call for peer in range(n)]
        x.copy_(values[rank])
        blocks = (triton.cdiv(COUNT, BLOCK),)
        all_reduce[blocks](out, handle.buffer_ptrs_dev, handle.signal_pad_ptrs_dev, rank, n, COUNT, BLOCK, TRIES)
        if not torch.equal(out.cpu(), sum(values)):
            raise SystemExit(f"PE {rank}: call {call} has a wrong sum")
    if world.device is not None:  # torch also has such a kernel
        if not torch.equal(torch.ops.symm_mem.one_shot_all_reduce(x, "sum", dist.group.WORLD.group_name).cpu(), sum(values)):
            raise SystemExit(f"PE {rank}: torch's own operator has a wrong sum")
    print(f"PE {rank}: 5 sums of {COUNT} numbers over {n} ranks are right")
    dist.barrier()
    dist.destroy_process_group()


main()
