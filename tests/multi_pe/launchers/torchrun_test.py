#!/usr/bin/env python3
"""Starts four PEs with the variables that torchrun sets, while a server of another program uses MASTER_PORT.

Usage: torchrun_test.py PROBE
"""

import os
import socket
import subprocess
import sys
import threading


def agent_store(listener: socket.socket) -> None:
    """Simulates torchrun's own store: accepts connections, sends nothing, and closes connections on which it receives
    unknown messages."""
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=lambda c=connection: (c.recv(1), c.close()), daemon=True).start()


def main() -> int:
    size = 4
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=agent_store, args=(listener,), daemon=True).start()
    processes = []
    for rank in range(size):
        variables = {
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(listener.getsockname()[1]),
            "RANK": str(rank),
            "WORLD_SIZE": str(size),
            "LOCAL_RANK": str(rank),
            "LOCAL_WORLD_SIZE": str(size),
            "TORCHELASTIC_RUN_ID": "none",
            "TORCHELASTIC_USE_AGENT_STORE": "True",
        }
        processes.append(
            subprocess.Popen([sys.argv[1], str(size)], env=os.environ | variables, stdout=subprocess.PIPE, text=True)
        )
    try:
        outputs = [process.communicate(timeout=60)[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
    print(*outputs, sep="", end="")
    for rank, (process, output) in enumerate(zip(processes, outputs)):
        if process.returncode != 0 or f"ok {rank}/{size} via TCP at 127.0.0.1:" not in output:
            print(f"rank {rank} failed with status {process.returncode}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
