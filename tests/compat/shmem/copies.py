"""Copies and signals: each PE writes to and reads from its right neighbour, and receives data from its left
neighbour."""

from type_lists import kind

SLOT = 16  # the number of elements of an area of the destination
SIZED = {"8": "uint8_t", "16": "uint16_t", "32": "uint32_t", "64": "uint64_t", "128": "pair"}


class Copies:
    """The test of one type: puts into areas of the destination, gets into areas of a local array."""

    def __init__(self, label: str, c_type: str, kind_: str):
        self.label, self.type, self.kind = label, c_type, kind_
        self.puts: list[str] = []
        self.gets: list[str] = []
        self.expected: list[str] = []  # statements that build the expected data from the left PE
        self.expected_gets: list[str] = []
        self.checks: list[str] = []
        self.area = 0
        self.got = 0
        self.signals = 0

    def value(self, pe: str, index: str) -> str:
        return f"VALUE_{self.kind}({self.type}, {pe}, 1, {index})"

    def put(self, call: str, arguments: str, loop: str, target: str, source: str) -> None:
        base = f"{self.area} * {SLOT}"
        self.puts.append(f"{call}dst + {base}, {arguments}, right);")
        self.expected.append(f"{loop} want[{base} + {target}] = {self.value('left', source)};")
        self.area += 1

    def get(self, call: str, arguments: str, loop: str, target: str, source: str) -> None:
        base = f"{self.got} * {SLOT}"
        self.gets.append(f"{call}got + {base}, {arguments}, right);")
        self.expected_gets.append(f"{loop} want[{base} + {target}] = {self.value('right', source)};")
        self.got += 1

    def put_signal(self, call: str, nbi: bool, with_ctx: bool) -> None:
        op = "SHMEM_SIGNAL_ADD" if with_ctx else "SHMEM_SIGNAL_SET"
        k = self.signals
        self.put(call, f"src, 6, sig + {k}, {40 + k}, {op}", "for (i = 0; i < 6; ++i)", "i", "i")
        wanted = 40 + k + (1000 if with_ctx else 0)  # with a context, the signal is added to 1000
        self.checks.append(f'CHECK("{self.label} signal {k}", shmem_signal_wait_until(sig + {k}, SHMEM_CMP_EQ, {wanted}) == {wanted});')
        self.signals += 1

    def text(self) -> list[str]:
        total = max(self.area, self.got) * SLOT
        return [
            f"static void copies_{self.label}(void) {{",
            f"  static {self.type} src[{SLOT}], got[{total}], want[{total}];",
            "  static uint64_t zeros[4];",
            f"  {self.type}* dst = ({self.type}*)(void*)memory[0];",
            f"  {self.type}* from = ({self.type}*)(void*)memory[1];",
            "  uint64_t* sig = (uint64_t*)(void*)memory[2];",
            "  int i, j;",
            "  (void)j;",
            "  for (i = 0; i < 4; ++i) zeros[i] = 1000;",
            f"  FILL({self.kind}, {self.type}, src, {SLOT}, me, 1);",
            f"  CLEAR({self.kind}, {self.type}, got, {total});",
            f"  CLEAR({self.kind}, {self.type}, want, {total});",
            "  store(from, src, sizeof src);",
            "  store(dst, got, sizeof got);",
            "  store(sig, zeros, sizeof zeros);",
            "  shmem_barrier_all();",
            *["  " + line for line in self.puts],
            *["  " + line for line in self.checks],
            "  shmem_barrier_all();",
            *["  " + line for line in self.expected],
            "  load(got, dst, sizeof got);",
            f'  CHECK_ARRAY("{self.label}: puts", {self.kind}, got, want, {total});',
            f"  CLEAR({self.kind}, {self.type}, got, {total});",
            f"  CLEAR({self.kind}, {self.type}, want, {total});",
            *["  " + line for line in self.gets],
            "  shmem_quiet();",
            *["  " + line for line in self.expected_gets],
            f'  CHECK_ARRAY("{self.label}: gets", {self.kind}, got, want, {total});',
            "  shmem_barrier_all();",
            "}",
            "",
        ]


def add_all(test: Copies, named) -> None:
    """`named(op, with_ctx)` begins a call of an operation."""
    plain = "for (i = 0; i < 6; ++i)"
    blocks = "for (i = 0; i < 3; ++i) for (j = 0; j < 2; ++j)"
    for with_ctx in (False, True):
        test.put(named("put", with_ctx), "src, 6", plain, "i", "i")
        test.put(named("put_nbi", with_ctx), "src, 6", plain, "i", "i")
        test.put(named("iput", with_ctx), "src, 3, 2, 5", "for (i = 0; i < 5; ++i)", "3 * i", "2 * i")
        test.put(named("ibput", with_ctx), "src, 5, 4, 2, 3", blocks, "5 * i + j", "4 * i + j")
        test.put_signal(named("put_signal", with_ctx), False, with_ctx)
        test.put_signal(named("put_signal_nbi", with_ctx), True, with_ctx)
        test.get(named("get", with_ctx), "from, 6", plain, "i", "i")
        test.get(named("get_nbi", with_ctx), "from, 6", plain, "i", "i")
        test.get(named("iget", with_ctx), "from, 3, 2, 5", "for (i = 0; i < 5; ++i)", "3 * i", "2 * i")
        test.get(named("ibget", with_ctx), "from, 5, 4, 2, 3", blocks, "5 * i + j", "4 * i + j")


def program(lists, names):
    text: list[str] = []
    calls: list[str] = []

    def add(test: Copies) -> None:
        text.extend(test.text())
        calls.append(f"copies_{test.label}")

    for name, c_type in lists["PGAS_RMA_TYPE"]:
        test = Copies(name, c_type, kind(name))
        add_all(test, lambda op, with_ctx: names.data(name, op, with_ctx))
        for with_ctx in (False, True):
            test.put(names.data(name, "p", with_ctx), "src[3]", "", "0", "3")
            base = test.got * SLOT
            test.gets.append(f"got[{base}] = {names.data(name, 'g', with_ctx)}from + 4, right);")
            test.expected_gets.append(f"want[{base}] = {test.value('right', '4')};")
            test.got += 1
        add(test)
    if names.generic:
        return text, calls
    for bits, c_type in SIZED.items():
        test = Copies(f"size{bits}", c_type, "PAIR" if bits == "128" else "INT")

        def named(op: str, with_ctx: bool) -> str:
            for tail in ("_signal_nbi", "_signal", "_nbi"):
                if op.endswith(tail):
                    return names.sized(op[: -len(tail)] + bits + tail, with_ctx)
            return names.sized(op + bits, with_ctx)

        add_all(test, named)
        add(test)
    test = Copies("mem", "unsigned char", "INT")
    for with_ctx in (False, True):
        for nbi in ("", "_nbi"):
            test.put(names.sized("putmem" + nbi, with_ctx), "src, 6", "for (i = 0; i < 6; ++i)", "i", "i")
            test.get(names.sized("getmem" + nbi, with_ctx), "from, 6", "for (i = 0; i < 6; ++i)", "i", "i")
            test.put_signal(names.sized("putmem_signal" + nbi, with_ctx), nbi != "", with_ctx)
    add(test)
    return text, calls
