#!/usr/bin/env python3
"""Compares the names that shared libraries export with the list of expected names.

Usage: check_exports.py LIST NM LIBRARY...

Weak functions of the library's own namespace are left out. Weak functions are inline functions and templates. Each
program that uses them contains them as well, and they differ between compilers. Weak functions of the standard library
must not be exported.
"""

import fnmatch
import pathlib
import re
import subprocess
import sys


def expected(text: str) -> dict[str, list[str]]:
    """Returns the patterns of each library, by the name in brackets."""
    sections: dict[str, list[str]] = {}
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("["):
            patterns = sections.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            patterns.append(line)
    return sections


def name_of(symbol: str) -> str:
    """Returns a demangled symbol without parameters and ABI tags."""
    return re.sub(r"\[abi:\w+\]", "", symbol).split("(", 1)[0]


def exported(nm: str, library: str) -> set[str]:
    """Returns the names of the defined dynamic symbols."""

    def lines(*options: str) -> list[list[str]]:
        done = subprocess.run([nm, "-D", "--defined-only", *options, library], check=True, capture_output=True, text=True)
        return [line.split(maxsplit=2)[1:] for line in done.stdout.splitlines()]

    names = set()
    for (kind, mangled), (_, symbol) in zip(lines("--no-sort"), lines("--no-sort", "--demangle"), strict=True):
        if kind in "WVuw" and re.match("_Z(N|NK)4pgas", mangled):
            continue
        names.add(name_of(symbol))
    return names


def main() -> int:
    sections = expected(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    wrong = []
    for library in sys.argv[3:]:
        section = re.sub(r"\.so.*", ".so", pathlib.Path(library).name)
        names = exported(sys.argv[2], library)
        patterns = [re.compile(fnmatch.translate(pattern)) for pattern in sections[section]]
        wrong += [f"{section} exports {name}, which is not listed" for name in sorted(names)
                  if not any(pattern.match(name) for pattern in patterns)]
        wrong += [f"{section} does not export {text}" for text, pattern in zip(sections[section], patterns)
                  if not any(pattern.match(name) for name in names)]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
