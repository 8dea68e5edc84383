# shellcheck shell=bash
# Sourced by scripts that install packages on a Debian that has nothing else, made by debootstrap.
#
#   make_debian SUITE PACKAGES     sets `root`, a new system with these packages (separated by commas), which is removed
#                                  at the end of the script. `made` is the time in seconds until then. If root, debootstrap
#                                  or the network is missing, the script ends with the status 77: skipped
#   inside COMMAND...              runs a command there, with a small environment
#
#   MIRROR   Debian's packages (default: http://deb.debian.org/debian)

skip() { echo "skipped: $*"; exit 77; }

mounted=()
remove_debian() {
  local each
  for each in "${mounted[@]}"; do umount "$each" || return 1; done
  rm -rf --one-file-system "$root"
}

make_debian() {
  [ "$(id -u)" = 0 ] || skip "debootstrap needs root"
  command -v debootstrap >/dev/null || skip "no debootstrap: apt-get install debootstrap"
  root=$(mktemp -d)
  trap remove_debian EXIT
  debootstrap --variant=minbase ${2:+--include="$2"} "$1" "$root" "${MIRROR:-http://deb.debian.org/debian}" >"$root.log" 2>&1 ||
    { tail -n 3 "$root.log"; rm -f "$root.log"; skip "debootstrap has failed"; }
  rm -f "$root.log"
  mount -t proc proc "$root/proc" && mounted+=("$root/proc")
  mkdir -p "$root/dev/shm" && mount -t tmpfs tmpfs "$root/dev/shm" && mounted+=("$root/dev/shm")
  made=$SECONDS
}

inside() { chroot "$root" /usr/bin/env -i PATH=/env/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 PGAS_HEAP=host "$@"; }
