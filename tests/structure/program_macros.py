#!/usr/bin/env python3
"""Writes a source file that includes public headers after macros with the names that a program may choose.

Usage: program_macros.py ROOT object|function HEADER...

Prints the headers that HEADERs include, the innermost first, after macros of the words in common_words.txt and of all
names that the headers hide: as objects, or as functions. The expansion of each macro is an error in any place. After
the headers the macros of the program are still defined. Headers of the system come before the macros, because a macro
would break them, and define none of the hidden names.
"""

import pathlib
import re
import sys

from own_names import FOLDER, STANDARD, KEYWORDS, listed

INNER = re.compile(r"pgas/(detail|device/impl|compat/(nvshmem|shmem))/")
FORMS = {"object": "", "function": "(a1, a2, a3, a4)"}


def in_order(include: pathlib.Path, name: str, known: list[str], system: set[str]) -> None:
    """Adds `name` after all headers that it includes. `system` gets the names in angle brackets."""
    if name in known or name.endswith(".inc"):
        return
    known.append(name)  # prevents cycles
    text = (include / name).read_text(encoding="utf-8")
    system.update(re.findall(r"^#include <([^>]+)>", text, re.M))
    folder = (include / name).parent
    for other in re.findall(r'^#include "([^"]+)"', text, re.M):
        path = folder / other if (folder / other).exists() else include / other
        in_order(include, path.resolve().relative_to(include.resolve()).as_posix(), known, system)
    known.remove(name)
    known.append(name)


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    form = FORMS[sys.argv[2]]
    headers: list[str] = []
    system: set[str] = set()
    for name in sys.argv[3:]:
        in_order(root / "include", name, headers, system)
    hidden = listed(root)
    common = set((pathlib.Path(__file__).parent / "common_words.txt").read_text(encoding="utf-8").split())
    words = sorted((common | hidden) - STANDARD - KEYWORDS)
    for name in sorted(system):
        print(f"#if __has_include(<{name}>)\n#include <{name}>\n#endif")
    for word in sorted(hidden):
        print(f'#if defined({word})\n#error "{FOLDER} hides {word}, a macro of the system"\n#endif')
    for word in words:
        print(f"#undef {word}\n#define {word}{form} ) the macro {word} of the program (")
    for name in headers:
        if not INNER.match(name):
            print(f'#include "{name}"')
    for word in words:
        print(f'#if !defined({word})\n#error "the macro {word} of the program is gone"\n#endif')
    return 0


if __name__ == "__main__":
    sys.exit(main())
