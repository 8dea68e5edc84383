"""Tests torch's symmetric memory with the backend PGAS, on the host heap or on GPUs, which ranks may share.

    pgasrun -n 4 python torch_symm_mem.py FILE [PART...]
    torchrun --nproc-per-node 4 torch_symm_mem.py env [PART...]

torch.distributed uses FILE, which must not exist yet.
"""

import gc
import os
import random
import signal
import sys
import threading
import time

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem

import pgas
import pgas.torch
from torch_gpu_parts import (expandable, first_in_a_capture, graph, inductor, operators_of_nvshmem, pool, staged_streams,  # noqa: F401  found by name
                             torch_operators)
from torch_job import device, done, everyone, left, met, n, on_gpu, raises, rank, right, world


def buffers():
    """Tests allocation, rendezvous, peers' buffers with offsets and types, and signal pads."""
    assert symm_mem.get_backend(device) == "PGAS"
    x, handle = met((4, 8))
    assert (handle.rank, handle.world_size, handle.buffer_size) == (rank, n, 128) and not handle.multicast_ptr
    assert handle.buffer_ptrs[rank] == x.data_ptr() and len(handle.signal_pad_ptrs) == n and handle.offset == 0
    x.fill_(rank)
    handle.barrier()
    for peer in range(n):
        there = handle.get_buffer(peer, (4, 8), torch.float32)
        assert there.device == device and (there == peer).all()
        assert (handle.get_buffer(peer, (3,), torch.float32, 5) == peer).all()
    assert (handle.get_remote_tensor(right, (4, 8), torch.float32) == right).all()
    handle.barrier()
    handle.get_buffer(right, (2,), torch.int64, 1).fill_(100 + rank)
    handle.barrier()
    assert x.view(torch.int64).flatten()[1:3].tolist() == [100 + left] * 2
    assert (handle.get_signal_pad(rank) == 0).all() and handle.get_signal_pad(right, (4,), torch.int64).shape == (4,)
    assert handle.buffer_ptrs_dev != 0 and handle.signal_pad_ptrs_dev != 0
    again = symm_mem.rendezvous(x, everyone)
    assert again.buffer_ptrs == handle.buffer_ptrs
    # torch passes the storage of a view to a backend, so the handle is the handle of the whole tensor.
    of_view = symm_mem.rendezvous(x[1:, 2:], everyone)
    assert (of_view.offset, of_view.buffer_size, of_view.buffer_ptrs) == (0, 128, handle.buffer_ptrs)
    handle.barrier()
    # for a tensor that is not symmetric, rendezvous() returns None, which torch's operators check
    assert symm_mem.rendezvous(torch.empty(4, device=device), everyone) is None


def handle_alone():
    """A handle keeps the memory of all ranks alive, as the handles of torch's backends do."""
    handle = met(1 << 19)[1]
    own = handle.get_buffer(rank, (1 << 19,), torch.float32)
    own.fill_(rank + 1)
    handle.barrier()
    others = [met(1 << 19)[0].fill_(-1) for _ in range(3)]
    assert (own == rank + 1).all() and (handle.get_buffer(right, (1 << 19,), torch.float32) == right + 1).all()
    del others
    handle.barrier()


def signals():
    """Tests barriers and signals on several channels."""
    x, handle = met(64, torch.int32)
    for i in range(50):
        x[0] = i
        handle.barrier(channel=i % 4, timeout_ms=20000)
        assert handle.get_buffer(right, (1,), torch.int32).item() == i
        handle.barrier(channel=4)
    for i in range(50):
        handle.get_buffer(right, (1,), torch.int32, 1).fill_(i)
        handle.put_signal(right, channel=3)
        handle.wait_signal(left, channel=3, timeout_ms=20000)
        assert x[1].item() == i
        handle.barrier()
    if n > 1:  # a second signal waits until the first one has been received
        x[2] = 0
        done()
        dist.barrier()
        if rank == 0:
            handle.put_signal(1, channel=5)
            handle.put_signal(1, channel=5)
            handle.get_buffer(1, (1,), torch.int32, 2).fill_(1)
        elif rank == 1:
            time.sleep(0.3)
            assert x[2].item() == 0
            handle.wait_signal(0, channel=5)
            handle.wait_signal(0, channel=5)
    done()
    dist.barrier()
    raises(lambda: handle.barrier(channel=1 << 20), "there is no channel", "set_signal_pad_size")
    raises(lambda: handle.put_signal(n, channel=0), "no rank")


def waits_for_others():
    """The other ranks wait for a rank that comes late to the first rendezvous of a tensor."""
    for late in range(n):
        x = symm_mem.empty(64, device=device)
        dist.barrier()
        began = time.monotonic()
        if rank == late:
            time.sleep(0.3)
        handle = symm_mem.rendezvous(x, everyone)
        assert 0.25 < time.monotonic() - began < 20
        x.fill_(rank)
        handle.barrier()
        assert (handle.get_buffer(late, (64,), torch.float32) == late).all()
        handle.barrier()


def subgroups():
    """Tests groups of the lower half, the upper half, and the even ranks; and one tensor in several groups."""
    groups = [dist.new_group(list(range(n // 2 or 1))), dist.new_group(list(range(n // 2 or 1, n)) or [0]), dist.new_group(list(range(0, n, 2)))]
    x, whole = met(16)
    for number, group in enumerate(groups):
        if dist.get_rank(group) < 0:
            continue
        y, handle = met(16, group=group)
        both = symm_mem.rendezvous(x, group)
        me, size = dist.get_rank(group), dist.get_world_size(group)
        for z, view in ((x, both), (y, handle)):
            z.fill_(100 * number + me)
            view.barrier()
            assert [view.get_buffer(peer, (1,), torch.float32).item() for peer in range(size)] == [100 * number + peer for peer in range(size)]
            view.barrier()
        total = pgas.torch.all_reduce(y, "sum", group)
        assert (total == 100 * number * size + size * (size - 1) // 2).all()
    whole.barrier()
    dist.barrier()


def collectives():
    """Tests the collectives of pgas.torch, also in compiled code."""
    x, _ = met(n * 8)
    y, _ = met(n * 8)
    small, _ = met(8)
    x.fill_(rank + 1)
    assert (pgas.torch.all_reduce(x) == n * (n + 1) / 2).all()
    small.fill_(rank)
    assert pgas.torch.all_gather(y, small).view(n, 8)[:, 0].tolist() == list(range(n))
    x.copy_(torch.arange(n * 8))
    pgas.torch.reduce_scatter(small, x, "max")
    assert small.tolist() == list(range(rank * 8, rank * 8 + 8))
    x.fill_(rank)
    assert pgas.torch.all_to_all(y, x).view(n, 8)[:, 0].tolist() == list(range(n))
    x.fill_(rank)
    assert (pgas.torch.broadcast(x, n - 1) == n - 1).all()
    # In place: the parts of the ranks have different offsets.
    part = x[rank * 8:(rank + 1) * 8]
    part.fill_(10 + rank)
    assert pgas.torch.all_gather(x, part).view(n, 8)[:, 0].tolist() == list(range(10, 10 + n))
    x.copy_(torch.arange(n * 8))
    pgas.torch.reduce_scatter(part, x, "max")
    assert part.tolist() == list(range(rank * 8, rank * 8 + 8))

    @torch.compile(backend="aot_eager", fullgraph=True)
    def step(x):
        x.mul_(2)
        pgas.torch.all_reduce(x, "sum")
        return x + 1

    for _ in range(3):
        x.fill_(1)
        assert (step(x) == 2 * n + 1).all()
    assert (pgas.torch.all_reduce(torch.ones(4, device=device)) == n).all()  # uses memory of the group
    late = torch.empty(4, device=device)
    try:
        pgas.torch.all_gather(late, late)
        raise AssertionError("sizes that do not fit")
    except ValueError as said:
        assert n == 1 or "do not fit" in str(said)
    except AssertionError:
        assert n == 1


def staged_threads(rounds=200):
    """Reduces tensors that are copied through memory of the group, in two threads. Each thread must get its own
    values. With several ranks the threads alternate, because all ranks must make their calls in the same order."""
    turns = [threading.Semaphore(1), threading.Semaphore(0)] if n > 1 else [threading.Semaphore(int(rounds)) for _ in range(2)]
    wrong = []

    def work(me):
        for i in range(int(rounds)):
            x = torch.full((1 << 14,), (me + 1) * (rank + i), dtype=torch.int64, device=device)
            turns[me].acquire()
            pgas.torch.all_reduce(x)
            if n > 1:
                turns[1 - me].release()
            if not (x == (me + 1) * (n * (n - 1) // 2 + n * i)).all():
                wrong.append((me, i, x[0].item()))

    threads = [threading.Thread(target=work, args=(me,)) for me in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong[:5]


def dropping(count=1000):
    """Each rank drops tensors in a different order, with exceptions in between."""
    order = random.Random(rank)
    count = int(count)
    kept = []
    descriptors = len(os.listdir("/proc/self/fd"))
    for i in range(count):
        x, handle = met(256)
        if i % 100 == 0:
            x.fill_(rank)
            handle.barrier()
            assert (handle.get_buffer(right, (256,), torch.float32) == right).all()
            handle.barrier()
        kept.append((x, handle) if i % 3 else (x, None))
        try:
            if i % 7 == 0:
                raise KeyError(kept)
        except KeyError:
            pass
        while len(kept) > 8:
            kept.pop(order.randrange(len(kept)))
    kept.clear()
    del x, handle
    gc.collect()
    met(16)
    assert len(os.listdir("/proc/self/fd")) < descriptors + 100, len(os.listdir("/proc/self/fd"))
    dist.barrier()


def divergence():
    """Ranks that call a rendezvous with different tensors all get an error that names the tensors. Must be the last
    part, because the group is not usable afterwards."""
    a, _ = met(16)
    b, _ = met(32)
    dist.barrier()
    mine = a if rank == 0 else b
    met_both = []
    for _ in range(2):
        try:
            symm_mem.rendezvous(mine, everyone)
            met_both.append(None)
        except pgas.Error as said:
            assert said.code == pgas.Code.asymmetric_call and "rank 0 has allocation" in str(said), said
            met_both.append(str(said))
        dist.barrier()
    if n > 1:
        assert met_both[1] is not None and "of 64 bytes" in met_both[1] and "of 128 bytes" in met_both[1], met_both


def first_divergence():
    """As divergence(), with new tensors. The ranks get the error immediately, without a timeout. Must be the last
    part."""
    mine = symm_mem.empty(16 if rank == 0 else 32, device=device)
    began = time.monotonic()
    if n > 1:
        said = raises(lambda: symm_mem.rendezvous(mine, everyone), "of 64 bytes", "of 128 bytes")
        assert said.code == pgas.Code.asymmetric_call and time.monotonic() - began < 5
    dist.barrier()


def group_divergence():
    """As first_divergence(), in a group without rank 0. The error contains the PE of the other rank in the world."""
    group = dist.new_group([1, 2])
    if rank in (1, 2):
        mine = symm_mem.empty(16 if rank == 1 else 32, device=device)
        said = raises(lambda: symm_mem.rendezvous(mine, group), "of 64 bytes", "of 128 bytes")
        assert said.code == pgas.Code.asymmetric_call and said.pe == 3 - rank, said
    dist.barrier()


def late():
    """The last rank reaches the first rendezvous of a group after the others have raised an error. The last rank gets
    the same error and does not wait. The next attempt succeeds."""
    x = symm_mem.empty(16, device=device)
    pgas.torch._GROUP_TIMEOUT = 1.0
    if rank == n - 1:
        time.sleep(3)
    began = time.monotonic()
    said = raises(lambda: symm_mem.rendezvous(x, everyone), f"rank {n - 1} of group", "within 1 s")
    assert said.code == pgas.Code.wait_timeout and time.monotonic() - began < 2.5
    dist.barrier()
    pgas.torch._GROUP_TIMEOUT = 60.0
    symm_mem.rendezvous(x, everyone).barrier()
    dist.barrier()


def lost_signal(which="wait"):
    """The error of a wait that times out names the rank. Must be the last part, because the world has failed
    afterwards."""
    _, handle = met(16)
    if rank == 0:
        if which == "put":
            handle.put_signal(n - 1, channel=0)
        call = handle.wait_signal if which == "wait" else handle.put_signal
        raises(lambda: call(n - 1, channel=0, timeout_ms=300), "300 ms", f"PE {n - 1}")
        print("rank 0 was told", flush=True)
        os._exit(0)
    time.sleep(20)


def killed_in(where):
    """Rank 1 is killed while the others wait for it. Must be the last part."""
    x, handle = met(16, torch.int64)
    pgas.torch.all_reduce(x)  # the first call loads code
    late = dist.new_group() if where == "group" else None
    dist.barrier()
    if rank == 1:
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGKILL)
    calls = {"rendezvous": lambda: met(32), "group": lambda: symm_mem.rendezvous(x, late), "barrier": lambda: handle.barrier(),
             "signal": lambda: handle.wait_signal(1, channel=0), "collective": lambda: pgas.torch.all_reduce(x)}
    began = time.monotonic()
    said = raises(calls[where])
    assert said.code == pgas.Code.peer_lost and said.pe == 1, said
    print(f"lost rank 1 after {time.monotonic() - began - 0.5:.2f} s", flush=True)
    os._exit(0)


parts = [buffers, handle_alone, signals, waits_for_others, subgroups, collectives, staged_threads,
         *([pool, graph, staged_streams, first_in_a_capture, torch_operators, operators_of_nvshmem] if on_gpu else []), dropping]
for name in sys.argv[2:] or [part.__name__ for part in parts]:
    globals()[name.split(":")[0]](*name.split(":")[1:])
    if rank == 0:
        print(f"{name} passed", flush=True)
done()
print(f"rank {rank} is content", flush=True)
dist.barrier()
dist.destroy_process_group()
