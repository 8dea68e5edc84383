"""Measures what a world costs each of its PEs on this machine, on the host heap: memory, sockets, threads and the time
to join, for several numbers of PEs, and how much one more PE adds. Prints a table; `each further PE` is the slope
between its last rows.

    scaling.py PGASRUN SCALING [--pes 2,4,8] [--how direct,shm,tcp] [--private-limit KIB] [--descriptor-limit N]

direct: all PEs load and store. shm, tcp: no PE does, and UCX uses shared memory or TCP. `idle`: after joining and one
allocation; `busy`: after every PE has put small and large data to every other PE, and a barrier. With limits, the
script fails if one more PE costs an idle PE more than the limit.
"""
import argparse
import collections
import os
import statistics
import subprocess
import sys

WAYS = {"direct": {}, "shm": {"PGAS_P2P": "0"}, "tcp": {"PGAS_P2P": "0", "UCX_TLS": "tcp"}}
FIELDS = ("private KiB", "heap KiB", "mapped KiB", "shared KiB", "UNIX", "TCP", "fds", "threads", "ms")


def run(launcher, program, way, pes):
    """Returns for each step the resources of an average PE, minus its resources before it joined."""
    environment = dict(os.environ, PGAS_HEAP="host", PGAS_JOIN_TIMEOUT="300s", **WAYS[way])
    job = subprocess.run([launcher, "-n", str(pes), program], env=environment, stdout=subprocess.PIPE, text=True, check=True,
                         timeout=900)
    steps = collections.defaultdict(list)
    for line in job.stdout.splitlines():
        step, _, *numbers = line.split()
        steps[step].append([int(number) for number in numbers])
    mean = {step: [statistics.fmean(column) for column in zip(*rows)] for step, rows in steps.items()}
    if any(len(rows) != pes for rows in steps.values()) or set(mean) != {"alone", "idle", "busy"}:
        sys.exit(f"{way}, {pes} PEs: not all of them said what they have:\n{job.stdout}")
    return {step: [now - before for now, before in zip(mean[step], mean["alone"])] for step in ("idle", "busy")}


def print_row(words):
    print(" | ".join(f"{word:>11}" for word in words), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("launcher")
    parser.add_argument("program")
    parser.add_argument("--pes", default="2,4,8,16,32,64")
    parser.add_argument("--how", default="direct,shm,tcp")
    parser.add_argument("--private-limit", type=float)
    parser.add_argument("--descriptor-limit", type=float)
    asked = parser.parse_args()
    sizes = [int(pes) for pes in asked.pes.split(",")]
    problems = []
    print_row(("way", "step", "PEs") + FIELDS)
    for way in asked.how.split(","):
        measured = {pes: run(asked.launcher, asked.program, way, pes) for pes in sizes}
        for step in ("idle", "busy"):
            for pes in sizes:
                print_row((way, step, pes, *(f"{number:.0f}" for number in measured[pes][step])))
            if len(sizes) < 2:
                continue
            few, many = sizes[-2:]
            slope = [(last - first) / (many - few) for first, last in zip(measured[few][step], measured[many][step])]
            print_row((way, step, "each more", *(f"{number:.2f}" for number in slope)))
            if step != "idle":
                continue
            for what, limit in (("private KiB", asked.private_limit), ("fds", asked.descriptor_limit)):
                found = slope[FIELDS.index(what)]
                if limit is not None and found > limit:
                    problems.append(f"{way}: one more PE costs an idle one {found:.2f} {what}, more than {limit}")
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


sys.exit(main())
