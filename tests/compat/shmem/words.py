"""Atomic operations, waits and tests: each PE updates words of its right neighbour, whose previous values it knows."""

from type_lists import kind

# For each operation: the arguments after the word, and the word's new value. `old` is the previous value of the word,
# and `v` an operand.
UPDATES = {
    "WORD": {"set": ("v", "v"), "swap": ("v", "v"), "fetch": ("", "old")},
    "INTEGER": {
        "compare_swap": ("old, v", "v"),
        "inc": ("", "SUM_INT({t}, old, 1)"),
        "fetch_inc": ("", "SUM_INT({t}, old, 1)"),
        "add": ("v", "SUM_INT({t}, old, v)"),
        "fetch_add": ("v", "SUM_INT({t}, old, v)"),
    },
    "BITS": {
        f"{prefix}{op}": ("v", f"({{t}})(old {sign} v)")
        for op, sign in (("and", "&"), ("or", "|"), ("xor", "^"))
        for prefix in ("", "fetch_")
    },
}
OLD = {"WORD": {"fetch": "fetch", "set": "set", "swap": "swap"},
       "INTEGER": {"cswap": "compare_swap", "finc": "fetch_inc", "inc": "inc", "fadd": "fetch_add", "add": "add"}}
NO_RESULT = {"set", "inc", "add", "and", "or", "xor"}


class Atomics:
    """The test of one type: each operation has a separate word."""

    def __init__(self, name: str, c_type: str):
        self.name, self.type = name, c_type
        self.calls: list[str] = []
        self.late: list[str] = []
        self.wanted: list[str] = []
        self.words = 0

    def value(self, pe: str, salt: int, k: int) -> str:
        return f"VALUE_{kind(self.name)}({self.type}, {pe}, {salt}, {k})"

    def add(self, op: str, call: str, passed: str, after: str, nbi: bool) -> None:
        k = self.words
        self.words += 1
        arguments = f"words + {k}" + (f", {passed}" if passed else "") + ", right"
        values = f"old = {self.value('right', 2, k)}, v = {self.value('me', 3, k)}; (void)old; (void)v;"
        if op in NO_RESULT:
            line = f"{call}{arguments});"
        elif nbi:
            line = f"{call}fetched + {k}, {arguments});"
            self.late.append(f'CHECK("{self.name} {op}_nbi", fetched[{k}] == {self.value("right", 2, k)});')
        else:
            line = f'CHECK("{self.name} {op}", {call}{arguments}) == old);'
        self.calls.append(f"{{ const {self.type} {values} {line} }}")
        values = f"old = {self.value('me', 2, k)}, v = {self.value('left', 3, k)}; (void)old; (void)v;"
        self.wanted.append(f"{{ const {self.type} {values} want[{k}] = {after.format(t=self.type)}; }}")

    def text(self) -> list[str]:
        k = kind(self.name)
        return [
            f"static void atomics_{self.name}(void) {{",
            f"  static {self.type} got[{self.words}], want[{self.words}], fetched[{self.words}];",
            f"  {self.type}* words = ({self.type}*)(void*)memory[0];",
            f"  FILL({k}, {self.type}, got, {self.words}, me, 2);",
            "  store(words, got, sizeof got);",
            "  shmem_barrier_all();",
            *["  " + line for line in self.calls],
            "  shmem_ctx_quiet(ctx);",
            *["  " + line for line in self.late],
            "  shmem_barrier_all();",
            *["  " + line for line in self.wanted],
            "  load(got, words, sizeof got);",
            f'  CHECK_ARRAY("{self.name}: words", {k}, got, want, {self.words});',
            "  shmem_barrier_all();",
            "}",
            "",
        ]


def atomics(lists, names):
    types: dict[str, Atomics] = {}
    for family, row in (("WORD", "PGAS_WORD_TYPE"), ("INTEGER", "PGAS_INTEGER_TYPE"), ("BITS", "PGAS_BITS_TYPE")):
        for name, c_type in lists[row]:
            test = types.setdefault(name, Atomics(name, c_type))
            for op, (passed, after) in UPDATES[family].items():
                for with_ctx in (False, True):
                    test.add(op, names.data(name, f"atomic_{op}", with_ctx), passed, after, False)
                    if op not in NO_RESULT:
                        test.add(op, names.data(name, f"atomic_{op}_nbi", with_ctx), passed, after, True)
    for family, row in (("WORD", "PGAS_WORD_TYPE"), ("INTEGER", "PGAS_INTEGER_TYPE")):
        for name, _ in lists[row]:
            for old_name, op in OLD[family].items():
                passed, after = UPDATES[family][op]
                types[name].add(op, names.data(name, old_name), passed, after, False)
    return [line for test in types.values() for line in test.text()], [f"atomics_{name}" for name in types]


# Returns lines of C that call functions and check the results. The words are 10, 20, 30, 40, and `status` excludes the
# second word. The functions with `some` in their names also return indices.
def tests_of(name: str, call) -> list[str]:
    lines = []

    def check(what: str, op: str, arguments: str, result: str) -> None:
        lines.append(f'CHECK("{name} {op}, {what}", {call(op)}words, 4, {arguments}) == {result});')

    for suffix, one, twenty in (("", "1", "20"), ("_vector", "ones", "all20")):
        for wait in ("wait_until", "test"):
            if wait == "test":
                check("all but the one left out", f"test_all{suffix}", f"status, SHMEM_CMP_NE, {twenty}", "1")
            else:
                lines.append(f"{call('wait_until_all' + suffix)}words, 4, status, SHMEM_CMP_NE, {twenty});")
            check("one", f"{wait}_any{suffix}", f"status, SHMEM_CMP_LT, {twenty}", "0")
            lines.append("memset(seen, 0, sizeof seen);")
            lines.append(f"for (i = 0; i < 200; ++i) ++seen[{call(wait + '_any' + suffix)}words, 4, status, SHMEM_CMP_GT, {one}) % 7];")
            lines.append(f'CHECK("{name} {wait}_any{suffix}, each in the end", seen[0] > 0 && seen[2] > 0 && seen[3] > 0);')
            lines.append(f'CHECK("{name} {wait}_any{suffix}, none left out", seen[0] + seen[2] + seen[3] == 200);')
            lines.append("memset(indices, 0, sizeof indices);")
            check("two", f"{wait}_some{suffix}", f"indices, status, SHMEM_CMP_GE, {twenty}", "2")
            lines.append(f'CHECK("{name} indices", indices[0] == 2 && indices[1] == 3);')
        if suffix:
            lines.append(f"{call('wait_until_all_vector')}words, 4, none_left_out, SHMEM_CMP_EQ, pattern);")
            check("each its own", "test_all_vector", "none_left_out, SHMEM_CMP_EQ, pattern", "1")
        check("none", f"test_any{suffix}", f"status, SHMEM_CMP_LT, {one}", "SIZE_MAX")
        check("none", f"test_some{suffix}", f"indices, NULL, SHMEM_CMP_LE, {one}", "0")
        check("not all", f"test_all{suffix}", f"NULL, SHMEM_CMP_GT, {twenty}", "0")
        check("an empty set", f"wait_until_any{suffix}", f"all_out, SHMEM_CMP_EQ, {one}", "SIZE_MAX")
        check("an empty set", f"wait_until_some{suffix}", f"indices, all_out, SHMEM_CMP_EQ, {one}", "0")
    return lines


# all comparisons are true for 20
COMPARISONS = (("EQ", 20), ("NE", 21), ("GT", 19), ("LE", 20), ("LT", 21), ("GE", 20))
RESULTS = (("EQ", 20, 1), ("EQ", 21, 0), ("NE", 20, 0), ("GT", 20, 0), ("LE", 19, 0), ("LT", 20, 0), ("GE", 21, 0), ("GE", 20, 1))


def waits(lists, names):
    text: list[str] = []
    calls: list[str] = []
    for name, c_type in lists["PGAS_WAIT_TYPE"]:
        call = lambda op: names.data(name, op)  # noqa: E731
        one = [f"{call('wait_until')}words + 1, SHMEM_CMP_{cmp}, {value});" for cmp, value in COMPARISONS]
        for cmp, value, result in RESULTS:
            begin = call("test")
            one.append(f'CHECK("{name} test {cmp}", {begin}words + 1, SHMEM_CMP_{cmp}, {value}) == {result});')
        text += [
            f"static void waits_{name}(void) {{",
            f"  {c_type}* words = ({c_type}*)(void*)memory[0];",
            f"  static const {c_type} zeros[4] = {{0, 0, 0, 0}}, ones[4] = {{1, 1, 1, 1}};",
            f"  static const {c_type} all20[4] = {{20, 20, 20, 20}}, pattern[4] = {{10, 20, 30, 40}};",
            "  static const int status[4] = {0, 1, 0, 0}, none_left_out[4] = {0, 0, 0, 0}, all_out[4] = {1, 1, 1, 1};",
            "  size_t indices[4];",
            "  int i, seen[7];",
            "  store(words, zeros, sizeof zeros);",
            "  shmem_barrier_all();",
            f"  for (i = 0; i < 4; ++i) {names.data(name, 'p')}words + i, pattern[i], right);",
            f"  {call('wait_until_all')}words, 4, NULL, SHMEM_CMP_GE, 10);",
            *["  " + line for line in one + tests_of(name, call)],
            "  shmem_barrier_all();",
            "}",
            "",
        ]
        calls.append(f"waits_{name}")
    return text, calls


def program(lists, names):
    first, second = atomics(lists, names), waits(lists, names)
    return first[0] + second[0], first[1] + second[1]
