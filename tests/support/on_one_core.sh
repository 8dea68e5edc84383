#!/bin/sh
# Runs a command on one core that no other such command uses, for tests whose threads wait for one another in loops.
#
#   on_one_core.sh COMMAND [ARGUMENTS...]
#
# On a separate core, a test of many threads takes as long as on two cores, and leaves the other core to another test.
# The lock of a core ends with the last process of the command. If cores cannot be chosen, the command runs on any core.
command -v taskset >/dev/null && command -v flock >/dev/null || exec "$@"
allowed=$(taskset -cp $$ 2>/dev/null | sed -n 's/.*: //p' | tr , ' ')
for range in $allowed; do
  core=${range%-*}
  while [ "$core" -le "${range#*-}" ]; do
    file=/sys/devices/system/cpu/cpu$core/uevent  # a file that already exists
    [ -r "$file" ] || exec "$@"
    exec 9<"$file"
    if flock -n 9; then exec taskset -c "$core" "$@"; fi
    core=$((core + 1))
  done
done
exec 9<&-  # all cores are in use
exec "$@"
