#!/usr/bin/env bash
# Compiles the library for 64-bit Arm and runs the tests of the host heap under qemu, on a machine that is not Arm.
#
#   aarch64.sh [--all] [CMAKE OPTIONS...]
#
# Builds the preset aarch64 in build/aarch64, and runs a fast part of its tests, or with --all every test. The
# libraries for Arm go to build/aarch64-sysroot, from the package sources of this machine; nothing is installed. The
# library has the GPU backend if the wheels of CUDA 12.9 can be downloaded: the headers are the same for both
# architectures, and NVRTC of this machine compiles the kernels. Exit status 77: something is missing here, which the
# output names.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."

part=fast
if [ "${1:-}" = --all ]; then
  part=all
  shift
fi

skip() {
  echo "skipped: $*"
  exit 77
}
[ "$(uname -m)" != aarch64 ] || skip "this is an Arm machine: ./run test runs the tests without an emulator"
for tool in aarch64-linux-gnu-g++ qemu-aarch64; do
  command -v "$tool" >/dev/null || skip "no $tool: apt-get install g++-aarch64-linux-gnu qemu-user, or ./run test --full"
done

# ---- the libraries for Arm -------------------------------------------------------------------------------------------

sysroot=$PWD/build/aarch64-sysroot
cmake/aarch64_sysroot.sh "$sysroot" libfmt-dev libfmt9 libsodium-dev libgtest-dev nlohmann-json3-dev libcli11-dev zlib1g-dev

# ---- build and tests -------------------------------------------------------------------------------------------------

# The fast part: programs, and a pattern of their tests.
programs=(pgas pgasrun pgas-info unit_share sharing_c timeline_c unit_exchange unit_proxy unit_heap unit_device_cpu unit_topology
          device_cpu conformance_cpu host_api_tests collective_tests operation_tests)
tests='^(unit[.](share|share[.]c|share[.]timeline_c|exchange[.].|proxy.*|topology|device[.]cuda.*)|pgas_info[.].*'
tests+='|device[.]cpu[.].|conformance[.]cpu[.]1|multi_pe[.](host_api|collective|operation)[.].*)$'

# Tests that fail because of qemu 7.2:
# - It makes up /proc/self/stat, so other processes see another start time of a process than the process itself. Handles
#   and processes with a name that contains this time are taken for those of a process that has ended.
# - It keeps memory for each page of reserved addresses until the process ends, for many large heaps several gigabytes.
# - A child of fork() that starts a thread ends with a failed assertion.
not_by_name='blocks*:*/blocks*:handle_kinds.a_dead*:handle_kinds.the_first*:handle_kinds.fabric*:span.memory_that*:all/*kinds*'
not_by_name+=':cpu_memory.a_named*:Heap.where_the_device_chooses*'
not_in_memory='pes/*/2:pes/*/3:pes/registered_by*:registration.what_is*:address_layout.the_stride*:SharedMemory.ALongSeries*'
not_after_fork='SharedMemory.AChildOfFork*'
too_slow='cpu_grid.blocks_that_wait_for_nobody*:address_layout.processes_have*'  # thousands of threads, large heaps
too_slow+=':*get_answers_soon*'  # has a time limit
export GTEST_FILTER="-$not_by_name:$not_in_memory:$not_after_fork:$too_slow"
not_run='[.]cuda_ipc$|^unit[.]share[.]processes$'
export PGAS_HEAP_STRIDE=1G  # reserves fewer addresses

# Tests that map memory run with pages of 64 KiB, which a kernel for Arm may have.
with_large_pages='^(unit[.](share|heap|device[.]cpu)|multi_pe[.]host_api[.]4pe)$'

if toolkit=$(python3 -B cmake/cuda_wheels.py "${CUDA_WHEELS:-build/cuda-wheels}" 12.9); then
  cuda=(-DPGAS_CUDA=ON "-DPGAS_KERNEL_TOOLKIT=$toolkit" -DPGAS_KERNEL_ARCHITECTURES=90-virtual)
  programs+=(unit_device_cuda driver_lookup)
else
  echo "not compiled: the GPU backend, because the wheels of CUDA 12.9 could not be downloaded"
  cuda=(-DPGAS_CUDA=OFF)
fi

cmake --preset aarch64 "-DPGAS_SYSROOT=$sysroot" "${cuda[@]}" "$@" >build/aarch64.configure.log 2>&1 || {
  cat build/aarch64.configure.log
  exit 1
}
jobs=$(nproc)
targets=("${programs[@]}")
if [ "$part" = all ]; then targets=(tests/all) tests=.; fi
cmake --build build/aarch64 -j "$jobs" --target "${targets[@]}" -- --quiet
ctest --preset aarch64 -j $((jobs + 2)) -R "$tests" -E "$not_run"
# Since version 9, qemu ignores the size of pages. The tests then run with pages of 4 KiB.
page=build/aarch64/page_size
echo 'int main() { return sysconf(_SC_PAGESIZE) != 65536; }' | aarch64-linux-gnu-gcc -include unistd.h -x c - -o $page
QEMU_PAGESIZE=65536 qemu-aarch64 -L /usr/aarch64-linux-gnu $page || echo "not tested: pages of 64 KiB, which this qemu does not emulate"
QEMU_PAGESIZE=65536 ctest --preset aarch64 -j $((jobs + 2)) -R "$with_large_pages"
