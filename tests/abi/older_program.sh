#!/usr/bin/env bash
# Builds the library of an older version, and runs programs that were built with it with the library of this version.
#
#   tests/abi/older_program.sh SOURCE BUILD WORK [OLDER]
#
# SOURCE is a clone of the repository, and BUILD a build tree of this version. OLDER is a commit or a tag; by default
# the last release, or the second commit before the last one if that is later. The first build of a version takes
# minutes on two cores; ccache keeps the result, and WORK keeps the last build. The exit status is 77 without git.
set -euo pipefail
source=$(readlink -f "$1") build=$(readlink -f "$2") work=$3 older=${4:-}
git=(git -C "$source")

"${git[@]}" rev-parse --git-dir >/dev/null 2>&1 || { echo "skipped: $source is not a clone of the repository"; exit 77; }
if [ -z "$older" ]; then
  # The ABI is stable since the first version with a reference.
  first=$("${git[@]}" log --diff-filter=A --format=%H -- tests/abi/released.abi.xz | tail -n 1)
  released=$("${git[@]}" describe --tags --match 'v[0-9]*' --abbrev=0 2>/dev/null || echo "$first")
  older=$released
  if "${git[@]}" merge-base --is-ancestor "$released" HEAD~2 2>/dev/null; then older=HEAD~2; fi
fi
[ -n "$older" ] || { echo "skipped: this clone has no version with tests/abi/released.abi.xz"; exit 77; }
older=$("${git[@]}" rev-parse "$older^{commit}")
echo "older version: $("${git[@]}" log -1 --format='%h %s' "$older")"

mkdir -p "$work"
work=$(readlink -f "$work")
if [ "$(cat "$work/built" 2>/dev/null)" != "$older" ]; then
  rm -rf "$work/source" "$work/built"
  mkdir "$work/source"
  "${git[@]}" archive "$older" | tar -x -C "$work/source"
  options=(-DCMAKE_BUILD_TYPE=RelWithDebInfo "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O0 -g0 -DNDEBUG")
  options+=(-DPGAS_BUILD_TESTS=OFF -DPGAS_BUILD_EXAMPLES=OFF -DPGAS_TEST_TIER=fast -DPGAS_UNITY_BUILD=ON)
  options+=(-DPGAS_CUDA=OFF -DPGAS_UCX=OFF -DPGAS_PMIX=OFF)
  if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER:-ccache}; fi
  export CCACHE_BASEDIR=$work CCACHE_NOHASHDIR=true
  cmake -G Ninja -S "$work/source" -B "$work/build" "${options[@]}" >"$work/configure.log"
  cmake --build "$work/build" --target pgas >"$work/build.log"
  echo "$older" >"$work/built"
fi

soname() { objdump -p "$1" | sed -n 's/^ *SONAME *//p'; }
before=$(soname "$work/build/src/libpgas.so") now=$(soname "$build/src/libpgas.so")
if [ "$before" != "$now" ]; then
  echo "the older library is $before, this one is $now: programs of the older one do not load this one. Nothing to test"
  exit 0
fi
for program in tests/abi/program.cpp examples/06_halo_exchange.cpp; do
  name=$(basename "$program" .cpp)
  g++ -std=c++20 -O1 -I"$work/source/include" -I"$work/source/examples" "$work/source/$program" -L"$work/build/src" -lpgas -o "$work/$name"
  for library in "$work/build" "$build"; do
    echo "== $name, with $library/src/$now"
    LD_LIBRARY_PATH=$library/src PGAS_HEAP=host "$build/bin/pgasrun" -n 4 "$work/$name"
  done
done
echo "passed: programs of the older version run with the library of this version"
