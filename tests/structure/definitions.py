"""Finds types that two files define by the same name. The linker uses the members of one type for both types, without a
message."""

import re
from typing import Iterator

NAMESPACE = re.compile(r"^(?:inline )?namespace ([\w:]*) ?\{|^\}  // namespace")
DEFINED_TYPE = re.compile(r"^(?:struct|class|enum class|union) (?:PGAS_API |alignas\(.*?\) )?(\w+)(?: final)?(?: :[^{;]*)? \{")


def defined_types(file) -> Iterator[tuple[int, str]]:
    """Returns the line and the full name of each type, except templates and types in unnamed namespaces."""
    spaces = []
    for number, text in enumerate(file.lines, 1):
        if found := NAMESPACE.match(text):
            if found[1] is None:
                spaces = spaces[:-1]
            else:
                spaces.append(found[1])
        elif (found := DEFINED_TYPE.match(text)) and "" not in spaces and not file.lines[max(0, number - 2)].startswith("template"):
            yield number, "::".join([*spaces, found[1]])


def defined_twice(file, known: dict[str, str]) -> Iterator[tuple[int, str]]:
    """Returns the line of each type that `known` has from another file, and the error. Adds the types of this file to
    `known`."""
    for line, name in defined_types(file):
        first = known.setdefault(name, file.path)
        if first != file.path:
            yield line, f"{name} is defined in {first}, too: name one of them otherwise"
