#!/usr/bin/env bash
# Runs the tests that need a GPU, in a build folder that was configured with PGAS_TEST_GPU_TOGETHER=ON and built.
#
#   tests/gpu_tests.sh BUILD [ARGUMENTS OF CTEST]
#
# Tests of several processes run together under MPS on the first GPU: PGAS_TEST_GPU_JOBS at a time (default 5; MPS
# serves at most 60 processes). Tests with the label gpu_alone run one at a time without MPS on the last GPU: at the
# same time if there are two GPUs, else after the others. If MPS cannot be started, all tests run one at a time. If a
# test fails, its output is shown and the status is 1.
set -uo pipefail
build=$(cd "${1:?the build folder}" && pwd) || exit 2
shift
mapfile -t gpus < <(nvidia-smi -L | sed -n 's/.*UUID: \([^)]*\)).*/\1/p')
[ ${#gpus[@]} -gt 0 ] || { echo "gpu_tests.sh: nvidia-smi lists no GPU" >&2; exit 2; }
first=${gpus[0]} last=${gpus[-1]}
work=$(mktemp -d)
mkdir "$work/together" "$work/alone" "$work/mps"
# Each ctest has a separate folder, because it writes its logs there.
for each in together alone; do echo "subdirs(\"$build\")" >"$work/$each/CTestTestfile.cmake"; done

mps() { env CUDA_VISIBLE_DEVICES="$first" CUDA_MPS_PIPE_DIRECTORY="$work/mps" CUDA_MPS_LOG_DIRECTORY="$work/mps" "$@"; }
beside=
# shellcheck disable=SC2086,SC2317  # called by the trap
finish() {
  # also if a time limit ends this script
  kill $beside 2>/dev/null
  [ ! -f "$work/alone.txt" ] || cat "$work/alone.txt"
  echo quit -t 10 | mps timeout 30 nvidia-cuda-mps-control >/dev/null 2>&1
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 143' TERM

# Unset for the tests, because the library would warn of an unknown option.
jobs=${PGAS_TEST_GPU_JOBS:-5}
unset PGAS_TEST_GPU_JOBS

together() { mps ctest --test-dir "$work/together" --output-on-failure -j "$jobs" -L gpu -LE gpu_alone "$@"; }
alone() { env CUDA_VISIBLE_DEVICES="$last" ctest --test-dir "$work/alone" --output-on-failure -j 1 "$@"; }

if ! command -v nvidia-cuda-mps-control >/dev/null || [ -n "${CUDA_MPS_PIPE_DIRECTORY:-}" ] || ! mps nvidia-cuda-mps-control -d; then
  alone -L gpu "$@"
  exit
fi
status=0
if [ "$first" = "$last" ]; then
  together "$@" || status=1
  alone -L gpu_alone "$@" || status=1
else
  alone -L gpu_alone "$@" >"$work/alone.txt" 2>&1 &
  beside=$!
  together "$@" || status=1
  wait $beside || status=1
fi
exit $status
