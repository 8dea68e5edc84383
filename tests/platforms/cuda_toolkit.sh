#!/usr/bin/env bash
# Tests tests/support/cuda_toolkit.sh: the toolkit is the same whether nvcc is the program, a link or a script.
# Exit status 77: there is no nvcc.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."

PATH=$PATH:/usr/local/cuda/bin
command -v nvcc >/dev/null || { echo "skipped: no nvcc, on PATH or in /usr/local/cuda/bin"; exit 77; }
toolkit=$(tests/support/cuda_toolkit.sh)
[ -x "$toolkit/bin/ptxas" ] || { echo "there is no bin/ptxas in $toolkit"; exit 1; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
ln -s "$toolkit/bin/nvcc" "$folder/link"
printf '#!/bin/sh\nexec "%s" "$@"\n' "$toolkit/bin/nvcc" >"$folder/script"
chmod +x "$folder/script"
for nvcc in "$toolkit/bin/nvcc" "$folder/link" "$folder/script"; do
  found=$(tests/support/cuda_toolkit.sh "$nvcc")
  [ "$found" = "$toolkit" ] || { echo "the toolkit of $nvcc is $found, not $toolkit"; exit 1; }
done
