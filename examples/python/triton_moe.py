"""Dispatch and combine of a mixture of experts in Triton, with one expert on each PE.

Every token goes to TOP experts. Dispatch stores the token's row into a slot at the expert. The sender has chosen the
slot by counting, so no PE waits while it sends. The expert starts on a sender's rows as soon as their number has
arrived. Results go back to the PE of the token, and combine adds them up with the gate's weights. Each buffer is at
most as large as the data that one PE can send.

    pgasrun -n 4 python triton_moe.py
"""

import pgas
import pgas.triton as shm
import torch
import triton
import triton.language as tl

TOKENS, HIDDEN, TOP = 48, 256, 2
WORKERS = 4


@triton.jit
def dispatch(ctx, inbox, origin, arrived, expected, tokens, expert, slot, counts, n, TOP: tl.constexpr, ROOM: tl.constexpr,
             HIDDEN: tl.constexpr):
    """One program for each choice of a token. The row goes to row `slot` of this PE's rows at the expert. `origin`
    tells the expert which choice the row belongs to."""
    me = shm.my_pe(ctx)
    choice = tl.program_id(0)
    if choice == 0:
        for pe in range(n):
            shm.signal_set(ctx, expected + me, tl.load(counts + pe) + 1, pe)  # 0 means that the number is not known yet
    to = tl.load(expert + choice)
    row = me * ROOM + tl.load(slot + choice)
    tl.store(shm.peer(ctx, origin + row, to), choice)
    shm.put_signal(ctx, inbox + row * HIDDEN, tokens + (choice // TOP) * HIDDEN, HIDDEN, arrived + me, 1, "add", to, BLOCK=HIDDEN)


@triton.jit
def apply_expert(ctx, inbox, origin, arrived, expected, returned, done, ROOM: tl.constexpr, HIDDEN: tl.constexpr):
    """Program (source, worker): multiplies rows by this expert's number plus one, and sends the results back to
    `source`."""
    me = shm.my_pe(ctx)
    source = tl.program_id(0)
    shm.wait_until(ctx, expected + source, "ge", 1)
    count = shm.signal_fetch(ctx, expected + source) - 1
    shm.wait_until(ctx, arrived + source, "ge", count)
    at = tl.arange(0, HIDDEN)
    for i in range(tl.program_id(1), count, tl.num_programs(1)):
        row = source * ROOM + i
        result = tl.load(inbox + row * HIDDEN + at) * (me + 1).to(tl.float32)
        home = tl.load(origin + row)
        tl.store(shm.peer(ctx, returned + home * HIDDEN + at, source), result)
        shm.signal_add(ctx, done, 1, source)


@triton.jit
def combine(ctx, out, returned, weights, done, due, TOP: tl.constexpr, HIDDEN: tl.constexpr):
    """One program for each token."""
    token = tl.program_id(0)
    shm.wait_until(ctx, done, "ge", due)
    at = tl.arange(0, HIDDEN)
    total = tl.zeros((HIDDEN,), tl.float32)
    for k in range(TOP):
        choice = token * TOP + k
        total += tl.load(weights + choice) * tl.load(returned + choice * HIDDEN + at)
    tl.store(out + token * HIDDEN + at, total)


def slots_of(expert: torch.Tensor, n: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns each choice's index among the choices of the same expert, and the number of choices for each expert."""
    chosen = torch.nn.functional.one_hot(expert, n)
    place = (chosen.cumsum(0) - 1).gather(1, expert[:, None])[:, 0]
    return place.to(torch.int32), chosen.sum(0).to(torch.int64)


def main() -> None:
    with pgas.join() as world:
        me, n = world.my_pe, world.n_pes
        if world.device is not None:
            torch.cuda.set_device(world.device)
        room, top = TOKENS * min(TOP, n), min(TOP, n)
        inbox = world.empty((n, room, HIDDEN), "float32", like="torch")
        origin = world.empty((n, room), "int32", like="torch")
        returned = world.empty((TOKENS * top, HIDDEN), "float32", like="torch")
        arrived, expected, done = (world.zeros(count, "int64", like="torch") for count in (n, n, 1))

        torch.manual_seed(me)
        tokens = torch.randn(TOKENS, HIDDEN).to(inbox.device)
        weights, expert = torch.randn(TOKENS, n).softmax(1).topk(top)
        slot, counts = slots_of(expert.flatten(), n)
        weights, expert, slot, counts = (each.to(inbox.device) for each in (weights.contiguous(), expert.to(torch.int32).contiguous(), slot, counts))
        out = torch.empty_like(tokens)

        context = shm.context(world)
        dispatch[(TOKENS * top,)](context, inbox, origin, arrived, expected, tokens, expert, slot, counts, n, top, room, HIDDEN)
        apply_expert[(n, WORKERS)](context, inbox, origin, arrived, expected, returned, done, room, HIDDEN)
        combine[(TOKENS,)](context, out, returned, weights, done, TOKENS * top, top, HIDDEN)

        right = tokens * (weights * (expert + 1)).sum(1, keepdim=True)
        if not torch.allclose(out, right, rtol=1e-5, atol=1e-5):
            raise SystemExit(f"PE {me}: a token has come back wrong, by {float((out - right).abs().max())}")
        print(f"PE {me}: {TOKENS} tokens came back from {top} of {n} experts each, {int(counts[me])} of them my own")
        world.barrier(stream=None)


main()
