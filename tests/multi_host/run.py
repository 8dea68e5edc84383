"""Runs a program on two hosts of this machine and returns its exit status. Status 77 means that this machine can't have
two hosts.

    run.py [--split 2+2] [--cable "..."] [--timeout SECONDS] [--says TEXT] [--public] -- PROGRAM [ARGUMENTS]

The program gets PGAS_PRIVATE_NETWORK=1, unless --public is given. With --public the program must fail.
"""
import argparse
import os
import subprocess
import sys

import hosts

# Environment variables with these prefixes are passed to the program, because processes on the other host have a
# separate environment.
FORWARDED = ("PGAS_", "UCX_", "ASAN_", "TSAN_", "UBSAN_", "LSAN_", "GTEST_", "LD_LIBRARY_PATH")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--split", default="2+2")
    parser.add_argument("--cable")
    parser.add_argument("--timeout", type=float, default=150)
    parser.add_argument("--says")
    parser.add_argument("--public", action="store_true")
    parser.add_argument("words", nargs="+")
    asked = parser.parse_args()
    environment = {name: value for name, value in os.environ.items() if name.startswith(FORWARDED)}
    if not asked.public:
        environment.setdefault("PGAS_PRIVATE_NETWORK", "1")
    split = [int(part) for part in asked.split.split("+")]
    try:
        with hosts.two_hosts(asked.cable.split() if asked.cable is not None else None) as pair:
            job = subprocess.run(pair.job(split, asked.words, environment), stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True, timeout=asked.timeout, check=False)
    except hosts.CannotMakeHosts as why:
        print(f"skipped: {why}")
        return 77
    except subprocess.TimeoutExpired as late:
        print((late.stdout or b"").decode(errors="replace"))
        print(f"not done after {asked.timeout} s")
        return 1
    print(job.stdout)
    if asked.says is not None and asked.says not in job.stdout:
        print(f"it did not say: {asked.says}")
        return 1
    if asked.public:
        return 0 if job.returncode != 0 else 1
    return job.returncode


sys.exit(main())
