#!/usr/bin/env python3
"""Runs a command and says whether it ended with the status that is expected.

Usage: run_status.py STATUS COMMAND...
"""

import subprocess
import sys

ended = subprocess.run(sys.argv[2:], timeout=60, check=False).returncode
if ended != int(sys.argv[1]):
    print(f"it ended with {ended}, not with {sys.argv[1]}")
sys.exit(ended != int(sys.argv[1]))
