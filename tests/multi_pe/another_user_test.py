"""A job at MASTER_ADDR without PGAS_SECRET, on one host, and a process of another user of this host with the same
environment. The key of such a job is public, so the other process can compute it. Rank 0 must refuse the process
because of its user, and the members must join and get correct results.

    another_user_test.py PROGRAM    PROGRAM is `visited`. Only root can become two other users; for other users the
    test is skipped.
"""
import os
import pathlib
import re
import socket
import struct
import subprocess
import sys
import tempfile
import time

from stranger_test import listeners

PES = 3
OWNER = 65533
STRANGER = 65534
LIMIT = 60
SKIPPED = 77
HANDSHAKE = pathlib.Path(__file__).resolve().parents[2] / "src/common/net/handshake.hpp"
VERSION = int(re.search(r"expected_version = (\d+);", HANDSHAKE.read_text(encoding="utf-8"))[1])
# The first bytes that rank 1 of the job sends. If these bytes come from a process of rank 0's own user, rank 0 answers
# before it has received a proof.
HELLO = b"PGGH" + struct.pack("<Iiiii", VERSION, 1, 0, PES, 0) + bytes(16)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as one:
        return one.getsockname()[1]


def start(program, rank, port, user, over, **more):
    environment = {"PATH": os.environ["PATH"], "PGAS_HEAP": "host", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port),
                   "RANK": str(rank), "WORLD_SIZE": str(PES), **more}
    environment |= {name: value for name, value in os.environ.items() if name in ("PGAS_P2P", "LD_LIBRARY_PATH") or name.endswith("SAN_OPTIONS")}
    return subprocess.Popen([program, over], env=environment, user=user, group=user, extra_groups=[], cwd="/", text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def names_of(pid):
    """Returns the abstract names of a process' UNIX sockets."""
    inodes = set()
    for number in os.listdir(f"/proc/{pid}/fd"):
        try:
            inodes.add(os.readlink(f"/proc/{pid}/fd/{number}").removeprefix("socket:[").removesuffix("]"))
        except FileNotFoundError:
            pass
    with open("/proc/net/unix", encoding="utf-8", errors="replace") as table:
        rows = [line.split() for line in list(table)[1:]]
    return sorted({row[7] for row in rows if len(row) > 7 and row[6] in inodes and row[7].startswith("@")})


VISITOR = r'''
import os, socket, sys
os.setgroups([]); os.setgid(int(sys.argv[1])); os.setuid(int(sys.argv[1]))
heard = 0
for name in sys.argv[3:]:
    for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
        with socket.socket(socket.AF_UNIX, kind) as one:
            one.settimeout(1)
            try:
                one.connect("\0" + name[1:])
                one.send(bytes.fromhex(sys.argv[2]))
                heard += len(one.recv(4096))
            except OSError:
                pass
print("heard", heard)
'''


def visit(names, user=STRANGER):
    """Returns the number of bytes that sockets send to a user."""
    # The process itself changes to the other user, because the other user might not be allowed to run this
    # interpreter.
    done = subprocess.run([sys.executable, "-c", VISITOR, str(user), HELLO.hex(), *names], text=True, capture_output=True, timeout=LIMIT, check=True)
    return int(done.stdout.split()[1])


def main():
    program = os.path.abspath(sys.argv[1])
    if os.geteuid() != 0:
        print("skipped: only root can start processes of two other users")
        return SKIPPED
    problems = []

    def must(holds, what):
        if not holds:
            problems.append(what)

    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        over = os.path.join(folder, "over")
        port = free_port()
        jobs = [start(program, 0, port, OWNER, over)]
        end = time.monotonic() + LIMIT
        root = f"@pgas-rank0-{OWNER}-{port}"
        while jobs[0].poll() is None and root not in names_of(jobs[0].pid) and time.monotonic() < end:
            time.sleep(0.02)
        if jobs[0].poll() is not None and "error while loading shared libraries" in jobs[0].stderr.read():
            print("skipped: another user can't read the library")
            return SKIPPED
        must(root in names_of(jobs[0].pid), "rank 0 does not listen")
        must(listeners(jobs[0].pid) == [], f"rank 0 takes TCP connections: {listeners(jobs[0].pid)}")

        # The stranger connects as a rank of the job, and as a process that knows where rank 0 listens.
        stranger = start(program, 1, port, STRANGER, over, PGAS_JOIN_TIMEOUT="2s")
        said = stranger.communicate(timeout=LIMIT)
        must(stranger.returncode != 0 and "ready" not in said[0], f"the stranger joined: {said}")
        must(visit([root]) == 0, "rank 0 has answered the stranger")
        must(visit([root], OWNER) == 40, "rank 0 does not answer its own user: the words of this test are wrong")
        must(jobs[0].poll() is None, "rank 0 has ended")

        jobs += [start(program, rank, port, OWNER, over) for rank in range(1, PES)]
        ready = [job.stdout.readline() for job in jobs]
        must(all(line.startswith("ready") for line in ready), f"not all PEs got ready: {ready}")
        # The job runs. No socket of any PE answers the stranger, and no PE is affected.
        names = sorted({name for job in jobs for name in names_of(job.pid)}) if not problems else []
        print(f"visits {names}")
        must(visit(names) == 0, "a PE has answered the stranger")
        time.sleep(0.3)
        with open(over, "w", encoding="utf-8"):
            pass
        for job in jobs:
            try:
                rest = job.communicate(timeout=LIMIT)
            except subprocess.TimeoutExpired:
                job.kill()
                rest = job.communicate()
                problems.append("a PE did not end")
            print(*rest)
            must(job.returncode == 0 and "right" in rest[0], f"a PE did not get everything right: {job.returncode}")
    print("\n".join(problems) or "the stranger stayed outside, and the job went on")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
