"""Two hosts with two PEs each. All other PEs wait for PE 1. PE 1 is killed, or its host is cut off. Every PE that can
still report must name a PE of the other host within the limit, and must keep no resources of the world after leaving
it. When all processes have ended, nothing may be left on either host.

    lost_test.py kill|cut PROGRAM MODE
"""
import os
import shlex
import signal
import subprocess
import sys
import threading
import time

import hosts

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "multi_pe"))
from leftovers import alive, leftovers

PES = 4
VICTIM = 1  # the number in survivor.cpp
PEER_TIMEOUT = 4.0  # seconds until a silent host counts as lost


def start(pair, pe, words):
    """Starts one PE; PEs with odd numbers are on the second host. Does not use mpirun, which ends all processes when
    one has died."""
    environment = {"PGAS_HEAP": "host", "PGAS_HEARTBEAT_TIMEOUT": f"{PEER_TIMEOUT:.0f}s", "PGAS_SECRET": "of this test", "PGAS_PRIVATE_NETWORK": "1",
                   "MASTER_ADDR": hosts.ADDRESSES[0], "MASTER_PORT": "29577", "WORLD_SIZE": str(PES), "RANK": str(pe)}
    told = [f"{name}={value}" for name, value in environment.items()]
    return subprocess.Popen(pair.on(pe % 2, "exec " + shlex.join(["env", *told, *words])), stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)


def left_on(pair):
    return set().union(*(leftovers(space=space) for space in pair.spaces))


def follow(process, pids, reports, keeps, all_ready):
    for line in process.stdout:
        print(line, end="", flush=True)
        words = line.split()
        if words and words[0] == "ready":
            pids[int(words[1])] = int(words[2])
            if len(pids) == PES:
                all_ready.set()
        elif words and words[0] == "failed":
            reports[int(words[1])] = (time.monotonic(), int(words[2]), line)
        elif words and words[0] == "keeps":
            keeps[int(words[1])] = " ".join(words[2:])


def main():
    how, program, mode = sys.argv[1:4]
    # The PEs that must report the loss: all other PEs if a PE was killed, and the PEs on this side if a host was cut
    # off.
    witnesses = [0, 2, 3] if how == "kill" else [0, 2]
    limit = 2.0 if how == "kill" else 2 * PEER_TIMEOUT
    try:
        with hosts.two_hosts() as pair:
            before = left_on(pair)
            processes = [start(pair, pe, [program, mode, "counted"]) for pe in range(PES)]
            pids, reports, keeps, all_ready = {}, {}, {}, threading.Event()
            for process in processes:
                threading.Thread(target=follow, args=(process, pids, reports, keeps, all_ready), daemon=True).start()
            if not all_ready.wait(60):
                print("the PEs did not get ready")
                return 1
            time.sleep(0.5)  # the PEs need this time to begin their waits
            lost = time.monotonic()
            if how == "kill":
                os.kill(pids[VICTIM], signal.SIGKILL)
            else:
                pair.cut()
            deadline = lost + 10 * limit
            while time.monotonic() < deadline and not all(pe in keeps for pe in witnesses):
                time.sleep(0.02)
            for process in processes:
                process.kill()
                process.wait()
            problems = [f"process {pid} of PE {pe} is left" for pe, pid in pids.items() if alive(pid)]
            if left := left_on(pair) - before:
                problems.append(f"left behind: {sorted(left)}")
            for pe in witnesses:
                if pe not in reports:
                    problems.append(f"PE {pe} did not report")
                    continue
                when, named, line = reports[pe]
                print(f"PE {pe} named PE {named} after {(when - lost) * 1000:.0f} ms")
                expected = [VICTIM] if how == "kill" else [1, 3]
                if named not in expected or "PGAS-E0401" not in line or "node2" not in line:
                    problems.append(f"PE {pe} names the wrong one: {line.strip()}")
                if when - lost > limit:
                    problems.append(f"PE {pe} took {when - lost:.2f} s")
                if keeps.get(pe) != "nothing":
                    problems.append(f"PE {pe} keeps {keeps.get(pe)}")
    except hosts.CannotMakeHosts as why:
        print(f"skipped: {why}")
        return 77
    if left := [space for space in pair.spaces if os.path.exists("/run/netns/" + space)]:
        problems.append(f"network namespaces are left: {left}")
    print("\n".join(problems) or "all named the lost PE, nothing is left")
    return 1 if problems else 0


sys.exit(main())
