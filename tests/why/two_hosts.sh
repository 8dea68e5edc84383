#!/bin/sh
# Runs one PE of a job on two hosts. The job hangs until its wait times out. Meanwhile the PE with rank 0 runs pgas-why
# on its host. Usage: two_hosts.sh HANG PGAS-WHY
PGAS_WAIT_TIMEOUT=8s "$1" missing_signal > /dev/null 2>&1 &
pe=$!
if [ "${PMIX_RANK:-${OMPI_COMM_WORLD_RANK:-0}}" = 0 ]; then
  tries=0
  while [ $tries -lt 60 ]; do
    said=$("$2" "$pe" 2>&1)
    case $said in *"waits for a word"*) break ;; esac
    tries=$((tries + 1))
    sleep 0.1
  done
  echo "$said"
fi
wait $pe
exit 0
