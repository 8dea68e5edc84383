"""A stranger sends data to every TCP port of the PEs. With this data (the magic number of UCX, and meaningless
headers) UCX over TCP would end its process. The stranger is another user if the test may change its user. The PEs must
continue and get correct results.

    stranger_test.py LAUNCHER PROGRAM [none]    none: no PE may listen at a port
"""
import glob
import os
import socket
import struct
import subprocess
import sys
import tempfile
import time

PES = 3
NOBODY = 65534
MAGIC = struct.pack("<Q", 0xCAFEBABE12345678)
# The bytes after the header. A header is a kind (1 byte) and a length (4 bytes).
ATTACKS = [b"\xff" * 32, b"\xff" * (1 << 18), *(bytes([kind]) + struct.pack("<I", 16) + b"\xff" * 16 for kind in range(256))]
LISTENING = "0A"


def listeners(pid):
    """Returns (family, address, port) of each TCP socket at which a process accepts connections."""
    inodes = set()
    for name in glob.glob(f"/proc/{pid}/fd/*"):
        try:
            inodes.add(os.readlink(name).removeprefix("socket:[").removesuffix("]"))
        except FileNotFoundError:
            pass
    found = []
    for table, family in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6)):
        with open(f"/proc/{pid}/net/{table}", encoding="utf-8") as lines:
            for words in (line.split() for line in list(lines)[1:]):
                if words[3] != LISTENING or words[9] not in inodes:
                    continue
                address, port = words[1].split(":")
                raw = b"".join(bytes.fromhex(address[at:at + 8])[::-1] for at in range(0, len(address), 8))
                anywhere = "127.0.0.1" if family == socket.AF_INET else "::1"
                found.append((family, socket.inet_ntop(family, raw) if any(raw) else anywhere, int(port, 16)))
    return found


def attack(targets):
    """Runs in a separate process, as another user if that is allowed."""
    child = os.fork()
    if child != 0:
        return os.waitpid(child, 0)[1] == 0
    if os.geteuid() == 0:
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    for family, address, port in targets:
        for words in ATTACKS:
            with socket.socket(family, socket.SOCK_STREAM) as wire:
                wire.settimeout(0.05)
                try:
                    wire.connect((address, port))
                    wire.sendall(MAGIC + words)
                    wire.recv(1)
                except OSError:
                    pass  # the server is allowed to refuse the connection
    os._exit(0)


def main():
    launcher, program = sys.argv[1:3]
    problems = []
    with tempfile.TemporaryDirectory() as directory:
        over = os.path.join(directory, "over")
        job = subprocess.Popen([launcher, "-n", str(PES), program, over], stdout=subprocess.PIPE, text=True)
        said = []
        while len(said) < PES and (line := job.stdout.readline()):
            print(line, end="", flush=True)
            said.append(line.split())
        pids = [int(words[2]) for words in said if words[0] == "ready"]
        targets = [target for pid in pids for target in listeners(pid)]
        print(f"{len(pids)} PEs listen at {[f'{address}:{port}' for _, address, port in targets]}")
        if len(pids) < PES:
            problems.append("not all PEs got ready")
        if sys.argv[3:] == ["none"] and targets:
            problems.append("somebody listens")
        if not attack(targets):
            problems.append("the stranger failed")
        time.sleep(0.5)
        with open(over, "w", encoding="utf-8"):
            pass
        try:
            rest = job.communicate(timeout=30)[0]
        except subprocess.TimeoutExpired:
            job.kill()
            rest = job.communicate()[0]
            problems.append("the PEs did not end")
    print(rest)
    if sum(line.startswith("right") for line in rest.splitlines()) != PES or job.returncode != 0:
        problems.append("not all PEs got everything right")
    print("\n".join(problems) or "all PEs went on")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
