#!/usr/bin/env python3
"""Writes a program that calls every typed function of NVSHMEM, from the type lists in types.inc.

Usage: generate.py TYPES_INC OUTPUT_FOLDER

Writes one .cu file for each group of families, called.txt with the names of all called functions, and guarded.txt with
the functions that only pgas has as documented, each with the reason. Calls of these functions are compiled only with
PGAS_COMPAT_ONLY. `--list` prints the names of the .cu files instead.
"""

import pathlib
import re
import sys

GROUPS = ["copy_thread", "copy_warp", "copy_block", "copy_host", "signal_thread", "signal_group", "signal_host", "atomic",
          "wait", "wait_host", "move_thread", "move_warp", "move_block", "move_host", "reduce_thread", "reduce_warp", "reduce_block", "scatter_thread", "scatter_warp",
          "scatter_block", "reduce_host", "qp_copy", "qp_copy_group", "qp_signal"]

THREADS = {"thread": 64, "warp": 32, "block": 256}

# Functions that NVIDIA's library (3.4.5) does not have, or that differ from the documentation. The first match is used.
GUARDED = [
    (r"nvshmemx_qp_", "queue pairs are new in 3.5"),
    (r"nvshmem_half_atomic_", "new in 3.8"),
    (r"nvshmem_(int64|longlong|ptrdiff)_atomic_(fetch_)?(add|inc)", "declared, not defined"),
    (r"nvshmem_(ulong|size)_atomic_(fetch_)?(add|inc)", "adds 32 bits of 64"),
    (r"nvshmem_long_atomic_(set|swap)", "writes 32 bits of 64"),
    (r"nvshmem_double_atomic_swap", "returns the old bits as if they were an integer"),
    (r"nvshmemx_put(8|16|32|64|128)_signal(_nbi)?_(warp|block)", "16 bits are called put6 there; the size is not certain"),
    (r"nvshmemx_\w+_g_on_stream", "returns before the stream has run"),
    (r"nvshmemx_broadcastmem_(warp|block)", "declared without the root"),
    (r"nvshmemx_[a-z0-9]+_signal$", "of old versions"),
    (r"nvshmemx_put6_", "a name by mistake; its size is not documented"),
]
THREAD_GUARDED = [
    (r"nvshmem_(half|bfloat16|schar|int8)_[pg]$", "not in its device library"),
]
HOST_GUARDED = [
    (r"nvshmem_\w+_atomic_", "host atomics are not implemented"),
    (r"nvshmem_\w+_signal(_nbi)?$", "not defined for the host"),
    (r"nvshmem_\w+_(wait_until|test)", "not defined for the host"),
    (r"nvshmem_signal_wait_until", "not defined for the host"),
]


def read_types(path: pathlib.Path) -> dict[str, list[tuple[str, str]]]:
    """Returns (name, type) by list, including types that only NVSHMEM has, and without types that only OpenSHMEM
    has."""
    lists: dict[str, list[tuple[str, str]]] = {}
    skipping = False
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#ifdef PGAS_OPENSHMEM_TYPES"):
            skipping = True
        elif line.startswith("#endif"):
            skipping = False
        elif (found := re.match(r"(PGAS_\w+)\((\w+), (.+)\)$", line)) and not skipping:
            lists.setdefault(found[1], []).append((found[2], found[3]))
    return lists


SIZES = {"char": 1, "short": 2, "int": 4, "long": 8, "float": 4, "double": 8, "half": 2, "__nv_bfloat16": 2,
         "size_t": 8, "ptrdiff_t": 8}
FLOATS = {"float": "f32", "double": "f64", "half": "f16", "__nv_bfloat16": "bf16"}


def describe(ctype: str) -> str:
    """Returns `bytes, kind` of a C type, for a row of the table of functions."""
    if ctype in FLOATS:
        return f"{SIZES[ctype]}, kind::{FLOATS[ctype]}"
    if found := re.match(r"(u?)int(\d+)_t", ctype):
        return f"{int(found[2]) // 8}, kind::{'uint' if found[1] else 'sint'}"
    unsigned = ctype.startswith("unsigned") or ctype == "size_t"
    return f"{SIZES[ctype.split()[-1]]}, kind::{'uint' if unsigned else 'sint'}"


class Family:
    """Functions of one shape and scope. `text` makes a call from a function's name and its type."""

    def __init__(self, group: str, name: str, shape: str, scope: str, operation: str = ""):
        self.group, self.name, self.shape, self.scope, self.operation = group, name, shape, scope, operation
        self.functions: list[tuple[str, str, str]] = []  # name, description, and call

    def add(self, name: str, description: str, text: str):
        self.functions.append((name, description, text))

    def guard(self, name: str) -> str:
        table = GUARDED + {"host": HOST_GUARDED, "thread": THREAD_GUARDED}.get(self.scope, [])
        return next((reason for pattern, reason in table if re.match(pattern, name)), "")

    def guarded(self, name: str, text: str, otherwise: str = "") -> str:
        """Returns `text`. If NVIDIA's library does not have the function as documented, `text` is compiled only with
        PGAS_COMPAT_ONLY, and `otherwise` without it."""
        if not self.guard(name):
            return text
        return f"#if defined(PGAS_COMPAT_ONLY)\n{text}\n" + (f"#else\n{otherwise}\n" if otherwise else "") + "#endif"

    def emit(self) -> str:
        # A function that is left out keeps its row, so the numbers of the other functions do not change.
        rows = [self.guarded(name, f'    {{"{name}", {description}}},', f"    {{nullptr, {description}}},")
                for name, description, _ in self.functions]
        return (self.kernels() if self.folds_in_kernels() else self.body()) + (
            f'static const registration {self.name}_registration(family{{"{self.name}", "{self.shape}", "{self.scope}",\n'
            f'    "{self.operation}", {{\n' + "\n".join(rows) + f"\n    }}, {self.name}_run}});\n\n")

    def folds_in_kernels(self) -> bool:
        return self.group.startswith(("reduce_", "scatter_")) and self.scope in THREADS

    def who(self) -> str:
        return {"thread": "threadIdx.x == 0", "warp": "threadIdx.x < 32", "block": "true"}[self.scope]

    def kernels(self) -> str:
        """Writes one kernel for each function. With -rdc=true all code of a collective is inlined, and compilers take
        several times as long if one kernel contains many collectives."""
        made, names = [], []
        for number, (name, _, text) in enumerate(self.functions):
            kernel = f"{self.name}_kernel_{number}"
            made.append(self.guarded(name, f"__global__ void {kernel}(call c) {{\n  if ({self.who()}) {text};\n"
                                           "  nvshmem_quiet();\n}"))
            names.append(self.guarded(name, f"    reinterpret_cast<const void*>(&{kernel}),", "    nullptr,"))
        return ("\n".join(made) + f"\nstatic const void* const {self.name}_kernels[] = {{\n" + "\n".join(names) + "\n};\n"
                f"static void {self.name}_run(const call& c) {{\n"
                f"  launch({self.name}_kernels[c.which], c, {THREADS[self.scope]});\n}}\n")

    def body(self) -> str:
        cases = "\n".join(self.guarded(name, f"    case {number}: {text}; break;")
                          for number, (name, _, text) in enumerate(self.functions))
        switch = f"  switch (c.which) {{\n{cases}\n    default: break;\n  }}\n"
        each = self.shape in ("p", "g")
        if self.scope in ("host", "stream"):
            before = "  write_words(c);\n" if self.shape.startswith("wait") else ""
            if each:
                switch = f"  for (std::size_t i = 0; i < c.n; ++i) {{\n{switch}  }}\n"
            after = {"host": "  nvshmem_quiet();\n",
                     "stream": "  nvshmemx_quiet_on_stream(c.stream);\n  cudaStreamSynchronize(c.stream);\n"}[self.scope]
            return f"static void {self.name}_run(const call& c) {{\n{before}{switch}{after}}}\n"
        who = self.who()
        if each:
            who = "threadIdx.x < c.n"
            switch = "  const std::size_t i = threadIdx.x;\n" + switch
        if self.shape.startswith("wait"):
            switch = "  write_words(c);\n" + switch
        after = "  after_signal(c);\n" if self.shape == "put_signal" else ""
        return (f"__global__ void {self.name}_kernel(call c) {{\n  if ({who}) {{\n{switch}  }}\n  nvshmem_quiet();\n{after}}}\n"
                f"static void {self.name}_run(const call& c) {{\n"
                f"  launch(reinterpret_cast<const void*>(&{self.name}_kernel), c, {THREADS[self.scope]});\n}}\n")


class Program:
    def __init__(self, types: dict[str, list[tuple[str, str]]]):
        self.types = types
        self.families: list[Family] = []

    def family(self, *arguments) -> Family:
        self.families.append(Family(*arguments))
        return self.families[-1]

    @staticmethod
    def named(scope: str, function: str) -> tuple[str, str]:
        """Returns a function's full name in a scope, and its last arguments."""
        if scope in ("thread", "host"):
            return f"nvshmem_{function}", ""
        if scope == "stream":
            return f"nvshmemx_{function}_on_stream", ", c.stream"
        return f"nvshmemx_{function}_{scope}", ""

    def sized(self, before: str, after: str):
        """Returns (name, description) of the functions by size."""
        rows = [(f"{before}{bits}{after}", f"{size}, kind::bytes") for bits, size in self.types["PGAS_SIZED"]]
        return rows

    def copies(self):
        for scope in ("thread", "warp", "block", "host", "stream"):
            group = f"copy_{scope}" if scope != "stream" else "copy_host"
            for shape in ("put", "get"):
                for nbi in ("", "_nbi"):
                    all_of = self.family(group, f"{shape}{nbi}_{scope}", shape, scope)
                    for name, ctype in self.types["PGAS_RMA_TYPE"]:
                        full, last = self.named(scope, f"{name}_{shape}{nbi}")
                        all_of.add(full, describe(ctype), f"{full}(({ctype}*)c.dest, (const {ctype}*)c.source, c.n, c.pe{last})")
                    for function, description in self.sized(shape, nbi) + [(f"{shape}mem{nbi}", "1, kind::bytes")]:
                        full, last = self.named(scope, function)
                        all_of.add(full, description, f"{full}(c.dest, c.source, c.n, c.pe{last})")
                strided = self.family(group, f"i{shape}_{scope}", f"i{shape}", scope)
                for name, ctype in self.types["PGAS_RMA_TYPE"]:
                    full, last = self.named(scope, f"{name}_i{shape}")
                    strided.add(full, describe(ctype),
                                f"{full}(({ctype}*)c.dest, (const {ctype}*)c.source, c.dst, c.sst, c.n, c.pe{last})")
                for function, description in self.sized(f"i{shape}", ""):
                    full, last = self.named(scope, function)
                    strided.add(full, description, f"{full}(c.dest, c.source, c.dst, c.sst, c.n, c.pe{last})")
            if scope in ("warp", "block"):
                continue
            source, dest = ("host_source", "host_dest") if scope != "thread" else ("source", "dest")
            p, g = self.family(group, f"p_{scope}", "p", scope), self.family(group, f"g_{scope}", "g", scope)
            for name, ctype in self.types["PGAS_RMA_TYPE"]:
                full, last = self.named(scope, f"{name}_p")
                p.add(full, describe(ctype), f"{full}(({ctype}*)c.dest + i, ((const {ctype}*)c.{source})[i], c.pe{last})")
                full, last = self.named(scope, f"{name}_g")
                g.add(full, describe(ctype), f"(({ctype}*)c.{dest})[i] = {full}((const {ctype}*)c.source + i, c.pe{last})")

    def signals(self):
        groups = {"thread": "signal_thread", "warp": "signal_group", "block": "signal_group", "host": "signal_host",
                  "stream": "signal_host"}
        arguments = "c.n, c.signal, c.value, c.op, c.pe"
        for scope, group in groups.items():
            for nbi in ("", "_nbi"):
                all_of = self.family(group, f"put_signal{nbi}_{scope}", "put_signal", scope)
                for name, ctype in self.types["PGAS_RMA_TYPE"]:
                    full, last = self.named(scope, f"{name}_put_signal{nbi}")
                    all_of.add(full, describe(ctype), f"{full}(({ctype}*)c.dest, (const {ctype}*)c.source, {arguments}{last})")
                rows = self.sized("put", f"_signal{nbi}") + [(f"putmem_signal{nbi}", "1, kind::bytes")]
                if scope in ("warp", "block"):
                    rows.append((f"put6_signal{nbi}", "2, kind::bytes"))
                for function, description in rows:
                    full, last = self.named(scope, function)
                    all_of.add(full, description, f"{full}(c.dest, c.source, {arguments}{last})")

    def atomics(self):
        lists = {"PGAS_BITS_TYPE": ["and", "or", "xor", "fetch_and", "fetch_or", "fetch_xor"],
                 "PGAS_INTEGER_TYPE": ["add", "fetch_add", "inc", "fetch_inc", "compare_swap"],
                 "PGAS_WORD_TYPE": ["fetch", "set", "swap"]}
        for scope in ("thread", "host"):
            for types, operations in lists.items():
                for operation in operations:
                    all_of = self.family("atomic", f"atomic_{operation}_{scope}", "atomic", scope, operation)
                    for name, ctype in self.types[types]:
                        full = f"nvshmem_{name}_atomic_{operation}"
                        target = f"(const {ctype}*)c.dest" if operation == "fetch" else f"({ctype}*)c.dest"
                        value = f", value_of<{ctype}>(c.bits)"
                        if operation in ("fetch", "inc", "fetch_inc"):
                            value = ""
                        elif operation == "compare_swap":
                            value = f", value_of<{ctype}>(c.condition), value_of<{ctype}>(c.bits)"
                        made = f"{full}({target}{value}, c.pe)"
                        fetches = operation.startswith("fetch") or "swap" in operation
                        all_of.add(full, describe(ctype), f"give(c, {made})" if fetches else made)

    def waits(self):
        for scope in ("thread", "host"):
            group = "wait" if scope == "thread" else "wait_host"
            for verb in ("wait_until", "test"):
                one = self.family(group, f"{verb}_{scope}", "wait" if verb == "wait_until" else "test", scope, "one")
                for name, ctype in self.types["PGAS_WAIT_TYPE"]:
                    full = f"nvshmem_{name}_{verb}"
                    made = f"{full}(({ctype}*)c.dest, c.cmp, value_of<{ctype}>(c.bits))"
                    one.add(full, describe(ctype), made if verb == "wait_until" else f"give(c, {made})")
                for which in ("all", "any", "some"):
                    for vector in ("", "_vector"):
                        all_of = self.family(group, f"{verb}_{which}{vector}_{scope}",
                                             "wait" if verb == "wait_until" else "test", scope, which + vector)
                        for name, ctype in self.types["PGAS_WAIT_TYPE"]:
                            full = f"nvshmem_{name}_{verb}_{which}{vector}"
                            value = f"({ctype}*)c.values" if vector else f"value_of<{ctype}>(c.bits)"
                            indices = "c.indices, " if which == "some" else ""
                            made = f"{full}(({ctype}*)c.dest, c.n, {indices}c.status, c.cmp, {value})"
                            silent = verb == "wait_until" and which == "all"
                            all_of.add(full, describe(ctype), made if silent else f"give(c, {made})")
        for which, arguments in (("", ""), ("_all", "c.n, c.status, "), ("_all_vector", "c.n, c.status, ")):
            all_of = self.family("wait_host", f"wait_until{which}_stream", "wait", "stream", which[1:] or "one")
            for name, ctype in self.types["PGAS_WAIT_TYPE"]:
                full = f"nvshmemx_{name}_wait_until{which}_on_stream"
                value = f"({ctype}*)c.values" if "vector" in which else f"value_of<{ctype}>(c.bits)"
                all_of.add(full, describe(ctype), f"{full}(({ctype}*)c.dest, {arguments}c.cmp, {value}, c.stream)")

    def collectives(self):
        for scope in ("thread", "warp", "block", "host", "stream"):
            for operation in ("alltoall", "fcollect", "broadcast"):
                root = ", c.root" if operation == "broadcast" else ""
                group = f"move_{scope}" if scope in THREADS else "move_host"
                all_of = self.family(group, f"{operation}_{scope}", operation, scope)
                for name, ctype in self.types["PGAS_RMA_TYPE"]:
                    full, last = self.named(scope, f"{name}_{operation}")
                    all_of.add(full, describe(ctype),
                               f"give(c, {full}(c.team, ({ctype}*)c.dest, (const {ctype}*)c.source, c.n{root}{last}))")
                full, last = self.named(scope, f"{operation}mem")
                all_of.add(full, "1, kind::bytes", f"give(c, {full}(c.team, c.dest, c.source, c.n{root}{last}))")
            lists = {"PGAS_REDUCE_BITS_TYPE": ["and", "or", "xor"], "PGAS_REDUCE_ORDER_TYPE": ["min", "max"],
                     "PGAS_REDUCE_SUM_TYPE": ["sum", "prod"]}
            for kind, before in (("reduce", "reduce"), ("reducescatter", "scatter")):
                group = f"{before}_{scope}" if scope in THREADS else "reduce_host"
                for types, operations in lists.items():
                    for operation in operations:
                        all_of = self.family(group, f"{operation}_{kind}_{scope}", kind, scope, operation)
                        for name, ctype in self.types[types]:
                            full, last = self.named(scope, f"{name}_{operation}_{kind}")
                            all_of.add(full, describe(ctype), f"give(c, {full}(c.team, ({ctype}*)c.dest, "
                                                              f"(const {ctype}*)c.source, c.n{last}))")

    def old_signals(self):
        for scope in ("thread", "host"):
            source = "host_source" if scope == "host" else "source"
            all_of = self.family(f"signal_{scope}", f"old_signal_{scope}", "p", scope)
            for name, ctype in self.types["PGAS_WAIT_TYPE"]:
                full = f"nvshmemx_{name}_signal"
                all_of.add(full, describe(ctype), f"{full}(({ctype}*)c.dest + i, ((const {ctype}*)c.{source})[i], c.pe)")

    def queue_pairs(self):
        """Adds every one-sided family by type a second time, with calls on a queue pair."""
        for plain in list(self.families):
            if plain.scope not in THREADS or plain.shape not in ("put", "get", "p", "g", "put_signal"):
                continue
            group = "qp_signal" if plain.shape == "put_signal" else "qp_copy" if plain.scope == "thread" else "qp_copy_group"
            all_of = self.family(group, "qp_" + plain.name, plain.shape, plain.scope)
            for name, description, text in plain.functions:
                if "kind::bytes" not in description:
                    full = re.sub(r"nvshmemx?_", "nvshmemx_qp_", name, count=1)
                    all_of.add(full, description, text.replace(name, full).replace("c.pe)", "c.pe, NVSHMEMX_QP_DEFAULT)"))


def main() -> int:
    if sys.argv[1:] == ["--list"]:
        print(";".join(f"{group}.cu" for group in GROUPS), end="")
        return 0
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    program = Program(read_types(pathlib.Path(sys.argv[1])))
    program.copies()
    program.signals()
    program.atomics()
    program.waits()
    program.collectives()
    program.queue_pairs()
    program.old_signals()

    head = '// Written by generate.py.\n#include "call.hpp"\n\nusing namespace conformance;\n\n'
    for group in GROUPS:
        text = head + "".join(family.emit() for family in program.families if family.group == group)
        (folder / f"{group}.cu").write_text(text, encoding="utf-8")
    called = sorted({name for family in program.families for name, *_ in family.functions})
    (folder / "called.txt").write_text("\n".join(called) + "\n", encoding="utf-8")
    guarded = sorted({f"{name} ({family.scope}): {family.guard(name)}" for family in program.families
                      for name, *_ in family.functions if family.guard(name)})
    (folder / "guarded.txt").write_text("\n".join(guarded) + "\n", encoding="utf-8")
    print(f"{len(called)} functions in {len(program.families)} families")
    return 0


if __name__ == "__main__":
    sys.exit(main())
