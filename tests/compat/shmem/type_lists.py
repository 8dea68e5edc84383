"""Reads the type lists of include/pgas/compat/types.inc."""

import pathlib
import re

KINDS = {"float": "REAL", "double": "REAL", "longdouble": "REAL", "complexd": "COMPLEX", "complexf": "COMPLEX"}


def read(path: pathlib.Path, interface: str = "PGAS_OPENSHMEM_TYPES") -> dict[str, list[tuple[str, str]]]:
    """Returns for each row macro the (NAME, TYPE) to which it is applied."""
    lists: dict[str, list[tuple[str, str]]] = {}
    skipping = False
    for line in path.read_text(encoding="utf-8").splitlines():
        if found := re.match(r"#ifdef (PGAS_(OPENSHMEM|NVSHMEM)_TYPES)", line):
            skipping = found.group(1) != interface
        elif line.startswith("#endif"):
            skipping = False
        elif not skipping and (found := re.match(r"(PGAS_\w+)\((\w+), ([^)]+)\)", line)):
            lists.setdefault(found.group(1), []).append((found.group(2), found.group(3)))
    return lists


def kind(name: str) -> str:
    return KINDS.get(name, "INT")
