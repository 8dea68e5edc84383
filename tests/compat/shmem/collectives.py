"""Collectives of a team that numbers all PEs backwards, and of the active set of all PEs."""

from type_lists import kind

HEAD = """\
static void {label}(void) {{
  static {t} src[64], got[64], want[64];
  {t}* from = ({t}*)(void*)memory[0];
  {t}* dst = ({t}*)(void*)memory[1];
  int i, k, at;
  (void)k;
  (void)at;"""
LOAD = "shmem_barrier_all(); load(got, dst, sizeof got);"


def clear(k: str, t: str) -> list[str]:
    return [f"CLEAR({k}, {t}, got, 64);", f"CLEAR({k}, {t}, want, 64);", "store(dst, got, sizeof got);", "shmem_barrier_all();"]


class Moves:
    """The operations that move elements of one type. `world(k)` is the PE that is member k."""

    def __init__(self, label: str, c_type: str, kind_: str, member: str, mine: str):
        self.label, self.type, self.kind, self.member, self.mine = label, c_type, kind_, member, mine
        self.lines: list[str] = []

    def value(self, member: str, index: str) -> str:
        return f"VALUE_{self.kind}({self.type}, {self.member.format(member)}, 4, {index})"

    def check(self, what: str, call: str, wanted: str) -> None:
        self.lines += clear(self.kind, self.type) + [call, wanted, LOAD,
                                                    f'CHECK_ARRAY("{self.label} {what}", {self.kind}, got, want, 64);']

    def text(self) -> list[str]:
        k, t = self.kind, self.type
        return [HEAD.format(label=self.label, t=t), f"  FILL({k}, {t}, src, 64, me, 4);", "  store(from, src, sizeof src);",
                *["  " + line for line in self.lines], "  shmem_barrier_all();", "}", ""]

    def everything(self, call) -> None:
        """`call(op, arguments)` returns a statement."""
        mine = self.mine
        self.check("broadcast", call("broadcast", "5", ", n - 1"), f"for (i = 0; i < 5; ++i) want[i] = {self.value('n - 1', 'i')};")
        self.check("collect", call("collect", f"({mine} % 3) + 1", ""),
                   f"for (at = k = 0; k < n; ++k) for (i = 0; i < k % 3 + 1; ++i) want[at++] = {self.value('k', 'i')};")
        self.check("fcollect", call("fcollect", "4", ""), f"for (k = 0; k < n; ++k) for (i = 0; i < 4; ++i) want[k * 4 + i] = {self.value('k', 'i')};")
        self.check("alltoall", call("alltoall", "3", ""),
                   f"for (k = 0; k < n; ++k) for (i = 0; i < 3; ++i) want[k * 3 + i] = {self.value('k', f'{mine} * 3 + i')};")
        self.check("alltoalls", call("alltoalls", "3", "", "2, 3, "),
                   f"for (k = 0; k < n; ++k) for (i = 0; i < 3; ++i) want[(k * 3 + i) * 2] = {self.value('k', f'({mine} * 3 + i) * 3')};")


def team_moves(lists, names):
    made = []
    for name, c_type in lists["PGAS_RMA_TYPE"]:
        test = Moves(f"moves_{name}", c_type, kind(name), "n - 1 - ({})", "(n - 1 - me)")

        def call(op, count, behind, before=""):
            begin = f"shmem_{op}(" if names.generic else f"shmem_{name}_{op}("
            return f'CHECK("{name} {op}", {begin}team, dst, from, {before}{count}{behind}) == 0);'

        test.everything(call)
        made.append(test)
    if not names.generic:
        test = Moves("moves_mem", "unsigned char", "INT", "n - 1 - ({})", "(n - 1 - me)")
        test.everything(lambda op, count, behind, before="": f'CHECK("{op}mem", shmem_{op}mem(team, dst, from, {before}{count}{behind}) == 0);')
        made.append(test)
    return made


def set_moves():
    for bits in ("32", "64"):
        test = Moves(f"set_moves_{bits}", f"uint{bits}_t", "INT", "{}", "me")
        test.everything(lambda op, count, behind, before="": f"shmem_{op}{bits}(dst, from, {before}{count}{behind}, 0, 0, n, sync_array);")
        # In this function the root's own destination does not change.
        test.lines = [line.replace("for (i = 0; i < 5; ++i) want[i]", "for (i = 0; i < 5 && me != n - 1; ++i) want[i]") for line in test.lines]
        yield test


OPERATIONS = {
    "and": "({t})({a} & {b})", "or": "({t})({a} | {b})", "xor": "({t})({a} ^ {b})",
    "min": "({b} < {a} ? {b} : {a})", "max": "({a} < {b} ? {b} : {a})",
    "sum": "SUM_{k}({t}, {a}, {b})", "prod": "PROD_{k}({t}, {a}, {b})",
}
REDUCTIONS = (("BITS", ("and", "or", "xor")), ("ORDER", ("min", "max")), ("SUM", ("sum", "prod")))


class Folds:
    """The reductions and scans of one type."""

    def __init__(self, name: str, c_type: str, label: str, member: str):
        self.name, self.type, self.kind, self.label, self.member = name, c_type, kind(name), label, member
        self.lines: list[str] = []

    def value(self, member: str) -> str:
        return f"VALUE_{self.kind}({self.type}, {self.member.format(member)}, 5, i)"

    def add(self, op: str, call: str, end: str = "n", in_place: bool = False) -> None:
        step = OPERATIONS[op].format(t=self.type, k=self.kind, a="want[i]", b=self.value("k"))
        start = f"want[i] = {self.value('0')};" if end != "before" else f"want[i] = CONSTANT_{self.kind}({self.type}, 0);"
        first, last = ("1", end) if end != "before" else ("0", "mine")
        self.lines += clear(self.kind, self.type)
        if in_place:
            self.lines += ["store(dst, src, sizeof src);", "shmem_barrier_all();"]
        self.lines += [
            call,
            f"for (i = 0; i < 7; ++i) {{ {start} for (k = {first}; k < {last}; ++k) want[i] = {step}; }}",
            *([f"for (i = 7; i < 64; ++i) want[i] = src[i];"] if in_place else []),
            LOAD,
            f'CHECK_ARRAY("{self.name} {op}", {self.kind}, got, want, 64);',
        ]

    def text(self, mine: str) -> list[str]:
        k, t = self.kind, self.type
        return [HEAD.format(label=self.label, t=t), f"  const int mine = {mine};", "  (void)mine;",
                f"  FILL({k}, {t}, src, 64, me, 5);", "  store(from, src, sizeof src);",
                *["  " + line for line in self.lines], "  shmem_barrier_all();", "}", ""]


def team_folds(lists, names):
    made: dict[str, Folds] = {}
    for family, operations in REDUCTIONS:
        for name, c_type in lists[f"PGAS_REDUCE_{family}_TYPE"]:
            test = made.setdefault(name, Folds(name, c_type, f"folds_{name}", "n - 1 - ({})"))

            def call(op, source="from"):
                begin = f"shmem_{op}(" if names.generic else f"shmem_{name}_{op}("
                return f'CHECK("{name} {op}", {begin}team, dst, {source}, 7) == 0);'

            for op in operations:
                test.add(op, call(f"{op}_reduce"))
            if family == "SUM":
                test.add("sum", call("sum_reduce", "dst"), in_place=True)
                test.add("sum", call("sum_inscan"), "mine + 1")
                test.add("sum", call("sum_exscan"), "before")
    return made.values()


def set_folds(lists):
    made: dict[str, Folds] = {}
    for family, operations in REDUCTIONS:
        for name, c_type in lists[f"PGAS_SET_{family}_TYPE"]:
            test = made.setdefault(name, Folds(name, c_type, f"set_folds_{name}", "{}"))
            for op in operations:
                test.add(op, f"shmem_{name}_{op}_to_all(dst, from, 7, 0, 0, n, ({c_type}*)(void*)memory[2], sync_array);")
    return made.values()


def program(lists, names):
    text = [] if names.generic else ["static long sync_array[SHMEM_SYNC_SIZE];", ""]
    calls: list[str] = []
    moves = team_moves(lists, names) + ([] if names.generic else list(set_moves()))
    for test in moves:
        text += test.text()
        calls.append(test.label)
    folds = [(test, "n - 1 - me") for test in team_folds(lists, names)]
    folds += [] if names.generic else [(test, "me") for test in set_folds(lists)]
    for test, mine in folds:
        text += test.text(mine)
        calls.append(test.label)
    return text, calls
