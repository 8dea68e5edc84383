"""One-sided operations between PEs: copies of all shapes, signals, waits, atomics, locks, streams of the host."""

import numpy as np

import pgas

with pgas.join() as world:
    me, n = world.my_pe, world.n_pes
    right, left = (me + 1) % n, (me - 1) % n

    # Contiguous copies of arrays and of single elements.
    x = world.zeros((3, 5), "float64")
    world.put(x, np.full((3, 5), me + 0.5), right)
    world.barrier()
    assert (x == left + 0.5).all()
    back = np.empty((3, 5))
    world.get(back, x, right)
    assert (back == me + 0.5).all()
    world.barrier()
    world.p(x[1:2, 2:3], 7.25, right)
    world.put(x[0:1, 0:1], -1, right)
    world.barrier()
    assert x[1, 2] == 7.25 and x[0, 0] == -1 and world.g(x[1:2, 2:3], right) == 7.25

    # Strided copies on either side: transposed, every second element, backwards, three dimensions.
    y = world.zeros((4, 6, 3), "int32")
    source = np.arange(72, dtype="int32").reshape(4, 6, 3) + 100 * me
    for there, here in ((y.transpose(1, 0, 2), source.transpose(1, 0, 2)), (y[::2], source[1::2]), (y[:, ::-1], source),
                        (y[:, 1:3, ::2], source[:, 4:, 1:2].repeat(2, 2)), (y[1:1], source[1:1]), (y, source[::-1, :, ::-1])):
        world.barrier()
        y[...] = -1
        world.barrier()
        world.put(there, here, right)
        world.barrier()
        expected = np.full_like(y, -1)
        begin = there.__array_interface__["data"][0] - y.__array_interface__["data"][0]
        view = np.ndarray(there.shape, "int32", expected, begin, there.strides) if there.size else expected[1:1]
        view[...] = here - 100 * me + 100 * left
        assert (y == expected).all(), (there.strides, here.strides)
        fetched = np.zeros(there.shape, "int32")
        world.get(fetched, there, right)
        assert (fetched == here).all()

    # Lists of pages, on the world's own queue and on a stream.
    cache, staged = world.zeros((6, 5), "int32"), world.zeros((4, 5), "int32")
    staged[...] = 1000 * me + np.arange(20).reshape(4, 5)
    of_left, of_right = (1000 * pe + np.arange(20).reshape(4, 5) for pe in (left, right))
    stream = world.stream()
    for to, pages, on in [([5, 0, 3], [2, 2, 1], None), (np.array([1, 4], "int32"), range(2), stream),
                           ([3, 2, 1, 0], None, pgas.CURRENT)]:
        cache[...] = -1
        world.barrier()
        world.put_list(cache, staged, right, destination_index=to, source_index=pages, stream=on)
        stream.synchronize()
        world.barrier()
        expected = np.full((6, 5), -1)
        expected[np.asarray(to)] = of_left if pages is None else of_left[list(pages)]
        assert (cache == expected).all(), (cache, expected)
        fetched = np.zeros((9, 2, 5), "int32")
        world.get_list(fetched[::2, 1], staged, right, destination_index=[4, 1], source_index=[0, 3], stream=on)
        stream.synchronize()
        assert (fetched[8, 1] == of_right[0]).all() and (fetched[2, 1] == of_right[3]).all()
        assert np.count_nonzero(fetched) == np.count_nonzero(of_right[[0, 3]])
        world.barrier()
    world.put_list(cache, staged, right, destination_index=[], source_index=[])

    # Access to peers' memory by load and store.
    world.barrier()
    world.peer(y, right)[:, 2, ::2] = 1000 + me
    world.barrier()
    assert (y[:, 2, ::2] == 1000 + left).all()
    assert [int(p[0, 2, 0]) for p in world.peers(y)] == [1000 + (pe - 1) % n for pe in range(n)]
    assert world.ptrs(y)[me] == y.__array_interface__["data"][0]
    transposed = world.peer(y.T[::-1], right)
    assert transposed.strides == y.T[::-1].strides and (transposed == world.peer(y, right).T[::-1]).all()

    # Signals and waits.
    signals = world.zeros(n, "uint64")
    for round_ in range(1, 200):
        world.put_signal(x, np.full((3, 5), float(round_)), signals[0:1], round_, right)
        world.wait_until(signals[0:1], ">=", round_, timeout=20)
        assert (x >= round_).all()
        world.barrier()
    world.barrier()
    signals[...] = 0
    world.barrier()
    for pe in range(n):
        world.signal_add(signals[me:me + 1], me + 1, pe)
    world.wait_until_all(signals, "ge", [pe + 1 for pe in range(n)], timeout=20)
    assert world.test_some(signals, "!=", 0) == list(range(n)) and world.test(signals, ">", 0)
    assert world.wait_until_any(signals, "==", n) == n - 1 and world.test_any(signals, "==", 99) is None
    assert world.wait_until_any(signals, ">", 0, status=[1] * n) is None
    assert world.wait_until_some(signals, "<=", 1) == [0] and world.signal_fetch(signals[0:1]) == 1
    world.barrier()
    world.put_signal(y.T, source.T, signals[0:1], 77, right, op="set")
    world.wait_until(signals[0:1], "==", 77, timeout=20)
    assert (y == source - 100 * me + 100 * left).all()
    try:
        world.wait_until(signals[0:1], "==", 5, timeout=0.05)
        raise SystemExit("a wait for what never comes has returned")
    except pgas.Error as late:
        assert late.code is pgas.Code.wait_timeout and "timeout=" in str(late)

    # Atomic operations of each type. All PEs use one word at the same time.
    for dtype in ("int32", "uint32", "int64", "uint64", "float32", "float64"):
        word = world.zeros(1, dtype)
        olds = {world.atomic_fetch_add(word, 1, 0) for _ in range(50)}
        assert len(olds) == 50
        world.barrier()
        assert world.atomic_fetch(word, 0) == 50 * n
        world.barrier()
        world.atomic_max(word, 50 * n + me, 0)
        world.barrier()
        assert world.g(word, 0) == 50 * n + n - 1
        world.barrier()
        world.atomic_min(word, 3 + me, 0)
        world.barrier()
        assert world.atomic_fetch(word, 0) == 3
        world.barrier()
        won = world.atomic_compare_swap(word, 3, 100 + me, 0) == 3
        world.barrier()
        assert won == (world.atomic_fetch(word, 0) == 100 + me)
        world.barrier()
        if me == 0:
            world.atomic_set(word, 8, 0)
            assert world.atomic_swap(word, 12, 0) == 8
            if dtype.startswith("float"):
                try:
                    world.atomic_or(word, 1, 0)
                    raise SystemExit("a bitwise operation of floats")
                except pgas.Error as wrong:
                    assert wrong.code is pgas.Code.invalid_argument
            else:
                assert world.atomic_fetch_and(word, 6, 0) == 12 and world.atomic_fetch_or(word, 3, 0) == 4
                assert world.atomic_fetch_xor(word, 5, 0) == 7 and world.atomic_fetch_inc(word, 0) == 2
                world.atomic_inc(word, 0)
                assert world.g(word, 0) == 4
        world.barrier()
    for dtype in ("float16", "bfloat16"):
        memory = world.allocate(16, zero=True).view((1,), dtype)
        world.atomic_add(memory, 1.5, right)
        world.barrier()
        assert world.atomic_fetch(memory, me) == 1.5

    # A lock.
    lock, counter = world.zeros(1, "uint64"), world.zeros(1, "int64")
    for _ in range(20):
        with world.lock(lock):
            world.p(counter, world.g(counter, 0) + 1, 0)
    world.barrier()
    assert world.g(counter, 0) == 20 * n

    # A stream of the host keeps objects alive while its operations use them.
    stream = world.stream()
    world.barrier()
    for i in range(50):
        world.put(x, np.full((3, 5), 1000.0 + i), right, stream=stream)
    world.signal_set(signals[0:1], 123456, right, stream=stream)
    world.wait_until(signals[0:1], "==", 123456, stream=stream)
    stream.synchronize()
    assert (x == 1049).all()
    total = world.full(8, me + 1, "int64")
    world.all_reduce(total, stream=stream)
    world.barrier(stream=stream)
    stream.synchronize()
    assert (total == n * (n + 1) // 2).all()

    # Completion by explicit calls.
    for i in range(100):
        world.put(x, np.full((3, 5), float(i)), right, nbi=True) if i < 99 else world.put(x, back, right)
    world.fence()
    world.quiet()
    world.barrier()
    assert (x == (left + 0.5)).all()
    print(f"PE {me} is content")
