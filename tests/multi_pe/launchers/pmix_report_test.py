#!/usr/bin/env python3
"""The report of a PMIx server that a process was aborted ends the world on all PEs, and names that process.

Usage: pmix_report_test.py PROGRAM MPIRUN...
"""

import os
import signal
import subprocess
import sys
import tempfile
import time

SIZE = 4
LOST = 2


def main() -> int:
    program, *mpirun = sys.argv[1:]
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "lines")
        # With --enable-recovery mpirun does not end the job. The server counts PE 2 as ended, so mpirun may wait for PE
        # 2 forever. The test ends mpirun when all PEs have written their lines.
        with subprocess.Popen([*mpirun, "--enable-recovery", "-n", str(SIZE), program, str(LOST), path], stdin=subprocess.DEVNULL,
                              start_new_session=True, env=os.environ | {"PGAS_HEAP": "host"}) as job:
            deadline = time.monotonic() + 60
            lines = []
            while len(lines) < SIZE and time.monotonic() < deadline:
                time.sleep(0.05)
                if os.path.exists(path):
                    with open(path, encoding="utf-8") as text:
                        lines = text.read().splitlines()
            os.killpg(job.pid, signal.SIGKILL)
    print("\n".join(lines))
    named = {line.split()[1] for line in lines if f"names PE {LOST}: " in line and "as the launcher reports" in line}
    if len(named) != SIZE:
        print(f"{len(named)} of {SIZE} PEs named PE {LOST}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
