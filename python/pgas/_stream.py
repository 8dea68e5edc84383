"""Streams: queues of work that runs in order, concurrently with the program."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

from . import _core
from ._array_interop import Array

if TYPE_CHECKING:
    from ._world import World


class _Current:
    """The type of CURRENT."""

    def __repr__(self) -> str:
        return "pgas.CURRENT"


CURRENT = _Current()
"""The default of stream=: the current stream of the array's library on a GPU; on the host heap the call blocks."""


class Stream:
    """A stream of a world: on a GPU heap a CUDA stream, on the host heap a thread with a queue. The stream keeps the
    arrays of its operations alive until synchronize(). If the program drops the stream earlier, the arrays are kept
    until the work of the stream is complete. Dropping a stream does not wait."""

    def __init__(self, world: World) -> None:
        self._held: list[Any] = []
        self._lock = threading.Lock()  # for synchronize(): each call drops the arrays of the completed work
        self._stream = _core.Stream(world._core, self._held)
        self.device = world.device
        """The number of the stream's GPU; None on the host heap."""

    @property
    def native(self) -> int:
        """The cudaStream_t, as a number."""
        return self._stream.native

    def __cuda_stream__(self) -> tuple[int, int]:
        return (0, self.native)

    def synchronize(self) -> None:
        """Returns when the work on the stream is complete. Raises the errors of that work."""
        with self._lock:
            used = len(self._held)
            try:
                self._stream.synchronize()
            finally:
                del self._held[:used]


def _current_of(library: str, gpu: int) -> int | None:
    if library == "torch":
        # The value of torch.cuda.current_stream(gpu).cuda_stream. The function does not create the stream object.
        native: int = sys.modules["torch"]._C._cuda_getCurrentRawStream(gpu)
        return native
    if library == "cupy":
        return int(sys.modules["cupy"].cuda.get_current_stream(gpu).ptr)
    return None


def native_of(stream: Any) -> Any:
    """Converts a stream to the form that the C++ library takes: None, a number, or a stream object of the extension."""
    if stream is None:
        return stream
    if isinstance(stream, int):
        if isinstance(stream, bool) or not 0 <= stream < 1 << 64:
            raise ValueError(f"stream={stream}: the number of a cudaStream_t is its address")
        return stream
    if isinstance(stream, Stream):
        return stream._stream
    if hasattr(stream, "cuda_stream"):  # torch
        return int(stream.cuda_stream)
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    if hasattr(stream, "ptr"):  # CuPy
        return int(stream.ptr)
    raise TypeError(f"stream={stream!r}: pass a stream of torch or CuPy, a pgas.Stream, the number of a cudaStream_t, or None to "
                    "block")


def resolve(world: Any, stream: Any, *arrays: Array) -> Any:
    """The stream for an operation on these arrays. The first array determines the current stream."""
    if stream is None:
        return None
    if stream is CURRENT:
        gpu = world.device
        if gpu is None:
            return None
        return _current_of(arrays[0].library if arrays else world.library, gpu)
    if isinstance(stream, Stream):
        stream._held.extend(one.source for one in arrays)
    return native_of(stream)
