#!/usr/bin/env python3
"""Checks that include/pgas/README.md, the table of all calls, and the headers name the same functions.

Usage: check_calls.py ROOT

Every function at namespace scope of a public header (impl/, detail/ and compat/ aside), and every member function of
the classes that users call, must be in the README between backticks. Every name between backticks in its tables must be
a function of some header. Prints one line per difference, and fails if there is any.
"""

import pathlib
import re
import sys

# Classes whose members are operations. Members of other classes are described in their headers.
CLASSES = {"world", "team", "stream"}
OPERATIONS = {"prod", "min", "max", "bit_and", "bit_or", "bit_xor", "maxloc", "minloc"}  # types in pgas::op
INTERNAL = {"state", "world_state"}  # accessors for the library's own functions
NOT_CALLS = {"operator", "if", "for", "while", "switch", "return", "requires", "sizeof", "static_assert", "alignof", "alignas",
             "decltype", "noexcept", "explicit", "bool"}
FUNCTION = re.compile(r"(?<![\w.>:~])([a-z_][a-z0-9_]*)\s*\(")


def strip(text: str) -> str:
    """Returns the text without comments, preprocessor lines and literals."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"^\s*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.M)
    return re.sub(r'"(?:\\.|[^"\\])*"', '""', text)


def functions(text: str) -> set[str]:
    """Returns the names of functions that are declared in namespace pgas itself or in one of CLASSES."""
    found: set[str] = set()
    scopes: list[str] = []
    private = False
    start = 0
    for i, char in enumerate(text):
        if char not in "{};":
            continue
        head = text[start:i].strip()
        start = i + 1
        if char == "}":
            if scopes:
                scopes.pop()
            private = False
            continue
        if re.search(r"\b(private|protected)\s*:", head):
            private = True
        if re.search(r"\bpublic\s*:", head):
            private = False
        namespaces = [s for s in scopes if s.startswith("namespace ")]
        classes = [s for s in scopes if s.startswith("class ")]
        in_pgas = namespaces == ["namespace pgas"]
        here = in_pgas and len(scopes) == len(namespaces) + len(classes)
        if here and (not classes or (classes[-1][6:] in CLASSES and not private)):
            declared = re.sub(r"\[\[.*?\]\]", "", head)
            declared = re.sub(r"template\s*<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>", "", declared)
            declared = re.sub(r"\brequires\b.*?\n", "\n", declared)
            if not re.match(r"(using|namespace|class|struct|enum|concept|friend|inline constexpr|extern)\b", declared) and "=" not in declared.split("(")[0]:
                if (match := FUNCTION.search(declared)) and match.group(1) not in NOT_CALLS | CLASSES | INTERNAL and match.start() > 0:
                    found.add(match.group(1))
        if char == "{":
            if match := re.match(r"(?:inline\s+)?namespace\s+([\w:]+)$", head):
                scopes.append("namespace " + match.group(1))
            elif match := re.search(r"\b(?:class|struct)\s+(?:PGAS_API\s+)?(?:alignas\([^)]*\)\s+)?(\w+)[^;()]*$", head):
                scopes.append("class " + match.group(1))
            else:
                scopes.append("other")
    return found


def main() -> int:
    root = pathlib.Path(sys.argv[1]) / "include" / "pgas"
    declared: dict[str, str] = {}
    called: set[str] = set()  # every name with a parameter list, including members of other classes
    for header in sorted(root.rglob("*.hpp")):
        inside = header.relative_to(root).parts
        if inside[0] in ("detail", "compat") or "impl" in inside:
            continue
        text = strip(header.read_text(encoding="utf-8"))
        called |= set(FUNCTION.findall(text))
        for name in functions(text):
            declared.setdefault(name, "/".join(inside))

    page = (root / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"[a-z_][a-z0-9_]*", " ".join(re.findall(r"`([^`]*)`", page))))
    in_tables = set()
    for line in page.splitlines():
        if line.startswith("|") and not line.startswith("| ---"):
            for cell in line.split("|")[2:]:
                for code in re.findall(r"`([^`]*)`", cell):
                    in_tables |= {m for m in re.findall(r"(?:^|\.)([a-z_][a-z0-9_]*)(?:\(|$)", code)}

    bad = [f"{where}: {name} is not in include/pgas/README.md" for name, where in declared.items() if name not in named]
    bad += [f"include/pgas/README.md: no header declares {name}" for name in sorted(in_tables - called - OPERATIONS)]
    print("\n".join(bad) if bad else f"{len(declared)} calls")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
