#!/usr/bin/env python3
"""Measures what pgas-why costs a job under load.

Usage: under_load.py PGASRUN RANDOM_IN_WORLD WHY [--pes N] [--queries N] [--askers N] [--operations N] [--limit MICROSECONDS]

The job runs random programs, each twice, in alternating order: once while questions arrive one after another, and once
without questions. No program may fail. The process that asks has its own CPU time, which is no cost of the job. The CPU
time of the PEs is read from /proc: for each process (including threads that have ended, in ticks of 10 ms), and for the
one thread of each PE that answers (in nanoseconds). With --limit, the test fails if a question takes more than this
number of microseconds of a PE.
"""

import argparse
import os
import pathlib
import socket
import statistics
import struct
import subprocess
import sys
import threading
import time

TICK = os.sysconf("SC_CLK_TCK")


def cpu_of(pid: int) -> float:
    """Returns the CPU seconds of a process in user and system mode, including ended threads."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def cpu_of_answers(pid: int) -> float:
    """Returns the CPU seconds of the thread that answers, to the nanosecond."""
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        if (task / "comm").read_text().strip() == "pgas-control":
            return int((task / "schedstat").read_text().split()[0]) / 1e9
    return 0.0


def job_of(pid: int) -> str:
    names = [line.rsplit("@", 1)[1].strip() for line in pathlib.Path("/proc/net/unix").read_text().splitlines() if "@pgas-why-" in line]
    for name in names:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as to:
            try:
                # This code connects to a PE and does not query it, because a PE of another job can end, or can be
                # stopped and never answer.
                to.connect("\0" + name)
                owner = to.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
            except OSError:
                continue
            if struct.unpack("3i", owner)[0] == pid:
                return name
    raise SystemExit("no socket of the job")


class Asker(threading.Thread):
    """Asks questions until it is stopped. The questions are those of pgas-why; the tool itself would start a process
    for each question."""

    def __init__(self, name: str, pes: int, allowed: threading.Event):
        super().__init__(daemon=True)
        self.name_of_socket, self.pes, self.allowed = "\0" + name, pes, allowed
        self.asked, self.incomplete, self.cpu, self.over = 0, 0, 0.0, False
        self.start()

    def run(self):
        while not self.over:
            if not self.allowed.wait(0.2):
                continue
            begin = time.thread_time()
            answers = 0
            try:
                with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as to:
                    to.settimeout(2)
                    to.connect(self.name_of_socket)
                    to.send(b"waits")
                    while answers < self.pes + 1 and to.recv(1 << 18):
                        answers += 1
            except OSError:
                pass
            if self.over:
                break
            self.asked += 1
            self.incomplete += answers < self.pes + 1
            self.cpu += time.thread_time() - begin


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("pgasrun")
    parser.add_argument("program")
    parser.add_argument("why")
    parser.add_argument("--pes", type=int, default=3)
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--askers", type=int, default=4, help="at the same time")
    parser.add_argument("--operations", type=int, default=60_000, help="of a program")
    parser.add_argument("--limit", type=float, help="microseconds of a PE for each question")
    asked = parser.parse_args()
    job = subprocess.Popen([asked.pgasrun, "-n", str(asked.pes), "--grace-period", "0.1", asked.program, "--twice=1", "--seconds=100000",
                            f"--operations={asked.operations}", f"--seed={os.getpid()}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | {"PGAS_HEAP": "host"})
    pids: list[int] = []
    askers: list[Asker] = []
    allowed = threading.Event()
    # for True, the times while the job was queried, and for False, the times while the job was not queried. Each row is
    # wall time, CPU time, CPU time of answers
    rows: dict[bool, list[tuple[float, float, float]]] = {True: [], False: []}
    before = (0.0, 0.0, 0.0)

    def now() -> tuple[float, float, float]:
        return time.monotonic(), sum(map(cpu_of, pids)), sum(map(cpu_of_answers, pids))

    for line in job.stdout:
        word, *rest = line.split()
        if word == "pid":
            pids.append(int(rest[1]))
        elif word == "begin":
            if not askers:
                name = job_of(pids[0])
                askers = [Asker(name, asked.pes, allowed) for _ in range(asked.askers)]
            number = int(rest[0])
            questions = (number + number // 2) % 2 == 0  # alternately the first or the second run of a pair
            if questions:
                allowed.set()
            before = now()
        elif word == "end":
            allowed.clear()
            rows[questions].append(tuple(b - a for a, b in zip(before, now())))
            if sum(one.asked for one in askers) >= asked.queries and number % 2 == 1:
                break
    over = bool(askers) and job.poll() is None
    if over:
        for one in askers:
            one.over = True
        shown = subprocess.run([asked.why, str(pids[0])], capture_output=True, text=True, timeout=30)
        job.terminate()
    errors = job.stderr.read()
    job.wait()
    if not over:
        print(f"the job ended early: {errors}")
        return 1
    pairs = list(zip(rows[True], rows[False]))
    wall, cpu, answers = ({way: sum(row[column] for row in rows[way]) for way in rows} for column in range(3))
    questions = sum(one.asked for one in askers)
    incomplete = sum(one.incomplete for one in askers)
    each = (answers[True] - answers[False] * wall[True] / wall[False]) / questions / asked.pes * 1e6
    cost = {way: answers[way] / wall[way] / (os.cpu_count() or 1) * 100 for way in rows}
    print(f"{asked.pes} PEs, {os.cpu_count()} cores, {len(pairs)} random programs, each with and without questions; {questions} questions by"
          f" {asked.askers} askers, {questions / wall[True]:.0f} a second, {incomplete} without all answers")
    print(f"CPU time of all threads that answer, of all that the cores have: {cost[True]:.2f} % with questions, {cost[False]:.2f} % without;"
          f" {each:.0f} us for each question and PE; the askers' own: {sum(one.cpu for one in askers) / questions * 1e6:.0f} us for each question,"
          f" {sum(one.cpu for one in askers) / wall[True] / (os.cpu_count() or 1) * 100:.2f} %")
    for name, column in (("CPU time of the PEs", 1), ("wall time", 0)):
        ratios = [a[column] / b[column] for a, b in pairs if b[column] > 0]
        spread = statistics.stdev(ratios) / len(ratios) ** 0.5 * 100 if len(ratios) > 1 else 0
        total = sum(row[column] for row in rows[True]) / sum(row[column] for row in rows[False])
        print(f"{name}, with to without: {(total - 1) * 100:+.2f} % of all, {(statistics.median(ratios) - 1) * 100:+.2f} % in the median pair,"
              f" {(statistics.mean(ratios) - 1) * 100:+.2f} +- {spread:.2f} % in the mean pair")
    failed = bool(incomplete) or "error" in errors or f"{asked.pes} PEs" not in shown.stdout
    if asked.limit is not None and each > asked.limit:
        print(f"a question takes more than {asked.limit} us of a PE")
        failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
