"""Runs the two sides of `ready` as processes that are neither parent nor child of one another.

    ready_test.py PROGRAM MODE [ROUNDS]

open, host, stream    every block arrives whole, by open() of the same ticket, or by a wait of the host or a stream
isolated              as open, but the taking side is in separate namespaces; both sides share a socket directory
none                  without a wait each block is torn, so the other modes would find torn blocks
kill-open, kill-stream    the filling side is killed while the other side waits; the error names the filling side

`isolated` ends with status 77 (skipped) if the system does not allow namespaces.
"""
import os
import re
import subprocess
import sys
import tempfile
import time


def main():
    program, mode = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 100 if mode == "none" else 300
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "tickets")

        def start(*arguments, before=()):
            return subprocess.Popen([*before, program, *map(str, arguments)], stdout=subprocess.PIPE, text=True)

        apart = ["unshare", "--mount", "--ipc", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"] if mode == "isolated" else []
        if apart:
            if subprocess.run([*apart, "true"], stderr=subprocess.DEVNULL).returncode != 0:
                print("skipped: no namespaces here")
                sys.exit(77)
            os.environ["PGAS_SOCKET_DIR"] = folder
        killing = mode.startswith("kill-")
        # Kernels of two programs alternate on a GPU every few milliseconds, so a torn block must exist for longer than
        # a few milliseconds.
        filler = start("fill", file, rounds, 10**6 if killing else 25 if mode == "none" else 2)
        taker = None
        try:
            while not os.path.exists(file):
                if filler.poll() is not None:
                    sys.exit(f"the filling side ended: {filler.communicate()[0]}")
                time.sleep(0.01)
            taker = start("take", file, rounds, "open" if apart else mode.removeprefix("kill-"), before=apart)
            if killing:
                if taker.stdout.readline() != "waiting\n":
                    sys.exit("the taking side does not wait")
                time.sleep(1)
                if taker.poll() is not None:
                    sys.exit(f"the taking side has not waited: {taker.communicate()[0]}")
                begin = time.monotonic()
                filler.kill()
                said = taker.communicate(timeout=60)[0]
                seconds = time.monotonic() - begin
                print(f"{said}the other side ended after {seconds:.2f} s")
                if taker.returncode != 1 or seconds > 3 or f"process {filler.pid} " not in said:
                    sys.exit("expected an error that names the process")
                return
            said = taker.communicate(timeout=100)[0]
            print(filler.communicate(timeout=20)[0] + said)
            if filler.returncode != 0 or taker.returncode != 0:
                sys.exit("a side has failed")
            torn = int(re.search(r", (\d+) torn", said).group(1))
            if (torn > 0) != (mode == "none"):
                sys.exit(f"{torn} torn blocks")
        finally:
            for process in (filler, taker):
                if process is not None:
                    process.kill()


main()
