#!/usr/bin/env python3
"""Checks that the sources are formatted by .clang-format.

Usage: check_format.py ROOT

Other versions of clang-format break some lines in other places. Without version 14 the exit status is 77.
"""

import pathlib
import re
import shutil
import subprocess
import sys

from check import ALL_FOLDERS, SOURCE_SUFFIXES

VERSION = 14


def clang_format() -> str | None:
    for name in (f"clang-format-{VERSION}", "clang-format"):
        if path := shutil.which(name):
            if re.search(rf"version {VERSION}\.", subprocess.run([path, "--version"], capture_output=True, text=True).stdout):
                return path
    return None


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    tool = clang_format()
    if tool is None:
        print(f"skipped: no clang-format {VERSION}")
        return 77
    sources = sorted(path for folder in ALL_FOLDERS for path in (root / folder).rglob("*") if path.suffix in SOURCE_SUFFIXES)
    done = subprocess.run([tool, "--dry-run", "-Werror", *sources], capture_output=True, text=True)
    found = sorted({line.split(": error:")[0] for line in done.stderr.splitlines() if ": error:" in line})
    print(*found, sep="\n")
    print(f"{len(sources)} sources, {len(found)} lines to format" + (f": run {tool} -i on their files" if found else ""))
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
