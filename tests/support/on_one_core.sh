#!/bin/sh
# Runs a command on one core that no other such command has: tests whose threads wait for one another in loops.
#
#   on_one_core.sh COMMAND [ARGUMENTS...]
#
# With a core of its own, a test of many threads takes as long as with two, and the other core is left to another test. The lock of a core
# ends with the last process of the command. Where cores can't be chosen the command runs as it is.
command -v taskset >/dev/null && command -v flock >/dev/null || exec "$@"
allowed=$(taskset -cp $$ 2>/dev/null | sed -n 's/.*: //p' | tr , ' ')
for range in $allowed; do
  core=${range%-*}
  while [ "$core" -le "${range#*-}" ]; do
    file=/sys/devices/system/cpu/cpu$core/uevent  # one that is there already
    [ -r "$file" ] || exec "$@"
    exec 9<"$file"
    if flock -n 9; then exec taskset -c "$core" "$@"; fi
    core=$((core + 1))
  done
done
exec 9<&-  # all cores are taken
exec "$@"
