"""Functions with calls of pgas, compiled by torch without a break. pgasrun -n 3 python compiled.py BACKEND [--gpu]"""

import sys

import torch

import pgas

backend = sys.argv[1]
whole = torch.compile(backend=backend, fullgraph=True)

with pgas.join(heap="cuda" if "--gpu" in sys.argv else "host", like="torch") as world:
    me, n = world.my_pe, world.n_pes
    right, left = (me + 1) % n, (me - 1) % n
    device = "cpu" if world.device is None else f"cuda:{world.device}"
    if world.device is not None:
        torch.cuda.set_device(world.device)
    x, y = world.zeros(8), world.zeros(8)
    gathered, blocks = world.zeros(8 * n), world.zeros(n)
    signal = world.zeros(1, torch.int64)
    row, ordered = world.team.split(0), world.team.split(0, -me)

    def filled(value):
        return torch.full((8,), float(value), device=device)

    @whole
    def ring(a, i):
        world.put_signal(y, a * 2, signal, 1, right, op="add")
        world.wait_until(signal, ">=", i, stream=pgas.CURRENT)
        got = torch.empty_like(a)
        world.get(got, y, me)  # the data of other PEs, which an operator reads after the wait
        world.barrier()
        return got + 1

    for i in range(1, 6):
        out = ring(filled(me + i), i)
        assert (out == 2.0 * (left + i) + 1).all(), out

    @whole
    def reduced(a):
        x.copy_(a * 2)
        world.all_reduce(x)
        twice = x * 2
        world.all_reduce(x, "max")
        world.all_gather(gathered, x)
        return x + 1, twice, gathered.sum()

    for i in range(3):
        once, twice, total = reduced(filled(i + me))
        world.synchronize()
        want = 2.0 * sum(i + pe for pe in range(n))
        assert (once == want + 1).all() and (twice == 2 * want).all() and float(total) == want * 8 * n and (x == want).all()

    @whole
    def every_collective(a):
        blocks.copy_(a[:n] + me)
        world.broadcast(x, 1 % n, source=y)
        world.all_to_all(blocks, blocks.clone())
        world.inclusive_scan(blocks, "sum")
        world.reduce_scatter(x[:1], blocks, "max")
        world.reduce(blocks, 0, "min")
        world.exclusive_scan(blocks)
        row.sync()
        return blocks * 1

    if n <= 8:
        y.fill_(me)
        world.barrier(stream=None)
        every_collective(filled(1))
        world.synchronize()
        assert (x[1:] == 1 % n).all() and blocks.shape == (n,)

    @whole
    def words(a):
        world.p(y[2:3], 7, right)
        world.put(y[3:4], 8, right)
        world.atomic_add(signal, 3, right)
        world.quiet()
        world.signal_set(signal, 100, right)
        world.fence()
        ordered.barrier()
        return a + 1

    words(filled(0))
    world.synchronize()
    world.barrier(stream=None)
    assert y[2] == 7 and y[3] == 8 and signal[0] == 100, (y, signal)
    assert not torch._dynamo.utils.counters["graph_break"]

    # A graph cannot contain a call that returns a value or uses another stream, so torch makes such a call between two
    # graphs.
    stream = world.stream()

    @torch.compile(backend=backend)
    def broken(a):
        world.put(y, a, right, stream=stream)
        stream.synchronize()
        world.barrier(stream=None)
        return a * world.g(y[0:1], me)

    three = filled(3)
    world.synchronize()  # that stream does not wait for the current stream
    assert (broken(three) == 9).all()
    assert torch._dynamo.utils.counters["graph_break"]

    # A compiler can pass a copy of a team's array. The library refuses the copy. Otherwise it would reduce the copy and
    # leave the array unchanged.
    if backend == "aot_eager":
        try:
            whole(lambda: row.all_reduce(x))()
        except ValueError as refused:
            assert "copy" in str(refused)
    else:
        x.fill_(me)
        whole(lambda: row.all_reduce(x, "max"))()
        world.synchronize()
        assert (x == n - 1).all()
    world.barrier(stream=None)
    print(f"PE {me} is content")
