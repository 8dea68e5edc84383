#!/usr/bin/env python3
"""Keeps the list of names that public headers hide from the macros of programs.

Usage: own_names.py ROOT [--write]

A program may define `#define fetch(A, m, n, bound)` before it includes a header. So each public header begins with
include/pgas/detail/names_begin.inc and ends with names_end.inc: in between, the names that the headers use are no
macros. Prints the names that are missing in the list, and fails if a name is missing. --write writes a new list.
"""

import argparse
import pathlib
import re
import sys

from check import strip

FOLDER = "include/pgas/detail"
HIDE = "hidden_names.inc"
SHOW = "shown_names.inc"
HEADERS = (".hpp", ".h", ".cuh", ".inc")

# Names with a prefix belong to one library. A program that defines a macro with such a name means this library's name.
PREFIXED = re.compile(r"_|(pgas|nvshmemx?i?|p?shmemx?)_|PGAS_|NVSHMEM|SHMEM|cuda[A-Z]|cu[A-Z]|CU|MPI_|(SYS|PR|FUTEX|CLOCK)_|U?INT\d*_|[A-Z]+_MAX$")
# Macros of the standard headers that public headers include, and macros that a compiler defines itself. Hiding such a
# macro would remove it.
STANDARD = set("I NULL assert complex errno linux major makedev minor offsetof stderr stdout unix".split())
# Keywords. No valid program defines a macro with such a name.
KEYWORDS = set(
    """alignas alignof and asm auto bool break case catch char class concept const const_cast constexpr continue decltype default
    defined delete do double elif else endif enum explicit extern false float for friend goto if ifdef ifndef include inline int
    long mutable namespace new noexcept not nullptr operator or pragma private protected public reinterpret_cast requires return
    short signed sizeof static static_assert static_cast struct switch template this thread_local throw true try typedef typename
    undef union unsigned using virtual void volatile while xor""".split()
)


def names(root: pathlib.Path) -> set[str]:
    """Returns the names in the public headers that a macro of a program may have."""
    found: set[str] = set()
    for path in sorted((root / "include").rglob("*")):
        if path.suffix not in HEADERS or path.name in (HIDE, SHOW):
            continue
        code = strip(path.read_text(encoding="utf-8"))
        code = re.sub(r"^\s*#\s*include\b.*$", "", code, flags=re.M)
        found.update(re.findall(r"(?<![\w'])[A-Za-z]\w*", code))
    return {name for name in found - STANDARD - KEYWORDS if not PREFIXED.match(name)}


def listed(root: pathlib.Path) -> set[str]:
    path = root / FOLDER / HIDE
    return set(re.findall(r"^#undef (\w+)$", path.read_text(encoding="utf-8"), re.M)) if path.exists() else set()


def write(root: pathlib.Path, wanted: set[str]) -> None:
    head = "// Written by tests/structure/own_names.py: see names_begin.inc.\n"
    hide = "".join(f'#pragma push_macro("{name}")\n#undef {name}\n' for name in sorted(wanted))
    show = "".join(f'#pragma pop_macro("{name}")\n' for name in sorted(wanted))
    (root / FOLDER / HIDE).write_text(head + hide, encoding="utf-8")
    (root / FOLDER / SHOW).write_text(head + show, encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()

    wanted = names(options.root)
    if options.write:
        write(options.root, wanted)
    missing = sorted(wanted - listed(options.root))
    if missing:
        print(f"{FOLDER}/{HIDE} lacks {' '.join(missing)}: run tests/structure/own_names.py . --write")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
