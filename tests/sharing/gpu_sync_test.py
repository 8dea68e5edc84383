"""Runs the two sides of `gpu_sync` as processes that are neither parent nor child of one another.

    gpu_sync_test.py PROGRAM MODE
"""
import os
import signal
import subprocess
import sys
import tempfile
import time


def output_of(side):
    """Returns what the process has printed when it ends. A process that hangs is ended."""
    try:
        return side.communicate(timeout=60)[0]
    except subprocess.TimeoutExpired:
        side.kill()
        sys.exit(f"a side hangs: {side.communicate()[0]}")


def main():
    program, mode = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "tickets")
        maker = subprocess.Popen([program, "make", file, mode], stdout=subprocess.PIPE, text=True)
        while not os.path.exists(file):
            if maker.poll() is not None:
                sys.exit(f"the maker ended: {maker.communicate()[0]}")
            time.sleep(0.01)
        command = [program, "open", file, mode]
        if mode == "shm":
            # The side gets a separate /dev/shm, as in a container.
            command = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /dev/shm && exec "$@"', "sh", *command]
        other = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            if mode in ("lost", "event-lost", "event-taker"):
                dying, waiting = (other, maker) if mode == "event-taker" else (maker, other)
                if waiting.stdout.readline() != "waiting\n":
                    sys.exit(f"the other one does not wait: {waiting.communicate()[0]}")
                time.sleep(0.5)
                if waiting.poll() is not None:
                    sys.exit(f"the other one has not waited: {waiting.communicate()[0]}")
                begin = time.monotonic()
                dying.send_signal(signal.SIGKILL)
                said = output_of(waiting)
                seconds = time.monotonic() - begin
                print(f"{said}ended after {seconds:.2f} s")
                if waiting.returncode != 0 or f"process {dying.pid} " not in said or seconds > 3:
                    sys.exit("expected errors that name the killed one, within a second and what a process takes to end")
                return
            said = output_of(other)
            if other.returncode < 0:
                print(f"{said}the other one was ended by signal {-other.returncode}")
            if mode == "shm":
                print(said)
                if "PGAS-E0105" not in said or "different /dev/shm" not in said:
                    sys.exit("expected an error that names /dev/shm")
                return
            print(output_of(maker) + said)
            if maker.returncode != 0 or other.returncode != 0:
                sys.exit("a side has failed")
        finally:
            maker.kill()
            other.kill()


main()
