#!/usr/bin/env bash
# Makes the Debian packages libpgas0.1, libpgas-dev and pgas-tools for the release of Debian that this runs on.
#
#   packaging/deb.sh DIR [CMAKE OPTIONS]     -DPGAS_CUDA=OFF: without the GPU backend
#
# The packages depend on the libraries of this release, so build them on the oldest release that they are for, or on each
# one. The build tree is build/deb. A repeated call compiles only what has changed.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,/^set/{/^#/p}' "$0" | cut -c3-; exit 2; }
mkdir -p "$1"
to=$(readlink -f "$1")
shift
cd "$(dirname "$0")/.."
for tool in cmake ninja dpkg-shlibdeps; do
  command -v "$tool" >/dev/null || { echo "deb.sh: needs $tool (apt-get install dpkg-dev cmake ninja-build)"; exit 1; }
done

options=(-DCMAKE_BUILD_TYPE=RelWithDebInfo "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O2 -DNDEBUG" "-DCMAKE_CUDA_FLAGS_RELWITHDEBINFO=-O2 -DNDEBUG")
options+=(-DCMAKE_INSTALL_PREFIX=/usr -DPGAS_BUILD_TESTS=OFF -DPGAS_BUILD_EXAMPLES=OFF -DPGAS_BUILD_COMPAT=OFF)
options+=(-DPGAS_TEST_TIER=fast -DPGAS_UNITY_BUILD=ON -DPGAS_FMT_HEADER_ONLY=ON)
if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER:-ccache}; fi
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=true
mkdir -p build/deb
cmake -G Ninja -S . -B build/deb "${options[@]}" "$@" >build/deb/configure.log || { cat build/deb/configure.log; exit 1; }
cmake --build build/deb --target installable
(cd build/deb && rm -f ./*.deb && umask 022 && cpack -G DEB)
cp build/deb/*.deb "$to/"
ls -l "$to"/*.deb
