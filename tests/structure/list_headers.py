#!/usr/bin/env python3
"""Prints the headers under ROOT/include, one name per line, as includes have it. The build compiles each header alone.

Usage: list_headers.py ROOT [--of HEADER]

With --of, prints only that header and the headers that it includes, directly or indirectly.
"""

import argparse
import pathlib
import re
import sys


def brought_in(include: pathlib.Path, name: str, known: set[str]) -> set[str]:
    """Adds `name` and all headers of the project that it includes to `known`. Returns `known`."""
    if name not in known:
        known.add(name)
        for other in re.findall(r'^#include "(pgas/[^"]+)"', (include / name).read_text(encoding="utf-8"), re.M):
            brought_in(include, other, known)
    return known


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--of", metavar="HEADER")
    options = parser.parse_args()

    include = options.root / "include"
    names = {path.relative_to(include).as_posix() for path in include.rglob("*")}
    if options.of:
        names = brought_in(include, options.of, set())
    # A list (.inc) is not a header, because it has a meaning only inside the header that includes it.
    names = sorted(name for name in names if name.endswith((".hpp", ".h")))
    if not names:
        raise SystemExit(f"no headers in {include}")
    print("\n".join(names))
    return 0


if __name__ == "__main__":
    sys.exit(main())
