#!/usr/bin/env python3
"""Runs a command and says whether it ended with the status that is expected; with status 0, nobody may complain.

Usage: run_status.py STATUS COMMAND...
"""

import subprocess
import sys

wanted = int(sys.argv[1])
done = subprocess.run(sys.argv[2:], timeout=60, check=False, stderr=subprocess.PIPE, text=True)
good = done.returncode == wanted and (wanted != 0 or done.stderr == "")
if not good:
    print(f"it ended with {done.returncode}, not with {wanted}, or said what it should not:\n{done.stderr}")
sys.exit(not good)
