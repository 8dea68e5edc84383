#!/usr/bin/env python3
"""Compiles every header under ROOT/include alone, twice included, and fails if any does not compile.

Usage: headers.py ROOT [--of HEADER] [--skip HEADER]... -- COMPILER FLAGS...

The file to compile is added to the end of the command. With --of only that header and those that it includes, directly or
not. Skipped headers are listed.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def compile_alone(command: list[str], suffix: str, name: str, folder: pathlib.Path) -> str:
    """What the compiler says about a file that includes `name` only, or an empty string."""
    source = folder / (name.replace("/", "_") + suffix)
    source.write_text(f'#include "{name}"\n#include "{name}"\n')
    done = subprocess.run([*command, str(source)], capture_output=True, text=True, cwd=folder)
    return "" if done.returncode == 0 else (done.stdout + done.stderr or f"exit status {done.returncode}")


def brought_in(include: pathlib.Path, name: str, known: set[str]) -> set[str]:
    """`name` and all headers of the project that it includes, added to `known`."""
    if name not in known:
        known.add(name)
        for other in re.findall(r'^#include "(pgas/[^"]+)"', (include / name).read_text(), re.M):
            brought_in(include, other, known)
    return known


def main() -> int:
    end = sys.argv.index("--")
    command = sys.argv[end + 1 :]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--of", metavar="HEADER")
    parser.add_argument("--skip", action="append", default=[])
    options = parser.parse_args(sys.argv[1:end])

    include = options.root / "include"
    names = {p.relative_to(include).as_posix() for p in include.rglob("*")}
    if options.of:
        names = brought_in(include, options.of, set())
    # A list (.inc) is no header: it means something only to the header that includes it.
    names = sorted(name for name in names if name.endswith((".hpp", ".h")))
    for name in options.skip:
        names.remove(name)  # fails where there is no such header
        print(f"skipped: {name}")
    if not names:
        raise SystemExit(f"no headers in {include}")
    suffix = ".cu" if "nvcc" in pathlib.Path(command[0]).name else ".cpp"
    failed = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = {name: pool.submit(compile_alone, command, suffix, name, pathlib.Path(folder)) for name in names}
        for name, job in jobs.items():
            if text := job.result():
                failed += 1
                print(f"---- {name}\n" + "\n".join(text.splitlines()[:15]))
    print(f"{len(names) - failed} of {len(names)} headers compile alone")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
