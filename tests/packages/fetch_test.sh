#!/usr/bin/env bash
# Builds a project that fetches pgas from a source archive by FetchContent, installs it, and runs its halo exchange.
#
#   tests/packages/fetch_test.sh SOURCE PGASRUN WORK
#
# The archive contains the files of SOURCE as they are, without git. FetchContent adds the archive by add_subdirectory().
# The library is not optimized, because only its build is tested.
set -euo pipefail
source=$(readlink -f "$1") pgasrun=$(readlink -f "$2")
mkdir -p "$3"
work=$(readlink -f "$3")
rm -rf "$work/archive" "$work/installed" "$work"/build/_deps/pgas-*
mkdir -p "$work/archive/pgas"
(cd "$source" && tar -c CMakeLists.txt LICENSE cmake include src bootstrap) | tar -x -C "$work/archive/pgas"
tar -czf "$work/pgas.tar.gz" -C "$work/archive" pgas

options=(-DCMAKE_BUILD_TYPE=Debug "-DCMAKE_CXX_FLAGS_DEBUG=-O0 -g0" -DPGAS_CUDA=OFF -DPGAS_UCX=OFF -DPGAS_PMIX=OFF)
options+=(-DPGAS_TEST_TIER=fast "-DPGAS_ARCHIVE=$work/pgas.tar.gz" "-DHALO=$source/examples/06_halo_exchange.cpp")
if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER:-ccache}; fi
export CCACHE_BASEDIR=$work CCACHE_NOHASHDIR=true
cmake -G Ninja -S "$source/tests/packages/parent" -B "$work/build" "${options[@]}" >"$work/configure.log" || { tail -n 30 "$work/configure.log"; exit 1; }
cmake --build "$work/build" >"$work/build.log" || { tail -n 30 "$work/build.log"; exit 1; }
cmake --install "$work/build" --prefix "$work/installed" >"$work/install.log" || { tail -n 30 "$work/install.log"; exit 1; }
for program in "$work/build/halo" "$work/installed/bin/halo"; do
  PGAS_HEAP=host "$pgasrun" -n 4 "$program" -nx 130 -ny 66 -niter 20 -nccheck 10 | tee "$work/output"
  grep -q "equal the serial result bit for bit" "$work/output"
done
if ls "$work/installed/bin" | grep -v -x -e halo -e pgas-config; then echo "the project installs programs of pgas"; exit 1; fi
echo "passed: FetchContent and add_subdirectory, from an archive without git"
