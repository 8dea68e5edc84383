#!/usr/bin/env python3
"""Measures joining: how long a program that only joins takes with more and more PEs of one host.

join.py PGASRUN PROGRAM [N ...]: a line for each N with the time, the CPU time of all processes, and the descriptors and the private memory of the
PE that has most of each, as /proc shows them while the job runs."""
import os
import re
import resource
import subprocess
import sys
import time


def children_of(pid: int) -> list[int]:
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as names:
            return [int(name) for name in names.read().split()]
    except OSError:
        return []


def look_at(pid: int) -> tuple[int, int]:
    """Descriptors, and private memory in KiB; 0 where the process has gone."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as text:
            private = sum(int(kib) for kib in re.findall(r"Private_\w+:\s+(\d+) kB", text.read()))
        return len(os.listdir(f"/proc/{pid}/fd")), private
    except OSError:
        return 0, 0


def measure(pgasrun: str, program: str, n: int) -> str:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    most = (0, 0)
    with subprocess.Popen([pgasrun, "-n", str(n), program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=os.environ | {"PGAS_HEAP": "host"}) as job:
        looks = 0
        while job.poll() is None:
            pes = children_of(job.pid)
            for pe in {pes[0], pes[-1]} if pes else ():  # a leader and a PE that is none
                seen = look_at(pe)
                most = (max(most[0], seen[0]), max(most[1], seen[1]))
            looks += 1
            time.sleep(0.02)
            if looks > 60_000:
                job.kill()
        output = job.stdout.read() if job.stdout else ""
        status = job.returncode
    took = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if status != 0:
        return f"{n:6}  failed with {status} after {took:.1f} s: {output.strip().splitlines()[-1:] or ''}"
    return f"{n:6}  {took:8.2f} s  {cpu:8.1f} s of CPU  {most[0]:6} descriptors  {most[1] / 1024:8.1f} MiB private"


def main() -> int:
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    for n in [int(word) for word in sys.argv[3:]] or [64, 128, 256, 512]:
        print(measure(sys.argv[1], sys.argv[2], n), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
