#!/usr/bin/env python3
"""Tests check.py: a small clean tree passes, and each kind of violation added to it is reported, and nothing else is."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

import check

CLEAN = {
    "include/pgas/detail/compiler.hpp": "#if defined(__CUDACC__)\n#define PGAS_FN __device__\n#endif\n",
    "include/pgas/detail/isa/ptx_memory.hpp": '#include <cuda/atomic>\ninline void f() { asm volatile("membar.sys;"); }\n',
    # Macros that the same file undefines (#undef) are not counted.
    "include/pgas/detail/isa/ptx_atomic.hpp": "/// @file\n/// Atomics.\n#pragma once\n"
    + "".join(f"#define PGAS_LOCAL{n} {n}\n#undef PGAS_LOCAL{n}\n" for n in range(15)),
    "include/pgas/type_requirements.hpp": '#include "pgas/detail/compiler.hpp"\n',
    "include/pgas/device/put.hpp": '#include <cooperative_groups.h>\n#include "pgas/type_requirements.hpp"\n\n/// Copies.\n'
    "template <class T>\nPGAS_FN void put(T*);\nPGAS_FN void put(int*);\n",
    "include/pgas/world.hpp": '#include "pgas/device/put.hpp"\n\n/// A world.\nclass PGAS_API world {\n public:\n'
    "  PGAS_API explicit world(int n);\n private:\n  PGAS_API void hidden();\n};\n"
    "namespace detail {\nPGAS_API void inner();\n}  // namespace detail\n",
    "include/pgas/detail/launch/launch_kernel.hpp": '/// @file\n/// Launching.\n#pragma once\n#include "pgas/world.hpp"\n',
    "include/pgas/compat/nvshmem.h": '#include "pgas/world.hpp"\n#define NVSHMEM_X 1\n',
    "src/host/team/team.cpp": '#include "host/config/config.hpp"\n#include "host/heap/heap.hpp"\n#include "host/team/team_state.hpp"\n',
    "src/host/log/logger.cpp": '#include "host/config/config.hpp"\n',
    "src/host/config/from_environment.cpp": 'char* x = getenv("PGAS_X");  // the one\n',
    "src/host/api/world.cpp": '#include "device/device.hpp"\n#include "pgas/bootstrap.hpp"\n'
    "// may call getenv(), abort() or exit(1) in a comment\nconst char* text = \"asm(); exit(1)\";\nlong big = 1'000;\n"
    "void world::abort(std::string_view) noexcept {}\nvoid f(world& w) { w.abort(); w.exit(); }\n",
    "src/host/transport/ucx/ucx.cpp": "#include <ucp/api/ucp.h>\n",
    "src/device/device.hpp": '#include "pgas/type_requirements.hpp"\n',
    "src/device/cuda/cuda.cpp": '#include <cuda.h>\n#include "device/device.hpp"\n',
    "src/device/cpu/cpu.cpp": '#include "device/device.hpp"\n',
    "src/tools/tool.cpp": "int main() { exit(1); }\n",
    "bootstrap/pmix/pmix.cpp": '#include <pmix.h>\n#include "bootstrap/common/text.hpp"\n#include "common/hash.hpp"\n#include "pgas/error.hpp"\n',
    "src/common/hash.hpp": '/// @file\n/// A hash.\n#pragma once\n#include "pgas/error.hpp"\n',
    "src/tools/pgasrun/job.cpp": '#include "bootstrap/local/launcher.hpp"\nvoid f() { _exit(1); }\n',
    "bootstrap/registry.cpp": '#include "bootstrap/pmix/pmix.hpp"\n',
    "integrations/nixl/engine.cpp": '#include <cuda_runtime_api.h>\n#include "backend/backend_engine.h"\n#include "pgas/timeline.hpp"\n',
    "tests/long_enough.cpp": "// line\n" * 800,
    "docs/glossary.md": "# Glossary\n\n| far_pes | here |\n\n## Words given up\n\n| given up | word | allowed in |\n| --- | --- | --- |\n"
    "| `old_name`, `hand over`, `fold*` | new_name | |\n| `far` | proxied | `as far as` |\n"
    "\n### Phrases that were given up\n\n| given up | say instead | allowed in |\n| --- | --- | --- |\n"
    "| `so many` | the number of | `so many points` |\n| `whoever` | a PE that | |\n| `PE who`, `PEs who` | that | |\n",
    "docs/page.md": "As far as `src/device/cpu/cpu.cpp` and `src/device/*/cpu.cpp` go; not `sys/mman.h`. A farm, a scaffold, so many points.\n"
    "\n# A part, in `code`\n\n[Here](#a-part-in-code), [words](glossary.md#words-given-up), [code](../src/device/), [web](https://a.example/#b).\n"
    "`[no](link.md)`\n\n```\n[no](link.md)\n```\n",
}

# the rule, the file, and the text that is appended to it (or the whole text of a new file)
VIOLATIONS = [
    ("layer", "include/pgas/type_requirements.hpp", '#include "pgas/device/put.hpp"\n'),
    ("layer", "include/pgas/type_requirements.hpp", '#include <pgas/world.hpp>\n'),
    ("layer", "include/pgas/detail/isa/ptx_memory.hpp", '#include "pgas/type_requirements.hpp"\n'),
    ("layer", "include/pgas/device/put.hpp", '#include "pgas/world.hpp"\n'),
    ("layer", "include/pgas/device/put.hpp", '#include "pgas/detail/launch/launch_kernel.hpp"\n'),
    ("layer", "include/pgas/detail/isa/ptx_memory.hpp", '#include "pgas/detail/host/untyped_operations.hpp"\n'),
    ("layer", "include/pgas/world.hpp", '#include "host/world/world_state.hpp"\n'),
    ("third_party", "src/host/api/world.cpp", "#include <cuda_runtime.h>\n"),
    ("third_party", "src/host/api/world.cpp", "#include <ucp/api/ucp.h>\n"),
    ("third_party", "src/host/api/world.cpp", "#include <pmix.h>\n"),
    ("third_party", "src/host/api/world.cpp", "#include <mpi.h>\n"),
    ("third_party", "src/host/api/world.cpp", "#include <hwloc.h>\n"),
    ("third_party", "src/device/cpu/cpu.cpp", "#include <cuda.h>\n"),
    ("third_party", "include/pgas/world.hpp", "  #  include <cuda_runtime_api.h>\n"),
    ("third_party", "src/host/api/world.cpp", '#include "nixl_types.h"\n'),
    ("third_party", "integrations/nixl/engine.cpp", "#include <ucp/api/ucp.h>\n"),
    ("integration_sight", "integrations/nixl/engine.cpp", '#include "host/log/logger.hpp"\n'),
    ("integration_sight", "integrations/nixl/engine.cpp", '#include "pgas/detail/compiler.hpp"\n'),
    ("integration_sight", "src/host/api/world.cpp", '#include "integrations/nixl/engine.hpp"\n'),
    ("bootstrap_sight", "bootstrap/pmix/pmix.cpp", '#include "pgas/world.hpp"\n'),
    ("bootstrap_sight", "bootstrap/registry.cpp", '#include "host/log/logger.hpp"\n'),
    ("bootstrap_sight", "src/common/hash.hpp", '#include "host/log/logger.hpp"\n'),
    ("bootstrap_sight", "src/common/hash.hpp", '#include "bootstrap/common/text.hpp"\n'),
    ("host_sight", "src/host/api/world.cpp", '#include "device/cpu/cpu.hpp"\n'),
    ("host_sight", "src/host/api/world.cpp", '#include "bootstrap/pmix/pmix.hpp"\n'),
    ("host_sight", "src/device/cpu/cpu.cpp", '#include "host/log/logger.hpp"\n'),
    ("folders_include_downwards", "src/host/connect/gather.cpp", '#include "host/exchange/agreement.hpp"\n'),
    ("folders_include_downwards", "src/host/heap/heap.hpp", '/// @file\n/// A heap.\n#pragma once\n#include "host/proxy/proxy_thread.hpp"\n'),
    ("folders_include_downwards", "src/host/watch/calls.cpp", '#include "host/world/world_state.hpp"\n'),
    ("folders_include_downwards", "src/host/log/logger.cpp", '#include "host/transport/transport.hpp"\n'),
    ("folders_include_downwards", "src/host/attic/box.cpp", '#include "host/log/logger.hpp"\n'),
    ("backends_apart", "src/device/cpu/cpu.cpp", '#include "device/cuda/driver.hpp"\n'),
    ("backends_apart", "bootstrap/pmix/pmix.cpp", '#include "bootstrap/tcp/tcp.hpp"\n'),
    ("backends_apart", "src/host/transport/ucx/ucx.cpp", '#include "host/transport/tcp/tcp.hpp"\n'),
    ("leaves", "src/host/api/world.cpp", '#include "pgas/compat/nvshmem.h"\n'),
    ("leaves", "src/host/api/world.cpp", '#include "host/compat/common/runtime.hpp"\n'),
    ("size", "tests/long_enough.cpp", "// one more\n"),
    ("environment", "src/host/api/world.cpp", 'char* p = std::getenv("HOME");\n'),
    ("environment", "src/host/api/world.cpp", "char** e = environ;\n"),
    ("no_exit", "src/host/api/world.cpp", "void g() { std::abort(); }\n"),
    ("no_exit", "src/host/api/world.cpp", "void g() { ::_exit(3); }\n"),
    ("no_exit", "src/host/api/world.cpp", "void g() { assert(big); }\n"),
    ("no_exit", "include/pgas/world.hpp", "inline void g() { exit(1); }\n"),
    ("inline_asm", "include/pgas/device/put.hpp", 'inline void g() { asm volatile("nop;"); }\n'),
    ("inline_asm", "src/device/cpu/cpu.cpp", 'void g() { __asm__("nop"); }\n'),
    ("compiler_macro", "include/pgas/device/put.hpp", "#if defined(__CUDACC__)\n#endif\n"),
    ("compiler_macro", "src/device/cpu/cpu.cpp", "#ifdef __CUDA_ARCH__\n#endif\n"),
    ("macro_name", "include/pgas/type_requirements.hpp", "#define CHECK 1\n"),
    ("macro_name", "include/pgas/compat/nvshmem.h", "#define CHECK 1\n"),
    ("one_definition", "src/host/heap/heap.cpp", "class world final : public heap {\n};\n"),
    ("one_source", "src/host/team/team.cpp", "[[nodiscard]] int world::number() const {\n  return 1;\n}\n"),
    ("macro_count", "include/pgas/type_requirements.hpp", "".join(f"#define PGAS_{n} {n}\n" for n in range(14))),
    ("header_head", "src/device/other.hpp", "#pragma once\n"),
    ("header_head", "src/device/other.hpp", "/// @file\n/// Says what it is for.\n"),
    ("documented", "include/pgas/device/put.hpp", "\ntemplate <class T>\n[[nodiscard]] PGAS_FN T get(T*);\n"),
    ("documented", "include/pgas/world.hpp", "\nclass PGAS_API other {};\n"),
    ("given_up", "src/host/api/world.cpp", "int old_name = 0;\n"),
    ("given_up", "include/pgas/world.hpp", "// They hand over what is\n"),
    ("given_up", "bootstrap/registry.cpp", "int hand_over();\n"),
    ("given_up", "docs/page.md", "A reduction folded twice.\n"),
    ("given_up", "docs/page.md", "Far PEs, as far as\n"),
    ("given_up", "src/host/api/world.cpp", "// It waits so many rounds.\n"),
    ("given_up", "src/host/api/world.cpp", "/// It waits so\n/// many rounds.\n"),
    ("given_up", "docs/page.md", "It waits so\nmany rounds.\n"),
    ("given_up", "docs/page.md", "Whoever opens it, waits.\n"),
    ("given_up", "include/pgas/world.hpp", "// The PEs who wait.\n"),
    ("dead_path", "docs/page.md", "See `src/device/gone.cpp`.\n"),
    ("dead_path", "docs/page.md", "See `src/*/gone/*.hpp`.\n"),
    ("dead_path", "docs/notes/history.md", "See `src/device/gone.cpp`.\n"),
    ("dead_link", "docs/page.md", "See [the page](gone.md).\n"),
    ("dead_link", "docs/page.md", "See [the page](glossary.md#words-taken-up).\n"),
    ("dead_link", "docs/page.md", "See [below](#below).\n"),
    ("dead_link", "examples/page.md", "See [the words](../docs/words.md).\n"),
    ("page_length", "docs/performance.md", "word " * 1201),
    ("own_names", "include/pgas/other.hpp", '/// @file\n/// Another.\n#pragma once\n#include "pgas/detail/names_begin.inc"\nint other();\n'),
    ("own_names", "include/pgas/other.hpp", '/// @file\n/// Another.\n#pragma once\nint other();\n#include "pgas/detail/names_end.inc"\n'),
    ("too_small", "src/device/cpu/small.cpp", "int small;\n"),
    ("noun", "src/host/api/world.cpp", "void remove(const world& of);\n"),
    ("noun", "src/host/api/world.cpp", "const int one = 1;\n"),
    ("one_row_per_word", "docs/glossary.md", "| ring | a queue | - | - | - | - |\n" * 2),
    ("unfinished", "src/host/api/world.cpp", "// TO" + "DO: the rest\n"),
]


PADDING = "// line\n" * check.LEAST_LINES
# the first and the last line of a public header
BEGIN, END = '#include "pgas/detail/names_begin.inc"\n', '#include "pgas/detail/names_end.inc"\n'


class CheckTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.root = pathlib.Path(holder.name)
        for name, text in CLEAN.items():
            is_header = name.endswith((".hpp", ".h"))
            if name.startswith("include/pgas/") and "/detail/" not in name:
                text = BEGIN + text + END
            text = "/// @file\n/// What it is for.\n#pragma once\n\n" + text if is_header else text
            self.write(name, text + PADDING if name.startswith(check.SOURCE_FOLDERS) else text)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def found(self):
        return [(violation.rule, violation.path) for violation in check.check(self.root)]

    def run_main(self, *arguments):
        output = io.StringIO()
        sys.argv = ["check.py", str(self.root), *arguments]
        with contextlib.redirect_stdout(output):
            return check.main(), output.getvalue()

    def test_a_clean_tree_passes(self):
        self.assertEqual(self.found(), [])
        self.assertEqual(self.run_main()[0], 0)

    def test_each_violation_is_found_and_nothing_else(self):
        for rule, name, text in VIOLATIONS:
            with self.subTest(rule=rule, text=text.splitlines()[0:2]):
                path = self.root / name
                before = path.read_text() if path.exists() else None
                padding = PADDING if before is None and rule != "too_small" else ""
                with_it = (before or "").replace(END, text + END) if END in (before or "") else (before or "") + text + padding
                self.write(name, with_it)
                self.assertEqual(self.found(), [(rule, name)])
                status, output = self.run_main()
                self.assertEqual(status, 1)
                self.assertIn(f"{rule}: ", output)
                path.unlink() if before is None else path.write_text(before)

    def test_every_rule_has_a_violation_here(self):
        rules = {rule.__name__ for rule in check.SOURCE_RULES} | {"size", "macro_count", "one_definition", "one_source", "given_up",
                                                             "dead_path", "dead_link", "page_length", "one_row_per_word"}
        self.assertEqual(rules, {rule for rule, _, _ in VIOLATIONS})

    def test_an_exception_silences_its_rule_in_its_file_only(self):
        self.write("tests/long_enough.cpp", "// line\n" * 801)
        self.write("tests/also_long.cpp", "// line\n" * 801)
        self.write("allow.txt", "# comment\nsize tests/long_enough.cpp because\n")
        status, output = self.run_main("--allow", str(self.root / "allow.txt"))
        self.assertEqual(status, 1)
        self.assertNotIn("long_enough", output)
        self.assertIn("also_long", output)

    def test_an_exception_may_be_a_pattern(self):
        self.write("src/device/cpu/small.cpp", "int small;\n")
        self.write("src/device/cpu/other.cpp", "int other;\n")
        self.write("allow.txt", "too_small src/*/small.cpp because\n")
        status, output = self.run_main("--allow", str(self.root / "allow.txt"))
        self.assertEqual(status, 1)
        self.assertNotIn("small.cpp", output)
        self.assertIn("src/device/cpu/other.cpp:1: too_small", output)

    def test_an_exception_that_is_not_needed_fails(self):
        self.write("allow.txt", "size tests/long_enough.cpp because\n")
        status, output = self.run_main("--allow", str(self.root / "allow.txt"))
        self.assertEqual(status, 1)
        self.assertIn("not needed any more", output)

    def test_an_exception_without_a_reason_is_refused(self):
        self.write("allow.txt", "size tests/long_enough.cpp\n")
        with self.assertRaises(SystemExit):
            self.run_main("--allow", str(self.root / "allow.txt"))


if __name__ == "__main__":
    unittest.main()
