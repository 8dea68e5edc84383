#!/usr/bin/env python3
"""Runs each bad call of a program. The call must end all PEs with status 1, and log one line with the PE, the function
and the error.

Usage: bad_calls.py PGASRUN PES EACH PROGRAM    (makes every EACH-th call)
"""

import subprocess
import sys


def main() -> int:
    launcher, pes, each, program = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    calls = [line.split() for line in subprocess.run([program, "list"], check=True, capture_output=True, text=True).stdout.splitlines()]
    failures = 0
    for name, function, code in calls[::each]:
        done = subprocess.run([launcher, "-n", str(pes), program, name], capture_output=True, text=True, timeout=60, check=False)
        errors = [line for line in done.stderr.splitlines() if "] error: " in line]
        said = f"[pgas {pes - 1}/{pes} "
        good = done.returncode == 1 and "terminate" not in done.stderr and len(errors) == 1
        good = good and errors[0].startswith(said) and f"] error: {function}: PGAS-{code}: " in errors[0]
        good = good and "allocate()" not in errors[0]
        if not good:
            failures += 1
            print(f"{name}: status {done.returncode}, and it said:\n{done.stderr}")
    print(f"{len(calls[::each])} calls, {failures} of them wrong")
    return failures != 0 or len(calls) < 20


if __name__ == "__main__":
    sys.exit(main())
