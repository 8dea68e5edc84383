#!/usr/bin/env python3
"""Compares the ABI of libpgas.so with the ABI of the last release: exported symbols, signatures and layouts.

Usage: abi.py compare TYPES REFERENCE HEADERS [--accepted FILE] [--exported LIBRARY] [--part]
       abi.py write TYPES REFERENCE HEADERS [--part]

TYPES is a library of the exported functions with debug information (the target abi_types, build/cpu/tests/abi/types).
REFERENCE is the output of abidw (libabigail) for the library TYPES of the last release, compressed. `write` makes the
reference; packaging/release.py calls it. `compare` prints the differences and fails if there are any, except new
functions. FILE contains differences that are compatible, in the format of abidiff's suppression files, each with the
reason. LIBRARY must export all functions of the reference. --part: TYPES contains only a part of the exported
functions. The exit status is 77 without abidw and abidiff (Debian: abigail-tools).
"""

import argparse
import lzma
import pathlib
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

# The types that are part of a struct of the program or of an exported function. Private types are opaque.
DUMP = ["--drop-private-types", "--no-show-locs", "--no-corpus-path", "--no-comp-dir-path", "--no-elf-needed"]
LEAST_FUNCTIONS = 200
# Types that the comparison must cover. A library without debug information has no types at all.
NEEDED_TYPES = ["team_config", "ticket_options", "open_options", "shared_memory_options", "collective_request", "config",
                "bootstrap_options", "launch_shape", "world_stats", "context", "pgas_ticket_options"]


def without_weak_symbols(text: bytes) -> xml.Element:
    """Leaves out inline functions and templates. Programs contain them as well, and they differ between compilers."""
    corpus = xml.fromstring(text)
    weak = set()
    for kind in ("elf-function-symbols", "elf-variable-symbols"):
        for symbols in corpus.iter(kind):
            for symbol in list(symbols):
                if symbol.get("binding") != "global-binding":
                    weak.add(symbol.get("name"))
                    symbols.remove(symbol)
    for parent in list(corpus.iter()):
        for child in list(parent):
            # A member function is part of the description of its class, so only its symbol id is removed.
            if child.get("elf-symbol-id", "").split("@")[0] in weak:
                if parent.tag == "member-function":
                    child.attrib.pop("elf-symbol-id")
                else:
                    parent.remove(child)
    return corpus


def dump(asked: argparse.Namespace) -> bytes:
    library = asked.types
    done = subprocess.run(["abidw", *DUMP, "--headers-dir", asked.headers, library], check=True, stdout=subprocess.PIPE)
    corpus = without_weak_symbols(done.stdout)
    functions = sum(1 for each in corpus.iter("elf-symbol") if each.get("type") == "func-type")
    laid_out = {each.get("name") for each in corpus.iter("class-decl") if each.get("size-in-bits")}
    missing = [name for name in NEEDED_TYPES if name not in laid_out]
    if not asked.part and (functions < LEAST_FUNCTIONS or missing):
        sys.exit(f"{library}: abidw found {functions} functions, and no layout of {' '.join(missing) or 'nothing'}: "
                 "it must contain all exported functions, with debug information (-g2)")
    return xml.tostring(corpus)


def not_exported(library: pathlib.Path, reference: bytes) -> list[str]:
    """Returns the functions of the reference that the library does not export."""
    done = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True)
    exported = {line.split()[-1].split("@")[0] for line in done.stdout.splitlines()}
    symbols = (each.get("name") for each in xml.fromstring(reference).iter("elf-symbol"))
    return sorted(name for name in symbols if name not in exported)


def compare(asked: argparse.Namespace) -> int:
    reference = asked.reference
    with tempfile.TemporaryDirectory() as folder:
        before = pathlib.Path(folder, "released.abi")
        now = pathlib.Path(folder, "now.abi")
        before.write_bytes(lzma.decompress(reference.read_bytes()))
        now.write_bytes(dump(asked))
        command = ["abidiff", "--no-added-syms", "--no-show-locs", "--show-bytes", "--show-dec"]
        if asked.accepted:
            command += ["--suppressions", asked.accepted]
        done = subprocess.run([*command, before, now], capture_output=True, text=True)
    print(done.stdout + done.stderr, end="")
    missing = not_exported(asked.exported, lzma.decompress(reference.read_bytes())) if asked.exported else []
    for name in missing:
        print(f"{asked.exported} does not export {name}")
    if done.returncode == 0 and not missing:
        print(f"the ABI is that of {reference.name}")
        return 0
    print(f"\nThe ABI differs from {reference.name}. docs/stability.md tells which changes are allowed, and what to do.")
    return 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["compare", "write"])
    parser.add_argument("types", type=pathlib.Path)
    parser.add_argument("reference", type=pathlib.Path)
    parser.add_argument("headers", type=pathlib.Path)
    parser.add_argument("--accepted", type=pathlib.Path)
    parser.add_argument("--exported", type=pathlib.Path)
    parser.add_argument("--part", action="store_true")
    asked = parser.parse_args()
    if not (shutil.which("abidw") and shutil.which("abidiff")):
        print("skipped: no abidw and abidiff: apt-get install abigail-tools")
        return 77
    if asked.command == "compare":
        return compare(asked)
    asked.reference.write_bytes(lzma.compress(dump(asked), preset=9))
    print(f"{asked.reference}: {asked.reference.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
