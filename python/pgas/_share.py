"""Arrays and timelines shared by ticket, between any two processes of a host, without a world."""

from __future__ import annotations

import json
import sys
import weakref
from typing import Any, Mapping, NamedTuple, Sequence

from . import _core
from ._array_interop import Array, bytes_of, describe, dtype_name, extent_bytes, gpu_of, library_of, make, may_overlap, shape_of
from ._stream import CURRENT, _current_of, native_of

class Opener(NamedTuple):
    """A process that has something of this one open."""

    pid: int
    uid: int
    since: float
    """Seconds since 1970."""


class Ticket(str):
    """A word that opens shared arrays: pgas.open(ticket). It can go through a file, a pipe or a variable as any text."""

    _shared: Sequence[_core.SharedMemory] = ()

    def revoke(self) -> None:
        """Makes all tickets of the arrays invalid. Who has them open keeps them."""
        for one in self._shared:
            one.revoke()

    def opened_by(self) -> list[Opener]:
        """The processes that have the arrays open now."""
        found = {row for one in self._shared for row in one.opened_by()}
        return sorted(Opener(*row) for row in found)

    def __reduce__(self) -> tuple[Any, ...]:
        return (str, (str(self),))


class OpenedArray(NamedTuple):
    """Where an opened array comes from, by opened()."""

    host: str
    pid: int
    uid: int
    alive: bool
    """Whether the process that shares it still runs."""


# Memory that this process shares, by its start: kept while memory of shared_empty(), or a shared array, is alive.
_shared: weakref.WeakValueDictionary[int, _core.SharedMemory] = weakref.WeakValueDictionary()
# Shared arrays of other libraries, with the objects that share them; dropped with the array.
_keeping: dict[tuple[int, int], _core.SharedMemory] = {}
# Memory that this process has opened, by its start.
_opened: weakref.WeakValueDictionary[int, _core.OpenedMemory] = weakref.WeakValueDictionary()
# Carries the tickets of arrays without elements.
_nothing: list[_core.SharedMemory] = []


def shared_empty(shape: int | Sequence[int], dtype: Any = "float32", *, like: Any = None, device: int | None = None,
                 read_only: bool = False) -> Any:
    """An array in memory of its own that share() can share: on the host, or on the GPU with this number.

    `read_only`: others may only read it. Memory of the host is zero at first."""
    extents = shape_of(shape)
    name = dtype_name(dtype)
    size = bytes_of("shared_empty", extents, name)
    if size == 0:
        raise ValueError(f"shared_empty: the shape {extents} has no elements")
    shared = _core.SharedMemory.make(device, size, read_only)
    memory = shared.memory.view(extents, name)  # the array keeps the sharing object alive
    _shared[memory.ptr] = shared
    return make(memory, library_of(like, device is not None))


def _keep(array: Any, shared: _core.SharedMemory) -> None:
    """The tickets of `shared` are valid while the array lives, whichever array was shared first."""
    key = (id(array), shared.memory.ptr)
    if key not in _keeping:
        _keeping[key] = shared
        weakref.finalize(array, _keeping.pop, key, None)


def _with_signal_pad(begin: int, size: int, whole_block: bool) -> tuple[int, int]:
    """A tensor of torch's symmetric memory as its whole block, which is what a handle can share."""
    backend = sys.modules.get("pgas.torch")
    block: tuple[int, int] | None = None if backend is None else backend._block_of(begin)
    if block is None:
        return begin, size
    if not whole_block:
        _core.raise_error(304, "share: the memory block of a torch symmetric memory tensor includes its signal pad: "
                               "whole_block=True shares both", -1)
    return block


def _shared_of(about: Array, whole_block: bool) -> tuple[_core.SharedMemory, int]:
    """What shares the memory of an array, and where it begins in there."""
    begin, size = extent_bytes(about)
    for start, shared in list(_shared.items()):
        if start <= begin and begin + size <= start + shared.memory.nbytes:
            _keep(about.source, shared)
            return shared, begin - start
    if about.library == "torch":
        # The memory of all arrays with a common storage.
        storage = about.source.untyped_storage()
        begin, size = _with_signal_pad(storage.data_ptr(), storage.nbytes(), whole_block)
    shared = _core.SharedMemory.share(begin, size, gpu_of(about), False, whole_block)
    _shared[begin] = shared
    _keep(about.source, shared)
    return shared, extent_bytes(about)[0] - begin


class _Part(NamedTuple):
    """Where an array lies in what is shared."""

    begin: int
    end: int
    whole: bool
    """Whether all bytes between are its elements."""


def _check_disclosed(shared: _core.SharedMemory, parts: list[_Part]) -> None:
    """Raises where a ticket would open more memory than the arrays that it is for."""
    reached = 0
    for part in sorted(part for part in parts if part.whole):
        if part.begin > reached:
            break
        reached = max(reached, part.end)
    if reached < shared.memory.nbytes:
        given = sum(part.end - part.begin for part in parts)
        _core.raise_error(304, f"share: a ticket opens all {shared.memory.nbytes} bytes of the array's memory, and {given} bytes "
                               "were passed: share the whole array, copy the part into another shared_empty(), or allow it "
                               "(whole_block=True)", -1)


def share(arrays: Any, *, read_only: bool = False, whole_block: bool = False, lifetime: float | None = None,
          opens: int | None = None, user: int | None = None) -> Ticket:
    """A ticket for an array, or for a mapping of names to arrays, such as a state_dict: a process that opens it uses the same memory.

    The array is of shared_empty(), or of memory that a handle can share: torch and CuPy on a GPU. Tickets are valid as long as
    an array of the shared memory lives. `read_only`: importers may only read, as of arrays that are read-only
    here; others may write by other tickets. `whole_block`: also where the ticket opens more than the arrays: the array of which
    they are parts, or the memory around it, as with PyTorch's allocator. lifetime: seconds. opens: how many processes may open
    it. user: the number of the user that may, instead of this one."""
    named: Mapping[str, Any] = arrays if isinstance(arrays, Mapping) else {"": arrays}
    numbers: dict[int, int] = {}
    used: list[_core.SharedMemory] = []
    parts: list[list[_Part]] = []
    read: list[bool] = []
    rows = []
    for name, array in named.items():
        if not isinstance(name, str):
            raise TypeError(f"share: the names of a mapping are texts, not {name!r}")
        about = describe(array)
        if about.size == 0:
            rows.append([name, -1, 0, about.dtype, list(about.shape), None, about.library])
            continue
        shared, offset = _shared_of(about, whole_block)
        if id(shared) not in numbers:
            numbers[id(shared)] = len(used)
            used.append(shared)
            parts.append([])
            read.append(read_only)
        number = numbers[id(shared)]
        read[number] = read[number] or about.readonly
        low, size = extent_bytes(about)
        parts[number].append(_Part(offset, offset + size, size == about.size * about.itemsize and not may_overlap(about)))
        strides = None if about.strides is None else list(about.strides)
        rows.append([name, number, offset + about.ptr - low, about.dtype, list(about.shape), strides, about.library])
    if not whole_block:
        for shared, given in zip(used, parts):
            _check_disclosed(shared, given)
    if not used:
        if not _nothing:
            _nothing.append(_core.SharedMemory.make(None, 1, True))
        used, read = list(_nothing), [False]
    others = [shared.ticket(lifetime, opens, user, only, b"") for shared, only in zip(used[1:], read[1:])]
    content = {"mapping": isinstance(arrays, Mapping), "arrays": rows, "others": others}
    made = Ticket(used[0].ticket(lifetime, opens, user, read[0], json.dumps(content, separators=(",", ":")).encode()))
    made._shared = used
    return made


def _content_of(description: bytes) -> dict[str, Any]:
    try:
        content = json.loads(description)
        count = 1 + len(content["others"])
        for name, which, offset, dtype, shape, strides, library in content["arrays"]:
            if not (-1 <= which < count and offset >= 0 and isinstance(name, str)):
                raise ValueError(which)
        return dict(content)
    except (ValueError, KeyError, TypeError):
        _core.raise_error(204, "open: this version does not support the ticket's description of its memory: use the same "
                               "version of pgas on both sides", -1)
        raise


def open(ticket: str, *, like: Any = None, device: Any = None, timeout: float = 10.0) -> Any:
    """The arrays of a ticket, in the memory of the process that shares them: an array, or a dict of them.

    `like`: of which library they are; else of that of the exporter. device: the number of the GPU, or 'host', on which they are
    used; else where the memory lies. timeout: seconds that the exporter may take to answer. The ticket of a program in C or C++
    opens as one array of bytes."""
    first = _core.OpenedMemory.open(ticket, timeout, device)
    if not first.description:
        # Memory of a C or C++ exporter, which has no shapes.
        memory = first.memory()
        _opened[memory.ptr] = first
        return _writable_or_not(memory, library_of(like, memory.device is not None))
    content = _content_of(first.description)
    memories: list[_core.Memory] = []
    for opened in (first, *(_core.OpenedMemory.open(text, timeout, device) for text in content["others"])):
        memory = opened.memory()
        memories.append(memory)
        _opened[memory.ptr] = opened
    arrays: dict[str, Any] = {}
    for name, which, offset, dtype, shape, strides, library in content["arrays"]:
        if which < 0:
            part = _core.SharedMemory.make(None, 1, False).memory.view(shape, dtype)
        else:
            part = memories[which].view(shape, dtype, offset, strides)
        wanted = library if like is None else library_of(like, part.device is not None)
        arrays[name] = _writable_or_not(part, wanted)
    return arrays if content["mapping"] else arrays[""]


def _writable_or_not(memory: _core.Memory, library: str) -> Any:
    if library == "torch" and memory.readonly:
        raise TypeError("open: the memory is read-only, and torch has no read-only tensors: pass like='numpy', 'cupy' or 'memory'")
    return make(memory, library)


def opened(array: Any) -> OpenedArray:
    """Who shares an opened array, and whether that process still runs."""
    begin, size = extent_bytes(describe(array))
    for start, one in list(_opened.items()):
        if start <= begin and begin + size <= start + one.memory().nbytes:
            return OpenedArray(*one.exporter, one.alive)
    raise ValueError("opened: the array was not opened by pgas.open()")


class Timeline:
    """A 64-bit value that grows, by which streams and threads of two processes are ordered: one records, the other waits. Made
    by Timeline(), or opened by Timeline.open(). docs/sharing.md says what happens when a side ends."""

    def __init__(self, device: int | None = None, *, _core_timeline: _core.Timeline | None = None) -> None:
        self._timeline = _core.Timeline.make(device) if _core_timeline is None else _core_timeline
        self.device = self._timeline.gpu
        """The number of the GPU whose streams use it; None for the host."""

    @classmethod
    def open(cls, ticket: str, *, device: Any = None, timeout: float = 10.0) -> Timeline:
        """The timeline of another process."""
        return cls(_core_timeline=_core.Timeline.open(ticket, timeout, device))

    def ticket(self, *, lifetime: float | None = None, opens: int | None = None, user: int | None = None) -> str:
        """A new ticket for open(). Only of a timeline that was made here."""
        return self._timeline.ticket(lifetime, opens, user)

    def revoke(self) -> None:
        """Makes all tickets invalid."""
        self._timeline.revoke()

    def opened_by(self) -> list[Opener]:
        """The processes that have it open now."""
        return [Opener(*row) for row in self._timeline.opened_by()]

    def _queue(self, stream: Any) -> Any:
        if stream is not CURRENT:
            queue = native_of(stream)
            return queue.native if isinstance(queue, _core.Stream) else queue
        if self.device is None:
            return None
        current = _current_of(library_of(None, True), self.device)
        if current is None:
            raise ValueError("Timeline: JAX has no current stream: pass stream=")
        return current

    def record(self, value: int, *, stream: Any = CURRENT) -> None:
        """Sets the value when the stream gets there; on the host now. A process that waits for it sees all earlier work."""
        self._timeline.record(self._queue(stream), value)

    def set(self, value: int) -> None:
        """Sets the value now."""
        self._timeline.set(value)

    def wait(self, value: int, *, stream: Any = CURRENT, timeout: float | None = None) -> None:
        """Holds the stream until the value is at least `value`. On the host the call waits, at most `timeout` seconds, unless
        `stream` is one of a world's host heap. Streams wait without a limit, and take no `timeout`."""
        queue = self._queue(stream)
        if self.device is None and queue is None:
            self.wait_host(value, timeout=timeout)
            return
        if timeout is not None:
            raise ValueError(f"Timeline.wait: timeout={timeout}: a wait on a stream has no limit. Use wait_host(value, timeout=) "
                             "to wait on the host with a limit")
        self._timeline.wait(queue, value)

    def wait_host(self, value: int, *, timeout: float | None = None) -> None:
        """Returns when the value is at least `value`. Ctrl-C ends the wait."""
        self._timeline.wait_host(value, timeout)

    def query(self) -> int:
        """The value now."""
        return self._timeline.query()

    def recorded(self) -> int:
        """The last value that was recorded, reached or not."""
        return self._timeline.recorded()

    @property
    def word(self) -> int:
        """The address of the value, for kernels of its place."""
        return self._timeline.word

    @property
    def alive(self) -> bool:
        """Whether the values still to come can come."""
        return self._timeline.alive

    def check(self) -> None:
        """Raises where a wait has ended, or would end, without its value."""
        self._timeline.check()


