"""Lists of pages: one call copies many pages of arrays."""

from __future__ import annotations

import ctypes
import operator
from typing import Any, NamedTuple

import numpy

from . import _core
from ._array_interop import Array, _contiguous, describe, gpu_of, whole_number, writable
from ._stream import CURRENT, Stream, _current_of, native_of


class Pages(NamedTuple):
    """A list of pages for the C++ library."""

    to: tuple[int, int, int, int]
    source: tuple[int, int, int, int]
    page_bytes: int
    n_pages: int
    arrays: tuple[Array, ...]
    """The destination, the source, and the arrays of indices."""


def _page(about: Array, what: str, role: str) -> tuple[int, int]:
    """The bytes between the starts of neighbouring pages, and the bytes of a page."""
    if not about.shape:
        raise ValueError(f"{what}: the {role} has no dimensions: its first dimension counts pages")
    elements = 1
    for extent in about.shape[1:]:
        elements *= extent
    if about.strides is None:
        return elements * about.itemsize, elements * about.itemsize
    if not _contiguous(about.shape[1:], about.strides[1:]) or about.strides[0] < 0:
        raise ValueError(f"{what}: each page of the {role} must be contiguous, and the pages ascending: shape {tuple(about.shape)}, "
                         f"strides {tuple(about.strides)}")
    return about.strides[0] * about.itemsize, elements * about.itemsize


def _indices(index: Any, pages: int, what: str, role: str) -> Array | None:
    if index is None:
        return None
    if isinstance(index, (list, tuple, range)):
        if any(isinstance(number, bool) for number in index):
            raise TypeError(f"{what}: the indices of the {role} are whole numbers, not {list(index)!r}")
        index = numpy.asarray([operator.index(number) for number in index], "int64")
    about = describe(index)
    if about.dtype not in ("int32", "int64") or len(about.shape) != 1 or about.strides is not None:
        raise TypeError(f"{what}: the indices of the {role} are a contiguous array of int32 or int64 with one dimension, not of "
                        f"{about.dtype} with the shape {tuple(about.shape)}")
    if about.size > 0 and gpu_of(about) is None:
        memory = memoryview((ctypes.c_char * (about.size * about.itemsize)).from_address(about.ptr))
        numbers = numpy.frombuffer(memory, about.dtype)
        least, most = int(numbers.min()), int(numbers.max())
        if least < 0 or most >= pages:
            raise IndexError(f"{what}: the {role} has pages 0 to {pages - 1}, and its indices go from {least} to {most}")
    return about


def pages_of(what: str, destination: Any, source: Any, destination_index: Any, source_index: Any) -> Pages:
    """Describes the list that copies page source_index[i] of `source` to page destination_index[i] of `destination`."""
    here, there = writable(describe(destination), what), describe(source)
    if here.dtype != there.dtype:
        raise TypeError(f"{what}: the destination is of {here.dtype}, the source of {there.dtype}: convert one of them")
    to_stride, size = _page(here, what, "destination")
    from_stride, other = _page(there, what, "source")
    if size != other:
        raise ValueError(f"{what}: a page of the destination has the shape {tuple(here.shape[1:])}, and a page of the source "
                         f"{tuple(there.shape[1:])}: pass pages of one size")
    to_index = _indices(destination_index, here.shape[0], what, "destination")
    from_index = _indices(source_index, there.shape[0], what, "source")
    counts = [about.shape[0] if index is None else index.size for about, index in ((here, to_index), (there, from_index))]
    if counts[0] != counts[1]:
        raise ValueError(f"{what}: {counts[0]} pages of the destination, {counts[1]} of the source: pass as many indices on both "
                         "sides; without indices, all pages of the array take part")

    def side(about: Array, stride: int, index: Array | None) -> tuple[int, int, int, int]:
        return (about.ptr, stride, 0, 8) if index is None else (about.ptr, stride, index.ptr, index.itemsize)

    indices = [index for index in (to_index, from_index) if index is not None]
    return Pages(side(here, to_stride, to_index), side(there, from_stride, from_index), size, counts[0], (here, there, *indices))


def copy_list(destination: Any, source: Any, *, destination_index: Any = None, source_index: Any = None, stream: Any = CURRENT,
              most_blocks: int = 0) -> None:
    """Copies many pages by one call, without a world: page source_index[i] of `source` to page destination_index[i] of
    `destination`. The arrays are of this process, or opened by pgas.open(). The first dimension of an array counts its
    pages, and each page is contiguous. Without indices, page i is copied to page i.

    Indices are int32 or int64, in an array of any library or in a list. The call checks indices in host memory, and does
    not check indices on a GPU or in arrays of CuPy. No page of the destination may occur twice. Arrays on a GPU are
    copied in the order of `stream`, by default the current stream of the library of `destination`; keep the arrays until
    the stream has executed the copies. `most_blocks` limits the thread blocks of the kernel; 0: no limit. Arrays in host
    memory are copied immediately, or by a pgas.Stream of a world on the host heap."""
    pages = pages_of("copy_list", destination, source, destination_index, source_index)
    gpus = [gpu for gpu in (gpu_of(each) for each in pages.arrays[:2]) if gpu is not None]
    gpu = gpus[0] if gpus else None
    limit = whole_number(most_blocks, "copy_list: most_blocks")
    queue: Any = None
    if gpu is None:
        if isinstance(stream, Stream) and stream.device is None:
            stream._held.extend(each.source for each in pages.arrays)
            queue = stream.native
        elif stream is not CURRENT and stream is not None:
            raise ValueError(f"copy_list: stream={stream!r}: the arrays are in host memory: pass None, or a stream of a world on the host heap")
    elif stream is None or (isinstance(stream, Stream) and stream.device is None):
        raise ValueError("copy_list: the arrays are on a GPU, and a stream of the GPU copies them: pass stream=")
    elif stream is CURRENT:
        queue = _current_of(pages.arrays[0].library, gpu)
        if queue is None:
            raise ValueError(f"copy_list: arrays of {pages.arrays[0].library} have no current stream: pass stream=")
    elif isinstance(stream, Stream):
        stream._held.extend(each.source for each in pages.arrays)
        queue = stream.native
    else:
        queue = native_of(stream)
    _core.copy_list(gpu, queue, pages.to, pages.source, pages.page_bytes, pages.n_pages, limit)
