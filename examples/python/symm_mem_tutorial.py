"""The basics of torch's symmetric memory, following torch's own guide. Only the lines with pgas are not in the guide.

    pgasrun -n 4 python symm_mem_tutorial.py
    torchrun --nproc-per-node 4 symm_mem_tutorial.py
"""

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem

import pgas.torch

world = pgas.torch.init_process_group()  # instead of dist.init_process_group() and symm_mem.set_backend()
device = torch.device("cpu") if world.device is None else torch.device("cuda", world.device)
rank, n = dist.get_rank(), dist.get_world_size()
right, left = (rank + 1) % n, (rank - 1) % n


def check(right_, what):
    if not right_:
        raise SystemExit(f"PE {rank}: {what}")


# Each rank allocates memory. The rendezvous is collective, and its handle has the addresses of all ranks' memory.
x = symm_mem.empty(4, 8, device=device)
handle = symm_mem.rendezvous(x, dist.group.WORLD)
check((handle.rank, handle.world_size) == (rank, n) and len(handle.buffer_ptrs) == n, "the handle is of another group")

# Read: a peer's buffer is a tensor.
x.fill_(rank)
handle.barrier()  # all ranks have written
total = sum(handle.get_buffer(peer, x.shape, x.dtype) for peer in range(n))
handle.barrier()  # all ranks have read
check((total == n * (n - 1) / 2).all(), f"the sum of all buffers is {total}")

# Write: put the data, then signal. A rank that has waited for the signal sees the data.
for step in range(10):
    handle.get_buffer(right, x.shape, x.dtype).fill_(100 * rank + step)
    handle.put_signal(right, channel=0)
    handle.wait_signal(left, channel=0)
    check((x == 100 * left + step).all(), f"step {step}: the left has not put its number")
    handle.barrier(channel=1)  # the data is read before the next data arrives; channels are independent of each other

# The signal pad is memory beside each buffer, for flags of the program. The pad is initially zero, and must be zero
# again after use.
flags = handle.get_signal_pad(rank, (n,), torch.int32)
handle.get_signal_pad(right, (n,), torch.int32)[rank] = rank + 1
handle.barrier()
check(flags.sum() == left + 1 and flags[left] == left + 1, f"the flags are {flags}")
handle.barrier()
flags.zero_()

# Some ranks form a separate group. The same tensor may have a rendezvous in several groups.
group = dist.new_group([rank for rank in range(n) if rank % 2 == 0])
if rank % 2 == 0:
    among_even = symm_mem.rendezvous(x, group)
    x.fill_(rank)
    among_even.barrier()
    there = [int(among_even.get_buffer(peer, (1,), x.dtype)) for peer in range(among_even.world_size)]
    check(there == list(range(0, n, 2)), f"the even ranks have {there}")
    among_even.barrier()

print(f"PE {rank} of {n}: reads, puts, signals and a group of the even ranks are right")
dist.barrier()
dist.destroy_process_group()
