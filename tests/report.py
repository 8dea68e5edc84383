#!/usr/bin/env python3
"""Prints, after a run of ctest, which builds and tests took longest and which bodies of programs were skipped.

Usage: report.py LastTest.log [.ninja_log...]

The slowest builds and tests are printed only if logs of ninja are given. The logs also contain files that earlier runs
have built.
"""

import pathlib
import re
import sys

MOST = 10
TEST = re.compile(r"^\d+/\d+ Test: (\S+)$", re.M)
TIME = re.compile(r"^Test time = +([0-9.]+) sec$", re.M)
SKIPPED = re.compile(r"^\[  SKIPPED \] (\w[^\s,]*\.[^\s,]+) \(", re.M)


def main() -> int:
    log = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8", errors="replace")
    starts = [*TEST.finditer(log)]
    parts = {}
    for start, end in zip(starts, [match.start() for match in starts[1:]] + [len(log)]):
        parts[start.group(1)] = log[start.end() : end]
    if skipped := [(name, body) for name, part in parts.items() for body in SKIPPED.findall(part)]:
        print("Bodies that programs skipped:")
        for name, body in skipped:
            print(f"  {name}: {body}")
    if len(sys.argv) < 3:
        return 0

    builds = []
    for path in sys.argv[2:]:
        lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()[1:]
        edges = {}  # for commands with several outputs, each output has a line
        for start, end, _, output, command in (line.split("\t") for line in lines):
            if output.startswith("/"):
                continue  # an output whose command is already listed
            edges[command] = ((int(end) - int(start)) / 1000, f"{pathlib.Path(path).parent.name}/{output}")
        builds += edges.values()
    tests = [(float(time.group(1)), name) for name, part in parts.items() if (time := TIME.search(part))]
    for what, times in (("builds", builds), ("tests", tests)):
        print(f"The slowest {what} of {len(times)}, {sum(time for time, _ in times):.0f} s in all:")
        for time, name in sorted(times, reverse=True)[:MOST]:
            print(f"  {time:7.1f} s  {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
