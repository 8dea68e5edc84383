"""Used by programs that test torch's symmetric memory with the backend PGAS. Importing this module joins the world,
with sys.argv[1].

A file name: torch.distributed uses this file, which must not exist yet. "env": torch.distributed uses torchrun's
variables.
"""

import os
import sys

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem

import pgas
import pgas.torch

meeting = sys.argv[1]
on_gpu = os.environ.get("PGAS_HEAP") != "host"
gpu = int(os.environ.get("LOCAL_RANK") or os.environ.get("PGAS_RANK") or 0) % torch.cuda.device_count() if on_gpu else None
if gpu is not None:
    torch.cuda.set_device(gpu)
if meeting == "env":
    dist.init_process_group("gloo")
    world = pgas.torch.enable(group=True)
else:
    world = pgas.join(like="torch", device=gpu)
    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=world.my_pe, world_size=world.n_pes)
    assert pgas.torch.enable(world) is world
rank, n = dist.get_rank(), dist.get_world_size()
device = torch.device("cuda", torch.cuda.current_device()) if on_gpu else torch.device("cpu")
everyone = dist.group.WORLD
right, left = (rank + 1) % n, (rank - 1) % n


def done():
    if on_gpu:
        torch.cuda.synchronize()


def met(shape, dtype=torch.float32, group=everyone):
    x = symm_mem.empty(shape, dtype=dtype, device=device)
    return x, symm_mem.rendezvous(x, group)


def raises(call, *words):
    """Returns the pgas.Error that the call raises, whose text must contain these words."""
    try:
        call()
        done()
        world.check()
    except pgas.Error as said:
        assert all(str(word) in str(said) for word in words), said
        return said
    raise AssertionError(f"no error with {words}")
