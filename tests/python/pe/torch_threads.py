"""Re-creates public threads about symmetric memory with graphs, pools and groups (docs/graphs.md), on the host heap or on
GPUs. Stream captures need a GPU; the host heap runs the same calls without a capture.

    pgasrun -n 3 python torch_threads.py FILE PART...
"""

import contextlib
import sys

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem

import pgas
import pgas.torch
from torch_job import device, done, everyone, left, met, n, on_gpu, raises, rank, right, world


@contextlib.contextmanager
def captured(graph, mode="global"):
    """A capture on a GPU. On the host heap, the calls run immediately."""
    if not on_gpu:
        yield
        return
    done()
    with torch.cuda.graph(graph, capture_error_mode=mode):
        yield


def replay(graph, step):
    if on_gpu:
        graph.replay()
        done()
    else:
        step()


def new_graph():
    return torch.cuda.CUDAGraph() if on_gpu else None


def sglang_36943():
    """The pool of one engine grew at run time, and the ranks waited for each other without a limit. Ranks allocate
    different amounts alone; a rendezvous that a rank leaves out ends on all ranks with an error that names a rank. Must be
    the last part."""
    kept = []
    for i in range(20):
        private = [symm_mem.empty(1 << 18, device=device) for _ in range((rank + i) % 3)]  # growth of one rank
        x, handle = met((1 << 18) + i)
        x.fill_(rank + i)
        handle.barrier()
        assert (handle.get_buffer(right, x.shape, x.dtype) == right + i).all()
        handle.barrier()
        kept.append(x)
        del private
    late = n - 1
    if rank == late:
        dist.barrier()  # after the limit, 2 s, on the other ranks
        said = raises(lambda: met(64), "for other ranks has failed", "make a new group")
        assert said.pe != late, said
    else:
        said = raises(lambda: met(64), f"rank {late}" if n == 2 else "rank", "all ranks")
        dist.barrier()
    assert said.code == pgas.Code.wait_timeout, said


def sglang_34230():
    """Graphs of the ranks were captured with different windows, and the results were wrong without an error. The calls
    of all ranks are compared, also in a capture. Must be the last part."""
    a, b = met(64)[0].fill_(1), met(64)[0].fill_(2)
    assert (pgas.torch.all_reduce(a) == n).all()
    done()
    dist.barrier()
    mine = a if rank == 0 else b
    said = []
    for _ in range(2):  # the first rank to make the call gets the error at its second call
        try:
            with captured(new_graph()):
                if on_gpu:
                    pgas.torch.all_reduce(mine)
                else:  # all_reduce() without its wait for the other ranks
                    pgas.torch._extension.alias(mine.data_ptr(), everyone.group_name)
        except pgas.Error as error:
            said.append(error)
        dist.barrier()
    if n > 1:
        assert said and said[-1].code == pgas.Code.asymmetric_call, said
        assert "rank 0 has allocation 0" in str(said[-1]) and "the same tensors in the same order" in str(said[-1]), said


def sglang_33037():
    """The memory of a capture was neither kept for the graph nor at the same place on all ranks. Here a graph keeps the
    tensors of its collectives, and memory of pools in a capture comes from a pool of the capture."""
    graph = new_graph()
    spent = [symm_mem.empty(1000, device=device) for _ in range(rank)]  # the ranks have different histories
    del spent
    source = torch.zeros(1000, dtype=torch.int64, device=device)
    outputs = []

    def step():
        with torch.cuda.use_mem_pool(symm_mem.get_mem_pool(device)) if on_gpu else contextlib.nullcontext():
            x = source.clone() if on_gpu else symm_mem.empty(1000, dtype=torch.int64, device=device).copy_(source)
        symm_mem.rendezvous(x, everyone)  # the first one, in the capture
        pgas.torch.all_reduce(x)
        outputs.append(x.data_ptr())
        return x.clone()

    pgas.torch.all_reduce(met(16)[0])  # the first call sets up the group
    result = None
    with captured(graph):
        result = step()
    for i in range(1, 20):
        source.fill_(i + rank)
        done()
        with torch.cuda.use_mem_pool(symm_mem.get_mem_pool(device)) if on_gpu else contextlib.nullcontext():
            others = [torch.full((1000,), -1, dtype=torch.int64, device=device) for _ in range(3)]
        if on_gpu:
            assert outputs[0] not in [each.data_ptr() for each in others], "memory of a graph was used again"
            graph.replay()
            done()
        else:
            result = step()
        assert (result == n * i + n * (n - 1) // 2).all(), (i, result[0].item())
        dist.barrier()


def sglang_29946():
    """A captured all-reduce gave wrong sums when it was replayed beside other calls. Sums of symmetric tensors and of
    other tensors, in a graph and outside, in turn, while the staging memory of the group grows."""
    x = met(4096, torch.int64)[0]
    y = torch.zeros(4096, dtype=torch.int64, device=device)
    source = torch.zeros(4096, dtype=torch.int64, device=device)

    def step():
        for each in (x, y):
            each.copy_(source)
            pgas.torch.all_reduce(each)

    step()
    done()
    dist.barrier()
    graph = new_graph()
    with captured(graph):
        step()
    for i in range(40):
        source.fill_(i + rank)
        done()
        replay(graph, step)
        expected = n * i + n * (n - 1) // 2
        assert (x == expected).all() and (y == expected).all(), (i, x[0].item(), y[0].item())
        other = torch.full((1000 * (i + 1),), rank, dtype=torch.int64, device=device)
        assert (pgas.torch.all_reduce(other) == n * (n - 1) // 2).all(), i
        assert (y == expected).all(), i
        done()
        dist.barrier()


def vllm_54626():
    """A window was registered during a capture, which failed. Here the first rendezvous works in a capture of each mode."""
    graphs = []
    for mode in ("global", "thread_local", "relaxed"):
        x = symm_mem.empty(512, dtype=torch.int32, device=device).fill_(rank)
        done()
        graph, handles = new_graph(), []

        def step():
            handles.append(symm_mem.rendezvous(x, everyone))
            handles[-1].barrier()
            x.add_(1)
            handles[-1].put_signal(right, channel=1)
            handles[-1].wait_signal(left, channel=1)

        with captured(graph, mode):
            step()
        if on_gpu:
            graph.replay()
            done()
        assert (x == rank + 1).all(), (mode, x[0].item())
        handle = symm_mem.rendezvous(x, everyone)
        assert handle.buffer_ptrs == handles[0].buffer_ptrs and handle.buffer_ptrs_dev == handles[0].buffer_ptrs_dev
        assert (handle.get_buffer(left, (512,), torch.int32) == left + 1).all(), mode  # after its signal
        handle.barrier()
        done()
        graphs.append((graph, x))
        dist.barrier()


def pytorch_196082():
    """A rendezvous of a group without the last rank made a later rendezvous of all ranks hang."""
    members = list(range(n - 1))
    subgroup = dist.new_group(members)
    for _ in range(3):
        if rank in members:
            a = symm_mem.empty(64, device=device)
            assert symm_mem.rendezvous(a, subgroup).world_size == n - 1
        dist.barrier()
        b = symm_mem.empty(64, device=device).fill_(rank)
        handle = symm_mem.rendezvous(b, everyone)
        handle.barrier()
        assert (handle.get_buffer(right, (64,), b.dtype) == right).all()
        handle.barrier()


def pytorch_188567():
    """A rendezvous failed if it was the first operation of its group."""
    x = symm_mem.empty(5 << 20, device=device).fill_(rank)
    handle = symm_mem.rendezvous(x, everyone)
    handle.barrier()
    assert (handle.get_buffer(right, (5 << 20,), x.dtype) == right).all()
    handle.barrier()


def vllm_38550():
    """Processes that see some of a host's GPUs hung when they set up the group of the tensor-parallel ranks, after the
    group of all ranks. Run with CUDA_VISIBLE_DEVICES."""
    groups = [everyone, dist.new_group(list(range(n))), dist.new_group(list(range(n)))]
    for group in groups:
        x, handle = met(1 << 16, torch.float32, group)
        x.fill_(rank)
        handle.barrier()
        assert (handle.get_buffer(right, x.shape, x.dtype) == right).all()
        assert (pgas.torch.all_reduce(x, group=group) == n * (n - 1) / 2).all()
        done()
        dist.barrier()


def functions_of_torch():
    """get() of torch's module copies from a rank; get_mem_pool() returns the pool of pgas."""
    if hasattr(symm_mem, "get"):  # not in torch 2.11
        x, handle = met((16, 8), torch.int32)
        x.copy_(torch.arange(128, dtype=torch.int32, device=device).view(16, 8) + 1000 * rank)
        done()
        handle.barrier()
        for peer in range(n):
            for offset, count in ((0, 128), (5, 64), (127, 1), (0, 0)):
                got = torch.zeros(count, dtype=torch.int32, device=device)
                symm_mem.get(got, handle, peer, offset)
                assert (got == torch.arange(offset, offset + count, device=device) + 1000 * peer).all(), (peer, offset)
        for arguments, words in (((torch.zeros(129, dtype=torch.int32, device=device), handle, 0), "exceeds"),
                                 ((torch.zeros(1, dtype=torch.int32, device=device), handle, n), "peer")):
            try:
                symm_mem.get(*arguments)
            except ValueError as said:
                assert words in str(said), said
            else:
                raise AssertionError("accepted")
        handle.barrier()
        print("symm_mem.get copied", flush=True)
    if not on_gpu:
        said = raises(lambda: symm_mem.get_mem_pool("cpu"), "for GPUs only", "symm_mem.empty()")
        assert said.code == pgas.Code.invalid_argument, said
        return
    assert symm_mem.get_mem_pool(device) is pgas.torch.mem_pool(everyone) is symm_mem.get_mem_pool(str(device))
    with torch.cuda.use_mem_pool(symm_mem.get_mem_pool(device)):
        y = torch.full((1000,), rank, device=device)
    handle = symm_mem.rendezvous(y, everyone)
    handle.barrier()
    assert (handle.get_buffer(right, (1000,), y.dtype, handle.offset // y.element_size()) == right).all()
    handle.barrier()


for name in sys.argv[2:]:
    globals()[name]()
done()
print(f"rank {rank} is content", flush=True)
