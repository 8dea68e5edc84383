"""Runs the two sides of 11_ipc_event, which are neither parent nor child of one another. On the host heap, which has no
events, each side prints what to use instead.

    ipc_event_test.py PROGRAM
"""
import os
import subprocess
import sys
import tempfile
import time


def main():
    program = sys.argv[1]
    on_host = os.environ.get("PGAS_HEAP") == "host"
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "tickets")
        writer = subprocess.Popen([program, "write", file], stdout=subprocess.PIPE, text=True)
        while not os.path.exists(file) and writer.poll() is None:
            time.sleep(0.01)
        reader = subprocess.run([program, "read", file], stdout=subprocess.PIPE, text=True, timeout=60)
        said = writer.communicate(timeout=60)[0]
        print(said + reader.stdout)
        if writer.returncode != 0 or reader.returncode != 0:
            sys.exit("a side has failed")
        expected = ("pgas::timeline", "pgas::timeline") if on_host else ("written 100 times", "read 100 times, 0 values wrong")
        if expected[0] not in said or expected[1] not in reader.stdout:
            sys.exit(f"expected {expected}")


main()
