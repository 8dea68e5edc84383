"""Kills one PE with SIGKILL while the others wait for it. Each survivor must name the PE within two seconds, leave the
world immediately, and end. Nothing may be left on the machine. On the host heap, survivors must keep no resources of
the world after leaving it.

    kill_test.py LAUNCHER PROGRAM MODE [SOCKET_DIRECTORY]
"""
import os
import signal
import subprocess
import sys
import threading
import time

from leftovers import alive, leftovers

PES = 4
LIMIT = 2.0  # seconds from the death to each survivor's report
# The longest time in milliseconds that a PE needs to leave the failed world. The release of GPU memory takes longer
# than the release of host memory.
LONGEST_LEAVE = 200 if os.environ.get("PGAS_HEAP") == "host" else 1000


def main():
    launcher, program, mode = sys.argv[1:4]
    environment = dict(os.environ)
    directory = sys.argv[4] if len(sys.argv) > 4 else None
    if directory:
        os.makedirs(directory, mode=0o700, exist_ok=True)
        environment["PGAS_SOCKET_DIR"] = directory
    before = leftovers(directory)
    counted = ["counted"] if environment.get("PGAS_HEAP") == "host" else []
    job = subprocess.Popen([launcher, "-n", str(PES), program, mode, *counted], stdout=subprocess.PIPE, text=True, env=environment)
    watchdog = threading.Timer(90, job.kill)
    watchdog.start()
    pids, reports, leaves, keeps, killed = {}, {}, {}, {}, None
    for line in job.stdout:
        print(line, end="", flush=True)
        words = line.split()
        if words[0] == "ready":
            pids[int(words[1])] = int(words[2])
            if len(pids) == PES:
                time.sleep(0.5)  # the PEs need this time to begin their waits
                os.kill(pids[1], signal.SIGKILL)
                killed = time.monotonic()
        elif words[0] == "failed":
            seconds = time.monotonic() - killed if killed else float("inf")  # infinite if the PE did not even join
            reports[int(words[1])] = (seconds, int(words[2]), line)
        elif words[0] == "left":
            leaves[int(words[1])] = int(words[2])
        elif words[0] == "keeps":
            keeps[int(words[1])] = " ".join(words[2:])
    status = job.wait()
    watchdog.cancel()

    problems = []
    for pe in (pe for pe in range(PES) if pe != 1):
        if pe not in reports:
            problems.append(f"PE {pe} did not report")
            continue
        seconds, named, line = reports[pe]
        print(f"PE {pe} reported after {seconds * 1000:.0f} ms")
        if seconds > LIMIT or named != 1 or "PGAS-E0401" not in line:
            problems.append(f"PE {pe}: after {seconds:.2f} s, names PE {named}: {line.strip()}")
        if leaves.get(pe, LONGEST_LEAVE) >= LONGEST_LEAVE:
            problems.append(f"PE {pe} did not leave the failed world in {LONGEST_LEAVE} ms: {leaves.get(pe)}")
        if counted and keeps.get(pe) != "nothing":
            problems.append(f"PE {pe} keeps {keeps.get(pe)}")
    if status == 0:
        problems.append("the launcher hides the death of a PE")
    problems += [f"process {pid} of PE {pe} is left" for pe, pid in pids.items() if alive(pid)]
    if left := leftovers(directory) - before:
        problems.append(f"left behind: {sorted(left)}")
    print("\n".join(problems) or "all survivors named the dead PE, nothing is left")
    return 1 if problems else 0


sys.exit(main())
