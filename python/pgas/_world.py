"""Worlds, and arrays on their heap."""

from __future__ import annotations

import gc
from types import ModuleType, TracebackType
from typing import Any, Sequence

from . import _core, _tracing
from ._array_interop import bytes_of, check_representable, describe, dtype_name, extent_bytes, is_number, library_of, make, pe_number, shape_of, whole_number, word_bytes
from ._collectives import Collectives
from ._core import Memory
from ._error import Code, Error
from ._one_sided import Operations
from ._program_line import calling_line, raising_line
from ._stream import CURRENT, Stream, native_of, resolve
from ._team import Team
from ._tracing import traceable

_alignment = 64  # JAX requires this alignment; the value must be equal on all PEs, with any library


class Context:
    """The data of a world or a team that a kernel needs: the bytes of the C++ struct pgas::context."""

    def __init__(self, raw: bytes) -> None:
        self.bytes = raw

    def __repr__(self) -> str:
        return f"<pgas.Context of {len(self.bytes)} bytes>"


class World(Operations, Collectives):
    """The PEs that joined together. pgas.join() creates a world. At the end of a `with` block the PE leaves the
    world."""

    def __init__(self, core: _core.World, like: Any = None) -> None:
        self._core = core
        self._group = core.team
        self._number = _tracing.number_of(self)
        self._like = like
        self.my_pe: int = core.my_pe
        """This PE's number."""
        self.n_pes: int = core.n_pes
        """How many PEs there are."""
        self.device: int | None = core.device
        """The number of this PE's GPU, as CUDA counts here; None on the host heap."""

    def __repr__(self) -> str:
        place = "the host heap" if self.device is None else f"GPU {self.device}"
        return f"<pgas.World: PE {self.my_pe} of {self.n_pes} on {place}{', left' if self._core.left else ''}>"

    @traceable
    def _world(self) -> World:
        return self

    @traceable
    def _members(self) -> int:
        return self.n_pes

    # ---- the world itself -------------------------------------------------------------------------------------------

    def __enter__(self) -> World:
        return self

    def __exit__(self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None) -> None:
        planned = raised is None or (isinstance(raised, SystemExit) and raised.code in (None, 0))
        if planned:
            self.leave()
            return
        self.abort(f"{type(raised).__name__}: {raised}{raising_line(trace)}")
        try:
            self.leave()
        except Error:
            pass  # this is the first failure of the world, which is already being raised

    def leave(self) -> None:
        """Collective: waits for all PEs, then releases all resources. Afterwards the arrays of the world are invalid:
        their memory is unmapped, and an access ends the process. A second call has no effect."""
        if _tracing.operators is not None:
            _tracing.operators.release(self._number)
        self._core.leave()

    def abort(self, reason: str) -> None:
        """Ends the world for all PEs. Their calls raise an error with this reason."""
        self._core.abort(reason)

    def check(self) -> None:
        """Raises the first failure of the world, if the world has failed."""
        self._core.check()

    def info(self, pe: int) -> dict[str, Any]:
        """The properties of a PE: host, pid, device, route and more."""
        return self._core.info(pe_number(pe, "info"))

    def usage(self) -> dict[str, int]:
        """The use of this PE's part of the heap in bytes, the number of arrays, and the number of dropped arrays whose
        memory is not yet freed."""
        return self._core.usage()

    @property
    def context(self) -> Context:
        """The context that kernels take as an argument."""
        return Context(self._core.context_bytes())

    @property
    def team(self) -> Team:
        """The team of all PEs."""
        return Team(self, self._group)

    @property
    def domain_team(self) -> Team:
        """The team of the PEs whose memory this PE accesses directly by loads and stores, including this PE."""
        return Team(self, self._core.domain_team)

    @property
    def host_team(self) -> Team:
        """The team of the PEs of this host."""
        return Team(self, self._core.host_team)

    @property
    def library(self) -> str:
        """The library of new arrays, if the program does not request another library."""
        return library_of(self._like, self.device is not None)

    def stream(self) -> Stream:
        """Creates a stream of the world."""
        return Stream(self)

    def synchronize(self, stream: Any = CURRENT) -> None:
        """Waits for a stream, and raises failures of its work."""
        if isinstance(stream, Stream):
            stream.synchronize()
        else:
            self._core.synchronize(resolve(self, stream) if stream is CURRENT else native_of(stream))

    # ---- arrays -----------------------------------------------------------------------------------------------------

    def _allocate(self, what: str, nbytes: int, alignment: int, zero: bool) -> Memory:
        call = f"{what} at {calling_line()}"
        try:
            return self._core.allocate(nbytes, alignment, zero, call)
        except Error as failed:
            if failed.code is not Code.out_of_memory:
                raise
        # The garbage collector runs here because all PEs execute this line. Arrays in reference cycles are dropped only
        # by the collector.
        gc.collect()
        return self._core.allocate(nbytes, alignment, zero, call)

    def _array(self, what: str, shape: int | Sequence[int], dtype: Any, like: Any, zero: bool) -> Any:
        extents = shape_of(shape)
        template = None if like is None or isinstance(like, str) or type(like).__name__ == "module" else describe(like)
        if dtype is None:
            dtype = "float32" if template is None else template.dtype
        name = dtype_name(dtype)
        library = library_of(self._like if like is None else like, self.device is not None)
        check_representable(name, library)
        size = bytes_of(what, extents, name)
        memory = self._allocate(f"{what}({extents}, {name})", size, _alignment, zero)
        return make(memory.view(extents, name), library)

    def empty(self, shape: int | Sequence[int], dtype: Any = None, *, like: Any = None) -> Any:
        """Collective: creates an array on the heap of every PE, with the same shape and type on all PEs. The array is
        not initialized. The type is float32 if neither `dtype` nor an array `like` determines the type.

        `like` is the name of a library, or an array. A new array has the library of the array `like`, and, without
        `dtype`, also its type. Dropping an array is local, and PEs may drop arrays in any order. The next collective
        call that allocates, or collect(), frees the memory."""
        return self._array("empty", shape, dtype, like, False)

    def zeros(self, shape: int | Sequence[int], dtype: Any = None, *, like: Any = None) -> Any:
        """Like empty(), but all elements are zero. On return, the elements are zero on all PEs."""
        return self._array("zeros", shape, dtype, like, True)

    def full(self, shape: int | Sequence[int], fill_value: Any, dtype: Any = None, *, like: Any = None) -> Any:
        """Like empty(), but all elements have the value `fill_value`. On return, the elements have their value on all
        PEs. PEs may pass different values. The default type is the type of the value: int64, bool, complex64, the type
        of a NumPy number, or float32."""
        if dtype is None and (like is None or isinstance(like, (str, ModuleType))):
            own = getattr(fill_value, "dtype", None)  # NumPy numbers have a dtype
            dtype = own if own is not None else {bool: "bool", int: "int64", complex: "complex64"}.get(type(fill_value), "float32")
        if is_number(fill_value):
            name = dtype_name(dtype if dtype is not None else describe(like).dtype)
            if not name.startswith("complex"):
                word_bytes(fill_value, name)  # raises if the conversion would change the number
        made = self._array("full", shape, dtype, like, False)
        about = describe(made)
        if about.library == "jax" or about.library == "memory":
            raise TypeError("full: arrays of JAX can't be written, and plain memory has no values: use zeros() or empty()")
        made[...] = fill_value
        if self.device is not None:
            self.synchronize(resolve(self, CURRENT, about))
        self.barrier(stream=None)
        return made

    def allocate(self, nbytes: int, *, alignment: int = 16, zero: bool = False) -> Memory:
        """Collective: allocates plain memory on the heap of every PE, for libraries that accept DLPack, the CUDA array
        interface or, on the host heap, the buffer protocol."""
        nbytes, alignment = whole_number(nbytes, "allocate: nbytes"), whole_number(alignment, "allocate: alignment")
        return self._allocate(f"allocate({nbytes}, alignment={alignment}, zero={zero})", nbytes, alignment, zero)

    def collect(self) -> int:
        """Collective: frees the memory of arrays that all PEs have dropped. Returns the number of these arrays."""
        return self._core.collect(f"collect() at {calling_line()}")

    def peer(self, x: Any, pe: int) -> Any:
        """PE `pe`'s part of an array, as an array of the same library for loads and stores; None if the PE is
        proxied."""
        about = describe(x)
        begin, size = extent_bytes(about)
        memory = self._core.peer(begin, size, pe_number(pe, "peer"))
        if memory is None:
            return None
        return make(memory.view(about.shape, about.dtype, about.ptr - begin, about.strides), about.library)

    def peers(self, x: Any) -> list[Any]:
        """The results of peer() for all PEs, in the order of their numbers."""
        return [self.peer(x, pe) for pe in range(self.n_pes)]

    def ptrs(self, x: Any) -> Any:
        """The addresses of the array on every PE, as 64-bit integers in an array of the same library, on the same
        device; 0 for a proxied PE."""
        about = describe(x)
        numbers = [self._core.remote(about.ptr, pe) for pe in range(self.n_pes)]
        if about.library == "torch":
            import torch

            return torch.tensor(numbers, dtype=torch.int64, device=about.source.device)
        if about.library == "cupy":
            import cupy

            return cupy.asarray(numbers, dtype="uint64")
        if about.library == "jax":
            import jax
            import numpy

            low_and_high = numpy.asarray(numbers, "uint64").view("uint32")  # JAX has 64-bit integers only on request
            return jax.device_put(low_and_high, next(iter(about.source.devices())))
        import numpy

        return numpy.asarray(numbers, "uint64")

    def accessible(self, x: Any, pe: int) -> bool:
        """Whether operations on the array can reach PE `pe`: whether the array is symmetric memory of that PE."""
        return self._core.accessible(describe(x).ptr, pe_number(pe, "accessible"))
