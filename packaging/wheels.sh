#!/usr/bin/env bash
# Builds the wheels of a release, on Debian 12: manylinux_2_28, with the GPU backend for drivers of CUDA 12.4 and later.
#
#   packaging/wheels.sh DIR [--arch aarch64] [CMAKE OPTIONS]     -DPGAS_CUDA=OFF: without the GPU backend
#     PYTHONS   the interpreters, each with its headers (default: python3). An interpreter from 3.12 on makes one wheel
#               for all versions from 3.12 on; 3.10 and 3.11 make a wheel each.
#
#     BUILD     the build tree (default: build/wheels-ARCH). A repeated call compiles only what has changed.
#
# older_runtime.py says how g++ of Debian 12 links for glibc 2.28. NVRTC 12.9 compiles the kernels; its wheel is downloaded
# into build/cuda-wheels. Wheels for aarch64 are made by the cross compiler (apt-get install g++-aarch64-linux-gnu). Exit
# status 77: a package cannot be downloaded here, which the output names.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,/^set/{/^#/p}' "$0" | cut -c3-; exit 2; }
mkdir -p "$1"
to=$(readlink -f "$1")
shift
arch=x86_64 platform=()
if [ "${1:-}" = --arch ]; then arch=$2; shift 2; fi
cd "$(dirname "$0")/.."
tree=$(readlink -m "${BUILD:-build/wheels-$arch}")
work=$tree/wheels
mkdir -p "$work"

case $arch in
  x86_64)
    compiler=g++
    toolchain="set(CMAKE_CXX_COMPILER g++)"
    ;;
  aarch64)
    compiler=aarch64-linux-gnu-g++
    cmake/aarch64_sysroot.sh "$work/sysroot" libfmt-dev libsodium-dev nlohmann-json3-dev libcli11-dev zlib1g-dev libucx-dev libpmix-dev
    # The headers of Python and nanobind are this machine's: they are the same for both.
    toolchain="set(PGAS_SYSROOT $work/sysroot CACHE PATH \"\")
set(PGAS_START_WITH_QEMU OFF CACHE BOOL \"\")
include($PWD/cmake/aarch64-linux-gnu.cmake)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE BOTH)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)"
    platform=(_PYTHON_HOST_PLATFORM=linux-aarch64)  # what sysconfig says, and so the name of the wheel
    ;;
  *) echo "wheels.sh: no wheels for $arch"; exit 2 ;;
esac
command -v $compiler >/dev/null || { echo "wheels.sh: needs $compiler"; exit 1; }
python3 -B packaging/older_runtime.py "$work/runtime" $compiler
{
  echo "$toolchain"
  for kind in EXE SHARED MODULE; do echo "set(CMAKE_${kind}_LINKER_FLAGS_INIT \"@$work/runtime/options\")"; done
  echo 'string(APPEND CMAKE_SHARED_LINKER_FLAGS_INIT " -Wl,-z,defs")  # a library without a symbol would otherwise link'
} >"$work/toolchain.cmake"
export CMAKE_TOOLCHAIN_FILE=$work/toolchain.cmake

# The compiler of CUDA is left out: it would add a CUDA runtime of one version to pgas-perf.
options=(-DCMAKE_BUILD_TYPE=RelWithDebInfo "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O2 -DNDEBUG" -DCMAKE_CUDA_COMPILER=OFF)
options+=(-DPGAS_BUILD_TESTS=OFF -DPGAS_BUILD_EXAMPLES=OFF -DPGAS_BUILD_COMPAT=OFF)
options+=(-DPGAS_TEST_TIER=fast -DPGAS_UNITY_BUILD=ON -DPGAS_FMT_HEADER_ONLY=ON)
if [[ " $* " != *" -DPGAS_CUDA=OFF "* ]]; then
  options+=(-DPGAS_CUDA=ON "-DPGAS_KERNEL_TOOLKIT=$(python3 -B cmake/cuda_wheels.py build/cuda-wheels 12.9)")
fi
if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER:-ccache}; fi
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=true CCACHE_DEPEND=true
cmake -G Ninja -S . -B "$tree" "${options[@]}" "$@" >"$work/configure.log" 2>&1 || { cat "$work/configure.log"; exit 1; }
cmake --build "$tree" --target pgas pgasrun pgas-info pgas-perf pgas-doctor pgas-why pgas-trace

for python in ${PYTHONS:-python3}; do
  version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  make_wheel=("$python" -B tests/python/environments.py --build "$tree" --work "$work/$version" --python "$python" --wheel-only "$to")
  if [ -n "${CMAKE_CXX_COMPILER_LAUNCHER:-}" ]; then make_wheel+=(--launcher "$CMAKE_CXX_COMPILER_LAUNCHER"); fi
  "${make_wheel[@]}" --prepare
  made=$(env "${platform[@]}" "${make_wheel[@]}") || { status=$?; echo "$made"; exit $status; }
  echo "$made"
  # The linker accepts a module with missing functions, as it expects those of Python, and auditwheel reads only versions.
  nm -DC --undefined-only "$work/$version"/extension-*/_core.*so >"$work/undefined"
  missing=$(grep -vE '@| w | _?Py| (typeinfo for |vtable for )?pgas::' "$work/undefined" || true)
  if [ -n "$missing" ]; then echo "wheels.sh: glibc 2.28 and libstdc++ of GCC 8 lack"; echo "$missing"; exit 1; fi
  # auditwheel names the oldest glibc and libstdc++ that have all symbols.
  if ! [[ $made =~ -manylinux_2_([0-9]+)_$arch\.whl$ ]] || [ "${BASH_REMATCH[1]}" -gt 28 ]; then
    echo "wheels.sh: the wheel does not run with glibc 2.28"
    exit 1
  fi
done
