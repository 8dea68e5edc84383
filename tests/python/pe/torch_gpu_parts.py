"""Parts of torch_symm_mem.py that need a GPU or a compiler: memory pools, CUDA graphs, torch's own operators, inductor."""

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem

import pgas
import pgas.torch
from torch_job import device, done, everyone, left, met, n, rank, right


def pool():
    """Tests memory of a torch.cuda.MemPool: results of torch's operators, blocks that are freed and used again,
    streams."""
    memory = pgas.torch.mem_pool(everyone)
    a, b = torch.randn(256, 256, device=device), torch.randn(256, 256, device=device)
    for i in range(10):
        with torch.cuda.use_mem_pool(memory):
            y = torch.mm(a, b)
            z = torch.full((1000,), float(rank), device=device)
        hy, hz = symm_mem.rendezvous(y, everyone), symm_mem.rendezvous(z, everyone)
        assert hy.buffer_ptrs[rank] + hy.offset == y.data_ptr()
        hz.barrier()
        assert (hz.get_remote_tensor(right, (1000,), torch.float32) == right).all()
        assert torch.allclose(pgas.torch.all_reduce(y.clone() if i % 2 else y), sum_of(torch.mm(a, b)), rtol=1e-3, atol=1e-2)
        hz.barrier()
        with torch.cuda.stream(torch.cuda.Stream()):
            hz.barrier(channel=1)
        done()
        del y, z, hy, hz
        if i % 3 == 2:
            torch.cuda.empty_cache()
        dist.barrier()


def expandable():
    """Tests a memory pool in a process that also has torch's expandable segments
    (PYTORCH_ALLOC_CONF=expandable_segments:True), which are not symmetric memory."""
    plain = [torch.zeros(1 << 22, device=device)]
    assert any(each["is_expandable"] for each in torch.cuda.memory_snapshot()), "set PYTORCH_ALLOC_CONF=expandable_segments:True"
    assert symm_mem.rendezvous(plain[0], everyone) is None
    memory = pgas.torch.mem_pool(everyone)
    kept = []
    for i in range(12):
        count = 100_000 + 1000 * i
        with torch.cuda.use_mem_pool(memory):
            y = torch.full((count,), 100 * rank + i, device=device)
        plain.append(torch.full((1 << 22,), i, device=device))  # the segment grows
        handle = symm_mem.rendezvous(y, everyone)
        handle.barrier()
        assert (handle.get_remote_tensor(right, (count,), torch.int64) == 100 * right + i).all()
        handle.barrier()
        kept.append((y, handle, i))
        if i % 4 == 3:
            del plain[1:]
            torch.cuda.empty_cache()  # releases the end of the segment, and blocks of the pool
        if len(kept) > 3:
            kept.pop(i % 3)
        for older, of, number in kept:
            assert (older == 100 * rank + number).all()
            assert (of.get_remote_tensor(right, older.shape, torch.int64) == 100 * right + number).all()
        done()
        dist.barrier()
    assert (plain[0] == 0).all()


def sum_of(x):
    """Returns the sum over all ranks, computed by the hosts."""
    total = x.cpu()
    dist.all_reduce(total)
    return total.to(device)


def graph():
    """Replays barriers, signals and a collective in a CUDA graph."""
    x, handle = met(64, torch.int32)
    y, _ = met(64, torch.int32)
    x.zero_()
    done()
    dist.barrier()
    there = handle.get_buffer(right, (64,), torch.int32)

    def step():
        there.add_(1)
        handle.barrier()
        y.copy_(x)
        pgas.torch.all_reduce(y)
        handle.put_signal(right, channel=1)
        handle.wait_signal(left, channel=1)

    own = torch.cuda.Stream()
    with torch.cuda.stream(own):
        step()
    own.synchronize()
    dist.barrier()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured, stream=own):
        step()
    for i in range(20):
        captured.replay()
        done()
        assert x[0].item() == i + 2 and y[5].item() == n * (i + 2), (x[0].item(), y[5].item())
        dist.barrier()


def staged_streams(rounds=100):
    """Reduces tensors that are copied through memory of the group, on two streams at once: eagerly, in a graph, and in
    both."""
    rounds, count = int(rounds), 1 << 16
    streams = [torch.cuda.Stream(), torch.cuda.Stream()]

    def inputs(k):
        return [torch.full((count,), (k + 1) * (rank + i), dtype=torch.int64, device=device) for i in range(rounds)]

    def check(k, tensors, graph=1):
        for i, x in enumerate(tensors):
            assert (x == (k + 1) * (n * (n - 1) // 2 + n * i)).all(), (k, i, x[0].item(), graph)

    pgas.torch.all_reduce(torch.zeros(count, dtype=torch.int64, device=device))
    tensors = [inputs(0), inputs(1)]
    done()
    dist.barrier()
    for i in range(rounds):
        for stream, own in zip(streams, tensors):
            with torch.cuda.stream(stream):
                pgas.torch.all_reduce(own[i])
    done()
    for k, own in enumerate(tensors):
        check(k, own)
    dist.barrier()

    # A graph holds the calls of the first stream. The graph runs on a third stream beside the calls of the second
    # stream.
    tensors = [inputs(0), inputs(1)]
    fresh = inputs(0)
    work = [torch.empty_like(x) for x in fresh[:10]]
    captured = torch.cuda.CUDAGraph()
    done()
    with torch.cuda.graph(captured, stream=streams[0]):
        for x, own in zip(work, fresh):
            x.copy_(own)
            pgas.torch.all_reduce(x)
    larger = torch.ones(2 * count, dtype=torch.int64, device=device)
    assert (pgas.torch.all_reduce(larger) == n).all()  # later calls get other memory; the graph keeps its memory
    third = torch.cuda.Stream()
    done()
    dist.barrier()
    for i in range(rounds):
        with torch.cuda.stream(third):
            captured.replay()
        with torch.cuda.stream(streams[1]):
            pgas.torch.all_reduce(tensors[1][i])
    done()
    check(0, work, "graph")
    check(1, tensors[1], "beside a graph")
    dist.barrier()


def first_in_a_capture():
    """The first collective of a type within a capture is refused, and the error contains the remedy."""
    x = torch.ones(16, dtype=torch.int16, device=device)
    own = torch.cuda.Stream()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured, stream=own, capture_error_mode="thread_local"):
        try:
            pgas.torch.all_reduce(x)
            raise AssertionError("no error")
        except pgas.Error as said:
            assert said.code == pgas.Code.capturing and "once before the capture" in str(said), said
    done()
    assert (pgas.torch.all_reduce(x) == n).all()
    done()
    dist.barrier()


def torch_operators():
    """Tests torch's own operators that need only addresses, and one operator that needs multicast."""
    name = everyone.group_name
    x, _ = met(8192, torch.bfloat16)
    for operator in (torch.ops.symm_mem.one_shot_all_reduce, torch.ops.symm_mem.two_shot_all_reduce_):
        x.fill_(rank + 1)
        assert (operator(x, "sum", name) == n * (n + 1) / 2).all(), operator
        done()
        dist.barrier()
    try:
        torch.ops.symm_mem.multimem_all_reduce_(x, "sum", name)
        raise AssertionError("there is no multicast")
    except RuntimeError as said:
        print("multimem_all_reduce_:", str(said).splitlines()[0], flush=True)


def operators_of_nvshmem():
    """With NVSHMEM's operators, torch would end the process. Here they raise an error that names the backend."""
    x, _ = met(64, torch.int64)
    name = everyone.group_name
    calls = {"nvshmem_put": lambda: torch.ops.symm_mem.nvshmem_put(x, 0), "nvshmem_broadcast": lambda: torch.ops.symm_mem.nvshmem_broadcast(x, 0, name),
             "all_to_all_vdev": lambda: torch.ops.symm_mem.all_to_all_vdev(x, x, x, x, name)}
    for operator, call in calls.items():
        if not hasattr(torch.ops.symm_mem, operator):
            continue
        try:
            call()
            raise AssertionError(f"{operator} was called")
        except pgas.Error as said:
            assert operator in str(said) and "the current backend is PGAS" in str(said), said


def inductor():
    """Compiles a step with a collective by inductor, without a graph break."""

    @torch.compile(backend="inductor", fullgraph=True)
    def step(x, factor):
        y = torch.relu(x * factor)
        pgas.torch.all_reduce(y, "sum")
        return y.sum() + 1

    x, _ = met(256)
    for i in range(3):
        x.fill_(rank + i)
        assert step(x, 2.0).item() == 256 * 2 * (n * (n - 1) / 2 + n * i) + 1
