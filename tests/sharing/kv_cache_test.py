"""Runs 26_kv_cache, ends one of its two processes by SIGKILL at a step, and starts this process again. At the end decode
must have all requests, and no word may be wrong.

    kv_cache_test.py PROGRAM transfers [REQUESTS]     push and pull with delayed copies; a reader that does not wait
    kv_cache_test.py PROGRAM kill-prefill [EVERY]     ends prefill at every EVERY-th step (default: 23)
    kv_cache_test.py PROGRAM kill-decode [EVERY]

PROGRAM may be several words, separated by `|`: python|kv_cache.py. A Python program is not run with delays or without
waits.

To run 10^6 transfers of pages by hand: kv_cache_test.py PROGRAM transfers 3700. To end a process at every step:
kv_cache_test.py PROGRAM kill-prefill 1.
"""
import os
import signal
import subprocess
import sys
import tempfile

REQUESTS = 4  # of a run in which a process is killed


def start(program, *arguments, dies_at=0):
    return subprocess.Popen([*program, *map(str, arguments)], stdout=subprocess.PIPE, text=True,
                            env={**os.environ, "EXAMPLE_DIES_AT": str(dies_at)})


def run(program, mode, requests, victim=None, step=0, pause_us=0, options=()):
    """Returns decode's exit status and output, and whether the victim was killed."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = {"prefill": ("prefill", folder, pause_us), "decode": ("decode", folder, mode, requests, *options)}
        running = {role: start(program, *arguments[role], dies_at=step if role == victim else 0) for role in arguments}
        try:
            killed = False
            if victim is not None:
                running[victim].wait(60)
                killed = running[victim].returncode == -signal.SIGKILL
                if killed:
                    running[victim] = start(program, *arguments[victim])
            said = running["decode"].communicate(timeout=900)[0]
            running["prefill"].wait(60)
            if running["prefill"].returncode != 0:
                sys.exit(f"{mode}, step {step} of {victim}: prefill ended with {running['prefill'].returncode}")
            return running["decode"].returncode, said, killed
        finally:
            for process in running.values():
                process.kill()


def main():
    program, what = sys.argv[1].split("|"), sys.argv[2]
    number = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    for mode in ("push", "pull"):
        if what == "transfers":
            status, said, _ = run(program, mode, number or 100, pause_us=200)
            if status != 0 or "1 prefill processes, 0 words wrong" not in said:
                sys.exit(f"{mode}: {status}: {said}")
            if len(program) > 1:
                continue
            status, said, _ = run(program, mode, 20, pause_us=2000, options=["early"])
            if status != 1 or " 0 words wrong" in said:
                sys.exit(f"{mode}: a reader that does not wait has found no wrong word: {said}")
            continue
        victim = what.removeprefix("kill-")
        step, kills, killed = 1, 0, True
        while killed:
            status, said, killed = run(program, mode, REQUESTS, victim, step, pause_us=50)
            kills += killed
            if status != 0 or f"decode: {REQUESTS} requests" not in said or " 0 words wrong" not in said:
                sys.exit(f"{mode}, {victim} killed at step {step}: {status}: {said}")
            step += number or 23
        print(f"{mode}: {victim} was killed at {kills} steps")
        if kills < 3:
            sys.exit("too few steps")


main()
