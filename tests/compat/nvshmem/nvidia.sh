#!/usr/bin/env bash
# Builds the conformance program with NVIDIA's NVSHMEM and runs it. The same source tests nvshmem.h, so this run checks
# the tests. ctest does not run the script.
#
# Usage: nvidia.sh [NUMBER OF PES]... (default: 2 4)
#
#   NVSHMEM_HOME   where NVSHMEM is; default: the Python package nvidia-nvshmem-cu12 or -cu13
#   BOOTSTRAP      uid (default): processes started here, ids through a file; pmix: mpirun, PMIx; mpi: mpirun, MPI
#   GROUPS_WANTED  names of generated files without .cu; default: all
#   JOBS           compilers at once; default: one for each core
#   WORK           folder for sources, objects and logs; default: a temporary one
#   PGAS_BUILD     a build folder of this project: run against pgas instead, with the same commands
#
# Each generated file becomes a separate program, so that a file that does not compile or link does not affect the
# others. Prints a line for each family, and at the end the functions that PGAS_COMPAT_ONLY guards, with the reasons.
# Status 1 if a check fails.
set -uo pipefail
here=$(dirname "$(readlink -f "$0")")
root=$(readlink -f "$here/../../..")
say() { printf '== %s\n' "$*"; }
die() { printf 'nvidia.sh: %s\n' "$*" >&2; exit 2; }

pes=("$@")
[ ${#pes[@]} -gt 0 ] || pes=(2 4)
bootstrap=${BOOTSTRAP:-uid}
jobs=${JOBS:-$(nproc)}
work=${WORK:-$(mktemp -d)}
mkdir -p "$work/sources" "$work/logs"
say "work in $work"

# ---- the installed software ----

command -v nvcc >/dev/null 2>&1 || PATH=$PATH:/usr/local/cuda/bin
nvcc=$(command -v nvcc) || die "there is no nvcc"
cuda=$("$root/tests/support/cuda_toolkit.sh" "$nvcc") || die "no CUDA toolkit"
say "nvcc: $nvcc, $(nvcc --version | grep release)"
arch=sm_$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -d .)
[ "$arch" != sm_ ] || { arch=sm_90; say "no GPU found: compiling for $arch, running nothing"; pes=(); }

if [ -n "${PGAS_BUILD:-}" ]; then
  build=$(readlink -f "$PGAS_BUILD")
  library=$(dirname "$(find "$build" -name libnvshmem_host.so | head -n 1)")
  [ "$library" != . ] || die "no libnvshmem_host.so in $PGAS_BUILD: build the target nvshmem_host"
  device=$(dirname "$(find "$build" -name libnvshmem_device.a | head -n 1)")
  includes=(-I"$root/include/pgas/compat" -I"$root/include")
  defines=(-DPGAS_COMPAT_ONLY)
  libraries=(-L"$device" -lnvshmem_device -L"$library" -lnvshmem_host)
  paths=$library:$build/src
else
  home=${NVSHMEM_HOME:-$(python3 - <<'PY'
import importlib.util
try:
    found = importlib.util.find_spec("nvidia.nvshmem")
    print(list(found.submodule_search_locations)[0] if found else "")
except ModuleNotFoundError:
    print("")
PY
)}
  [ -n "$home" ] && [ -e "$home/include/nvshmem.h" ] ||
    die "NVSHMEM was not found: pip install nvidia-nvshmem-cu12 (or -cu13), or set NVSHMEM_HOME"
  includes=(-I"$home/include")
  defines=()
  host=$(cd "$home/lib" && ls libnvshmem_host.so* | sort | tail -n 1)
  libraries=(-L"$home/lib" -lnvshmem_device -l:"$host")
  paths=$home/lib
  say "NVSHMEM: $home ($host)"
fi
export LD_LIBRARY_PATH=$paths:$cuda/lib64:${LD_LIBRARY_PATH:-}

# ---- compile ----

python3 "$here/generate.py" "$root/include/pgas/compat/types.inc" "$work/sources" || die "generate.py failed"
read -ra wanted <<<"${GROUPS_WANTED:-$(python3 "$here/generate.py" --list | sed 's/\.cu//g; s/;/ /g')}"
common=(-std=c++17 -O2 "${defines[@]}" "${includes[@]}" -I"$here")
if [ "$bootstrap" = mpi ]; then
  mpicxx=$(command -v mpicxx) || die "BOOTSTRAP=mpi needs mpicxx"
  common+=(-DCONFORMANCE_MPI)
else
  mpicxx=g++
fi
driver=()
[ ! -e "$cuda/lib64/stubs/libcuda.so" ] || driver=(-L"$cuda/lib64/stubs" -lcuda)
device_options=(-rdc=true -arch="$arch" -Xcicc -O1 -Xptxas -O1)

compile() {  # NAME COMMAND...
  local name=$1
  shift
  if "$@" >"$work/logs/$name.log" 2>&1; then return 0; fi
  echo "FAIL $name: does not compile or link, see $work/logs/$name.log"
  grep -m 3 -iE 'error|undefined' "$work/logs/$name.log" | cut -c1-300
  return 1
}
slot() { while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done; }

say "compiling ${#wanted[@]} groups with $jobs compilers"
for source in main bench check_copy check_words check_collective; do
  slot
  compile "$source" "$nvcc" -ccbin "$mpicxx" "${common[@]}" -c "$here/$source.cpp" -o "$work/$source.o" &  # nvcc knows where CCCL is
done
for source in launch special; do
  slot
  compile "$source" "$nvcc" "${common[@]}" "${device_options[@]}" -c "$here/$source.cu" -o "$work/$source.o" &
done
for group in "${wanted[@]}"; do
  slot
  compile "$group" "$nvcc" "${common[@]}" "${device_options[@]}" -c "$work/sources/$group.cu" -o "$work/$group.o" &
done
wait
wanted=(special "${wanted[@]}")
for group in "${wanted[@]}"; do
  [ -e "$work/$group.o" ] || continue
  slot
  compile "link_$group" "$nvcc" -rdc=true -arch="$arch" -ccbin "$mpicxx" "$work"/{main,bench,check_copy,check_words,check_collective,launch}.o \
    "$work/$group.o" "${libraries[@]}" "${driver[@]}" -o "$work/run_$group" &
done
wait

# ---- run ----

run_on() {  # N PROGRAM ARGUMENTS...
  local n=$1
  shift
  case $bootstrap in
    uid)
      local id=$work/id.$RANDOM.$RANDOM processes=() pe status=0
      for ((pe = 0; pe < n; ++pe)); do
        CONFORMANCE_UNIQUEID=$id CONFORMANCE_RANK=$pe CONFORMANCE_SIZE=$n timeout 600 "$@" &
        processes+=($!)
      done
      for pe in "${processes[@]}"; do wait "$pe" || status=$?; done
      return "$status" ;;
    pmix | mpi)
      NVSHMEM_BOOTSTRAP_PMI=PMIX timeout 600 mpirun --allow-run-as-root --oversubscribe -n "$n" "$@" ;;
    *) die "BOOTSTRAP=$bootstrap: uid, pmix or mpi" ;;
  esac
}

summary=$work/summary.txt
: >"$summary"
for n in "${pes[@]}"; do
  for group in "${wanted[@]}"; do
    if [ ! -x "$work/run_$group" ]; then
      echo "FAIL $n PEs: $group was not built" | tee -a "$summary"
      continue
    fi
    say "$group on $n PEs"
    log=$work/logs/run_$group.$n.log
    run_on "$n" "$work/run_$group" >"$log" 2>&1
    status=$?
    grep -aE '^(PASS|FAIL|PE [0-9]+:)|functions in' "$log"
    grep -aE '^(PASS|FAIL)' "$log" | sed "s/^\(....\)/\1 $n PEs:/" >>"$summary"
    if [ "$status" -ne 0 ] && ! grep -aq '^FAIL' "$log"; then
      echo "FAIL $n PEs: $group ended with status $status" | tee -a "$summary"
      tail -n 5 "$log"
    fi
  done
done

say "what only pgas has as documented, by reason"
sed 's/^[^:]*: //' "$work/sources/guarded.txt" | sort | uniq -c
passed=$(grep -c '^PASS' "$summary")
failed=$(grep -c '^FAIL' "$summary")
say "$passed passed, $failed failed; logs in $work/logs, outcomes in $summary"
grep '^FAIL' "$summary"
missing=0
for group in "${wanted[@]}"; do [ -x "$work/run_$group" ] || missing=$((missing + 1)); done
[ "$failed" -eq 0 ] && [ "$missing" -eq 0 ]
