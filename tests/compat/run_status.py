#!/usr/bin/env python3
"""Runs a command and checks its exit status; with status 0, nothing may be written to standard error.

Usage: run_status.py STATUS[,STATUS...] COMMAND...
"""

import subprocess
import sys

wanted = [int(status) for status in sys.argv[1].split(",")]
done = subprocess.run(sys.argv[2:], timeout=60, check=False, stderr=subprocess.PIPE, text=True)
good = done.returncode in wanted and (done.returncode != 0 or done.stderr == "")
if not good:
    print(f"exit status {done.returncode}, expected {sys.argv[1]}; standard error:\n{done.stderr}")
sys.exit(not good)
