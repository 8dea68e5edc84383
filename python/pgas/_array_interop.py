"""Arrays of all supported libraries: describes an array for the C++ library, and makes arrays from memory."""

from __future__ import annotations

import importlib.util
import numbers
import operator
import struct
import sys
from typing import Any, Callable, NamedTuple, Sequence

from ._core import Memory, itemsize, raise_error


class Array(NamedTuple):
    """The description of an array for the C++ library."""

    ptr: int
    size: int
    itemsize: int
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    """In elements; None in C order."""
    library: str
    source: Any
    readonly: bool = False
    """Whether its library lets nobody write it."""


# Struct formats that convert Python numbers to words, and words to numbers.
_formats = {
    "int8": "<b", "uint8": "<B", "int16": "<h", "uint16": "<H", "int32": "<i", "uint32": "<I", "int64": "<q",
    "uint64": "<Q", "float16": "<e", "float32": "<f", "float64": "<d", "bool": "<?",
}


# The number of significant bits of each floating-point type.
_precisions = {"bfloat16": 8, "float16": 11, "float32": 24, "float64": 53}


def _as_kept(value: Any, dtype: str) -> Any:
    """Returns the value as an int or a float that converts to an element of this type without loss. A real number is
    rounded to a float."""
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{value!r} is text, not a number of type {dtype}")
    precision = _precisions.get(dtype)
    try:
        whole = operator.index(value)
    except TypeError:
        if precision is not None:
            return float(value)
        if int(value) != value:
            raise ValueError(f"{value} is not a whole number: {dtype} would lose a part of it") from None
        whole = int(value)
    if precision is None:
        if dtype == "bool" and whole not in (0, 1):
            raise OverflowError(f"{value} does not fit in bool")
        return whole
    if abs(whole) >> max(whole.bit_length() - precision, 0) << max(whole.bit_length() - precision, 0) != abs(whole):
        raise OverflowError(f"{value} does not fit in {dtype}, which keeps {precision} bits of a whole number")
    return float(whole)


def is_number(value: Any) -> bool:
    """Whether `value` is a real number of Python or NumPy. Arrays, complex numbers and structured values are not."""
    return isinstance(value, numbers.Real) or (type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_"))


def pe_number(pe: Any, what: str) -> int:
    """Converts an argument to the number of a PE, or of a member of a team."""
    if type(pe) is int and -1 << 31 <= pe < 1 << 31:
        return pe
    try:
        number = operator.index(pe)
    except TypeError:
        raise TypeError(f"{what}: a PE is a whole number from 0, not {pe!r}") from None
    if not -1 << 31 <= number < 1 << 31:
        raise_error(301, f"{what}: PE {number} does not exist", -1)
    return number


def word_bytes(value: Any, dtype: str) -> bytes:
    """Returns the bytes of one number."""
    if dtype == "bfloat16":
        bits = struct.unpack("<I", struct.pack("<f", _as_kept(value, dtype)))[0]
        if value == value:  # rounds to nearest, ties to even; a NaN stays a NaN
            bits += 0x7FFF + (bits >> 16 & 1)
        return struct.pack("<H", bits >> 16 & 0xFFFF)
    if dtype not in _formats:
        raise TypeError(f"a scalar of type {dtype} is not supported: pass an array")
    try:
        return struct.pack(_formats[dtype], _as_kept(value, dtype))
    except struct.error as wrong:
        raise OverflowError(f"{value} does not fit in {dtype}") from wrong


def whole_number(value: Any, what: str) -> int:
    """Converts an argument to a count or a number of bytes."""
    number = operator.index(value)
    if not 0 <= number < 1 << 62:
        raise ValueError(f"{what} is a number from 0 to 2**62 - 1, not {number}")
    return number


def word_bits(value: Any, dtype: str) -> int:
    """Returns the bit pattern of one number."""
    return int.from_bytes(word_bytes(value, dtype), "little")


def number_of(bits: int, dtype: str, itemsize: int) -> Any:
    """Returns the number that has a bit pattern."""
    if dtype == "bfloat16":
        return struct.unpack("<f", struct.pack("<I", bits << 16))[0]
    if dtype not in _formats:
        raise TypeError(f"a scalar of type {dtype} has no Python number: get() an array")
    return struct.unpack(_formats[dtype], bits.to_bytes(itemsize, "little"))[0]


def _contiguous(shape: Sequence[int], strides: Sequence[int]) -> bool:
    step = 1
    for extent, stride in zip(reversed(shape), reversed(strides)):
        if extent != 1 and stride != step:
            return 0 in shape
        step *= extent
    return True


# The following functions run for each argument of each call. To be fast, they look up types in tables, and create
# tuples without the overhead of Array's constructor.
_new = tuple.__new__
_numpy_types: dict[Any, tuple[str, int]] = {}
_torch_types: dict[Any, tuple[str, int]] = {}


def _native(dtype: Any) -> Any:
    """Returns the NumPy type. Raises unless it has the processor's byte order, because the library would misread other
    numbers."""
    if not dtype.isnative:
        raise TypeError(f"the element type {dtype.str if dtype.names is None else dtype} has another byte order than this machine: convert "
                        "the array first, a.astype(a.dtype.newbyteorder('='))")
    return dtype


def _type_of_numpy(dtype: Any) -> tuple[str, int]:
    # All structured types of the same size have the same dtype.name, so this function uses str(dtype).
    name = str(_native(dtype).name) if dtype.names is None else str(dtype)
    found = _numpy_types[dtype] = (name, int(dtype.itemsize))
    return found


def _of_numpy(x: Any) -> Array:
    dtype = x.dtype
    name, itemsize = _numpy_types.get(dtype) or _type_of_numpy(dtype)
    strides = None
    flags = x.flags
    if not flags.c_contiguous:
        strides = tuple(s // itemsize for s in x.strides)
        if any(s % itemsize for s in x.strides):
            raise ValueError("an array with strides that are not a multiple of its element size: copy it first")
    return _new(Array, (x.__array_interface__["data"][0], x.size, itemsize, name, x.shape, strides, "numpy", x, not flags.writeable))


def _of_masked(x: Any) -> Array:
    raise TypeError("a masked array: masked elements have no value; pass a.filled(value), or a.data")


def _of_torch(x: Any) -> Array:
    if x.is_conj() or x.is_neg():
        raise TypeError("a torch tensor with a pending (lazy) conjugation or negation: its memory has other values; pass "
                        "x.resolve_conj(), or x.resolve_neg()")
    if str(x.layout) != "torch.strided" or x.is_meta:
        raise TypeError(f"a torch tensor without dense memory (layout {x.layout}, device {x.device}): pass a dense one, x.to_dense()")
    dtype = x.dtype
    found = _torch_types.get(dtype)
    if found is None:
        found = _torch_types[dtype] = (str(dtype).removeprefix("torch."), x.element_size())
    strides = None if x.is_contiguous() else tuple(x.stride())
    return _new(Array, (x.data_ptr(), x.numel(), found[1], found[0], x.shape, strides, "torch", x, False))


def _of_cupy(x: Any) -> Array:
    dtype = x.dtype
    name, itemsize = _numpy_types.get(dtype) or _type_of_numpy(dtype)
    strides = None if x.flags.c_contiguous else tuple(s // itemsize for s in x.strides)
    return _new(Array, (x.data.ptr, x.size, itemsize, name, x.shape, strides, "cupy", x, False))


def _of_jax(x: Any) -> Array:
    x.block_until_ready()
    return Array(x.unsafe_buffer_pointer(), x.size, x.dtype.itemsize, x.dtype.name, x.shape, None, "jax", x)


def _of_memory(x: Memory) -> Array:
    strides = None if _contiguous(x.shape, x.strides) else x.strides
    count = x.nbytes // x.itemsize
    return Array(x.ptr, count, x.itemsize, x.dtype, x.shape, strides, "memory", x, x.readonly)


def _of_interface(x: Any) -> Array:
    import numpy as np

    if hasattr(x, "__cuda_array_interface__"):
        about = x.__cuda_array_interface__
        dtype = _native(np.dtype(about["typestr"]))
        shape = tuple(about["shape"])
        steps = about.get("strides")
        strides = None if steps is None else tuple(s // dtype.itemsize for s in steps)
        if strides is not None and _contiguous(shape, strides):
            strides = None
        count = 1
        for extent in shape:
            count *= extent
        return Array(about["data"][0], count, dtype.itemsize, dtype.name, shape, strides, "memory", x, bool(about["data"][1]))
    try:
        return _of_numpy(np.asarray(memoryview(x)))._replace(source=x)
    except TypeError:
        pass
    raise TypeError(f"{type(x).__name__} is not an array type that pgas supports: pass an array of NumPy, torch, CuPy or JAX, a "
                    "pgas.Memory, or an object with __cuda_array_interface__ or a buffer. (One element of a NumPy array is a "
                    "copy: pass a[0:1] for a[0].)")


_known: dict[type, Callable[[Any], Array]] = {Memory: _of_memory}


def _find(kind: type) -> Callable[[Any], Array]:
    for base in kind.__mro__:
        root = base.__module__.split(".")[0]
        if root == "numpy" and base.__name__ == "MaskedArray":
            return _of_masked
        if root == "numpy" and base.__name__ == "ndarray":
            return _of_numpy
        if root == "torch" and base.__name__ == "Tensor":
            from ._hide_from_torch_compile import hide_from_torch

            hide_from_torch()
            return _of_torch
        if root == "cupy" and base.__name__ == "ndarray":
            return _of_cupy
        if root in ("jaxlib", "jax") and "Array" in base.__name__:
            return _of_jax
    return _of_interface


def describe(x: Any) -> Array:
    """The description of an array for the C++ library."""
    kind = type(x)
    handler = _known.get(kind)
    if handler is None:
        handler = _known[kind] = _find(kind)
    return handler(x)


def shape_of(shape: int | Sequence[int]) -> tuple[int, ...]:
    """The shape of a new array."""
    if isinstance(shape, (str, bytes)):
        raise TypeError(f"the shape {shape!r} is text: give a whole number, or several")
    try:
        made: tuple[int, ...] = (operator.index(shape),)  # type: ignore[arg-type]
    except TypeError:
        try:
            made = tuple(operator.index(extent) for extent in shape)  # type: ignore[union-attr]
        except TypeError:
            raise TypeError(f"the shape {shape!r} is not a whole number or a sequence of them") from None
    if any(extent < 0 for extent in made):
        raise ValueError(f"the shape {made} has a negative extent")
    return made


def bytes_of(what: str, shape: tuple[int, ...], dtype: str) -> int:
    """The number of bytes of an array. Raises if the number exceeds the address range."""
    size = item = itemsize(dtype)
    room = item
    for extent in shape:
        size *= extent
        room *= max(extent, 1)
    if room >= 1 << 62:
        raise_error(201, f"{what}: {dtype} elements of the shape {shape} have {room} bytes, which exceeds any memory: give a smaller shape", -1)
    return size


def may_overlap(about: Array) -> bool:
    """Whether two elements of an array may share memory. False means that no two elements share memory."""
    if about.strides is None:
        return False
    reach = 0
    for stride, extent in sorted((abs(stride), extent) for extent, stride in zip(about.shape, about.strides) if extent > 1):
        if stride <= reach:
            return True
        reach += stride * (extent - 1)
    return False


def writable(about: Array, what: str) -> Array:
    """Returns the array for an operation that writes to it. Raises if the array is read-only or would not keep the
    written values."""
    if about.readonly:
        raise ValueError(f"{what}: the operation writes the array, which is read-only: pass a copy")
    if about.size > 0 and may_overlap(about):
        raise ValueError(f"{what}: elements of the array may share memory (shape {tuple(about.shape)}, strides "
                         f"{tuple(about.strides or ())}), and the operation writes each of them: pass a copy; broadcast_to() and "
                         "expand() make such views")
    return about


def gpu_of(x: Array) -> int | None:
    """The number of the GPU whose memory contains the array; None for the host."""
    of = x.source
    if x.library == "torch":
        return int(of.get_device()) if of.is_cuda else None
    if x.library == "cupy":
        return int(of.device.id)
    if x.library == "jax":
        device = next(iter(of.devices()))
        return int(device.local_hardware_id) if device.platform in ("gpu", "cuda") else None
    if hasattr(of, "__dlpack_device__"):
        kind, number = of.__dlpack_device__()
        return int(number) if kind == 2 else None
    return 0 if hasattr(of, "__cuda_array_interface__") else None


def dtype_name(dtype: Any) -> str:
    """The name of an element type of any library."""
    if isinstance(dtype, str) and dtype in ("bfloat16", "bool", *_formats):
        return dtype
    text = str(dtype)
    if text.startswith("torch."):
        return text.removeprefix("torch.")
    import numpy as np

    return str(_native(np.dtype(dtype)).name)


def library_of(like: Any, on_gpu: bool) -> str:
    """The library for new arrays: `like` is an array of the library, the name of the library, or None for the default
    library."""
    if like is None:
        if not on_gpu:
            return "numpy"
        for name in ("torch", "cupy", "jax"):
            if name in sys.modules:
                return name
        raise ValueError("GPU arrays need torch, CuPy or JAX: import one of them first, or pass like='torch'; for NumPy arrays use join(heap='host')")
    if isinstance(like, str):
        if like not in ("numpy", "torch", "cupy", "jax", "memory"):
            raise ValueError(f"like='{like}': choose 'numpy', 'torch', 'cupy', 'jax' or 'memory', or pass an array")
        return like
    if type(like).__name__ == "module":
        return library_of(like.__name__.split(".")[0], on_gpu)
    return describe(like).library


def _as_jax(memory: Memory) -> Any:
    import jax.dlpack

    made = jax.dlpack.from_dlpack(memory)
    if made.unsafe_buffer_pointer() == memory.ptr and made.dtype.name == memory.dtype:
        return made
    # If JAX has copied the memory, the copy is outside the heap.
    if made.dtype.name != memory.dtype:
        raise TypeError(f"JAX converts {memory.dtype} to {made.dtype.name}: choose another type, or call "
                        "jax.config.update('jax_enable_x64', True) first")
    raise ValueError(f"JAX needs memory aligned to 64 bytes, not {memory.ptr:#x}: start views at multiples of 64 bytes")


def check_representable(dtype: str, library: str) -> None:
    """Raises if the library is not installed, or if the library has no such element type."""
    if library != "memory" and library not in sys.modules and importlib.util.find_spec(library) is None:
        package = {"cupy": "cupy-cuda13x"}.get(library, library)
        raise ModuleNotFoundError(f"like='{library}': this Python has no {library}: pip install {package}, or name another library", name=library)
    if dtype == "bfloat16" and library == "numpy":
        try:
            import ml_dtypes  # noqa: F401
        except ImportError:
            raise TypeError("NumPy itself has no bfloat16: pip install ml_dtypes, which adds it, or pass like='torch'") from None


def make(memory: Memory, library: str) -> Any:
    """Returns the memory as an array of a library. The array keeps the memory alive."""
    if library == "memory":
        return memory
    if library == "numpy":
        import numpy as np

        check_representable(memory.dtype, library)
        if memory.device is not None:
            raise ValueError("NumPy can't use memory of a GPU: pass like='torch', 'cupy' or 'jax'")
        if memory.dtype == "bfloat16":
            import ml_dtypes

            return np.asarray(memory.view(memory.shape, "uint16", 0, memory.strides)).view(ml_dtypes.bfloat16)
        return np.asarray(memory)
    if library == "torch":
        import torch

        from . import _tracing
        from ._hide_from_torch_compile import hide_from_torch

        hide_from_torch()
        if _tracing.operators is not None:
            _tracing.operators.order_for(memory.device)
        return torch.from_dlpack(memory)
    if library == "cupy":
        import cupy

        return cupy.from_dlpack(memory)
    if library == "jax":
        return _as_jax(memory)
    raise ValueError(f"'{library}' is not a supported array library")


def extent_bytes(x: Array) -> tuple[int, int]:
    """The lowest address of an array, and the number of bytes from this address to the end of the array."""
    low = high = 0
    if x.size > 0:
        for size, stride in zip(x.shape, x.strides or ()):
            reach = (size - 1) * stride
            low, high = (low + reach, high) if reach < 0 else (low, high + reach)
        if x.strides is None:
            high = x.size - 1
        high += 1
    return x.ptr + low * x.itemsize, (high - low) * x.itemsize
