#!/usr/bin/env bash
# Makes the Debian packages libpgas0.1, libpgas-dev and pgas-tools.
#
#   packaging/deb.sh DIR [--in SUITE] [CMAKE OPTIONS]     -DPGAS_CUDA=OFF: without the GPU backend
#
# The packages depend on the libraries of the release of Debian that this runs on, and later releases have these, too.
# With --in, the script builds for another release, such as trixie, in a new system made by debootstrap, which needs root
# and the network. Without nvcc, as there, the GPU backend needs the option -DPGAS_KERNEL_TOOLKIT=DIR, with a folder below
# this one. The build tree is build/deb, or build/deb-SUITE. A repeated call compiles only what has changed.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,/^set/{/^#/p}' "$0" | cut -c3-; exit 2; }
needs=(cmake dpkg-dev file g++ libcli11-dev libfmt-dev libpmix-dev libsodium-dev libucx-dev ninja-build nlohmann-json3-dev
       pkg-config python3 zlib1g-dev)
mkdir -p "$1"
to=$(readlink -f "$1")
shift
cd "$(dirname "$0")/.."
tree=build/deb${PGAS_DEB_SUITE:+-$PGAS_DEB_SUITE}

if [ "${1:-}" = --in ]; then
  suite=$2
  shift 2
  . tests/support/debian_root.sh
  make_debian "$suite" ca-certificates
  inside apt-get -qq -o Dpkg::Use-Pty=0 install -y --no-install-recommends "${needs[@]}" >"$root/apt.log" 2>&1 || { tail -n 20 "$root/apt.log"; exit 1; }
  mkdir "$root/pgas"
  mount --bind "$PWD" "$root/pgas" && mounted+=("$root/pgas")
  inside env "PGAS_DEB_SUITE=$suite" "CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}" \
    /pgas/packaging/deb.sh /debs "$@"
  cp "$root"/debs/*.deb "$to/"
  exit 0
fi

for tool in cmake ninja dpkg-shlibdeps; do
  command -v "$tool" >/dev/null || { echo "deb.sh: needs $tool: apt-get install ${needs[*]}"; exit 1; }
done
options=(-DCMAKE_BUILD_TYPE=RelWithDebInfo "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O2 -DNDEBUG" "-DCMAKE_CUDA_FLAGS_RELWITHDEBINFO=-O2 -DNDEBUG")
options+=(-DCMAKE_INSTALL_PREFIX=/usr -DPGAS_BUILD_TESTS=OFF -DPGAS_BUILD_EXAMPLES=OFF -DPGAS_BUILD_COMPAT=OFF)
options+=(-DPGAS_TEST_TIER=fast -DPGAS_UNITY_BUILD=ON -DPGAS_FMT_HEADER_ONLY=ON)
if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER:-ccache}; fi
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=true
mkdir -p "$tree"
cmake -G Ninja -S . -B "$tree" "${options[@]}" "$@" >"$tree/configure.log" || { cat "$tree/configure.log"; exit 1; }
cmake --build "$tree" --target installable
(cd "$tree" && rm -f ./*.deb && umask 022 && cpack -G DEB)
cp "$tree"/*.deb "$to/"
ls -l "$to"/*.deb
