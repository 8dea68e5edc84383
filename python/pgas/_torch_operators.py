"""Defines operations as custom operators of torch. torch.compile can then compile functions that call pgas without
graph breaks. The module is imported at the first tensor.

The schema of an operator declares the writes to this PE's memory that the call itself makes. The compiler does not know
that other PEs write to memory. The tensor that names a destination on another PE is declared as read, so the compiler
passes the tensor in the heap, and not a copy. All operators of a world are declared to write `order`, a tensor of one
element, so the compiler keeps all operators and their order.
"""

from __future__ import annotations

import threading
from typing import Any, List, Optional

import torch
from torch import Tensor
from torch.types import Number

from ._staging import Staging
from ._stream import CURRENT, _current_of
from ._tracing import groups, traceable

_orders: dict[int, Tensor] = {}


def order_for(device: int | None) -> None:
    """Creates the tensor `order` of a device, before a function with operators is traced."""
    number = -1 if device is None else device
    if number not in _orders:
        _orders[number] = torch.zeros(1, dtype=torch.uint8, device="cpu" if device is None else f"cuda:{device}")


@traceable
def order_of(world: Any) -> Tensor:
    return _orders[-1 if world.device is None else world.device]


def _stream(current: bool) -> Any:
    return CURRENT if current else None


# ---- one-sided ------------------------------------------------------------------------------------------------------


@torch.library.custom_op("pgas::put", mutates_args=("order",))
def put(order: Tensor, destination: Tensor, source: Tensor, world: int, pe: int, current: bool) -> None:
    groups[world].put(destination, source, pe, stream=_stream(current))


@torch.library.custom_op("pgas::put_number", mutates_args=("order",))
def put_number(order: Tensor, destination: Tensor, value: Number, world: int, pe: int, current: bool) -> None:
    groups[world].p(destination, value, pe, stream=_stream(current))


@torch.library.custom_op("pgas::get", mutates_args=("order", "destination"))
def get(order: Tensor, destination: Tensor, source: Tensor, world: int, pe: int, current: bool) -> None:
    groups[world].get(destination, source, pe, stream=_stream(current))


@torch.library.custom_op("pgas::put_signal", mutates_args=("order",))
def put_signal(order: Tensor, destination: Tensor, source: Tensor, signal: Tensor, value: int, world: int, pe: int, op: str,
               current: bool) -> None:
    groups[world].put_signal(destination, source, signal, value, pe, op=op, stream=_stream(current))


@torch.library.custom_op("pgas::signal", mutates_args=("order",))
def signal(order: Tensor, word: Tensor, value: int, world: int, pe: int, add: bool, current: bool) -> None:
    of = groups[world]
    (of.signal_add if add else of.signal_set)(word, value, pe, stream=_stream(current))


@torch.library.custom_op("pgas::wait_until", mutates_args=("order",))
def wait_until(order: Tensor, words: Tensor, how: str, value: int, world: int, timeout: Optional[float], current: bool) -> None:
    groups[world].wait_until(words, how, value, timeout=timeout, stream=_stream(current))


@torch.library.custom_op("pgas::atomic", mutates_args=("order",))
def atomic(order: Tensor, word: Tensor, name: str, value: Number, world: int, pe: int, current: bool) -> None:
    groups[world]._atomic(name, word, value, pe, _stream(current))


@torch.library.custom_op("pgas::synchronize", mutates_args=("order",))
def synchronize(order: Tensor, name: str, group: int, current: bool) -> None:
    """Executes a barrier, sync, quiet or fence."""
    getattr(groups[group], name)(stream=_stream(current))


# ---- collectives ----------------------------------------------------------------------------------------------------

_lent: dict[int, Staging] = {}
_lending = threading.Lock()  # graphs of several threads may run at the same time


def release(number: int) -> None:
    """Releases the resources that a world has lent to its collectives."""
    with _lending:
        _lent.pop(number, None)


def _staging_of(group: Any) -> Staging:
    world = group._world()
    if world is not group:
        raise ValueError("a compiled collective of a team got a copy of its array: write to that array in another function, or use the "
                         "world's collectives")
    with _lending:
        found = _lent.get(group._number)
        if found is None:
            found = _lent[group._number] = Staging(world, lambda count, x: world.empty(count, x.dtype, like="torch"))
        return found


def _run(name: str, group: int, out: Tensor, x: Optional[Tensor], op: str, root: int, blocks: List[int], current: bool) -> None:
    of = groups[group]
    world = of._world()

    def on_heap(tensor: Tensor) -> bool:
        return tensor.numel() == 0 or bool(world._core.accessible(tensor.data_ptr(), world.my_pe))

    def enqueue(to: Tensor, source: Tensor) -> None:
        of._collective(name, to, source, _stream(current), op=op, root=root, in_blocks=blocks[0], out_blocks=blocks[1],
                       any_count=blocks[1] == 0)

    given = out if x is None else x
    if on_heap(out) and on_heap(given):
        enqueue(out, given)
        return
    # The compiler may pass a copy that is not in the heap. All PEs have the same graph, so all PEs lend memory in this
    # case. torch copies on its current stream, even if the world's arrays belong to another library. A blocking
    # collective does not wait for work on streams, so this function waits for the copies.
    staging = _staging_of(of)
    copies = None if world.device is None else _current_of("torch", world.device)

    def copied() -> None:
        if copies is not None and not current:
            world._core.synchronize(copies)

    with staging.section(copies):
        to = out if on_heap(out) else staging.lend(out, "out", name)
        source = to if x is None else x if on_heap(x) else staging.lend(x, "in", name)
        for lent, own in ((to, out), (source, given)):
            if lent is not own:
                lent.copy_(own)
        copied()
        enqueue(to, source)
        if to is not out:
            out.copy_(to)
            copied()


@torch.library.custom_op("pgas::collective", mutates_args=("order", "out"))
def collective(order: Tensor, out: Tensor, x: Tensor, name: str, op: str, root: int, blocks: List[int], group: int,
               current: bool) -> None:
    _run(name, group, out, x, op, root, blocks, current)


@torch.library.custom_op("pgas::collective_in_place", mutates_args=("order", "x"))
def collective_in_place(order: Tensor, x: Tensor, name: str, op: str, root: int, blocks: List[int], group: int,
                        current: bool) -> None:
    _run(name, group, x, None, op, root, blocks, current)


def _nothing(*arguments: Any) -> None:
    """The implementation for tensors without memory. The operators return no tensor, so there is no shape to
    compute."""


for _operator in (put, put_number, get, put_signal, signal, wait_until, atomic, synchronize, collective, collective_in_place):
    _operator.register_fake(_nothing)
