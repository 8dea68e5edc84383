"""A one-shot all-reduce in Triton: every PE stores its numbers at all other PEs, and adds up the numbers that it
receives.

One step replaces two. This is faster for short messages, where sending a message n times takes less time than a second
step. Triton programs are independent of each other: each has a slice of the numbers, space for that slice from every
PE, and a signal for each PE.

    pgasrun -n 4 python triton_all_reduce.py
"""

import pgas
import pgas.triton as shm
import torch
import triton
import triton.language as tl

BLOCK = 512


@triton.jit
def all_reduce(ctx, out, x, staging, arrived, call, count, BLOCK: tl.constexpr):
    me = shm.my_pe(ctx)
    n = shm.n_pes(ctx)
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    signals = arrived + tl.program_id(0) * n
    half = staging + (call % 2) * n * count  # programs that are a call behind may still read the other half

    mine = tl.load(x + at, inside)
    for k in range(n):
        pe = (me + k) % n  # PEs start with different targets
        tl.store(shm.peer(ctx, half + me * count + at, pe), mine, inside)
        shm.signal_set(ctx, signals + me, call, pe)
    total = tl.zeros((BLOCK,), tl.float32)
    for pe in range(n):  # in the same order on all PEs, so all get the same bits
        shm.wait_until(ctx, signals + pe, "ge", call)
        total += tl.load(half + pe * count + at, inside)
    tl.store(out + at, total, inside)


def main() -> None:
    with pgas.join() as world:
        if world.device is not None:
            torch.cuda.set_device(world.device)
        count = 3000
        blocks = triton.cdiv(count, BLOCK)
        staging = world.empty((2, world.n_pes, count), "float32", like="torch")
        arrived = world.zeros((blocks, world.n_pes), "int64", like="torch")
        context = shm.context(world)
        x = torch.empty(count, device=staging.device)  # input and output need no symmetric memory
        out = torch.empty_like(x)
        for call in range(1, 6):
            values = [torch.arange(count, dtype=torch.float32) % 100 + pe * call for pe in range(world.n_pes)]
            x.copy_(values[world.my_pe])
            all_reduce[(blocks,)](context, out, x, staging, arrived, call, count, BLOCK)
            if not torch.equal(out.cpu(), sum(values)):
                raise SystemExit(f"PE {world.my_pe}: call {call} has a wrong sum")
        print(f"PE {world.my_pe}: 5 sums of {count} numbers over {world.n_pes} PEs are right")


main()
