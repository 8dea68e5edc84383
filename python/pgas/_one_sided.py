"""One-sided operations of a world: copies, signals, waits, atomics."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Iterator, Sequence

from . import _tracing
from ._array_interop import Array, describe, is_number, number_of, pe_number, whole_number, word_bits, word_bytes, writable
from ._lists import pages_of
from ._stream import CURRENT, resolve
from ._tracing import fits, traceable

if TYPE_CHECKING:
    from . import _core

_comparisons = {"==": 0, "!=": 1, ">": 2, "<=": 3, "<": 4, ">=": 5, "eq": 0, "ne": 1, "gt": 2, "le": 3, "lt": 4, "ge": 5}


def _compare(how: str) -> int:
    if how not in _comparisons:
        raise ValueError(f"there is no comparison '{how}': choose ==, !=, >, <=, <, >= (or eq, ne, gt, le, lt, ge)")
    return _comparisons[how]


def _word(x: Any, what: str) -> Array:
    about = describe(x)
    if about.size != 1:
        raise ValueError(f"{what}: one word is needed, not {about.size}: pass a[i:i+1] (NumPy), or a[i] (torch, CuPy)")
    return about


def _signal_word(x: Any, what: str) -> Array:
    about = _word(x, what)
    if about.dtype not in ("uint64", "int64"):
        raise TypeError(f"{what}: a signal is a uint64 or an int64, not {about.dtype}: make it by world.zeros(1, 'uint64')")
    return about


@traceable
def _trace_copy(world: Any, get: bool, to: Any, source: Any, pe: int, current: bool) -> None:
    node = _tracing.operators
    order = node.order_of(world)
    if get:
        node.get(order, to, source, world._number, pe, current)
    elif isinstance(source, (int, float, bool)):
        node.put_number(order, to, source, world._number, pe, current)
    else:
        node.put(order, to, source, world._number, pe, current)


class Operations:
    """The one-sided operations of a World. `stream=` of all operations is one of the following. pgas.CURRENT: the
    current stream of the array's library on a GPU; on the host heap the call blocks. None: the call returns when the
    operation is complete. A stream of torch or CuPy, a pgas.Stream, or a cudaStream_t as a number: the operation runs
    on that stream."""

    _core: _core.World
    _number: int
    device: int | None

    # ---- copies -----------------------------------------------------------------------------------------------------

    @traceable
    def _copy(self, get: bool, to: Any, source: Any, pe: int, stream: Any, nbi: bool) -> None:
        if _tracing.traced() and fits(stream):
            _trace_copy(self, get, to, source, pe, stream is CURRENT)
            return
        pe = pe_number(pe, "get" if get else "put")
        if stream is CURRENT and self._core.copy_arrays(get, to, source, pe, nbi):
            return
        if not get and is_number(source):
            self.p(to, source, pe, stream=stream)
            return
        here = writable(describe(to), "get" if get else "put")
        there = describe(source)
        if here.dtype != there.dtype:
            raise TypeError(f"{'get' if get else 'put'}: the destination is of {here.dtype}, the source of {there.dtype}: convert one of them")
        if here.size != there.size:
            raise ValueError(f"{'get' if get else 'put'}: the destination has {here.size} elements, {tuple(here.shape)}, "
                             f"the source {there.size}, {tuple(there.shape)}: pass parts of one size")
        queue = resolve(self, stream, *((there, here) if get else (here, there)))
        if here.strides is None and there.strides is None:
            self._core.copy(get, here.ptr, there.ptr, here.size * here.itemsize, pe, queue, nbi)
            return
        if tuple(here.shape) != tuple(there.shape):
            raise ValueError(f"{'get' if get else 'put'}: arrays with strides have the same shape, not {tuple(here.shape)} and "
                             f"{tuple(there.shape)}")
        self._core.copy_strided(get, here.ptr, there.ptr, here.shape, _strides(here), _strides(there), here.itemsize, pe, queue,
                                nbi)

    @traceable
    def put(self, destination: Any, source: Any, pe: int, *, stream: Any = CURRENT, nbi: bool = False) -> None:
        """Copies `source` to PE `pe`'s part of `destination`. Both arrays may have strides. `source` may be a number if
        `destination` has one element. With `nbi` and without a stream, the copy may be incomplete until quiet(). Keep
        the source until then."""
        self._copy(False, destination, source, pe, stream, nbi)

    @traceable
    def get(self, destination: Any, source: Any, pe: int, *, stream: Any = CURRENT, nbi: bool = False) -> None:
        """Copies PE `pe`'s part of `source` to `destination`."""
        self._copy(True, destination, source, pe, stream, nbi)

    @traceable
    def p(self, destination: Any, value: Any, pe: int, *, stream: Any = CURRENT) -> None:
        """Writes one number to PE `pe`. The number arrives in one piece."""
        if _tracing.traced() and fits(stream):
            node = _tracing.operators
            node.put_number(node.order_of(self), destination, value, self._number, pe, stream is CURRENT)
            return
        word = writable(_word(destination, "p"), "p")
        self._core.store(word.ptr, word_bytes(value, word.dtype), pe_number(pe, "p"), resolve(self, stream, word))

    def g(self, source: Any, pe: int) -> Any:
        """Reads one number from PE `pe`."""
        word = _word(source, "g")
        raw = self._core.load(word.ptr, word.itemsize, pe_number(pe, "g"))
        return number_of(int.from_bytes(raw, "little"), word.dtype, word.itemsize)

    @traceable
    def put_signal(self, destination: Any, source: Any, signal: Any, value: int, pe: int, *, op: str = "set",
                   stream: Any = CURRENT, nbi: bool = False) -> None:
        """Like put(), then sets the signal word of PE `pe` to `value`, or adds `value` to the word with op='add'. A PE
        that sees the signal sees the data."""
        if _tracing.traced() and fits(stream):
            node = _tracing.operators
            node.put_signal(node.order_of(self), destination, source, signal, value, self._number, pe, op, stream is CURRENT)
            return
        if op not in ("set", "add"):
            raise ValueError(f"put_signal: op is 'set' or 'add', not '{op}'")
        pe = pe_number(pe, "put_signal")
        word = writable(_signal_word(signal, "put_signal"), "put_signal")
        here, there = writable(describe(destination), "put_signal"), describe(source)
        if here.strides is not None or there.strides is not None:
            self.put(destination, source, pe, stream=stream, nbi=nbi)
            self._core.signal(word.ptr, word_bits(value, word.dtype), op == "add", pe, resolve(self, stream, here, there, word))
            return
        if here.dtype != there.dtype or here.size != there.size:
            raise TypeError(f"put_signal: the destination is {here.size} of {here.dtype}, the source {there.size} of "
                            f"{there.dtype}")
        queue = resolve(self, stream, here, there, word)
        self._core.put_signal(here.ptr, there.ptr, here.size * here.itemsize, word.ptr,
                              word_bits(value, word.dtype), op == "add", pe, queue, nbi)

    def _copy_list(self, get: bool, destination: Any, source: Any, pe: int, to_index: Any, from_index: Any, stream: Any,
                   most_blocks: int) -> None:
        what = "get_list" if get else "put_list"
        pages = pages_of(what, destination, source, to_index, from_index)
        first, second, *indices = pages.arrays
        queue = resolve(self, stream, *((second, first) if get else (first, second)), *indices)
        self._core.copy_list(get, pages.to, pages.source, pages.page_bytes, pages.n_pages, pe_number(pe, what), queue,
                             whole_number(most_blocks, f"{what}: most_blocks"))

    def put_list(self, destination: Any, source: Any, pe: int, *, destination_index: Any = None, source_index: Any = None,
                 stream: Any = CURRENT, most_blocks: int = 0) -> None:
        """Copies many pages to PE `pe` by one call: page source_index[i] of `source` to page destination_index[i] of PE
        `pe`'s part of `destination`. pgas.copy_list() describes pages and indices. The GPU must be able to access
        `source`: the heap, GPU memory or pinned host memory. `most_blocks` limits the thread blocks of the kernel; 0: no
        limit."""
        self._copy_list(False, destination, source, pe, destination_index, source_index, stream, most_blocks)

    def get_list(self, destination: Any, source: Any, pe: int, *, destination_index: Any = None, source_index: Any = None,
                 stream: Any = CURRENT, most_blocks: int = 0) -> None:
        """Copies many pages of PE `pe`'s part of `source` to `destination`. Otherwise like put_list()."""
        self._copy_list(True, destination, source, pe, destination_index, source_index, stream, most_blocks)

    # ---- signals and waits ------------------------------------------------------------------------------------------

    @traceable
    def signal_set(self, signal: Any, value: int, pe: int, *, stream: Any = CURRENT) -> None:
        """Sets a signal word of PE `pe`, after all earlier operations of this thread, or of the stream, on that PE."""
        if _tracing.traced() and fits(stream):
            node = _tracing.operators
            node.signal(node.order_of(self), signal, value, self._number, pe, False, stream is CURRENT)
            return
        word = writable(_signal_word(signal, "signal_set"), "signal_set")
        self._core.signal(word.ptr, word_bits(value, word.dtype), False, pe_number(pe, "signal_set"), resolve(self, stream, word))

    @traceable
    def signal_add(self, signal: Any, value: int, pe: int, *, stream: Any = CURRENT) -> None:
        """Adds to a signal word of PE `pe`, in the order of signal_set()."""
        if _tracing.traced() and fits(stream):
            node = _tracing.operators
            node.signal(node.order_of(self), signal, value, self._number, pe, True, stream is CURRENT)
            return
        word = writable(_signal_word(signal, "signal_add"), "signal_add")
        self._core.signal(word.ptr, word_bits(value, word.dtype), True, pe_number(pe, "signal_add"), resolve(self, stream, word))

    def signal_fetch(self, signal: Any) -> int:
        """The value of this PE's own signal word."""
        return self._core.signal_fetch(_signal_word(signal, "signal_fetch").ptr)

    def _wait(self, words: Any, which: str, how: str, values: Any, status: Sequence[int] | None, timeout: float | None,
              once: bool) -> Any:
        about = describe(words)
        if about.strides is not None:
            raise ValueError("a wait: the words must be contiguous")
        if timeout is not None and not timeout >= 0:
            raise ValueError(f"a wait: timeout is a number of seconds, 0 or more, not {timeout}")
        if is_number(values):
            raw = word_bytes(values, about.dtype)
        else:
            raw = b"".join(word_bytes(value, about.dtype) for value in values)
        return self._core.wait(about.dtype, about.ptr, about.size, which, _compare(how), raw, list(status or ()),
                               -1.0 if timeout is None else timeout, once)

    @traceable
    def wait_until(self, words: Any, how: str, value: int, *, timeout: float | None = None, stream: Any = None) -> None:
        """Waits until the comparison `how` with `value` is true for all of this PE's own `words`, for example
        wait_until(signal, '>=', 1). With a stream, the stream waits and the call returns immediately. Ctrl-C ends a
        wait without a stream; the world remains usable.

        `timeout` is in seconds; the default is PGAS_WAIT_TIMEOUT. A wait with a stream takes no `timeout`."""
        if _tracing.traced() and fits(stream):
            node = _tracing.operators
            node.wait_until(node.order_of(self), words, how, value, self._number, timeout, stream is CURRENT)
            return
        about = describe(words)
        queue = resolve(self, stream, about)
        if queue is not None:
            if timeout is not None:
                raise ValueError(f"wait_until: timeout={timeout}: on a stream only PGAS_WAIT_TIMEOUT limits a wait: omit "
                                 "timeout=, or pass stream=None")
            self._core.wait_on_stream(about.dtype, about.ptr, about.size, _compare(how), word_bytes(value, about.dtype), queue)
        else:
            self._wait(words, "all", how, value, None, timeout, False)

    def wait_until_all(self, words: Any, how: str, values: Any, *, status: Sequence[int] | None = None,
                       timeout: float | None = None) -> None:
        """Waits until the comparison `how` is true for every word, with one value for all words or one value for each
        word. Words with a status other than 0 are ignored."""
        self._wait(words, "all", how, values, status, timeout, False)

    def wait_until_any(self, words: Any, how: str, values: Any, *, status: Sequence[int] | None = None,
                       timeout: float | None = None) -> int | None:
        """Waits until the comparison is true for a word. Returns the index of the word; None if there are no words."""
        return self._wait(words, "any", how, values, status, timeout, False)  # type: ignore[no-any-return]

    def wait_until_some(self, words: Any, how: str, values: Any, *, status: Sequence[int] | None = None,
                        timeout: float | None = None) -> list[int]:
        """Waits until the comparison is true for at least one word. Returns the indices of all such words,
        ascending."""
        return self._wait(words, "some", how, values, status, timeout, False)  # type: ignore[no-any-return]

    def test(self, words: Any, how: str, value: int) -> bool:
        """Whether the comparison is true for all words now."""
        return bool(self._wait(words, "all", how, value, None, None, True))

    def test_any(self, words: Any, how: str, values: Any, *, status: Sequence[int] | None = None) -> int | None:
        """The index of a word for which the comparison is true now; None if there is no such word."""
        return self._wait(words, "any", how, values, status, None, True)  # type: ignore[no-any-return]

    def test_some(self, words: Any, how: str, values: Any, *, status: Sequence[int] | None = None) -> list[int]:
        """The indices of all words for which the comparison is true now."""
        return self._wait(words, "some", how, values, status, None, True)  # type: ignore[no-any-return]

    # ---- atomics ----------------------------------------------------------------------------------------------------

    @traceable
    def _atomic(self, name: str, target: Any, value: Any, pe: int, stream: Any, condition: Any = 0) -> None:
        if _tracing.traced() and fits(stream) and not condition:
            node = _tracing.operators
            node.atomic(node.order_of(self), target, name, value, self._number, pe, stream is CURRENT)
            return
        word = writable(_word(target, f"atomic_{name}"), f"atomic_{name}")
        pe = pe_number(pe, f"atomic_{name}")
        self._core.atomic(name, word.dtype, word.ptr, word_bits(value, word.dtype), word_bits(condition, word.dtype), False, pe,
                          resolve(self, stream, word), 0)

    def _atomic_fetch(self, name: str, target: Any, value: Any, pe: int, out: Any, stream: Any, condition: Any = 0) -> Any:
        word = _word(target, f"atomic_{name}")
        pe = pe_number(pe, f"atomic_{name}")
        if name != "fetch":
            writable(word, f"atomic_{name}")
        bits = word_bits(value, word.dtype), word_bits(condition, word.dtype)
        if out is None:
            old = self._core.atomic(name, word.dtype, word.ptr, *bits, True, pe, None, 0)
            return number_of(old or 0, word.dtype, word.itemsize)
        result = writable(_word(out, "out"), f"atomic_{name}")
        if result.dtype != word.dtype:
            raise TypeError(f"atomic_{name}: out is of {result.dtype}, the word of {word.dtype}")
        queue = resolve(self, stream, word, result)
        if queue is None:
            raise ValueError(f"atomic_{name}: out= needs a stream; without a stream the function returns the old value")
        self._core.atomic(name, word.dtype, word.ptr, *bits, True, pe, queue, result.ptr)
        return None

    def atomic_fetch(self, target: Any, pe: int, *, out: Any = None, stream: Any = CURRENT) -> Any:
        """Reads one word. All operations with `fetch` in their name return the value of the word before the operation.
        With `out`, the operation writes this value to `out`, in the order of the stream."""
        return self._atomic_fetch("fetch", target, 0, pe, out, stream)

    @traceable
    def atomic_set(self, target: Any, value: Any, pe: int, *, stream: Any = CURRENT) -> None:
        """Writes the word."""
        self._atomic("set", target, value, pe, stream)

    def atomic_swap(self, target: Any, value: Any, pe: int, *, out: Any = None, stream: Any = CURRENT) -> Any:
        """Writes the word, and returns the old value."""
        return self._atomic_fetch("swap", target, value, pe, out, stream)

    def atomic_compare_swap(self, target: Any, condition: Any, value: Any, pe: int, *, out: Any = None,
                            stream: Any = CURRENT) -> Any:
        """Writes `value` if the word equals `condition`, bit for bit, and returns the old value."""
        return self._atomic_fetch("compare_swap", target, value, pe, out, stream, condition)

    @traceable
    def atomic_add(self, target: Any, value: Any, pe: int, *, stream: Any = CURRENT) -> None:
        """Adds `value`."""
        self._atomic("add", target, value, pe, stream)

    def atomic_fetch_add(self, target: Any, value: Any, pe: int, *, out: Any = None, stream: Any = CURRENT) -> Any:
        """Adds `value`, and returns the old value."""
        return self._atomic_fetch("add", target, value, pe, out, stream)

    @traceable
    def atomic_inc(self, target: Any, pe: int, *, stream: Any = CURRENT) -> None:
        """Adds one."""
        self._atomic("add", target, 1, pe, stream)

    def atomic_fetch_inc(self, target: Any, pe: int, *, out: Any = None, stream: Any = CURRENT) -> Any:
        """Adds one, and returns the old value."""
        return self._atomic_fetch("add", target, 1, pe, out, stream)

    @traceable
    def atomic_and(self, target: Any, value: int, pe: int, *, stream: Any = CURRENT) -> None:
        """Clears the bits that are zero in `value`."""
        self._atomic("and", target, value, pe, stream)

    def atomic_fetch_and(self, target: Any, value: int, pe: int, *, out: Any = None, stream: Any = CURRENT) -> Any:
        """Like atomic_and(), but returns the old value."""
        return self._atomic_fetch("and", target, value, pe, out, stream)

    @traceable
    def atomic_or(self, target: Any, value: int, pe: int, *, stream: Any = CURRENT) -> None:
        """Sets the bits that are one in `value`."""
        self._atomic("or", target, value, pe, stream)

    def atomic_fetch_or(self, target: Any, value: int, pe: int, *, out: Any = None, stream: Any = CURRENT) -> Any:
        """Like atomic_or(), but returns the old value."""
        return self._atomic_fetch("or", target, value, pe, out, stream)

    @traceable
    def atomic_xor(self, target: Any, value: int, pe: int, *, stream: Any = CURRENT) -> None:
        """Flips the bits that are one in `value`."""
        self._atomic("xor", target, value, pe, stream)

    def atomic_fetch_xor(self, target: Any, value: int, pe: int, *, out: Any = None, stream: Any = CURRENT) -> Any:
        """Like atomic_xor(), but returns the old value."""
        return self._atomic_fetch("xor", target, value, pe, out, stream)

    @traceable
    def atomic_min(self, target: Any, value: Any, pe: int, *, stream: Any = CURRENT) -> None:
        """Writes `value` if it is less than the word."""
        self._atomic("min", target, value, pe, stream)

    def atomic_fetch_min(self, target: Any, value: Any, pe: int, *, out: Any = None, stream: Any = CURRENT) -> Any:
        """Like atomic_min(), but returns the old value."""
        return self._atomic_fetch("min", target, value, pe, out, stream)

    @traceable
    def atomic_max(self, target: Any, value: Any, pe: int, *, stream: Any = CURRENT) -> None:
        """Writes `value` if it is greater than the word."""
        self._atomic("max", target, value, pe, stream)

    def atomic_fetch_max(self, target: Any, value: Any, pe: int, *, out: Any = None, stream: Any = CURRENT) -> Any:
        """Like atomic_max(), but returns the old value."""
        return self._atomic_fetch("max", target, value, pe, out, stream)

    # ---- order ------------------------------------------------------------------------------------------------------

    @traceable
    def quiet(self, *, stream: Any = CURRENT) -> None:
        """Completes earlier operations of the host, or of the stream, at their targets."""
        if _tracing.traced() and fits(stream):
            node = _tracing.operators
            node.synchronize(node.order_of(self), "quiet", self._number, stream is CURRENT)
            return
        self._core.quiet(resolve(self, stream))

    @traceable
    def fence(self, *, stream: Any = CURRENT) -> None:
        """Orders earlier operations before later ones, to each PE."""
        if _tracing.traced() and fits(stream):
            node = _tracing.operators
            node.synchronize(node.order_of(self), "fence", self._number, stream is CURRENT)
            return
        self._core.fence(resolve(self, stream))

    @contextmanager
    def lock(self, word: Any) -> Iterator[None]:
        """A lock: `with world.lock(word):` is executed by one PE at a time. The word is a uint64 or int64 of the heap,
        initially zero."""
        at = writable(_signal_word(word, "lock"), "lock").ptr
        self._core.set_lock(at)
        try:
            yield
        finally:
            self._core.clear_lock(at)


def _strides(of: Array) -> tuple[int, ...]:
    if of.strides is not None:
        return of.strides
    made: list[int] = []
    step = 1
    for extent in reversed(of.shape):
        made.append(step)
        step *= extent
    return tuple(reversed(made))
