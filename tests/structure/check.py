#!/usr/bin/env python3
"""Checks that the sources keep to the structure that CONTRIBUTING.md describes.

Usage: check.py ROOT [--allow FILE]

Prints one line per violation, `path:line: rule: what`, and fails if there is any. FILE lists exceptions, one per line:
`rule path reason`; in the path, `*` stands for any text. An exception that is no longer needed is a violation too.
"""

import argparse
import fnmatch
import pathlib
import re
import sys
from typing import Iterator, NamedTuple

from definitions import defined_twice, in_another_source
from words import dead_link, dead_path, given_up, given_up_words, one_row_per_word, page_length

SOURCE_SUFFIXES = {".hpp", ".h", ".cuh", ".cpp", ".cu", ".c"}
HEADER_SUFFIXES = {".hpp", ".h", ".cuh"}
SIZED_SUFFIXES = SOURCE_SUFFIXES | {".py", ".cmake", ".sh"}
SOURCE_FOLDERS = ("include", "src", "bootstrap", "integrations")
ALL_FOLDERS = SOURCE_FOLDERS + ("tests", "examples", "cmake", "python")
WORD_FOLDERS = SOURCE_FOLDERS + ("examples", "docs", "python")
WORD_SUFFIXES = SIZED_SUFFIXES | {".inc", ".in", ".md"}
MOST_LINES = 800
LEAST_LINES = 25
MOST_MACROS = 14

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
CUDA_HEADER = re.compile(r"^(cuda[_./]|cuda$|cooperative_groups|nvtx3/|nvml|nvrtc|nvToolsExt|cub/|thrust/|device_launch|vector_types)")
UCX_HEADER = re.compile(r"^(ucp|uct|ucs|ucm)/")
PMIX_HEADER = re.compile(r"^(pmix|pmi2?\.h)")
NIXL_HEADER = re.compile(r"^(nixl\w*\.h$|backend/backend_|common/nixl_|telemetry_event\.h)")
MPI_HEADER = re.compile(r"^mpi\.h$")
OTHER_LIBRARY = re.compile(r"^(hwloc|infiniband/|rdma/|nlohmann/|CLI/|benchmark/)")


class Violation(NamedTuple):
    rule: str
    path: str
    line: int
    what: str


class Source:
    """A file as lines, with and without comments."""

    def __init__(self, root: pathlib.Path, path: pathlib.Path):
        self.path = path.relative_to(root).as_posix()
        self.suffix = path.suffix
        self.text = path.read_text(encoding="utf-8")
        self.lines = self.text.splitlines()
        self.code = strip(self.text).splitlines()

    def includes(self) -> Iterator[tuple[int, str]]:
        for number, line in enumerate(self.lines, 1):
            if found := INCLUDE.match(line):
                yield number, found.group(1)

    def under(self, *folders: str) -> bool:
        return any(self.path.startswith(folder + "/") for folder in folders)

    def folder_in(self, parent: str) -> str:
        """The name of the folder in `parent` that this file is in, or an empty string."""
        parts = self.path[len(parent) + 1 :].split("/") if self.under(parent) else []
        return parts[0] if len(parts) > 1 else ""


def strip(text: str) -> str:
    """Removes comments and the contents of string literals; keeps line numbers."""

    def blank(found: re.Match) -> str:
        token = found.group(0)
        if token[0] == "/":
            return "\n" * token.count("\n")
        return token[0] + token[0]

    # A quote after a digit is a digit separator.
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'', blank, text, flags=re.S)


# ---- rules: each yields (line, what) for one file -------------------------------------------------------------------


def public_layer(name: str) -> str:
    """The layer of a public header, from its path after `pgas/`."""
    if name.startswith(("detail/host/", "detail/launch/")):
        return "host"
    if name == "version.h":
        return "detail"
    if name.startswith(("detail/", "compat/", "device/")):
        return name.split("/")[0]
    if name in ("type_requirements.hpp", "signal_types.hpp", "copy_list.hpp", "error.hpp", "config.hpp"):
        return "base"
    return "device" if name == "device.hpp" else "host"


LAYERS_BELOW = {
    "detail": {"detail"},
    "base": {"detail", "base"},
    "device": {"detail", "base", "device"},
    "host": {"detail", "base", "device", "host"},
    "compat": {"detail", "base", "device", "host", "compat"},
}


def layer(file: Source):
    """detail <- type requirements and signal types, error, config <- device <- compat; the rest of the host API is beside compat."""
    if not file.under("include/pgas"):
        return
    mine = public_layer(file.path[len("include/pgas/") :])
    for line, name in file.includes():
        if name.startswith("pgas/"):
            theirs = public_layer(name[len("pgas/") :])
            if theirs not in LAYERS_BELOW[mine]:
                yield line, f"a header of {mine} includes {name}, which is of {theirs}"
        elif name.startswith(("host/", "device/", "bootstrap/")):
            yield line, f"a public header includes the private {name}"


def third_party(file: Source):
    """A header of another library is included only in the folder of that library."""
    for line, name in file.includes():
        if CUDA_HEADER.match(name):
            public = file.under("include/pgas/device", "include/pgas/detail", "include/pgas/compat")
            if not public and not file.under("src/device/cuda", "integrations"):
                yield line, f"{name}: CUDA headers only in src/device/cuda, include/pgas/{{device,detail,compat}} and integrations"
        elif UCX_HEADER.match(name) and not file.under("src/host/transport/ucx"):
            yield line, f"{name}: UCX headers only in src/host/transport/ucx"
        elif PMIX_HEADER.match(name) and not file.under("bootstrap/pmix"):
            yield line, f"{name}: PMIx headers only in bootstrap/pmix"
        elif NIXL_HEADER.match(name) and not file.under("integrations/nixl"):
            yield line, f"{name}: NIXL headers only in integrations/nixl"
        elif MPI_HEADER.match(name) and file.path != "include/pgas/mpi.hpp":
            yield line, f"{name}: MPI's header only in include/pgas/mpi.hpp"
        elif OTHER_LIBRARY.match(name) and file.under("src/host", "include"):
            yield line, f"{name}: no such header in the host library"


def bootstrap_sight(file: Source):
    """Bootstraps, and the code that they share with the host library, include only bootstrap.hpp, error.hpp and
    headers of their own library."""
    if not file.under("bootstrap", "src/common"):
        return
    for line, name in file.includes():
        if name.startswith("pgas/") and name not in ("pgas/bootstrap.hpp", "pgas/error.hpp", "pgas/detail/struct_members.hpp", "pgas/version.h"):
            yield line, f"{name}: a bootstrap sees pgas/bootstrap.hpp and pgas/error.hpp only"
        elif name.startswith(("host/", "device/")):
            yield line, f"{name}: a bootstrap sees nothing of the library's inside but src/common"
        elif name.startswith("bootstrap/") and not file.under("bootstrap"):
            yield line, f"{name}: src/common is below the bootstraps"


def integration_sight(file: Source):
    """Plugins for other programs are users of the library: they include public headers, and nothing includes them."""
    for line, name in file.includes():
        if file.under("integrations") and re.match(r"(host|device|bootstrap)/|common/(?!nixl_)|pgas/(detail|compat)/", name):
            yield line, f"{name}: integrations see the public headers only"
        elif name.startswith("integrations/"):
            yield line, f"{name}: nothing includes integrations"


def host_sight(file: Source):
    """src/host includes the contracts of bootstraps and backends, not their internal headers. Backends do not include
    the host."""
    for line, name in file.includes():
        if file.under("src/host") and (name.startswith("bootstrap/") or re.match(r"device/(cpu|cuda)/", name)):
            yield line, f"{name}: src/host sees the contracts only (pgas/bootstrap.hpp, device/*.hpp)"
        if file.under("src/device") and name.startswith(("host/", "bootstrap/")):
            yield line, f"{name}: backends are below the host library"


# The folders of src/host, the lowest first. Folders on one line may include one another.
HOST_FOLDERS = (
    ("error", "config", "log"),
    ("share",),
    ("transport",),
    ("connect",),
    ("exchange", "failure"),
    ("topology",),
    ("heap",),
    ("proxy",),
    ("launch", "watch"),
    ("team", "world"),
    ("api",),
    ("compat",),
)
FLOOR_OF = {folder: floor for floor, folders in enumerate(HOST_FOLDERS) for folder in folders}


def folders_include_downwards(file: Source):
    """A folder of src/host includes itself and the folders below it. leaves() checks that no other folder includes compat."""
    mine = file.folder_in("src/host")
    if not mine:
        return
    if mine not in FLOOR_OF:
        yield 1, f"src/host/{mine} has no place among the folders of src/host: give it one in HOST_FOLDERS"
        return
    for line, name in file.includes():
        found = re.match(r"host/(\w+)/", name)
        theirs = found.group(1) if found else mine
        if theirs != "compat" and FLOOR_OF.get(theirs, 0) > FLOOR_OF[mine]:
            yield line, f"{name}: {mine} lies below {theirs}: move the thing down, or give {mine} a contract"


def backends_apart(file: Source):
    """Backends of one kind never include each other."""
    kinds = (("src/device", "cpu|cuda"), ("src/host/transport", r"\w+"), ("bootstrap", "pmix|tcp|local"))
    for folder, backends in kinds:
        mine = file.folder_in(folder)
        if not re.fullmatch(backends, mine):
            continue
        for line, name in file.includes():
            theirs = re.match(rf"{folder.removeprefix('src/')}/({backends})/", name)
            if theirs and mine != theirs.group(1):
                yield line, f"{name}: the backend {mine} includes the backend {theirs.group(1)}"


def leaves(file: Source):
    """No other folder includes compat, so the library builds without compat."""
    for line, name in file.includes():
        if name.startswith("pgas/compat/") and not file.under("include/pgas/compat", "src/host/compat"):
            yield line, f"{name}: compat is a leaf"
        if name.startswith("host/compat/") and not file.under("src/host/compat"):
            yield line, f"{name}: compat is a leaf"


def size(file: Source):
    if len(file.lines) > MOST_LINES:
        yield MOST_LINES + 1, f"{len(file.lines)} lines, at most {MOST_LINES}: split it by idea"


def too_small(file: Source):
    """A file contains a whole idea, not a fragment of one."""
    if len(file.lines) < LEAST_LINES:
        yield 1, f"{len(file.lines)} lines, at least {LEAST_LINES}: put it where it is used, or give a reason in allow.txt"


def environment(file: Source):
    if file.under("src/host/config"):
        return
    for line, text in enumerate(file.code, 1):
        if re.search(r"\b(secure_)?getenv\b|\benviron\b", text):
            yield line, "the environment is read in src/host/config only"


def no_exit(file: Source):
    """The library reports errors. Its caller decides whether the process ends."""
    if file.under("src/tools"):
        return
    calls = r"(?<![\w.>~])(?:std::|::)?(?:(?:_exit|_Exit|exit|quick_exit|assert)\s*\(|(?:abort|terminate)\s*\(\s*\))"
    for line, text in enumerate(file.code, 1):
        if re.search(calls, text) and not re.search(r"\bvoid\s+[\w:]*(exit|abort|terminate)\s*\(", text):
            yield line, "library code does not end the process: throw pgas::error, or log in destructors"


def inline_asm(file: Source):
    if re.fullmatch(r"include/pgas/detail/isa/ptx\w*\.hpp", file.path):
        return
    for line, text in enumerate(file.code, 1):
        if re.search(r"\b(asm|__asm|__asm__)\b\s*(volatile|__volatile__|goto)?\s*\(", text):
            yield line, "inline assembly only in include/pgas/detail/isa/ptx*.hpp"


def compiler_macro(file: Source):
    folders = ("include/pgas/detail", "include/pgas/compat")
    if file.under(*folders) or file.path == "include/pgas/device/group.hpp" or file.suffix == ".cu":
        return
    for line, text in enumerate(file.code, 1):
        if re.search(r"\b__CUDACC\w*__|\b__CUDA_ARCH__|\b__NVCC__", text):
            yield line, "which compiler reads this is asked only in detail/, device/group.hpp and compat/"


def macro_name(file: Source):
    prefix = "PGAS_|NVSHMEM|nvshmemx_|SHMEM|_SHMEM|shmem_" if file.under("include/pgas/compat") else "PGAS_"
    for line, text in enumerate(file.code, 1):
        found = re.match(r"\s*#\s*define\s+(\w+)", text)
        if found and not re.match(prefix, found.group(1)):
            yield line, f"macro {found.group(1)}: macros are PGAS_"


def header_head(file: Source):
    if file.suffix not in HEADER_SUFFIXES:
        return
    if not file.text.startswith("/// @file\n"):
        yield 1, "a header starts with a `/// @file` block that says what it is for"
    if "#pragma once" not in file.lines:
        yield 1, "a header has #pragma once"


# The members that the group concepts require. The concepts document these members.
GROUP_MEMBERS = {"thread_rank", "size", "sync", "block_rank", "num_blocks"}
PUBLIC_THING = re.compile(r"\s*(\[\[\w+\]\]\s*)?((virtual|friend|class|struct) )*PGAS_(FN|HD|API)\b(?P<rest>[^(]*)(?P<call>\(?)")


def documented(file: Source):
    """Each public function or class has a doc block, or stands directly below a block that covers it."""
    if not file.under("include/pgas") or file.under("include/pgas/detail", "include/pgas/device/impl", "include/pgas/compat"):
        return
    covered = private = inside = False
    for line, text in enumerate(file.lines, 1):
        stripped = text.strip()
        if not stripped or stripped.startswith("#"):
            covered = False
        elif stripped.startswith("///"):
            covered = True
        if stripped in ("private:", "protected:"):
            private = True
        elif stripped == "public:" or text.startswith("}"):
            private = False
        if stripped.endswith("namespace detail {"):
            inside = True
        elif stripped == "}  // namespace detail":
            inside = False
        found = PUBLIC_THING.match(text)
        if found and not (covered or private or inside):
            words = found["rest"].split()
            constructor = found["call"] and len([w for w in words if w not in ("explicit", "constexpr")]) == 1
            if not constructor and (words or [""])[-1] not in GROUP_MEMBERS:
                yield line, "a public function or class without a doc block"


def own_names(file: Source):
    """Macros of programs do not change what a public header declares. names_begin.inc explains how."""
    public = file.under("include/pgas") and not re.match(r"include/pgas/(detail|device/impl|compat/(nvshmem|shmem))/", file.path)
    if not public or file.suffix not in HEADER_SUFFIXES:
        return
    lines = [(line, text.strip()) for line, text in enumerate(file.lines, 1) if text.strip() and not text.startswith(("//", "#pragma once"))]
    code = [line for line, text in lines if not re.match(r'#include "(pgas/(?!detail/|compat/n?v?shmem/)|(\.\./)?p?shmemx?\.h"$)|#define NVSHMEM_VENDOR_', text)]
    if not code:  # a header that is only another name of a public header
        return
    if "detail/names_begin.inc" not in lines[0][1]:
        yield lines[0][0], "a public header begins with detail/names_begin.inc, behind #pragma once"
    if "detail/names_end.inc" not in lines[-1][1]:
        yield lines[-1][0], "a public header ends with detail/names_end.inc"


def unfinished(file: Source):
    for line, text in enumerate(file.lines, 1):
        if re.search(r"\b(TODO|FIXME|XXX)\b", text):
            yield line, "finish it, or say in the doc block what it does not do"


# A variable, a member and a function have a noun or a verb as their name.
NO_NOUN = re.compile(r"(?<![\w.])(?<!->)(?<!::)(of|one|made|there|meet)(?!\w)")


def noun(file: Source):
    for line, text in enumerate(file.code, 1):
        if found := None if re.match(r"\s*#(?!\s*define)", text) else NO_NOUN.search(text):
            yield line, f"the name `{found.group(1)}` does not say what the thing is"


SOURCE_RULES = (layer, third_party, bootstrap_sight, integration_sight, host_sight, folders_include_downwards, backends_apart, leaves,
                environment, no_exit, inline_asm, compiler_macro, macro_name, header_head, documented, own_names, unfinished, too_small, noun)


# ---- all files ------------------------------------------------------------------------------------------------------


def files(root: pathlib.Path, folders, suffixes) -> Iterator[Source]:
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and (path.suffix in suffixes or path.name == "CMakeLists.txt" and ".cmake" in suffixes):
                yield Source(root, path)


def check(root: pathlib.Path) -> Iterator[Violation]:
    macros = {}
    types = {}
    for file in files(root, SOURCE_FOLDERS, SOURCE_SUFFIXES):
        for rule in SOURCE_RULES:
            for line, what in rule(file):
                yield Violation(rule.__name__, file.path, line, what)
        for line, what in defined_twice(file, types):
            yield Violation("one_definition", file.path, line, what)
        if not file.under("include/pgas/compat", "src/host/compat"):  # families of functions are expanded from lists there
            for line, text in enumerate(file.code, 1):
                if found := re.match(r"\s*#\s*define\s+(\w+)", text):
                    macros.setdefault(found.group(1), (file.path, line))
            # A macro that its file undefines (#undef) is not counted, because other files do not see it.
            for text in file.code:
                if found := re.match(r"#undef (\w+)", text):
                    macros.pop(found.group(1), None)
    sources = {}
    for file in files(root, SOURCE_FOLDERS, SOURCE_SUFFIXES):
        for line, what in in_another_source(file, sources, set(types)):
            yield Violation("one_source", file.path, line, what)
    for name, (path, line) in list(macros.items())[MOST_MACROS:]:
        yield Violation("macro_count", path, line, f"{name} is one macro too many, at most {MOST_MACROS}")
    for file in files(root, ALL_FOLDERS, SIZED_SUFFIXES):
        for line, what in size(file):
            yield Violation("size", file.path, line, what)
    words = given_up_words(root)
    for file in files(root, WORD_FOLDERS, WORD_SUFFIXES):
        for line, what in given_up(file, words):
            yield Violation("given_up", file.path, line, what)
    for rule in (dead_path, dead_link, page_length, one_row_per_word):
        for page, line, what in rule(root):
            yield Violation(rule.__name__, page, line, what)


def exceptions(path: pathlib.Path) -> dict[tuple[str, str], int]:
    found = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        words = line.split(maxsplit=2)
        if len(words) < 3:
            raise SystemExit(f"{path}:{number}: an exception is `rule path reason`")
        found[words[0], words[1]] = number
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--allow", type=pathlib.Path)
    options = parser.parse_args()

    allowed = exceptions(options.allow) if options.allow else {}
    unused = dict(allowed)
    failures = 0
    for violation in check(options.root):
        covering = [key for key in allowed if key[0] == violation.rule and fnmatch.fnmatchcase(violation.path, key[1])]
        for key in covering:
            unused.pop(key, None)
        if not covering:
            print(f"{violation.path}:{violation.line}: {violation.rule}: {violation.what}")
            failures += 1
    for (rule, path), line in unused.items():
        print(f"{options.allow}:{line}: unused: the exception for {rule} in {path} is not needed any more")
        failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
