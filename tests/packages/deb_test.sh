#!/usr/bin/env bash
# Installs the Debian packages on a Debian that has nothing else, made by debootstrap, and runs the halo exchange of 4
# PEs there on the host heap.
#
#   tests/packages/deb_test.sh DIR SUITE [--compile-inside]     needs root, debootstrap and the network; takes 1-2 minutes
#
# DIR contains the packages that packaging/deb.sh has made, SUITE is bookworm or trixie. The halo exchange is compiled on
# this system, with the headers and the library of the package libpgas-dev; with --compile-inside, on the new system, with
# Debian's compiler, CMake and find_package(pgas). Packages for a later release need --compile-inside. If root,
# debootstrap or the network is missing, the exit status is 77.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,/^set/{/^#/p}' "$0" | cut -c3-; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../support/debian_root.sh"
debs=$(readlink -f "$1") suite=$2 compile=${3:-}
source=$(readlink -f "$here/../..")
packages=("$debs"/libpgas0*.deb "$debs"/libpgas-dev_*.deb "$debs"/pgas-tools_*.deb)
for package in "${packages[@]}"; do [ -f "$package" ] || { echo "no package $package: packaging/deb.sh $1"; exit 1; }; done

make_debian "$suite" ca-certificates
mkdir "$root/debs" "$root/halo"
cp "${packages[@]}" "$root/debs/"
cp "$source/examples/06_halo_exchange.cpp" "$root/halo/"
cp -r "$source/examples/common" "$root/halo/common"

# Only the library first: programs run with it alone.
inside sh -c 'apt-get -qq -o Dpkg::Use-Pty=0 install -y --no-install-recommends /debs/libpgas0*.deb' >"$root/apt.log" 2>&1 ||
  { tail -n 20 "$root/apt.log"; exit 1; }
inside sh -c 'ldconfig -p | grep -q libpgas.so.0' || { echo "ldconfig does not know libpgas"; exit 1; }
if inside sh -c 'ls /usr/include/pgas /usr/bin/pgasrun 2>/dev/null'; then echo "the library's package contains more than the library"; exit 1; fi
inside sh -c 'apt-get -qq -o Dpkg::Use-Pty=0 install -y --no-install-recommends /debs/*.deb' >"$root/apt.log" 2>&1 ||
  { tail -n 20 "$root/apt.log"; exit 1; }
inside pgas-info --version
inside pgas-doctor --quick

if [ "$compile" = --compile-inside ]; then
  inside sh -c 'apt-get -qq install -y --no-install-recommends g++ cmake make' >"$root/apt.log" 2>&1 || { tail -n 20 "$root/apt.log"; exit 1; }
  cat >"$root/halo/CMakeLists.txt" <<'PROJECT'
cmake_minimum_required(VERSION 3.25)
project(halo CXX)
find_package(pgas 0.1 REQUIRED)
add_executable(halo 06_halo_exchange.cpp)
target_link_libraries(halo PRIVATE pgas::pgas)
PROJECT
  inside sh -c 'cmake -S /halo -B /halo/build && cmake --build /halo/build && cp /halo/build/halo /halo/halo'
else
  unpacked=$(mktemp -d "$root/unpacked.XXXX")
  for package in "${packages[@]}"; do dpkg-deb -x "$package" "$unpacked"; done
  library=$(dirname "$(find "$unpacked" -name libpgas.so)")
  g++ -std=c++20 -O1 -I"$unpacked/usr/include" -I"$source/examples" "$source/examples/06_halo_exchange.cpp" -L"$library" -lpgas -o "$root/halo/halo"
fi
inside timeout 60 pgasrun -n 4 /halo/halo -nx 515 -ny 130 -niter 60 -nccheck 20 | tee "$root/output"
grep -q "equal the serial result bit for bit" "$root/output"
echo "passed on $suite, $SECONDS s, $made s of them for debootstrap: $(inside sh -c 'dpkg-query -W libpgas* pgas-tools' | tr '\t\n' '  ')"
