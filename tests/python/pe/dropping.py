"""Creates and drops arrays in a different order on each PE, with exceptions in between. No resource may grow, and no
data may be lost."""

import gc
import random
import sys

import numpy as np

import pgas

rounds = int(sys.argv[1])

with pgas.join() as world:
    me, n = world.my_pe, world.n_pes
    shapes = random.Random(1)
    mine = random.Random(1000 + me)
    held = []
    used = []

    def loses(array):
        raise RuntimeError("the frame keeps the array until the exception is forgotten")

    for i in range(rounds):
        extent = shapes.randrange(1, 3000)
        array = world.zeros((extent,), shapes.choice(["float32", "int64", "uint8"]))
        assert not array.any()
        array[...] = i % 100
        held.append((array if mine.random() < 0.5 else array[mine.randrange(extent):], i))
        if mine.random() < 0.1:
            try:
                loses(world.peer(array, mine.randrange(n)))
            except RuntimeError:
                pass
        if mine.random() < 0.05:
            cycle = [array]
            cycle.append(cycle)
            del cycle
        while len(held) > 20:
            kept, number = held.pop(mine.randrange(len(held)))
            assert (kept == number % 100).all()
        array = kept = None
        if i % (rounds // 10) == rounds // 10 - 1:
            gc.collect()
            world.collect()
            used.append(world.usage()["used"])

    # All arrays without an owner are released.
    held.clear()
    kept = None
    gc.collect()
    world.barrier()
    world.collect()
    assert world.usage()["arrays"] == 0, world.usage()
    assert max(used[1:]) < 4 * used[0], used

    # If one PE keeps an array, or only a view of the array, the memory of the array stays allocated on all PEs.
    x = world.zeros(100, "int32")
    view = x[10:20] if me == n - 1 else None
    del x
    gc.collect()
    assert world.collect() == 0 and world.usage()["arrays"] == 1
    y = world.full(100, me, "int32")
    assert view is None or (view == 0).all()
    del view
    assert world.collect() == 1

    # If the call of one PE differs, the call raises an error on all PEs. The next call works.
    for wrong in (lambda: world.empty((2 + (me == 1), 3)), lambda: world.zeros(4) if me else world.empty(4),
                  lambda: world.empty(4) if me else world.collect()):
        try:
            wrong()
            raise SystemExit("calls that differ were accepted")
        except pgas.Error as differs:
            assert differs.code is pgas.Code.asymmetric_call and "dropping.py:" in str(differs), differs
    assert (world.full(3, 5, "int8") == 5).all()

    # A too large request raises an error on all PEs, and the state does not change.
    before = world.usage()["arrays"]
    try:
        world.empty(1 << 50, "uint8")
        raise SystemExit("a petabyte was found")
    except pgas.Error as large:
        assert large.code is pgas.Code.out_of_memory
    del wrong
    assert world.usage()["arrays"] <= before
    print(f"PE {me} is content")
