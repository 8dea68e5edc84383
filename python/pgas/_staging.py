"""Symmetric memory that a world, or a process group of torch, lends to collectives on tensors that are not in symmetric
memory."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Callable, Iterator

import torch

from . import _core

if TYPE_CHECKING:
    from ._world import World


class Staging:
    """A tensor for each use and element type, at most twice as large as the largest requested tensor. All collectives
    share these tensors. Work that is enqueued within a section() runs after the work of all earlier sections, whatever
    streams they use."""

    def __init__(self, world: World, make: Callable[[int, torch.Tensor], torch.Tensor]) -> None:
        """make: a collective function that allocates a number of elements of symmetric memory, with the type and on the
        device of a tensor."""
        self._world = world
        self._make = make
        self._order = _core.WorkOrder(world._core)
        self._lock = threading.RLock()
        self._tensors: dict[tuple[str, torch.dtype], torch.Tensor] = {}
        self._in_graphs: dict[int, torch.Tensor] = {}

    @contextmanager
    def section(self, stream: Any) -> Iterator[None]:
        """A section of calls that use the memory. `stream`: the stream's number, or None if the calls within the
        section block."""
        with self._lock:
            if stream is None:
                yield
                return
            self._order.before(stream)
            try:
                yield
            finally:
                self._order.after(stream)

    def lend(self, x: torch.Tensor, use: str, what: str) -> torch.Tensor:
        """Returns symmetric memory with the size and the shape of the tensor. *Callers* within section(). Collective if
        the memory must be allocated."""
        capturing = x.is_cuda and torch.cuda.is_current_stream_capturing()
        key = (use, x.dtype)
        found = self._tensors.get(key)
        if found is None or found.numel() < x.numel():
            if capturing:
                _core.raise_error(504, f"{what}: a tensor outside symmetric memory is copied through the group's staging memory. "
                                       f"It has none yet for {x.numel()} elements of {x.dtype}, and it can't allocate during the "
                                       "capture of a CUDA graph. Call the function once before the capture with a tensor of "
                                       "this size, or pass tensors of symmetric memory after a rendezvous of the group", -1)
            # A new tensor is at least twice as large as the old tensor. So the old tensors, which graphs may keep, are
            # together smaller than the new tensor. The rule is the same on all members, with and without a capture.
            found = self._tensors[key] = self._make(x.numel() if found is None else max(x.numel(), 2 * found.numel()), x)
        if capturing:
            # A graph uses this memory at each launch, and the library does not learn when the graph is destroyed, so
            # the memory is kept.
            self._in_graphs[found.data_ptr()] = found
        return found[:x.numel()].view(x.shape)
