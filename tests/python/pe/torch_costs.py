"""Measures the time of a rendezvous, and how fast a Triton kernel reads a peer's memory: with addresses of pgas, of
torch's backend CUDA, and of plain cudaMalloc() memory. The measurements alternate, so clock rates and other load
affect all of them.

    pgasrun -n 4 python torch_costs.py FILE           FILE: a file for torch.distributed, which must not exist yet

Ranks 0 and 1 use the backend PGAS, and ranks 2 and 3 use CUDA, because a process cannot change its backend. Ranks 1
and 3 use the second GPU, if there is one. Ranks that share a GPU need MPS, and for CUDA also
TORCH_SYMM_MEM_ALLOW_OVERLAPPING_DEVICES=1 and TORCH_SYMM_MEM_DISABLE_MULTICAST=1.
"""

import json
import os
import statistics
import sys
import time

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem
import triton
import triton.language as tl

rank, n, meeting = int(os.environ["PGAS_RANK"]), int(os.environ["PGAS_SIZE"]), sys.argv[1]
assert n == 4, "run it on 4 PEs"
backend, me, pair = ("PGAS", "CUDA")[rank // 2], rank % 2, rank // 2
device = torch.device("cuda", me % torch.cuda.device_count())
torch.cuda.set_device(device)
dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=n)
groups = [dist.new_group([0, 1]), dist.new_group([2, 3])]
group = groups[pair]
if backend == "PGAS":
    import pgas
    import pgas.torch

    pgas.torch.enable(pgas.join(group=group, device=device.index, like="torch"))
elif symm_mem.get_backend(device) != backend:
    symm_mem.set_backend(backend)


@triton.jit
def copy(to, source, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(to + at, tl.load(source + at))


def in_turns(i, mine):
    """Calls mine() on the ranks of one backend, then on the ranks of the other. The backend that comes first
    alternates with `i`."""
    made = None
    for turn in ((0, 1), (1, 0))[i % 2]:
        torch.cuda.synchronize()
        dist.barrier()
        if turn == pair:
            made = mine()
    return made


def microseconds(call):
    began = time.perf_counter()
    made = call()
    return (time.perf_counter() - began) * 1e6, made


# ---- allocation and rendezvous --------------------------------------------------------------------------------------

times = {"empty": [], "first": [], "second": [], "again": []}
kept = []
for i in range(40):
    took, x = in_turns(i, lambda: microseconds(lambda: symm_mem.empty(1 << 20, device=device)))
    times["empty"].append(took)
    took, handle = in_turns(i, lambda: microseconds(lambda: symm_mem.rendezvous(x, group)))
    times["first"].append(took)
    again = in_turns(i, lambda: [microseconds(lambda: symm_mem.rendezvous(x, group))[0] for _ in range(100)])
    times["second"].append(again[0])  # the data was just made and is in no cache
    times["again"].append(statistics.median(again))
    kept.append((x, handle))
kept.clear()

# ---- a kernel that reads a peer -------------------------------------------------------------------------------------

count, repeats, pairs = 1 << 26, 10, 30
x = symm_mem.empty(count, device=device)
handle = symm_mem.rendezvous(x, group)
there = handle.get_buffer(1 - me, (count,), torch.float32)
here = torch.empty(count, device=device)
x.fill_(rank)


def plain_memory():
    """Returns (plain memory of this process on the peer's GPU, None), or (None, the reason) if kernels cannot read
    it."""
    try:
        plain = torch.full((count,), rank + 1.0, device=f"cuda:{(1 - me) % torch.cuda.device_count()}")
        plain[:1].copy_(here[:1])  # torch enables access between two GPUs with their first copies
        here[:1].copy_(plain[:1])
        plain[:1] = rank + 1.0
        copy[(1,)](here, plain, BLOCK=1024)
        torch.cuda.synchronize()
        return plain, None
    except (RuntimeError, ValueError) as said:
        return None, str(said).splitlines()[0]


def gigabytes_per_second(source):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    for _ in range(3):
        copy[(count // 1024,)](here, source, BLOCK=1024)
    begin.record()
    for _ in range(repeats):
        copy[(count // 1024,)](here, source, BLOCK=1024)
    end.record()
    torch.cuda.synchronize()
    assert (here == rank + 1).all(), "that was other memory"
    return 4 * count * repeats / begin.elapsed_time(end) / 1e6


plain, no_plain = plain_memory() if me == 0 else (None, None)
rates, plain_rates = [], []
for i in range(pairs + 2):
    rate = in_turns(i, lambda: gigabytes_per_second(there) if me == 0 else None)
    plain_rate = in_turns(i, lambda: gigabytes_per_second(plain) if me == 0 and plain is not None else None)
    if i >= 2 and me == 0:
        rates.append(rate)
        plain_rates.append(plain_rate)

all_rates = [None] * n
dist.all_gather_object(all_rates, {"backend": backend, "rates": rates, "plain": plain_rates if plain is not None else no_plain,
                                   **{f"{name}_us": round(statistics.median(each[2:]), 1) for name, each in times.items()}})
if rank == 0:
    of_pgas, of_cuda = all_rates[0], all_rates[2]
    for each in (of_pgas, of_cuda):
        print(json.dumps({"backend": each["backend"], **{f"{name}_us": each[f"{name}_us"] for name in times},
                          "triton_reads_GBps": round(statistics.median(each["rates"]), 1)}))

    def ratio(over, under):
        each = sorted(a / b for a, b in zip(over, under, strict=True))
        return {"median": round(statistics.median(each), 4), "lowest": round(each[0], 4), "highest": round(each[-1], 4), "pairs": len(each)}

    print("result:", json.dumps({"GPUs": torch.cuda.device_count(), "triton reads, PGAS to CUDA": ratio(of_pgas["rates"], of_cuda["rates"])}))
    for each in (of_pgas, of_cuda):
        if isinstance(each["plain"], str):
            print(f"{each['backend']}: no plain memory: {each['plain']}", flush=True)
        else:
            print("result:", json.dumps({f"triton reads, {each['backend']} to plain memory, same process": ratio(each["rates"], each["plain"])}),
                  flush=True)
dist.barrier()
dist.destroy_process_group()
