#!/usr/bin/env bash
# Prints the folder of a CUDA toolkit.
#
#   cuda_toolkit.sh [NVCC]
#
# NVCC (default: nvcc) can be a link, or a script that starts the toolkit's nvcc, so its path is not enough: nvcc itself
# tells its folder.
set -euo pipefail
nvcc=$(readlink -f "$(command -v "${1:-nvcc}")") || { echo "cuda_toolkit.sh: there is no ${1:-nvcc}" >&2; exit 1; }
bin=$("$nvcc" --dryrun -x cu -c /dev/null 2>&1 | sed -n 's/^#\$ _HERE_=//p')
[ -x "$bin/nvcc" ] || { echo "cuda_toolkit.sh: '$nvcc --dryrun' does not name the folder of nvcc (_HERE_)" >&2; exit 1; }
dirname "$(readlink -f "$bin/nvcc" | xargs dirname)"
