"""The waits of pgas.triton for Triton's interpreter (TRITON_INTERPRET=1). Each PE is a process, and the heap is host
memory.

The interpreter runs the programs of a grid one after another, so a program may wait for other PEs, but not for a later
program of its own grid.
"""

# mypy: ignore-errors
# (values are scalars of Triton's interpreter.)

import ctypes
import operator
import time

import triton.language as tl

from pgas import _struct_offsets as at

COMPARE = {"eq": operator.eq, "ne": operator.ne, "gt": operator.gt, "le": operator.le, "lt": operator.lt, "ge": operator.ge}
NUMBER_OF = {"eq": at.CMP_EQ, "ne": at.CMP_NE, "gt": at.CMP_GT, "le": at.CMP_LE, "lt": at.CMP_LT, "ge": at.CMP_GE}
POLLS_BETWEEN_CHECKS = 32


class KernelEnded(Exception):
    """The exception that ends a kernel after a failed wait. The record for the host has been written."""


def _number(value) -> int:
    """Converts a scalar of the interpreter to a number."""
    return int(value.handle.data.reshape(-1)[0]) if isinstance(value, tl.tensor) else int(value)


def _int32(address: int) -> ctypes.c_int32:
    return ctypes.c_int32.from_address(address)


def _uint64(address: int) -> ctypes.c_uint64:
    return ctypes.c_uint64.from_address(address)


def _pointer(address: int, dtype) -> tl.tensor:
    return tl.full((), address, tl.uint64).to(tl.pointer_type(dtype), bitcast=True)


def _leave_record(control: int, my_slot: int, why: int, what: int, pe: int, word: int, expected: int, seen: int, compare: int) -> None:
    record = control + at.CONTROL_RECORD
    if _number(tl.atomic_cas(_pointer(my_slot + at.FAILURE_CLAIM, tl.int32), 0, 1, sem="relaxed", scope="sys")) == 0:
        for field, value in ((at.RECORD_WHY, why), (at.RECORD_WHAT, what), (at.RECORD_PE, pe), (at.RECORD_COMPARE, compare),
                             (at.RECORD_BLOCK, 0), (at.RECORD_THREAD, 0)):
            _int32(record + field).value = value
        for field, value in ((at.RECORD_HEAP_OFFSET, word - my_slot), (at.RECORD_BYTES, 8), (at.RECORD_EXPECTED, expected),
                             (at.RECORD_SEEN, seen)):
            _uint64(record + field).value = value & 0xffffffffffffffff
        tl.atomic_xchg(_pointer(record + at.RECORD_COMPLETE, tl.int32), 1, sem="release", scope="sys")
    raise KernelEnded("the kernel has failed; the next call of the world reports the reason")


def _poll(control: int, holds) -> int:
    """Polls until holds() is true. Returns 0, or the reason if the wait failed."""
    timeout = _uint64(control + at.CONTROL_WAIT_TIMEOUT_NS).value
    deadline = time.monotonic_ns() + timeout if timeout else None
    while True:
        for _ in range(POLLS_BETWEEN_CHECKS):
            if holds():
                return 0
        if _int32(control + at.CONTROL_ABORT).value or _int32(control + at.CONTROL_RECORD + at.RECORD_COMPLETE).value:
            return 0 if holds() else at.FAILURE_ABORTED
        if deadline is not None and time.monotonic_ns() >= deadline:
            return 0 if holds() else at.FAILURE_TIMED_OUT
        time.sleep(0)


def _called_by_kernels(function):
    """Marks a function for Triton's compiler. The compiler finds the function in a branch that it does not compile, and
    would otherwise refuse it."""
    function.__triton_builtin__ = True
    return function


@_called_by_kernels
def wait(word, op, value, control, my_slot) -> None:
    """Interprets pgas._triton_ptx.wait."""
    op = getattr(op, "value", op)
    seen = 0

    def holds() -> bool:
        nonlocal seen
        seen = _number(tl.atomic_add(word, 0, sem="acquire", scope="sys"))
        return COMPARE[op](seen, _number(value))

    if why := _poll(_number(control), holds):
        _leave_record(_number(control), _number(my_slot), why, at.OPERATION_WAIT, -1, _number(word), _number(value), seen, NUMBER_OF[op])


@_called_by_kernels
def refuse(control, my_slot, pe, offset) -> None:
    """Interprets pgas._triton_ptx.refuse."""
    _leave_record(_number(control), _number(my_slot), at.FAILURE_NOT_DIRECT, at.OPERATION_PUT, _number(pe), _number(offset), 0, 0, at.CMP_EQ)


@_called_by_kernels
def barrier(state, control, my_slot, context) -> None:
    """Interprets pgas._triton_ptx.barrier, for teams without proxied members."""
    state, control, my_slot, context = (_number(each) for each in (state, control, my_slot, context))
    me, n, first, step, here = (_int32(context + field).value for field in (at.TEAM_MY_PE, at.TEAM_N_PES, at.TEAM_START, at.TEAM_STRIDE,
                                                                            at.CONTEXT_WORLD_PE))
    members, log2_stride = _uint64(context + at.TEAM_MEMBERS).value, _int32(context + at.CONTEXT_LOG2_STRIDE).value
    others = [(me + 1 + k) % n for k in range(n - 1)]

    def world_pe(member: int) -> int:
        return _int32(members + 4 * member).value if members else first + member * step

    for member in others:
        mine = state + me * at.MEMBER_BYTES + ((world_pe(member) - here) << log2_stride)
        tl.atomic_add(_pointer(mine, tl.int64), 1, sem="release", scope="sys")
    for member in others:
        word = state + member * at.MEMBER_BYTES
        due = _uint64(word + at.MEMBER_WAITED).value + 1
        seen = 0

        def holds() -> bool:
            nonlocal seen
            seen = _number(tl.atomic_add(_pointer(word, tl.int64), 0, sem="acquire", scope="sys"))
            return seen >= due

        if why := _poll(control, holds):
            _leave_record(control, my_slot, why, at.OPERATION_BARRIER, world_pe(member), word, due, seen, at.CMP_GE)
        _uint64(word + at.MEMBER_WAITED).value = due
