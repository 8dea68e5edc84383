#!/usr/bin/env python3
"""Measures the control plane with many processes of one host.

measure.py PGASRUN JOB [N ...]: prints two lines for each number of PEs N (default: 64 256 512 1024). JOB is tests/scale/job.
With N written as HxM, the PEs pretend to be on H hosts of M PEs each.

The first line has the times to join, to allocate 4 MiB, of a barrier and to leave, and the processor time of all processes. It also has the largest
number of descriptors of a PE and of a leader, and their private memory after the barrier, with the largest private memory while they join and leave.
The second line has the time from the end of a killed PE (N / 2) until the last of the other PEs has named it.

measure.py --memory BYTES PGASRUN JOB FEW MANY: compares the private memory of the last PE among FEW and among MANY PEs. The status is 1 if it
grows by more than BYTES for each additional PE."""
import os
import re
import resource
import subprocess
import sys
import tempfile
import time


def children_of(pid: int) -> list[int]:
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as names:
            return [int(name) for name in names.read().split()]
    except OSError:
        return []


def look_at(pid: int, launcher: int) -> tuple[int, int]:
    """The descriptors, and the private memory in KiB; 0 if the process has ended, or is still a copy of the launcher."""
    try:
        if os.readlink(f"/proc/{pid}/exe") == os.readlink(f"/proc/{launcher}/exe"):
            return 0, 0
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as text:
            private = sum(int(kib) for kib in re.findall(r"Private_\w+:\s+(\d+) kB", text.read()))
        return len(os.listdir(f"/proc/{pid}/fd")), private
    except OSError:
        return 0, 0


def run(command: list[str]) -> tuple[int, str, tuple[int, int], tuple[int, int]]:
    """The status and the output of a job, and the largest holdings of a leader and of another PE."""
    leader = other = (0, 0)
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        with subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=os.environ | {"PGAS_HEAP": "host"}) as job:
            while job.poll() is None:
                pes = children_of(job.pid)
                if pes:
                    leader = tuple(map(max, leader, look_at(pes[0], job.pid)))
                    other = tuple(map(max, other, look_at(pes[-1], job.pid)))
                time.sleep(0.05)
        output.seek(0)
        return job.returncode, output.read(), leader, other


def cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def pes_of(size: str) -> tuple[int, list[str]]:
    """The number of PEs of a size, N or HxM, and the job's argument for the hosts."""
    hosts, _, each = size.rpartition("x")
    return (int(hosts) * int(each), [each]) if hosts else (int(each), [])


def measure(pgasrun: str, job: str, size: str) -> str:
    n, hosts = pes_of(size)
    cpu, begin = cpu_of_children(), time.time()
    status, output, leader, other = run([pgasrun, "-n", str(n), job, "-1", *hosts])
    end = time.time()
    cpu = cpu_of_children() - cpu
    said = re.search(r"joined ([\d.]+) allocated ([\d.]+) barrier ([\d.]+) leaving ([\d.]+)", output)
    if status != 0 or said is None:
        return f"{size:>6}  failed with {status} after {end - begin:.1f} s: {output.strip().splitlines()[-1:] or ''}"
    joined, allocated, barrier, leaving = (float(word) for word in said.groups())
    held = {int(pe): int(kib) for pe, kib in re.findall(r"memory of PE (\d+): (\d+)", output)}

    def memory(pe: int, most: int) -> str:
        return f"{held[pe] / 1024:.1f} MiB, at most {most / 1024:.1f}"

    return (f"{size:>6}  join {joined / 1e3 - begin:6.2f} s  allocate {allocated:7.1f} ms  barrier {barrier:6.1f} ms  leave {end - leaving / 1e3:5.2f} s  "
            f"CPU {cpu:5.1f} s  descriptors {other[0]} (leader {leader[0]})  private {memory(n - 1, other[1])} (leader {memory(0, leader[1])})")


def compare_memory(limit: int, pgasrun: str, job: str, few: int, many: int) -> int:
    def private(n: int) -> int:
        _, output, _, _ = run([pgasrun, "-n", str(n), job, "-1"])
        return int(re.search(rf"memory of PE {n - 1}: (\d+)", output).group(1))

    first, last = private(few), private(many)
    growth = (last - first) * 1024 / (many - few)
    print(f"private memory of PE {few - 1} of {few}: {first} KiB, of PE {many - 1} of {many}: {last} KiB, {growth:.0f} bytes for each additional PE")
    return 0 if growth <= limit else 1


def measure_death(pgasrun: str, job: str, size: str) -> str:
    n, hosts = pes_of(size)
    victim = n // 2
    _, output, _, _ = run([pgasrun, "-n", str(n), job, str(victim), *hosts])
    killed = re.search(r"killed ([\d.]+)", output)
    named = [(int(pe), float(at)) for pe, at in re.findall(r"named (-?\d+) ([\d.]+)", output)]
    right = [at for pe, at in named if pe == victim]
    if killed is None or not right:
        return f"{size:>6}  nobody named the killed PE: {output.strip().splitlines()[-1:] or ''}"
    return f"{size:>6}  PE {victim} killed: {len(right)} of {n - 1} name it, the last after {(max(right) - float(killed.group(1))) / 1e3:.2f} s"


def main() -> int:
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    if sys.argv[1] == "--memory":
        limit, pgasrun, job, few, many = sys.argv[2:]
        return compare_memory(int(limit), pgasrun, job, int(few), int(many))
    for size in sys.argv[3:] or ["64", "256", "512", "1024"]:
        print(measure(sys.argv[1], sys.argv[2], size), flush=True)
        print(measure_death(sys.argv[1], sys.argv[2], size), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
