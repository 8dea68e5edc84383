"""Runs the two sides of 12_adopt, which are neither parent nor child of one another, and compares what they print with
the file EXPECTED: first the output of the side that has the memory, then the output of the side that uses it.

    adopt_test.py PROGRAM EXPECTED
"""
import os
import subprocess
import sys
import tempfile
import time


def main():
    program, expected = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "tickets")
        owner = subprocess.Popen([program, "own", file], stdout=subprocess.PIPE, text=True)
        try:
            end = time.monotonic() + 60
            while not os.path.exists(file) and owner.poll() is None and time.monotonic() < end:
                time.sleep(0.01)
            user = subprocess.run([program, "use", file], stdout=subprocess.PIPE, text=True, timeout=60)
            said = owner.communicate(timeout=60)[0] + user.stdout
        finally:
            owner.kill()
    print(said)
    if owner.returncode != 0 or user.returncode != 0:
        sys.exit("a side has failed")
    with open(expected, encoding="utf-8") as wanted:
        if said != wanted.read():
            sys.exit(f"this is not what {expected} says")


main()
