"""Initializes torch.distributed and joins the world in one call, under any launcher."""

from __future__ import annotations

import os
import socket
from typing import Any

import torch
import torch.distributed as dist

from ._join import join
from ._world import World

_ADDRESS_BYTES = 256


def join_with_process_group(backend: str, device: int | None, options: dict[str, Any]) -> World:
    """Collective. If torch's variables are set (torchrun), uses them for both. Otherwise joins the world by the
    launcher, and initializes torch with a store whose address PE 0 sends through the world."""
    if all(name in os.environ for name in ("MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE")):
        device = _gpu_of_rank() if device is None else device
        if device is not None:
            torch.cuda.set_device(device)  # joining makes the first collective call, for which NCCL needs the device
        dist.init_process_group(backend, **options)
        joined = join(group=True, device=device, like="torch")
        _use_gpu_of(joined)
        return joined
    joined = join(device=device, like="torch")
    _use_gpu_of(joined)
    dist.init_process_group(backend, store=_store_of(joined), rank=joined.my_pe, world_size=joined.n_pes, **options)
    return joined


def _gpu_of_rank() -> int | None:
    """The GPU that the program has set, or the GPU of the local rank under torchrun."""
    if not torch.cuda.is_available():
        return None
    if torch.cuda.is_initialized():
        return int(torch.cuda.current_device())
    local = os.environ.get("LOCAL_RANK")
    return None if local is None else int(local) % torch.cuda.device_count()


def _use_gpu_of(joined: World) -> None:
    if joined.device is not None:
        torch.cuda.set_device(joined.device)


def _store_of(joined: World) -> Any:
    """A store that PE 0 serves. The other PEs receive its address by a broadcast of the world."""
    on_one_host = joined.host_team.n_pes == joined.n_pes
    address = joined.zeros(_ADDRESS_BYTES, "uint8")
    if joined.my_pe == 0:
        name = "localhost" if on_one_host else socket.gethostname()
        store = dist.TCPStore(name, 0, joined.n_pes, is_master=True, wait_for_workers=False)
        said = f"{name}:{store.port}".encode()
        address[:len(said)] = torch.tensor(list(said), dtype=torch.uint8)
    joined.broadcast(address, 0)
    if joined.my_pe == 0:
        return store
    name, port = bytes(address.tolist()).rstrip(b"\0").decode().rsplit(":", 1)
    return dist.TCPStore(name, int(port), joined.n_pes, is_master=False)
