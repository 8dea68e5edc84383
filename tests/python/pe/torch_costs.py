"""What a rendezvous costs, and how fast a Triton kernel reads a peer's memory, with one backend of torch's symmetric memory.

    pgasrun -n 2 python torch_costs.py FILE PGAS      and the same with CUDA, in the same run; FILE: where they meet, a new one each

Ranks that share a GPU need MPS, and for CUDA TORCH_SYMM_MEM_ALLOW_OVERLAPPING_DEVICES=1 and TORCH_SYMM_MEM_DISABLE_MULTICAST=1.
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

rank, n = int(os.environ["PGAS_RANK"]), int(os.environ["PGAS_SIZE"])
meeting, backend = sys.argv[1], sys.argv[2]
device = torch.device("cuda", rank % torch.cuda.device_count())
torch.cuda.set_device(device)
dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=n)
if backend == "PGAS":
    import pgas.torch

    pgas.torch.enable(group=True)
elif symm_mem.get_backend(device) != backend:
    symm_mem.set_backend(backend)


@triton.jit
def copy(to, source, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(to + at, tl.load(source + at))


def microseconds(call):
    torch.cuda.synchronize()
    dist.barrier()
    began = time.perf_counter()
    made = call()
    return (time.perf_counter() - began) * 1e6, made


times = {"empty": [], "first": [], "again": []}
kept = []
for i in range(40):
    took, x = microseconds(lambda: symm_mem.empty(1 << 20, device=device))
    times["empty"].append(took)
    took, handle = microseconds(lambda: symm_mem.rendezvous(x, dist.group.WORLD))
    times["first"].append(took)
    took, _ = microseconds(lambda: symm_mem.rendezvous(x, dist.group.WORLD))
    times["again"].append(took)
    kept.append((x, handle))
kept.clear()

count = 1 << 26
x = symm_mem.empty(count, device=device)
handle = symm_mem.rendezvous(x, dist.group.WORLD)
there = handle.get_buffer((rank + 1) % n, (count,), torch.float32)
here = torch.empty(count, device=device)
x.fill_(rank)
rates = []
for i in range(22):
    torch.cuda.synchronize()
    dist.barrier()
    if rank == 0:
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        copy[(count // 1024,)](here, there, BLOCK=1024)
        end.record()
        torch.cuda.synchronize()
        rates.append(4 * count / begin.elapsed_time(end) / 1e6)
dist.barrier()
if rank == 0:
    assert (here == 1 % n).all()
    print(json.dumps({"backend": backend, **{f"{name}_us": round(statistics.median(each[2:]), 1) for name, each in times.items()},
                      "triton_reads_GBps": round(statistics.median(rates[2:]), 1)}), flush=True)
dist.barrier()
dist.destroy_process_group()
