#!/usr/bin/env bash
# Unpacks Debian packages for 64-bit Arm into a folder, which PGAS_SYSROOT of aarch64-linux-gnu.cmake can name.
#
#   cmake/aarch64_sysroot.sh DIR PACKAGES...
#
# The packages come from the package sources of this machine, without their dependencies; nothing is installed. A folder
# that has these packages is kept. Exit status 77: apt-get or the packages are missing here, which the output names.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,/^set/{/^#/p}' "$0" | cut -c3-; exit 2; }
mkdir -p "$(dirname "$1")"
sysroot=$(readlink -f "$1")
shift
[ "$(cat "$sysroot/packages" 2>/dev/null)" != "$*" ] || exit 0

skip() {
  echo "skipped: $*"
  exit 77
}

# apt with lists and archives in the build tree, as if this machine were an Arm machine without packages.
arm_apt() {
  apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o "Dir::State=$sysroot.apt" -o "Dir::Cache=$sysroot.apt" \
    -o "Dir::State::status=$sysroot.apt/status" -o "APT::Sandbox::User=$(id -un)" -o Acquire::Languages=none \
    -o Acquire::http::Timeout=20 -o Acquire::Retries=2 "$@"
}

log=$sysroot.apt/log
rm -rf "$sysroot" "$sysroot.apt"
mkdir -p "$sysroot.apt/lists/partial" "$sysroot.apt/archives/partial" "$sysroot.apt/packages"
: >"$sysroot.apt/status"
command -v apt-get >/dev/null || skip "no apt-get, by which this script gets $* for Arm"
arm_apt update >"$log" 2>&1 || true  # a source without packages for Arm is an error, and the others are enough
if ! (cd "$sysroot.apt/packages" && arm_apt download "$@" >>"$log" 2>&1); then
  tail -n 3 "$log"
  skip "$* for arm64 could not be downloaded: no network, or no package source for arm64 (on Ubuntu: add ports.ubuntu.com)"
fi
for file in "$sysroot.apt"/packages/*.deb; do dpkg-deb -x "$file" "$sysroot"; done
rm -rf "$sysroot.apt"
echo "$*" >"$sysroot/packages"
