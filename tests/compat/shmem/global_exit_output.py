#!/usr/bin/env python3
"""Checks that shmem_global_exit keeps the output that the program has written, on all PEs, and that a message names a
stream that cannot be flushed.

Usage: global_exit_output.py PGASRUN OUTPUT_PROGRAM LOCKS_PROGRAM HANDLER_PROGRAM
"""

import pathlib
import subprocess
import sys
import tempfile

pgasrun, output, locks, handler = sys.argv[1:]


def run(status, *command):
    done = subprocess.run([pgasrun, "-n", "2", "--timeout", "30", *command, str(status)], timeout=90, check=False,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == status, (done.returncode, done.stderr)
    return done


for status in (0, 7):
    with tempfile.TemporaryDirectory() as folder:
        done = run(status, output, folder)
        lines = sorted(done.stdout.split("\n")[:-1])
        assert lines == ["cout 0", "cout 1", "printf 0", "printf 1"], done.stdout
        for pe in (0, 1):
            for name in ("file", "stream", "handler", "destructor"):
                path = pathlib.Path(folder, f"{pe}.{name}")
                assert path.exists() and path.read_text() == "written", f"{path.name} is not there, or not whole"
        assert "warn" not in done.stderr, done.stderr

# PE 1 already runs its exit handlers.
for status in (0, 7):
    with tempfile.TemporaryDirectory() as folder:
        done = run(status, handler, folder)
        left = {path.name: path.read_text() for path in pathlib.Path(folder).iterdir()}
        expected = {"1.begun": "", "1.destructor": "after the handler", "1.status": str(status)}
        assert left == expected, (left, done.stderr)

held = run(7, locks, "full").stderr
assert "bytes written to the stream of descriptor" in held and "a thread holds its lock" in held, held
