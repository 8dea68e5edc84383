"""Communication in Triton kernels: functions to call from `@triton.jit` code on a context tensor.

    import pgas, pgas.triton as shm

    @triton.jit
    def shift(ctx, halo, row, count, arrived):
        right = (shm.my_pe(ctx) + 1) % shm.n_pes(ctx)
        shm.put_signal(ctx, halo, row, count, arrived, 1, "set", right)
        shm.wait_until(ctx, arrived, "ge", 1)

    shift[(1,)](shm.context(world), halo, row, halo.numel(), arrived)

The functions are Triton source code, like the kernel, so no library is linked and no hook is needed. `tl.load` and
`tl.store` take addresses of a peer's memory. A program (a block of threads) calls each function as a whole, as Triton
requires. The functions have the arguments and the meaning of C++'s `pgas/device`. `put`, `put_signal`, `wait_until` and
`barrier` of both languages work on the same words.

Order. Triton does not define the order of memory accesses between threads of a program, but PTX does.
`tl.debug_barrier()` is `bar.sync`. After this barrier, a release by one thread also orders earlier accesses of the
other threads. The functions that other PEs observe, `put_signal`, `signal_set`, `signal_add`, `fence`, `quiet` and
`barrier`, therefore begin with `tl.debug_barrier()`; then one thread releases at system scope. In a wait, one thread
polls and acquires. The wait ends with a vote of all threads, which is also a barrier, so later loads of any thread come
after the wait. Data that a wait has acquired is visible to the program that waited. Other programs of the grid need
their own waits.

Waits are bounded. When the world has failed, or PGAS_WAIT_TIMEOUT has passed, the program leaves a record and ends, and
the host raises at its next call. The functions need Triton 3.6, NVIDIA GPUs from sm_70 on, and `num_ctas=1`.
Warp-specialized regions can't call the functions, because not all threads execute such a region. If all PEs are direct,
a kernel with `shm.direct_context(world)` in place of `shm.context(world)` has fewer instructions. With
TRITON_INTERPRET=1, kernels run on CPU tensors in the host heap, with one process for each PE.
"""

# mypy: ignore-errors (kernels are written in Triton, which only resembles Python.)

import hashlib
import inspect

import triton
import triton.language as tl

from pgas import _struct_offsets, _triton_ptx, _triton_interpreted
from pgas._struct_offsets import CMP_EQ, CMP_GE, CMP_GT, CMP_LE, CMP_LT, CMP_NE, OPERATION_PUT
from pgas._context_tensor import context, direct_context

if tuple(int(part) for part in triton.__version__.split(".")[:2]) < (3, 6):
    raise ImportError(f"pgas.triton needs Triton 3.6 or newer, and this is {triton.__version__}: torch 2.11 brings it, or pip install -U triton")

__all__ = ["atomic_add", "barrier", "context", "direct_context", "fence", "get", "my_pe", "n_pes", "peer", "put", "put_signal", "quiet", "signal_add",
           "signal_fetch", "signal_set", "wait_until"]

_INTERPRETED = tl.constexpr(triton.knobs.runtime.interpret)
_COMPARISONS = {"eq": CMP_EQ, "ne": CMP_NE, "gt": CMP_GT, "le": CMP_LE, "lt": CMP_LT, "ge": CMP_GE}

# Triton caches compiled kernels on disk, by their source and by the constants that they use. This constant is a hash of
# the source of the PTX, so that a change of the source leads to a new compilation.
_PTX = tl.constexpr(hashlib.sha256((inspect.getsource(_triton_ptx) + inspect.getsource(_struct_offsets)).encode()).hexdigest())
for _text in (_triton_ptx.wait, _triton_ptx.barrier, _triton_ptx.refuse, _triton_ptx.fence):
    _text.__triton_builtin__ = True  # otherwise Triton would refuse these functions

_WORLD_PE = tl.constexpr(_struct_offsets.CONTEXT_WORLD_PE)
_BIAS = tl.constexpr(_struct_offsets.CONTEXT_BIAS)
_LOG2_STRIDE = tl.constexpr(_struct_offsets.CONTEXT_LOG2_STRIDE)
_FLAGS = tl.constexpr(_struct_offsets.CONTEXT_FLAGS)
_MY_SLOT = tl.constexpr(_struct_offsets.CONTEXT_MY_SLOT)
_CONTROL = tl.constexpr(_struct_offsets.CONTEXT_CONTROL)
_ROUTES = tl.constexpr(_struct_offsets.CONTEXT_ROUTES)
_ROUTES_SLOTS = tl.constexpr(_struct_offsets.ROUTES_SLOTS)
_START = tl.constexpr(_struct_offsets.TEAM_START)
_STEP = tl.constexpr(_struct_offsets.TEAM_STRIDE)
_N_PES = tl.constexpr(_struct_offsets.TEAM_N_PES)
_MY_PE = tl.constexpr(_struct_offsets.TEAM_MY_PE)
_STATE_OFFSET = tl.constexpr(_struct_offsets.TEAM_STATE_OFFSET)
_MEMBERS = tl.constexpr(_struct_offsets.TEAM_MEMBERS)
_NOT_ARITHMETIC = tl.constexpr(_struct_offsets.FLAG_LIST | _struct_offsets.FLAG_PROXY)
_PROXIED = tl.constexpr(_struct_offsets.ROUTES_PROXIED)
_MEMBER_BYTES = tl.constexpr(_struct_offsets.CHANNEL_BYTES_OF_MEMBER)
_BESIDES = tl.constexpr(_struct_offsets.CHANNEL_BYTES_BESIDES)
_LINE = tl.constexpr(_struct_offsets.CHANNEL_LINE)


# ---- evaluated at compile time ----


@triton.constexpr_function
def _one_sided_fences():
    return bool(tl.target_info.cuda_capability_geq(9, 0))


@triton.constexpr_function
def _wait_ptx(op, dtype, one_sided, version):
    if op not in _COMPARISONS:
        raise ValueError(f"wait_until: no comparison {op!r}: one of {', '.join(_COMPARISONS)}")
    if not dtype.is_int() or dtype.primitive_bitwidth not in (32, 64):
        raise TypeError(f"wait_until: words are integers of 4 or 8 bytes, not {dtype}")
    return _triton_ptx.wait(_COMPARISONS[op], dtype.primitive_bitwidth, dtype.is_int_signed(), one_sided)


@triton.constexpr_function
def _wait_constraints(dtype):
    return f"=&r,l,{'l' if dtype.primitive_bitwidth == 64 else 'r'},l,l"


@triton.constexpr_function
def _barrier_ptx(one_sided, version):
    return _triton_ptx.barrier(one_sided)


@triton.constexpr_function
def _refuse_ptx(version):
    return _triton_ptx.refuse(OPERATION_PUT)


@triton.constexpr_function
def _fence_ptx(sequential, version):
    return _triton_ptx.fence(sequential)


@triton.constexpr_function
def _log2_bytes(dtype):
    return (max(dtype.primitive_bitwidth, 8) // 8).bit_length() - 1


@triton.constexpr_function
def _is_direct(dtype):
    """Whether the context comes from direct_context(). Its type shows that the address on every PE can be computed by
    arithmetic."""
    return dtype == tl.uint64


@triton.constexpr_function
def _check_signal_op(op):
    if op not in ("set", "add"):
        raise ValueError(f"put_signal: no operation {op!r}: 'set' or 'add'")
    return op


# ---- the context ----


@triton.jit
def _address(pointer):
    return pointer.to(tl.uint64, bitcast=True)


@triton.jit
def _load32(address, PURE: tl.constexpr = True):
    # The load takes the read-only path, because these values never change. The assembly is declared pure, so the
    # compiler moves the load out of loops. For an address that may be null, PURE is false, because the compiler may
    # move pure code before the test of the address.
    if _INTERPRETED:
        value = tl.load(address.to(tl.pointer_type(tl.int32), bitcast=True))
    else:
        value = tl.inline_asm_elementwise("ld.global.nc.s32 $0, [$1];", "=r,l", [address], dtype=tl.int32, is_pure=PURE, pack=1)
    return value


@triton.jit
def _load64(address, PURE: tl.constexpr = True):
    if _INTERPRETED:
        value = tl.load(address.to(tl.pointer_type(tl.uint64), bitcast=True))
    else:
        value = tl.inline_asm_elementwise("ld.global.nc.u64 $0, [$1];", "=l,l", [address], dtype=tl.uint64, is_pure=PURE, pack=1)
    return value


@triton.jit
def my_pe(ctx):
    """This PE's number in the context's team, which is usually the world."""
    return _load32(_address(ctx) + _MY_PE)


@triton.jit
def n_pes(ctx):
    """The number of PEs of the context's team."""
    return _load32(_address(ctx) + _N_PES)


@triton.jit
def _distances(ctx):
    """The address of the table of distances, indexed by the PE's number in the world; null if all PEs are direct."""
    routes = _load64(_address(ctx) + _ROUTES)
    table = routes
    if routes != 0:
        table = _load64(routes + _ROUTES_SLOTS, False)
    return table


@triton.jit
def _listed_slots(ctx, offset, pe):
    """The distance to PE `pe` in slots, for teams whose distances can't be computed by arithmetic. Ends the program if
    the PE is proxied."""
    here = _address(ctx)
    members = _load64(here + _MEMBERS)
    there = _load32(here + _START) + pe * _load32(here + _STEP)
    if members != 0:
        there = _load32(members + 4 * pe.to(tl.uint64), False)
    table = _distances(ctx)
    slots = there - _load32(here + _WORLD_PE)
    if table != 0:
        slots = _load32(table + 4 * there.to(tl.uint64), False)
    if slots == _PROXIED:
        _refuse(_load64(here + _CONTROL), _load64(here + _MY_SLOT), there, offset)
    return slots


@triton.jit
def _refuse(control, my_slot, pe, offset):
    if _INTERPRETED:
        _triton_interpreted.refuse(control, my_slot, pe, offset)
    else:
        tl.inline_asm_elementwise(_refuse_ptx(_PTX), "=&r,l,l,r,l,~{memory}", [control, my_slot, pe, offset - my_slot],
                                  dtype=tl.int32, is_pure=False, pack=1)


@triton.jit
def _slots(ctx, offset, pe):
    here = _address(ctx)
    pe = pe + tl.zeros((), tl.int32)
    slots = pe * _load32(here + _STEP) + _load32(here + _BIAS)
    if not _is_direct(ctx.dtype.element_ty):
        if (_load32(here + _FLAGS) & _NOT_ARITHMETIC) != 0:
            slots = _listed_slots(ctx, offset, pe)
    return slots


@triton.jit
def peer(ctx, local, pe):
    """PE `pe`'s address of this PE's `local`, a pointer or a tensor of pointers into symmetric memory.

    For an evenly spaced team, the function is arithmetic only. A PE that is not load/store accessible ends the program,
    and the host raises.
    """
    LOG2_BYTES: tl.constexpr = _log2_bytes(local.dtype.element_ty)
    slots = _slots(ctx, _load64(_address(ctx) + _MY_SLOT), pe)
    distance = slots.to(tl.int64) << (_load32(_address(ctx) + _LOG2_STRIDE) - LOG2_BYTES).to(tl.int64)
    return local + tl.multiple_of(distance, 16)  # keeps the alignment of `local`, so that copies use whole vectors


# ---- copies ----


@triton.jit
def _copy(to, source, count, BLOCK: tl.constexpr):
    for begin in range(0, count, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        inside = at < count
        # The loads bypass L1, because a line in L1 may be older than the stores of peers. L2 contains these stores.
        tl.store(to + at, tl.load(source + at, inside, cache_modifier=".cg"), inside)


@triton.jit
def put(ctx, dst, src, count, pe, BLOCK: tl.constexpr = 1024):
    """Copies `count` elements from `src`, any memory of this GPU, to PE `pe`'s copy of `dst`. BLOCK elements are in
    flight at a time. With 64 bytes for each thread a round trip is short: choose BLOCK = 2048 for int32 and four warps.

    The call sends the values that the program has stored to `src` before the call. On return `src` may be reused; the
    data is in flight. Order: none. `put_signal`, `fence`, `quiet` and `barrier` order the copy.
    """
    tl.debug_barrier()
    _copy(peer(ctx, dst, pe), src, count, BLOCK)
    tl.debug_barrier()


@triton.jit
def get(ctx, dst, src, count, pe, BLOCK: tl.constexpr = 1024):
    """Copies `count` elements from PE `pe`'s copy of `src` to `dst`, any memory of this GPU. On return `dst` holds all
    elements.

    Stores of another PE are visible if a wait or a barrier has ordered them before this call.
    """
    tl.debug_barrier()
    _copy(dst, peer(ctx, src, pe), count, BLOCK)
    tl.debug_barrier()


# ---- signals ----


@triton.jit
def _signal(there, value, op: tl.constexpr, sem: tl.constexpr):
    OP: tl.constexpr = _check_signal_op(op)
    if OP == "add":
        tl.atomic_add(there, value, sem=sem, scope="sys")
    else:
        tl.atomic_xchg(there, value, sem=sem, scope="sys")


@triton.jit
def put_signal(ctx, dst, src, count, sig, value, op: tl.constexpr, pe, BLOCK: tl.constexpr = 1024):
    """Like put(), then sets PE `pe`'s signal word to `value` (`op` is "set") or adds `value` to the word (`op` is
    "add").

    A PE that sees the signal by a wait sees the data, and all earlier stores of the program, to any PE. A count of 0 sends the signal
    alone.
    """
    tl.debug_barrier()
    _copy(peer(ctx, dst, pe), src, count, BLOCK)
    tl.debug_barrier()
    _signal(peer(ctx, sig, pe), value, op, "release")


@triton.jit
def signal_set(ctx, sig, value, pe):
    """Sets PE `pe`'s signal word. A PE that sees the value by a wait sees the program's earlier stores."""
    tl.debug_barrier()
    _signal(peer(ctx, sig, pe), value, "set", "release")


@triton.jit
def signal_add(ctx, sig, value, pe):
    """Adds to PE `pe`'s signal word. A PE that sees the value by a wait sees the program's earlier stores."""
    tl.debug_barrier()
    _signal(peer(ctx, sig, pe), value, "add", "release")


@triton.jit
def signal_fetch(ctx, sig):
    """The value of this PE's own signal word. Data that was sent before this value is visible."""
    return tl.atomic_add(sig, 0, sem="acquire", scope="sys")


@triton.jit
def atomic_add(ctx, dst, value, pe):
    """Adds `value` to PE `pe`'s word and returns the old value. The operation is relaxed, and atomic with respect to
    every PE's atomics and signals."""
    return tl.atomic_add(peer(ctx, dst, pe), value, sem="relaxed", scope="sys")


@triton.jit
def wait_until(ctx, word, op: tl.constexpr, value):
    """Waits until the comparison `op` of this PE's own `word` with `value` is true. `word` is an integer of 4 or 8
    bytes; `op` is eq, ne, gt, le, lt or ge.

    On return, all data that was sent before the value is visible. Ends the program if the world fails or the wait takes
    too long.
    """
    here = _address(ctx)
    value = value + tl.zeros((), word.dtype.element_ty)
    if _INTERPRETED:
        _triton_interpreted.wait(word, op, value, _load64(here + _CONTROL), _load64(here + _MY_SLOT))
    else:
        WORD: tl.constexpr = word.dtype.element_ty
        tl.inline_asm_elementwise(_wait_ptx(op, WORD, _one_sided_fences(), _PTX), _wait_constraints(WORD) + ",~{memory}",
                                  [_address(word), value, _load64(here + _CONTROL), _load64(here + _MY_SLOT)],
                                  dtype=tl.int32, is_pure=False, pack=1)


# ---- order, and synchronization of all PEs ----


@triton.jit
def _fence(SEQUENTIAL: tl.constexpr):
    tl.debug_barrier()
    if not _INTERPRETED:
        tl.inline_asm_elementwise(_fence_ptx(SEQUENTIAL, _PTX), "=&r,~{memory}", [], dtype=tl.int32, is_pure=False, pack=1)
    tl.debug_barrier()


@triton.jit
def fence(ctx):
    """Orders earlier stores, puts and atomics of the program before its later ones, to each PE and across PEs."""
    _fence(False)


@triton.jit
def quiet(ctx):
    """Completes earlier operations of the program. On return, the operations are visible to all PEs. Later loads come
    after the operations."""
    _fence(True)


@triton.jit
def barrier(ctx, channel: tl.constexpr = 0):
    """Returns when all PEs of the context's team have called barrier(). Orders all accesses before the barrier on any
    PE before all accesses after the barrier on any PE.

    One program of each PE calls the function. Programs of a PE that call the function at the same time must use
    different channels. Programs on different PEs that take part in the same barrier must use the same `channel`.
    """
    tl.debug_barrier()
    here = _address(ctx)
    members = n_pes(ctx)
    bytes_of_channel = (members * _MEMBER_BYTES + _BESIDES + _LINE - 1) // _LINE * _LINE
    my_slot = _load64(here + _MY_SLOT)
    state = my_slot + _load64(here + _STATE_OFFSET) + (bytes_of_channel * channel).to(tl.uint64)
    if _INTERPRETED:
        _triton_interpreted.barrier(state, _load64(here + _CONTROL), my_slot, _address(ctx))
    else:
        tl.inline_asm_elementwise(
            _barrier_ptx(_one_sided_fences(), _PTX), "=&r,l,l,l,l,l,r,r,r,r,r,r,~{memory}",
            [state, _load64(here + _CONTROL), my_slot, _load64(here + _MEMBERS), _distances(ctx), my_pe(ctx), members,
             _load32(here + _START), _load32(here + _STEP), _load32(here + _WORLD_PE), _load32(here + _LOG2_STRIDE)],
            dtype=tl.int32, is_pure=False, pack=1)
