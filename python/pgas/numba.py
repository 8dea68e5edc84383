"""The device API of pgas for Numba kernels.

    import pgas.numba as shm

    @shm.jit
    def shift(ctx, halo, row, arrived):
        right = (shm.my_pe(ctx) + 1) % shm.n_pes(ctx)
        shm.put_signal_block(ctx, halo, row, row.size, arrived, 1, shm.SET, right)
        shm.wait_until_block(ctx, arrived, shm.GE, 1)

    shift[1, 128](shm.context(world), halo, row, arrived)

The functions have the names and arguments of pgas/device, for one thread (`put`), a warp (`put_warp`) or a block (`put_block`).
All threads of the warp or block make the call together. Arrays of the symmetric heap take the place of C++ pointers:
`halo[i:]` is the address of an element. `peer(ctx, x, pe)` is `x` in another PE's memory, for plain loads and stores.

`jit` is numba.cuda.jit with link-time optimization. The functions that a kernel calls are linked to the kernel as
LTO-IR. At the first use, NVRTC compiles the LTO-IR for the current GPU in some seconds; the user's cache directory
keeps the result. The functions have no state, so a module needs no initialization when it is loaded. pgas.numba needs
numba-cuda 0.30, with its cuda-bindings and nvJitLink.
"""

# mypy: ignore-errors (most functions are created from a table, and Numba's types differ from Python's.)

try:
    from numba import cuda
    from numba.cuda import types
    from numba.cuda.core.errors import TypingError
    from numba.cuda.core.ir_utils import alias_func_extensions
    from numba.cuda.extending import intrinsic, overload
except ImportError as missing:
    raise ImportError(f"pgas.numba needs numba-cuda 0.30 or newer: pip install 'numba-cuda[cu13]' ({missing})") from missing

from pgas import _numba_operations as table
from pgas import _lto
from pgas._context_tensor import context_bytes
from pgas._struct_offsets import CMP_EQ as EQ
from pgas._struct_offsets import CMP_GE as GE
from pgas._struct_offsets import CMP_GT as GT
from pgas._struct_offsets import CMP_LE as LE
from pgas._struct_offsets import CMP_LT as LT
from pgas._struct_offsets import CMP_NE as NE
from pgas._struct_offsets import SIGNAL_ADD as ADD
from pgas._struct_offsets import SIGNAL_SET as SET

__all__ = ["ADD", "EQ", "GE", "GT", "LE", "LT", "NE", "SET", "context", "jit", "peer"]  # and all operations


def context(of):
    """The context of a world or a team as a device array, the first argument of every function. A program creates the
    array once and passes it to any number of kernels."""
    import numpy

    return cuda.to_device(numpy.frombuffer(context_bytes(of), dtype=numpy.uint64))


def jit(*arguments, **options):
    """numba.cuda.jit for kernels that call these functions."""
    return cuda.jit(*arguments, **{"lto": True} | options)


class _Library(cuda.LTOIR):
    """A family of functions. The family is compiled for the current GPU when a kernel is linked with it for the first
    time."""

    def __init__(self, family: str):
        super().__init__(b"", name=f"pgas_{family}.ltoir")
        self._family = family
        self._built: dict[str, bytes] = {}

    @property
    def data(self) -> bytes:
        major, minor = cuda.get_current_device().compute_capability
        arch = f"{major}{minor}"
        if arch not in self._built:
            self._built[arch] = _lto.build(table.source(self._family), arch)
        return self._built[arch]


_LIBRARIES = {family: _Library(family) for family in table.FAMILIES}


# ---- Numba's argument and result types ----


@intrinsic
def _address(typingctx, of):
    """The address of an array, or of a pointer or an integer, as a number."""
    if isinstance(of, types.Array):
        def generate(context, builder, signature, arguments):
            array = context.make_array(signature.args[0])(context, builder, arguments[0])
            return builder.ptrtoint(array.data, context.get_value_type(types.uint64))
    elif isinstance(of, types.CPointer):
        def generate(context, builder, signature, arguments):
            return builder.ptrtoint(arguments[0], context.get_value_type(types.uint64))
    elif isinstance(of, types.Integer):
        def generate(context, builder, signature, arguments):
            return context.cast(builder, arguments[0], signature.args[0], types.uint64)
    else:
        raise TypingError(f"pgas.numba: the argument must be an array of the symmetric heap, not {of}")
    return types.uint64(of), generate


def _element_of(row: table.Operation, given: dict) -> str:
    """The element type that a call of an operation uses."""
    arrays = [given[name] for name in row.parameters if table.PARAMETERS[name][0] == "array"]
    for array in arrays:
        if not isinstance(array, types.Array):
            raise TypingError(f"pgas.numba.{row.name}: the argument must be an array of the symmetric heap, not {array}")
        if array.dtype != arrays[0].dtype:
            raise TypingError(f"pgas.numba.{row.name}: arrays of {arrays[0].dtype} and of {array.dtype}: both must have the same element type")
    of = arrays[0].dtype
    if row.types == table.PIECES:
        return f"uint{8 * of.bitwidth // 8}" if getattr(of, "bitwidth", 0) in (8, 16, 32, 64) else "uint8"
    if row.types == ("uint8",):
        return "uint8"
    if str(of) not in row.types:
        raise TypingError(f"pgas.numba.{row.name}: elements are {', '.join(row.types)}, not {of}")
    return str(of)


_DECLARED: dict[str, object] = {}


def _declared(row: table.Operation, element: str, group: str):
    """Declares the C function to Numba."""
    symbol = row.symbol(element, group)
    if symbol not in _DECLARED:
        kinds = {"array": "uint64", "signal": "uint64", "element": element}
        parameters = [getattr(types, kinds.get(kind, kind)) for kind in ["uint64"] + [table.PARAMETERS[name][0] for name in row.parameters]]
        result = row.result_type(element)
        _DECLARED[symbol] = cuda.declare_device(symbol, (types.none if result == "void" else getattr(types, result))(*parameters),
                                                link=_LIBRARIES[row.family])
    return _DECLARED[symbol]


def _implementation(row: table.Operation, group: str):
    """The argument of Numba's overload(): a function that takes the types of a call's arguments, and returns a function
    that calls the C function."""
    def choose(ctx, *rest):
        element = _element_of(row, dict(zip(row.parameters, rest))) if row.types else ""
        names = {"call": _declared(row, element, group), "address": _address, "uint64": types.uint64, "int32": types.int32}
        passed = ["address(ctx)"]
        for name in row.parameters:
            kind = table.PARAMETERS[name][0]
            if kind in ("array", "signal"):
                passed.append(f"address({name})")
            elif kind == "element":
                names["element"] = getattr(types, element)
                passed.append(f"element({name})")
            elif name == "count" and row.types == table.PIECES:
                of = rest[0].dtype
                whole = getattr(of, "bitwidth", 0) in (8, 16, 32, 64)
                passed.append("uint64(count)" if whole else f"uint64(count) * uint64({_bytes_of(of)})")
            else:
                passed.append(f"{kind}({name})")
        exec(f"def call_it({', '.join(('ctx',) + row.parameters)}):\n    return call({', '.join(passed)})", names)
        return names["call_it"]

    parameters = ", ".join(("ctx",) + row.parameters)
    scope = {"choose": choose}
    exec(f"def implement({parameters}):\n    return choose({parameters})", scope)
    return scope["implement"]


def _bytes_of(dtype) -> int:
    from numba.cuda.np.numpy_support import as_dtype

    return as_dtype(dtype).itemsize


def _define(row: table.Operation, group: str):
    """The function that kernels call by name."""
    name = row.name + group
    scope: dict[str, object] = {}
    exec(f"def {name}({', '.join(('ctx',) + row.parameters)}):\n    raise TypeError('pgas.numba.{name} is called by kernels')", scope)
    function = scope[name]
    function.__module__ = __name__
    function.__doc__ = row.doc + {"": "", "_warp": " Called by all threads of a warp.", "_block": " Called by all threads of a block."}[group]
    overload(function)(_implementation(row, group))
    globals()[name] = function
    __all__.append(name)


for _each in table.OPERATIONS:
    for _group in _each.groups:
        _define(_each, _group)


@intrinsic
def peer(typingctx, ctx, array, pe):
    """`array` in PE `pe`'s memory, for loads and stores. The address is null if the PE is not load/store accessible."""
    # This is an intrinsic, because a Numba function can return only arrays that it has received.
    row = next(each for each in table.OPERATIONS if each.name == "peer_address")
    address_of_peer, address, int32 = _declared(row, "uint8", ""), _address, types.int32
    if not isinstance(array, types.Array):
        raise TypingError(f"pgas.numba.peer: the argument must be an array of the symmetric heap, not {array}")

    def address_there(ctx, array, pe):
        return address_of_peer(address(ctx), address(array), int32(pe))

    def generate(context, builder, signature, arguments):
        there = context.compile_internal(builder, address_there, types.uint64(*signature.args), arguments)
        moved = context.make_array(signature.return_type)(context, builder, arguments[1])
        byte = context.get_value_type(types.uint8).as_pointer()
        # The result is an offset from the original pointer, because NVVM removes stores to a pointer that is made from
        # a number.
        distance = builder.sub(there, builder.ptrtoint(moved.data, there.type))
        moved.data = builder.bitcast(builder.gep(builder.bitcast(moved.data, byte), [distance]), moved.data.type)
        return moved._getvalue()

    return array(ctx, array, pe), generate


def _peer_is_symmetric(result, arguments, aliases, of_arguments):
    of_arguments.add(result)


# Numba removes stores to arrays that it considers local to a function.
alias_func_extensions[("peer", "pgas.numba")] = _peer_is_symmetric
