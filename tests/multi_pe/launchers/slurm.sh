#!/usr/bin/env bash
# Runs a command as four PEs under srun. A Slurm of this one host is started for the command and stopped afterwards.
#
#   slurm.sh COMMAND [ARGUMENTS...]
#
# All state is in a temporary folder; /etc is neither read nor written. The exit status is the status of srun, or 77 with the
# reason if Slurm cannot run on this machine.
set -euo pipefail

skip() {
  echo "skipped: $*" >&2
  exit 77
}
[ $# -ge 1 ] || { sed -n '2,/^set/{/^set/!p}' "$0" >&2; exit 2; }
[ "$(id -u)" = 0 ] || skip "starting Slurm's daemons needs root"
for tool in munged slurmctld slurmd srun sinfo; do
  PATH=$PATH:/usr/sbin command -v $tool >/dev/null || skip "$tool is not installed (slurm-wlm, munge)"
done
PATH=$PATH:/usr/sbin
id -u munge >/dev/null 2>&1 || skip "there is no user munge"

state=$(mktemp -d)
daemons=()
finish() {
  status=$?
  trap - EXIT
  # The node daemon ends first, so that it informs the controller. No daemon may continue to run.
  for ((i = ${#daemons[@]} - 1; i >= 0; i--)); do
    kill "${daemons[i]}" 2>/dev/null || true
    for _ in $(seq 50); do kill -0 "${daemons[i]}" 2>/dev/null || break; sleep 0.1; done
    kill -9 "${daemons[i]}" 2>/dev/null || true
    wait "${daemons[i]}" 2>/dev/null || true
  done
  if [ "$status" != 0 ]; then tail -n 5 "$state"/*.log >&2 || true; fi
  rm -rf "$state"
  exit "$status"
}
trap finish EXIT

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

mkdir -p "$state"/{munge,spool,save}
chmod 755 "$state" "$state/munge"
head -c 128 /dev/urandom >"$state/munge/key"
chmod 600 "$state/munge/key"
chown -R munge: "$state/munge"
setpriv --reuid=munge --regid=munge --clear-groups munged --foreground --force \
  --key-file="$state/munge/key" --socket="$state/munge/socket" --pid-file="$state/munge/pid" \
  --seed-file="$state/munge/seed" --log-file="$state/munge/munged.log" \
  >"$state/munged.log" 2>&1 &
daemons+=($!)

host=$(hostname -s)
cat >"$state/slurm.conf" <<EOF
ClusterName=pgas
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
AuthType=auth/munge
AuthInfo=socket=$state/munge/socket
CredType=cred/munge
MpiDefault=pmix
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmUser=root
StateSaveLocation=$state/save
SlurmdSpoolDir=$state/spool
SlurmctldPidFile=$state/slurmctld.pid
SlurmdPidFile=$state/slurmd.pid
SelectType=select/cons_tres
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
EOF
cat >"$state/cgroup.conf" <<EOF
CgroupPlugin=cgroup/v1
IgnoreSystemd=yes
CgroupAutomount=yes
EOF
export SLURM_CONF=$state/slurm.conf
srun --mpi=list 2>&1 | grep -qw pmix || skip "this Slurm was built without PMIx"

for _ in $(seq 50); do [ -S "$state/munge/socket" ] && break; sleep 0.1; done
slurmctld -D -f "$SLURM_CONF" >"$state/slurmctld.log" 2>&1 &
daemons+=($!)
slurmd -D -f "$SLURM_CONF" >"$state/slurmd.log" 2>&1 &
daemons+=($!)
for _ in $(seq 150); do
  sinfo --noheader --format=%T 2>/dev/null | grep -q '^idle' && break
  sleep 0.2
done
sinfo --noheader --format=%T | grep -q '^idle' || { echo "the node did not become idle within 30 s" >&2; exit 1; }

srun --mpi=pmix -n 4 --overcommit --oversubscribe "$@"
