"""The weights of a model in symmetric memory. A process that does not belong to the job uses them without a copy.

All ranks train rank 0's weights: each rank adds its part by a store into rank 0's memory. An engine is another process,
which has only a ticket. The parameters of the engine's model are in the same memory, so the engine sees each step
immediately. Rank 0 starts the engine here, but any process of the same host and user could open the ticket.

    pgasrun -n 4 python symm_mem_shared_weights.py
    torchrun --nproc-per-node 4 symm_mem_shared_weights.py
"""

import subprocess
import sys

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem

import pgas
import pgas.torch

STEPS = 5


def network() -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 16))


@torch.no_grad()
def engine() -> None:
    """Runs as the other process: reads a ticket, then a line for each forward pass."""
    weights = pgas.open(sys.stdin.readline().strip())
    model = network()
    model.load_state_dict(weights, assign=True)
    owner = pgas.opened(weights["0.weight"]).pid
    for _ in sys.stdin:
        x = torch.ones(1, 64, device=weights["0.weight"].device)
        print(owner, float(model(x).sum()), flush=True)


def into(model: torch.nn.Module, flat: torch.Tensor) -> None:
    """Moves the parameters into parts of one tensor."""
    begin = 0
    for parameter in model.parameters():
        part = flat[begin:begin + parameter.numel()].view(parameter.shape)
        parameter.data = part.copy_(parameter.data)
        begin += parameter.numel()


@torch.no_grad()
def main() -> None:
    world = pgas.torch.init_process_group()
    device = torch.device("cpu") if world.device is None else torch.device("cuda", world.device)
    rank, n = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(1)
    model = network()
    flat = symm_mem.empty(sum(each.numel() for each in model.parameters()), device=device)
    handle = symm_mem.rendezvous(flat, dist.group.WORLD)
    into(model, flat)
    of_rank_0 = handle.get_buffer(0, flat.shape, flat.dtype)
    mine = of_rank_0.tensor_split(n)[rank]

    if rank == 0:
        # whole_block permits sharing the tensor's whole memory block, which includes the signal pad.
        ticket = pgas.share(model.state_dict(), whole_block=True)
        other = subprocess.Popen([sys.executable, __file__, "engine"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        print(ticket, file=other.stdin, flush=True)
    handle.barrier()
    for step in range(STEPS):
        mine += 0.01 * (rank + 1)
        handle.barrier()  # the step is complete
        if rank == 0:
            expected = float(model(torch.ones(1, 64, device=device)).sum())  # waits for the GPU too
            print("forward", file=other.stdin, flush=True)
            owner, seen = other.stdout.readline().split()
            if abs(float(seen) - expected) > 1e-4 * abs(expected):
                raise SystemExit(f"PE 0: in step {step} the engine has {seen}, not {expected}")
        handle.barrier()  # the next step may begin
    if rank == 0:
        other.stdin.close()
        if other.wait(timeout=60) != 0:
            raise SystemExit("PE 0: the engine has failed")
        print(f"PE 0: the engine, process {other.pid}, has read {len(flat)} weights of process {owner} in each of {STEPS} steps")
    else:
        print(f"PE {rank}: {len(mine)} weights of rank 0 trained in {STEPS} steps")
    dist.barrier()
    dist.destroy_process_group()


engine() if sys.argv[1:] == ["engine"] else main()
