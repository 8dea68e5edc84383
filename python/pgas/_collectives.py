"""Collectives of a world or a team."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _tracing
from ._array_interop import Array, describe, pe_number, writable
from ._stream import CURRENT, resolve
from ._tracing import fits, traceable

if TYPE_CHECKING:
    from . import _core
    from ._world import World

_operations = {"sum": "sum", "product": "prod", "prod": "prod", "min": "min", "max": "max", "band": "band", "bor": "bor",
               "bxor": "bxor", "and": "band", "or": "bor", "xor": "bxor"}


@traceable
def _operation(op: Any) -> str:
    """Returns this library's name for an operation of torch, such as ReduceOp.SUM or 'sum', or of OpenSHMEM."""
    found = _operations.get(op) if isinstance(op, str) else None
    if found is None:
        found = _operations.get(str(op).rsplit(".", 1)[-1].lower())
    if found is None:
        raise ValueError(f"there is no reduction '{op}': choose sum, prod, min, max, band, bor or bxor")
    return found


def _plain(x: Any, what: str) -> Array:
    about = describe(x)
    if about.strides is not None:
        raise ValueError(f"{what}: arrays are in C order, not with strides: copy into an array of its own")
    return about


@traceable
def _trace_collective(group: Any, name: str, out: Any, x: Any, op: Any, root: int, blocks: list[int], current: bool) -> None:
    node = _tracing.operators
    order = node.order_of(group._world())
    if out is x:
        node.collective_in_place(order, x, name, _operation(op), root, blocks, group._number, current)
    else:
        node.collective(order, out, x, name, _operation(op), root, blocks, group._number, current)


class Collectives:
    """Collectives of a world or of a team. All members make the same calls in the same order. Arrays are symmetric
    memory from world.empty(), zeros() or full(). `stream=` is as in pgas.World."""

    _number: int
    _group: _core.Team

    def _world(self) -> World:
        raise NotImplementedError

    def _members(self) -> int:
        raise NotImplementedError

    @traceable
    def _collective(self, name: str, out: Any, x: Any, stream: Any, *, out_blocks: int = 1, in_blocks: int = 1, op: Any = "sum",
                    root: int = 0, any_count: bool = False) -> None:
        if _tracing.traced() and fits(stream):
            _trace_collective(self, name, out, x, op, root, [in_blocks, 0 if any_count else out_blocks], stream is CURRENT)
            return
        operation = op if op == "sum" else _operation(op)
        root = pe_number(root, name)
        group = self._group
        if stream is CURRENT and group.collective_arrays(name, operation, out, x, in_blocks, 0 if any_count else out_blocks, root):
            return
        source = _plain(x, name)
        to = writable(source if out is x else _plain(out, name), name)
        if to.dtype != source.dtype:
            raise TypeError(f"{name}: the output is of {to.dtype}, the input of {source.dtype}")
        count = source.size // in_blocks
        if count * in_blocks != source.size:
            raise ValueError(f"{name}: the input has {source.size} elements, which {in_blocks} members can't share equally")
        if not any_count and to.size != count * out_blocks:
            raise ValueError(f"{name}: for an input of {source.size} elements the output has {count * out_blocks}, not {to.size}")
        where = resolve(self._world(), stream, to, source)
        group.collective(name, to.dtype, operation, to.ptr, source.ptr, count, root, (1, 1), where)

    @traceable
    def barrier(self, *, stream: Any = CURRENT) -> None:
        """Returns when all members have called barrier() and the earlier operations of the host are complete. With a
        stream, the barrier is executed in the order of the stream."""
        if _tracing.traced() and fits(stream):
            node = _tracing.operators
            node.synchronize(node.order_of(self._world()), "barrier", self._number, stream is CURRENT)
            return
        self._group.barrier(resolve(self._world(), stream))

    @traceable
    def sync(self, *, stream: Any = CURRENT) -> None:
        """Returns when all members have called sync(). Earlier operations of the members may be incomplete."""
        if _tracing.traced() and fits(stream):
            node = _tracing.operators
            node.synchronize(node.order_of(self._world()), "sync", self._number, stream is CURRENT)
            return
        self._group.sync(resolve(self._world(), stream))

    @traceable
    def broadcast(self, x: Any, root: int = 0, *, source: Any = None, stream: Any = CURRENT) -> None:
        """Copies member `root`'s elements to every member. The root sends the elements of `source`, or works in
        place."""
        self._collective("broadcast", x, x if source is None else source, stream, root=root)

    @traceable
    def all_reduce(self, x: Any, op: Any = "sum", *, out: Any = None, stream: Any = CURRENT) -> None:
        """Combines every member's elements. Every member receives the result, in `out` or in place."""
        self._collective("all_reduce", x if out is None else out, x, stream, op=op)

    @traceable
    def reduce(self, x: Any, root: int = 0, op: Any = "sum", *, out: Any = None, stream: Any = CURRENT) -> None:
        """Like all_reduce(), but only member `root` receives the result. The memory of the other members is not
        written."""
        self._collective("reduce", x if out is None else out, x, stream, op=op, root=root)

    @traceable
    def reduce_scatter(self, out: Any, x: Any, op: Any = "sum", *, stream: Any = CURRENT) -> None:
        """Combines every member's elements. Member k receives block k of the result."""
        self._collective("reduce_scatter", out, x, stream, op=op, in_blocks=self._members())

    @traceable
    def all_gather(self, out: Any, x: Any, *, stream: Any = CURRENT) -> None:
        """Gathers every member's elements on every member, in the order of the members."""
        self._collective("all_gather", out, x, stream, out_blocks=self._members())

    @traceable
    def all_gather_v(self, out: Any, x: Any, *, stream: Any = CURRENT) -> None:
        """Like all_gather(), with counts that differ between members. `out` has space for all elements; with checks on,
        the call verifies this."""
        self._collective("all_gather_v", out, x, stream, any_count=True)

    @traceable
    def all_to_all(self, out: Any, x: Any, *, stream: Any = CURRENT) -> None:
        """Copies block j of member i's `x` to block i of member j's `out`."""
        self._collective("all_to_all", out, x, stream, in_blocks=self._members(), out_blocks=self._members())

    @traceable
    def inclusive_scan(self, x: Any, op: Any = "sum", *, out: Any = None, stream: Any = CURRENT) -> None:
        """Combines the elements of members 0 to k. Member k receives the result."""
        self._collective("inclusive_scan", x if out is None else out, x, stream, op=op)

    @traceable
    def exclusive_scan(self, x: Any, op: Any = "sum", *, out: Any = None, stream: Any = CURRENT) -> None:
        """Combines the elements of members 0 to k - 1. Member k receives the result; member 0 receives the neutral
        element."""
        self._collective("exclusive_scan", x if out is None else out, x, stream, op=op)

    # The same functions by torch's longer names and by OpenSHMEM's names.
    all_gather_into_tensor = all_gather
    reduce_scatter_tensor = reduce_scatter
    all_to_all_single = all_to_all
    fcollect = all_gather
    alltoall = all_to_all
    reduce_to_root = reduce
    barrier_all = barrier
    sync_all = sync
