"""Tests GPU heaps: arrays of torch, CuPy and JAX, operations on their current streams, graphs, and dropped arrays. PEs
may share a GPU.

    pgasrun -n 2 python gpu.py LIBRARY
"""

import gc
import sys
import time

library = sys.argv[1]
if library == "torch":
    import torch
elif library == "cupy":
    import cupy
else:
    import jax.numpy as jnp

import pgas
import pgas._array_interop
import pgas._stream

with pgas.join(like=library, heap="cuda", wait_timeout=60) as world:
    me, n = world.my_pe, world.n_pes
    right, left = (me + 1) % n, (me - 1) % n
    if library == "torch":
        torch.cuda.set_device(world.device)
    elif library == "cupy":
        cupy.cuda.Device(world.device).use()

    x = world.zeros((64, 64), "float32")
    assert type(x).__module__.split(".")[0] in (library, "jaxlib")
    memory = world.allocate(64, zero=True)
    about = memory.__cuda_array_interface__
    assert about["version"] == 3 and about["data"] == (memory.ptr, False) and memory.__dlpack_device__() == (2, world.device)

    if library == "jax":
        world.put(x, jnp.full((64, 64), me + 1.0), right)
        world.barrier()
        assert world.g(pgas._array_interop.make(world._core.peer(x.unsafe_buffer_pointer(), x.nbytes, me).view((1,), "float32"), "memory"), me) == left + 1
        print(f"PE {me} is content")
        world.leave()
        sys.exit(0)

    # A complete sequence on the current stream: a kernel writes, then a put, a signal, a wait, and a kernel that reads.
    def stream():
        return torch.cuda.Stream() if library == "torch" else cupy.cuda.Stream(non_blocking=True)

    def wait_for_gpu():
        (torch.cuda.synchronize if library == "torch" else cupy.cuda.Device().synchronize)()

    def on(one):
        return torch.cuda.stream(one) if library == "torch" else one

    mine = torch.zeros(64, 64, device="cuda") if library == "torch" else cupy.zeros((64, 64), "float32")
    signal = world.zeros(4, "int64")
    ready = world.zeros(4, "int64")
    copies = []
    wait_for_gpu()
    with on(stream()):
        for i in range(1, 101):
            mine += me + 1
            world.put_signal(x, mine, signal[0:1], i, right)
            world.wait_until(signal[0:1], ">=", i, stream=pgas.CURRENT)
            copies.append(x.sum())
            world.signal_set(ready[0:1], i, left)
            world.wait_until(ready[0:1], ">=", i, stream=pgas.CURRENT)
        world.synchronize()
        for i, total in enumerate(copies, 1):
            assert float(total) == 64 * 64 * i * (left + 1), i

    # Strided copies, single values, and atomic operations with their results on the stream.
    world.barrier(stream=None)
    y = world.zeros((6, 8), "int32")
    source = (torch.arange(48, dtype=torch.int32, device="cuda") if library == "torch" else cupy.arange(48, dtype="int32")).reshape(8, 6)
    world.put(y.T, source, right)
    world.barrier()
    world.synchronize()
    assert (y.T == source).all()
    old = torch.zeros(1, dtype=torch.int64, device="cuda") if library == "torch" else cupy.zeros(1, "int64")
    world.atomic_fetch_add(signal[1:2], 7, right, out=old)
    world.barrier()
    world.synchronize()
    assert int(old[0]) == 0 and int(signal[1]) == 7 == world.g(signal[1:2], me)
    world.barrier(stream=None)  # all PEs have read
    world.p(signal[1:2], 9, right)
    world.barrier()
    world.synchronize()
    assert int(signal[1]) == 9

    # Lists of pages, with indices of both widths on the GPU and on the host.
    def array(values, dtype):
        return torch.tensor(values, dtype=getattr(torch, dtype), device="cuda") if library == "torch" else cupy.asarray(values, dtype)

    cache, staged = world.zeros((6, 40), "int32"), world.zeros((3, 40), "int32")
    staged[...] = array([[me * 10 + i] * 40 for i in range(3)], "int32")
    world.barrier()
    world.put_list(cache, staged, right, destination_index=array([4, 0, 2], "int64"), source_index=array([2, 1, 0], "int32"))
    world.put_list(cache, staged, right, destination_index=[5], source_index=[1])
    world.barrier()
    fetched = array([[0] * 40] * 2, "int32")
    world.get_list(fetched, cache, right, source_index=array([4, 1], "int32"))
    pgas.copy_list(fetched[1:], fetched[:1])
    world.synchronize()
    assert [int(row[0]) for row in cache] == [left * 10 + 1, 0, left * 10, 0, left * 10 + 2, left * 10 + 1]
    assert (fetched == me * 10 + 2).all()
    world.barrier()

    # Collectives on the current stream, and in a graph that is replayed.
    total = world.full(1000, float(me + 1))
    out = world.empty(1000 * n)
    world.all_reduce(total)
    world.all_gather(out, total)
    world.synchronize()
    assert (out == n * (n + 1) / 2).all()
    highest = world.full(1000, float(me))
    for _ in range(50):  # arrays are created while collectives are in flight
        world.all_reduce(highest, "max")
        world.barrier()
        world.empty(100)
    world.synchronize()
    assert (highest == n - 1).all()
    world.barrier(stream=None)
    if library == "torch":
        value = world.full(1000, 1.0)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            world.all_reduce(value)
            world.put(x, mine, right)
        for _ in range(5):
            graph.replay()
        world.synchronize(torch.cuda.current_stream())
        wait_for_gpu()
        world.barrier(stream=None)
        assert (value == float(n) ** 5).all() and (world.peer(x, right) == mine).all()

    # Peers' memory, and the table of addresses.
    world.barrier(stream=None)
    there = world.peer(total, right)
    there += 1
    addresses = world.ptrs(total)
    assert int(addresses[me]) == (total.data_ptr() if library == "torch" else total.data.ptr)
    wait_for_gpu()
    world.barrier(stream=None)
    assert (total == n * (n + 1) / 2 + 1).all()

    # Arrays are dropped while work is enqueued: the memory is not reused before the work has ended.
    for i in range(50):
        big = world.empty(1 << 20)
        big[...] = i
        world.put(big, big, right)
        del big
        again = world.zeros(1 << 20)
        assert not again.any()
        del again
    gc.collect()
    world.barrier(stream=None)
    world.collect()
    del there
    gc.collect()

    # The properties of an array are read without Python code.
    if library == "cupy" or hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
        assert world._core.copy_arrays(False, x, mine, me, False) and not world._core.copy_arrays(False, x.T, mine, me, False)

    # Compares the cost of a call with the cost of a call whose arguments are already converted.
    about, queue = pgas._array_interop.describe(x), pgas._stream.resolve(world, pgas.CURRENT, pgas._array_interop.describe(x))
    source = pgas._array_interop.describe(mine)

    def cost(call):
        best = 1e9
        for _ in range(5):
            begin = time.perf_counter()
            for _ in range(500):
                call()
            best = min(best, (time.perf_counter() - begin) / 500)
            world.synchronize()
        return best * 1e6

    python = cost(lambda: world.put(x, mine, me))
    extension = cost(lambda: world._core.copy(False, about.ptr, source.ptr, about.size * 4, me, queue, False))
    world.barrier(stream=None)
    reduce_python = cost(lambda: world.all_reduce(total))
    reduce_core = world.team._group
    vector = pgas._array_interop.describe(total)
    world.barrier(stream=None)
    reduce_extension = cost(lambda: reduce_core.collective("all_reduce", "float32", "sum", vector.ptr, vector.ptr, 1000, 0, (1, 1), queue))
    print(f"PE {me}: put {python:.2f} us, of which Python {python - extension:.2f}; all_reduce {reduce_python:.2f} us, of which Python "
          f"{reduce_python - reduce_extension:.2f}")
    world.barrier(stream=None)
    print(f"PE {me} is content")
