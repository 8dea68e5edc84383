"""Arrays and timelines that any two processes of a host share by ticket, without a world."""

from __future__ import annotations

import json
import sys
import weakref
from typing import Any, Mapping, NamedTuple, Sequence

from . import _core
from ._array_interop import Array, bytes_of, describe, dtype_name, extent_bytes, gpu_of, library_of, make, may_overlap, shape_of
from ._stream import CURRENT, _current_of, native_of

class Opener(NamedTuple):
    """A process that has opened an object of this process."""

    pid: int
    uid: int
    since: float
    """Seconds since 1970."""


class Ticket(str):
    """A text by which another process opens shared arrays: pgas.open(ticket). A program can pass a ticket by a file, a
    pipe or a variable."""

    _shared: Sequence[_core.SharedMemory] = ()

    def revoke(self) -> None:
        """Makes all tickets of the arrays invalid. A process that has opened the arrays keeps them."""
        for one in self._shared:
            one.revoke()

    def opened_by(self) -> list[Opener]:
        """The processes that have the arrays open now."""
        found = {row for one in self._shared for row in one.opened_by()}
        return sorted(Opener(*row) for row in found)

    def __reduce__(self) -> tuple[Any, ...]:
        return (str, (str(self),))


class OpenedArray(NamedTuple):
    """The origin of an opened array, returned by opened()."""

    host: str
    pid: int
    uid: int
    alive: bool
    """Whether the process that shares it still runs."""


# Memory that this process shares, by its start address. An entry exists while memory of shared_empty(), or a shared
# array, exists.
_shared: weakref.WeakValueDictionary[int, _core.SharedMemory] = weakref.WeakValueDictionary()
# The objects that share arrays of other libraries. An entry is removed when its array is dropped.
_keeping: dict[tuple[int, int], _core.SharedMemory] = {}
# Memory that this process has opened, by its start address.
_opened: weakref.WeakValueDictionary[int, _core.OpenedMemory] = weakref.WeakValueDictionary()
# Memory for the tickets of arrays without elements.
_nothing: list[_core.SharedMemory] = []


def shared_empty(shape: int | Sequence[int], dtype: Any = "float32", *, like: Any = None, device: int | None = None,
                 read_only: bool = False) -> Any:
    """An array in separate memory that share() can share: on the host, or on the GPU with number `device`.

    `read_only`: other processes may only read the array. Host memory is initially zero."""
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
    """Keeps the tickets of `shared` valid until the array is dropped."""
    key = (id(array), shared.memory.ptr)
    if key not in _keeping:
        _keeping[key] = shared
        weakref.finalize(array, _keeping.pop, key, None)


def _with_signal_pad(begin: int, size: int, whole_block: bool) -> tuple[int, int]:
    """The memory that a handle can share. For a tensor in torch's symmetric memory, this is the tensor's whole
    block."""
    backend = sys.modules.get("pgas.torch")
    block: tuple[int, int] | None = None if backend is None else backend._block_of(begin)
    if block is None:
        return begin, size
    if not whole_block:
        _core.raise_error(304, "share: the memory block of a torch symmetric memory tensor includes its signal pad: "
                               "whole_block=True shares both", -1)
    return block


def _shared_of(about: Array, whole_block: bool) -> tuple[_core.SharedMemory, int]:
    """The object that shares the memory of an array, and the offset of the array in the shared memory."""
    begin, size = extent_bytes(about)
    for start, shared in list(_shared.items()):
        if start <= begin and begin + size <= start + shared.memory.nbytes:
            _keep(about.source, shared)
            return shared, begin - start
    if about.library == "torch":
        # The whole storage is shared, because other arrays may also be in this storage.
        storage = about.source.untyped_storage()
        begin, size = _with_signal_pad(storage.data_ptr(), storage.nbytes(), whole_block)
    shared = _core.SharedMemory.share(begin, size, gpu_of(about), False, whole_block)
    _shared[begin] = shared
    _keep(about.source, shared)
    return shared, extent_bytes(about)[0] - begin


class _Part(NamedTuple):
    """The position of an array in the shared memory."""

    begin: int
    end: int
    whole: bool
    """Whether all bytes between are its elements."""


def _check_disclosed(shared: _core.SharedMemory, parts: list[_Part]) -> None:
    """Raises if a ticket would open more memory than its arrays."""
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
    """A ticket for an array, or for a mapping of names to arrays, such as a state_dict: a process that opens the ticket
    uses the same memory.

    The memory of an array must come from shared_empty(), or be memory that a handle can share: arrays of torch and CuPy
    on a GPU. Tickets are valid as long as an array of the shared memory exists.

    read_only: importers may only read. Arrays that are read-only in this process are always shared read-only. Processes
    with other tickets may write.
    whole_block: permits a ticket that opens more memory than the arrays. Examples are a larger array that contains the
    arrays, and neighbouring memory of PyTorch's allocator.
    lifetime: the time in seconds for which the ticket is valid.
    opens: the number of processes that may open the ticket.
    user: the number of the user that may open the ticket, in place of this process's user."""
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
    """Opens a ticket. Returns an array, or a dict of arrays, in the memory of the process that shares them.

    like: the library of the arrays. The default is the library of the exporter.
    device: the number of the GPU, or 'host', that uses the arrays. The default is the device of the memory.
    timeout: the seconds in which the exporter must answer.

    The ticket of a program in C or C++ opens as one array of bytes."""
    first = _core.OpenedMemory.open(ticket, timeout, device)
    if not first.description:
        # The exporter is a C or C++ program, so the ticket contains no shapes.
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
    """Tells which process shares an opened array, and whether that process still runs."""
    begin, size = extent_bytes(describe(array))
    for start, one in list(_opened.items()):
        if start <= begin and begin + size <= start + one.memory().nbytes:
            return OpenedArray(*one.exporter, one.alive)
    raise ValueError("opened: the array was not opened by pgas.open()")


class Timeline:
    """A growing 64-bit value that orders streams and threads of two processes: one process records values, the other
    process waits for values. Timeline() creates a timeline, and Timeline.open() opens one. docs/sharing.md describes
    what happens when a process that uses a timeline ends."""

    def __init__(self, device: int | None = None, *, _core_timeline: _core.Timeline | None = None) -> None:
        self._timeline = _core.Timeline.make(device) if _core_timeline is None else _core_timeline
        self.device = self._timeline.gpu
        """The number of the GPU whose streams use it; None for the host."""

    @classmethod
    def open(cls, ticket: str, *, device: Any = None, timeout: float = 10.0) -> Timeline:
        """Opens the timeline of another process."""
        return cls(_core_timeline=_core.Timeline.open(ticket, timeout, device))

    def ticket(self, *, lifetime: float | None = None, opens: int | None = None, user: int | None = None) -> str:
        """Makes a ticket for open(). Only the process that has created the timeline can make tickets."""
        return self._timeline.ticket(lifetime, opens, user)

    def revoke(self) -> None:
        """Makes all tickets invalid."""
        self._timeline.revoke()

    def opened_by(self) -> list[Opener]:
        """The processes that have the timeline open now."""
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
        """Sets the value in the order of the stream; on the host, immediately. A process that waits for the value sees
        all earlier work."""
        self._timeline.record(self._queue(stream), value)

    def set(self, value: int) -> None:
        """Sets the value immediately."""
        self._timeline.set(value)

    def wait(self, value: int, *, stream: Any = CURRENT, timeout: float | None = None) -> None:
        """Makes the stream wait until the value is at least `value`. If the timeline is on the host and `stream` is not
        a stream of a world on the host heap, the call itself waits, at most `timeout` seconds. Streams wait without a
        time limit, and take no `timeout`."""
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
        """The current value."""
        return self._timeline.query()

    def recorded(self) -> int:
        """The last recorded value. The stream may not have reached this value yet."""
        return self._timeline.recorded()

    @property
    def word(self) -> int:
        """The address of the value, for kernels on the device of the timeline."""
        return self._timeline.word

    @property
    def alive(self) -> bool:
        """Whether the process that records can still record values."""
        return self._timeline.alive

    def check(self) -> None:
        """Raises if a wait has ended, or would end, without its value."""
        self._timeline.check()


