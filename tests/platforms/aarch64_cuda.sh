#!/usr/bin/env bash
# Compiles the library's CUDA sources for hosts with 64-bit Arm, on another machine: the code that calls CUDA, and the
# kernels of single operations with nvcc.
#
#   aarch64_cuda.sh [FOLDER]
#
# FOLDER (default: build/aarch64-cuda) gets the objects, and a view of the CUDA toolkit that has the target sbsa-linux.
# The toolkit's headers are the same for both architectures. Exit status 77: something is missing, which the output
# names.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."

skip() {
  echo "skipped: $*"
  exit 77
}
PATH=$PATH:/usr/local/cuda/bin
command -v aarch64-linux-gnu-g++ >/dev/null || skip "no aarch64-linux-gnu-g++: apt-get install g++-aarch64-linux-gnu"
command -v nvcc >/dev/null || skip "no nvcc, on PATH or in /usr/local/cuda/bin"

# nvcc knows the targets that its own folder has. The links in the view have the names of the toolkit's programs.
toolkit=$(tests/support/cuda_toolkit.sh)
view=$(readlink -m "${1:-build/aarch64-cuda}")
rm -rf "$view"
mkdir -p "$view/bin" "$view/targets/sbsa-linux" "$view/host" "$view/objects"
ln -s "$toolkit"/bin/* "$view/bin/"
ln -s "$toolkit/nvvm" "$view/nvvm"
ln -s "$toolkit/include" "$view/targets/sbsa-linux/include"
ln -s /usr/include/fmt "$view/host/fmt"  # headers for any architecture

options=(-std=c++20 -fPIC -O0 -Iinclude -Isrc -isystem "$view/host")
export VIEW=$view OPTIONS="${options[*]}"
compile() {
  set -e
  local object file
  object=$VIEW/objects/$(basename "$1").o
  # shellcheck disable=SC2086  # words on purpose
  case $1 in
    *.cu) nvcc=$VIEW/bin/nvcc
      "$nvcc" -ccbin aarch64-linux-gnu-g++ -target-dir sbsa-linux -arch=sm_90 -Xcicc -O0 ${OPTIONS/-fPIC/-Xcompiler=-fPIC} \
        -c "$1" -o "$object" ;;
    *) aarch64-linux-gnu-g++ -Wall -Wextra -Wconversion -Wsign-conversion -Werror $OPTIONS -isystem "$VIEW/targets/sbsa-linux/include" \
        -c "$1" -o "$object" ;;
  esac
  file=$(od -An -tu2 -j18 -N2 "$object" | tr -d ' ')  # e_machine of the ELF header
  [ "$file" = 183 ] || { echo "$object is for machine $file, not for aarch64 (183)"; return 1; }
  echo "compiled $1"
}
export -f compile
# shellcheck disable=SC2016  # bash -c expands it
printf '%s\n' src/device/cuda/kernels/operation_kernels.cu src/device/cuda/*.cpp |
  xargs -P 2 -I{} bash -c 'compile "$1" || exit 255' compile {}
