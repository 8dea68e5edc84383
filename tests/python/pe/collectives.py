"""Tests collectives and teams, with NumPy's results."""

import numpy as np

import pgas

with pgas.join() as world:
    me, n = world.my_pe, world.n_pes

    def data(pe, count, dtype):
        random = np.random.default_rng(100 * pe + count)
        if dtype == "bool":
            return random.integers(0, 2, count).astype(bool)
        return random.integers(1, 4, count).astype(dtype)

    for dtype in ("int8", "uint16", "int32", "int64", "uint64", "float16", "float32", "float64", "complex64", "complex128"):
        for count in (1, 7, 1000):
            everyone = np.stack([data(pe, count, dtype) for pe in range(n)])
            x = world.empty(count, dtype)
            out = world.empty(count, dtype)
            for op, expected in (("sum", everyone.sum(0)), ("prod", everyone.prod(0)), ("min", everyone.min(0)),
                                 ("max", everyone.max(0))):
                if dtype.startswith("complex") and op in ("min", "max"):
                    continue
                x[...] = everyone[me]
                world.all_reduce(x, op, out=out)
                assert np.allclose(out, expected.astype(dtype)), (dtype, op)
                world.all_reduce(x, op)
                assert np.allclose(x, expected.astype(dtype))
            if dtype in ("int32", "uint64"):
                x[...] = everyone[me]
                world.all_reduce(x, "bxor", out=out)
                assert (out == np.bitwise_xor.reduce(everyone)).all()
                world.inclusive_scan(x, out=out)
                assert (out == everyone[:me + 1].sum(0)).all()
                world.exclusive_scan(x, out=out)
                assert (out == everyone[:me].sum(0)).all()
                world.reduce(x, n - 1, "max", out=out)
                assert me != n - 1 or (out == everyone.max(0)).all()
            many = world.empty((n, count), dtype)
            x[...] = everyone[me]
            world.all_gather(many, x)
            assert (many == everyone).all()
            mine = world.empty(count, dtype)
            blocks = world.full((n, count), me, dtype)
            world.reduce_scatter(mine, blocks)
            assert (mine == np.asarray(n * (n - 1) // 2).astype(dtype)).all()
            world.all_to_all(many, blocks)
            assert (many == np.arange(n).astype(dtype)[:, None]).all()
            world.broadcast(x, n - 1)
            assert (x == everyone[n - 1]).all()

    pair = world.zeros((2, 2), "int32")
    flags = world.full(3, me == 0, "bool")
    world.all_reduce(flags, "bor")
    assert flags.all()

    # The PEs contribute different counts.
    part = world.full(n, me, "int32")
    joint = world.zeros(n * n, "int32")
    world.all_gather_v(joint, part[:me])
    assert joint[:n * (n - 1) // 2].tolist() == [pe for pe in range(n) for _ in range(pe)]

    # The functions also have the names of torch and of OpenSHMEM.
    assert pgas.World.fcollect is pgas.World.all_gather_into_tensor and pgas.Team.alltoall is pgas.Team.all_to_all_single

    # Teams.
    halves = world.team.split(me % 2, -me)
    assert halves.n_pes == (n + 1 - me % 2) // 2
    assert halves.world_pe(0) == max(pe for pe in range(n) if pe % 2 == me % 2)
    value = world.full(1, me, "int64")
    halves.all_reduce(value)
    assert value[0] == sum(pe for pe in range(n) if pe % 2 == me % 2)
    assert world.team.translate_pe(me, halves) == halves.my_pe and len(halves.context.bytes) == len(world.context.bytes)
    first = world.team.split_strided(0, 1, min(2, n))
    assert bool(first) == (me < 2)
    if first:
        with first:
            first.barrier()
            first.sync()
    row, column = world.team.split_2d(2)
    assert row.n_pes <= 2 and row.world_pe(row.my_pe) == me == column.world_pe(column.my_pe)
    backwards = world.team.split_list(list(range(n))[::-1])
    assert backwards.my_pe == n - 1 - me
    backwards.destroy()
    for wrong in (lambda: backwards.barrier(), lambda: world.all_reduce(value, "avg"), lambda: world.all_gather(joint[1:], part),
                  lambda: world.all_reduce(np.zeros(3)), lambda: world.reduce(value, n), lambda: world.all_reduce(pair[:, 0]),
                  lambda: world.all_reduce(flags, "sum")):
        try:
            wrong()
            raise SystemExit("what is wrong was accepted")
        except (pgas.Error, ValueError):
            pass
    del halves, row, column  # deleting is not collective
    assert world.host_team.n_pes == n == world.domain_team.n_pes
    world.barrier_all()
    world.sync_all()
    print(f"PE {me} is content")
