"""The operations of pgas/device.hpp as a table, and the `extern "C"` functions that are generated from it.

Languages that link device code by C names can use these functions. pgas.numba uses them. A row is one operation: its
name, its C++ expression, its result and its parameters, for each of its element types and groups of threads. `{g}` in
an expression stands for the group argument and the comma after it.
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any, Iterator

# The C++ type for each name of a type.
TYPES = {
    "int8": "std::int8_t", "uint8": "std::uint8_t", "int16": "std::int16_t", "uint16": "std::uint16_t",
    "int32": "std::int32_t", "uint32": "std::uint32_t", "int64": "std::int64_t", "uint64": "std::uint64_t",
    "float32": "float", "float64": "double",
}
PIECES = ("uint8", "uint16", "uint32", "uint64")  # the types that copies move, by the size of an element
WORDS = ("int32", "uint32", "int64", "uint64")
NUMBERS = WORDS + ("float32", "float64")
GROUPS = {"": "", "_warp": "pgas::this_warp(pgas::block()), ", "_block": "pgas::block(), "}
THREAD = ("",)

# The kinds of parameters: an address of elements, an address of a signal, an element by value, and C++ types.
PARAMETERS = {
    "dst": ("array", "T*"), "src": ("array", "const T*"), "word": ("array", "T*"), "sig": ("signal", "pgas::signal_t*"),
    "value": ("element", "T"), "condition": ("element", "T"), "signal": ("uint64", "pgas::signal_t"), "count": ("uint64", "std::size_t"),
    "pe": ("int32", "std::int32_t"), "op": ("int32", "pgas::signal_op"), "comparison": ("int32", "pgas::cmp"),
}


@dataclasses.dataclass(frozen=True)
class Operation:
    name: str
    family: str  # operations of a family are compiled together
    expression: str
    parameters: tuple[str, ...]
    result: str = "void"  # a type, "T" or "void"
    types: tuple[str, ...] = ()
    groups: tuple[str, ...] = THREAD
    doc: str = ""

    def variants(self) -> Iterator[tuple[str, str]]:
        """The element type and the group of each function of the operation. The element type is empty if the operation
        has none."""
        return itertools.product(self.types or ("",), self.groups)

    def symbol(self, element: str, group: str) -> str:
        return f"pgas_{self.name}{group}" + (f"_{element}" if element else "")

    def result_type(self, element: str) -> str:
        return element if self.result == "T" else self.result


def _row(name: str, family: str, expression: str, parameters: str, **others: Any) -> Operation:
    return Operation(name, family, expression, tuple(parameters.split()), **others)


ALL = tuple(GROUPS)
COPIES = "dst src count pe"
OPERATIONS = (
    _row("my_pe", "sync", "ctx.my_pe()", "", result="int32", doc="This PE's number."),
    _row("n_pes", "sync", "ctx.n_pes()", "", result="int32", doc="How many PEs there are."),
    _row("peer_address", "sync", "reinterpret_cast<std::uint64_t>(ctx.remote(dst, pe))", "dst pe", result="uint64", types=("uint8",),
         doc="The address of PE `pe`'s copy of `dst`; 0 where load and store do not reach it."),
    _row("put", "copy", "pgas::put(ctx, {g}dst, src, count, pe)", COPIES, types=PIECES, groups=ALL,
         doc="Copies `count` elements to PE `pe`."),
    _row("get", "copy", "pgas::get(ctx, {g}dst, src, count, pe)", COPIES, types=PIECES, groups=ALL,
         doc="Copies `count` elements from PE `pe`."),
    _row("put_nbi", "copy", "pgas::put_nbi(ctx, {g}dst, src, count, pe)", COPIES, types=PIECES, groups=ALL,
         doc="put() that does not wait for the group."),
    _row("get_nbi", "copy", "pgas::get_nbi(ctx, {g}dst, src, count, pe)", COPIES, types=PIECES, groups=ALL,
         doc="get() that does not wait for the group."),
    _row("put_signal", "copy", "pgas::put_signal(ctx, {g}dst, src, count, sig, signal, op, pe)", "dst src count sig signal op pe",
         types=PIECES, groups=ALL, doc="put(), then sets PE `pe`'s signal word or adds to it."),
    _row("p", "word", "pgas::p(ctx, dst, value, pe)", "dst value pe", types=NUMBERS, doc="Writes one value to PE `pe`."),
    _row("g", "word", "pgas::g(ctx, src, pe)", "src pe", result="T", types=NUMBERS, doc="Reads one value from PE `pe`."),
    _row("signal_set", "sync", "pgas::signal_set(ctx, {g}sig, signal, pe)", "sig signal pe", groups=ALL,
         doc="Sets PE `pe`'s signal word; orders nothing."),
    _row("signal_add", "sync", "pgas::signal_add(ctx, {g}sig, signal, pe)", "sig signal pe", groups=ALL,
         doc="Adds to PE `pe`'s signal word; orders nothing."),
    _row("signal_fetch", "sync", "pgas::signal_fetch(ctx, {g}sig)", "sig", result="uint64", groups=ALL,
         doc="This PE's signal word; what was sent before its value is visible."),
    _row("signal_take", "sync", "pgas::signal_take(ctx, {g}sig, signal)", "sig signal", result="uint64", groups=ALL,
         doc="Waits for this number of arrivals and subtracts them."),
    _row("wait_until", "sync", "pgas::wait_until(ctx, {g}word, comparison, value)", "word comparison value", types=WORDS, groups=ALL,
         doc="Waits until this PE's word is as compared."),
    _row("test", "sync", "pgas::test(ctx, {g}word, comparison, value)", "word comparison value", result="int32", types=WORDS, groups=ALL,
         doc="Whether this PE's word is as compared."),
    _row("fence", "sync", "pgas::fence(ctx{,g})", "", groups=ALL, doc="Orders earlier puts, atomics and signals before later ones."),
    _row("quiet", "sync", "pgas::quiet(ctx{,g})", "", groups=ALL, doc="Completes earlier puts, atomics and signals."),
    _row("barrier", "sync", "pgas::barrier(ctx{,g})", "", groups=ALL, doc="Returns when all PEs have called it; orders everything."),
    _row("sync", "sync", "pgas::sync(ctx{,g})", "", groups=ALL, doc="Returns when all PEs have called it."),
    _row("atomic_fetch", "word", "pgas::atomic_fetch(ctx, src, pe)", "src pe", result="T", types=NUMBERS, doc="Reads PE `pe`'s word."),
    _row("atomic_swap", "word", "pgas::atomic_swap(ctx, dst, value, pe)", "dst value pe", result="T", types=NUMBERS,
         doc="Writes PE `pe`'s word and returns what was there."),
    _row("atomic_compare_swap", "word", "pgas::atomic_compare_swap(ctx, dst, condition, value, pe)", "dst condition value pe", result="T",
         types=NUMBERS, doc="Writes PE `pe`'s word if it is `condition`; returns what was there."),
    *(_row(f"atomic_{how}", "word", f"pgas::atomic_{how}(ctx, dst, value, pe)", "dst value pe", types=types,
           doc=f"{how} on PE `pe`'s word.")
      for how, types in (("set", NUMBERS), ("add", NUMBERS), ("min", NUMBERS), ("max", NUMBERS), ("and", WORDS), ("or", WORDS),
                         ("xor", WORDS))),
    *(_row(f"atomic_fetch_{how}", "word", f"pgas::atomic_fetch_{how}(ctx, dst, value, pe)", "dst value pe", result="T", types=types,
           doc=f"{how} on PE `pe`'s word; returns the old one.")
      for how, types in (("add", NUMBERS), ("min", NUMBERS), ("max", NUMBERS), ("and", WORDS), ("or", WORDS), ("xor", WORDS))),
)
FAMILIES = tuple(dict.fromkeys(row.family for row in OPERATIONS))

HEAD = """// Generated by pgas._numba_operations: device operations under C names. The first parameter is for Numba's convention, which returns a
// value through it; contexts, arrays and signals come as addresses.
#include <pgas/device.hpp>

namespace pgas {  // where std is libcu++ under NVRTC

/// The context at an address, by the read-only path: it never changes, so that nothing makes a kernel read it again.
static __device__ __forceinline__ context context_at(unsigned long long address) {
  struct words {
    unsigned long long at[sizeof(context) / 8];
  } all;
  const auto* const from = reinterpret_cast<const unsigned long long*>(address);
#pragma unroll
  for (unsigned i = 0; i < sizeof(context) / 8; ++i) all.at[i] = __ldg(from + i);
  return __builtin_bit_cast(context, all);
}
"""


def _function(row: Operation, element: str, group: str) -> str:
    parameters, values = ["unsigned long long context_address"], ["const context ctx = context_at(context_address);"]
    for name in row.parameters:
        kind, of = PARAMETERS[name]
        if kind in ("array", "element"):
            of = of.replace("T", TYPES[element])
        if kind in ("array", "signal"):
            parameters.append(f"unsigned long long {name}_address")
            values.append(f"{of} const {name} = reinterpret_cast<{of}>({name}_address);")
        elif name in ("op", "comparison"):
            parameters.append(f"int {name}_number")
            values.append(f"const {of} {name} = static_cast<{of}>({name}_number);")
        else:
            parameters.append(f"{of} {name}")
    expression = row.expression.replace("{,g}", f", {GROUPS[group][:-2]}" if group else "").replace("{g}", GROUPS[group])
    result = row.result_type(element)
    returned = "void" if result == "void" else TYPES[result]
    values.append(f"{'' if result == 'void' else '*result = '}{expression};")
    body = "\n".join(f"  {line}" for line in [*values, "return 0;"])
    return f'extern "C" __device__ int {row.symbol(element, group)}({returned}* result, {", ".join(parameters)}) {{\n{body}\n}}\n'


def source(family: str) -> str:
    """The C++ source of all functions of a family."""
    rows = [row for row in OPERATIONS if row.family == family]
    functions = (_function(row, *variant) for row in rows for variant in row.variants())
    return HEAD + "\n" + "\n".join(functions) + "\n}  // namespace pgas\n"
