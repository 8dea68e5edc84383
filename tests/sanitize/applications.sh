#!/usr/bin/env bash
# Runs the examples 20 to 23 with small sizes on the host heap, with the address sanitizer and the thread sanitizer: 1,
# 2, 3, 4, 6 and 8 PEs, some with several threads or blocks, and with the address sanitizer also with proxied PEs. First
# builds the examples with both sanitizers, with Clang if Clang has them.
#
#   tests/sanitize/applications.sh [address|thread]...      default: both; minutes on two cores
#
# The exit status is 1 if a run failed. ctest does not call the script; it runs these programs without a sanitizer.
#
# Proxied PEs do not run with the thread sanitizer. The order of a put by a proxy and a later barrier passes through the
# initiator's process, which the sanitizer does not see. The sanitizer would report a race between the proxy's store and
# a later read.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 2
failed=0 runs=0
programs=(20_stencil3d 21_persistent 22_cg 23_particles)

once() { # NAME=VALUE... -- PES PROGRAM ARGUMENTS...
  local settings=()
  while [ "$1" != -- ]; do settings+=("$1"); shift; done
  local n=$2 program=$3 log
  shift 3
  log=$(mktemp)
  runs=$((runs + 1))
  if ! env PGAS_HEAP=host "${settings[@]}" timeout 300 "$build/bin/pgasrun" -n "$n" "$build/examples/$program" "$@" >"$log" 2>&1; then
    failed=$((failed + 1))
    echo "FAILED: $preset, ${settings[*]} pgasrun -n $n $program $*"
    tail -n 60 "$log"
  fi
  rm -f "$log"
}

for sanitizer in "${@:-address thread}"; do
  for each in $sanitizer; do
    case $each in
      address) preset=cpu-asan ;;
      thread) preset=cpu-tsan ;;
      *) sed -n '2,/^set/{/^#/p}' "$0" | cut -c3-; exit 2 ;;
    esac
    build=build/applications-$each
    compilers=()
    if printf 'int main() {}' | clang++ -x c++ "-fsanitize=$each" -o /dev/null - 2>/dev/null; then
      compilers=(-DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++)
    fi
    cmake --preset "$preset" -B "$build" "${compilers[@]}" -DPGAS_BUILD_EXAMPLES=ON -DPGAS_BUILD_TESTS=OFF -DPGAS_WERROR=OFF >/dev/null || exit 1
    cmake --build "$build" --target pgasrun "${programs[@]}" >/dev/null || exit 1
    export ASAN_OPTIONS=detect_stack_use_after_return=0 TSAN_OPTIONS=halt_on_error=1
    for n in 1 2 3 4 6 8; do
      for faces in pack iput remote packets; do
        once -- "$n" 20_stencil3d --faces $faces --size 13,11,17 --iterations 10 --fields 2
        once -- "$n" 20_stencil3d --faces $faces --size 9,14,8 --iterations 10 --points 27 --boundary periodic
        once -- "$n" 21_persistent --faces $faces --size 13,11,17 --iterations 10 --rounds 2
      done
      once -- "$n" 22_cg --method both --size 13,11,17 --rounds 1
      once -- "$n" 23_particles --particles 500 --cells 16,13 --steps 10
    done
    for faces in pack remote packets; do # several blocks, and several threads of a block
      once -- 2 21_persistent --faces $faces --size 13,11,17 --points 27 --blocks 3 --boundary-blocks 1 --iterations 10
      once PGAS_HOST_BLOCK_THREADS=4 -- 2 20_stencil3d --faces $faces --size 13,11,17 --iterations 10
      once -- 2 20_stencil3d --kernels two --faces $faces --size 13,11,17 --iterations 10
    done
    once PGAS_HOST_BLOCK_THREADS=64 -- 2 20_stencil3d --size 82,9,13 --pes 2,1,1 --iterations 3
    if [ "$each" = address ]; then
      for program in "20_stencil3d --size 13,11,17 --iterations 10" "21_persistent --size 13,11,17 --iterations 10 --rounds 2" \
        "22_cg --method both --size 13,11,17 --rounds 1" "23_particles --particles 500 --cells 16,13 --steps 10"; do
        # shellcheck disable=SC2086
        once PGAS_P2P=0 -- 4 $program
      done
    fi
  done
done
echo "$((runs - failed)) of $runs runs passed"
[ $failed = 0 ]
