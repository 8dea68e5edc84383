"""Finds types that two files define by the same name, and classes whose members are in several sources. The linker uses the
members of one type for both types of a name, without a message."""

import re
from typing import Iterator

NAMESPACE = re.compile(r"^(?:inline )?namespace ([\w:]*) ?\{|^\}  // namespace")
DEFINED_TYPE = re.compile(r"^(?:struct|class|enum class|union) (?:PGAS_API |alignas\(.*?\) )?(\w+)(?: final)?(?: :[^{;]*)? \{")
# The first line of a member function that is defined outside its class.
MEMBER = re.compile(r"^(?! )(?:[\w:<>,&*\[\] ]*[&*> ])?(\w+)::~?(?:\w+|operator[^\w(]*\w*)\(.*[^;]$")


def in_namespaces(file) -> Iterator[tuple[int, str, list[str]]]:
    """Returns the number and the text of each line, and the namespaces around the line. The name of an unnamed
    namespace is empty."""
    spaces = []
    for number, text in enumerate(file.lines, 1):
        if found := NAMESPACE.match(text):
            spaces = spaces[:-1] if found[1] is None else [*spaces, found[1]]
        else:
            yield number, text, spaces


def defined_types(file) -> Iterator[tuple[int, str]]:
    """Returns the line and the full name of each type, except templates and types in unnamed namespaces."""
    for number, text, spaces in in_namespaces(file):
        if (found := DEFINED_TYPE.match(text)) and "" not in spaces and not file.lines[max(0, number - 2)].startswith("template"):
            yield number, "::".join([*spaces, found[1]])


def defined_twice(file, known: dict[str, str]) -> Iterator[tuple[int, str]]:
    """Returns the line of each type that `known` has from another file, and the error. Adds the types of this file to
    `known`."""
    for line, name in defined_types(file):
        first = known.setdefault(name, file.path)
        if first != file.path:
            yield line, f"{name} is defined in {first}, too: name one of them otherwise"


def in_another_source(file, known: dict[str, str], types: set[str]) -> Iterator[tuple[int, str]]:
    """Returns the line of the first member function that this source defines of a class of `types`, if `known` has another
    source for the class, and the error. Adds the classes of this source to `known`."""
    if not file.path.endswith((".cpp", ".cu")):
        return
    reported = set()
    for line, text, spaces in in_namespaces(file):
        found = MEMBER.match(text)
        name = "::".join([*spaces, found[1]]) if found else ""
        if name in types and known.setdefault(name, file.path) != file.path and name not in reported:
            reported.add(name)
            yield line, f"members of {name} are in {known[name]}, too: a class has one source"
