#!/bin/sh
# Starts the program PROGRAM.aarch64 beside this script, whose name is PROGRAM.
exec qemu-aarch64 -L /usr/aarch64-linux-gnu -0 "$0" "$0.aarch64" "$@"
