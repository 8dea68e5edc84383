#!/usr/bin/env bash
# Runs the GPU tests of the Python package with an interpreter that has torch, Triton, CuPy, JAX or Numba. Programs
# whose packages are missing are skipped. The script installs and downloads nothing. It unpacks a wheel into a temporary
# folder, and writes nowhere else.
#
#   tests/python/on_gpu.sh dist/pgas-*.whl          also PYTHON (default python3), and:
#     OUT     folder for the output of each program (default: a temporary one, which is kept if something failed)
#     LIMIT   seconds for all programs (default 300); programs without time left are skipped
#     JOBS    programs at a time (default 4); timings run alone
#     ONLY    a pattern of bash: the programs whose names match, such as 'conformance*'
#     PYTHONPATH  more packages, such as pytest
#     NUMPY   a wheel of NumPy, or a folder that has it, for the programs with Numba, which refuses newer versions
#     MPS=no  to start no MPS; otherwise MPS is started, unless CUDA_MPS_PIPE_DIRECTORY names a running MPS
#
# Prints one line for each program: passed, failed or skipped, the seconds, the name, and the reason. The exit status is
# 1 if a program failed.
set -uo pipefail

usage() { sed -n '2,/^set/{/^#/p}' "$0" | cut -c3-; exit 2; }
[ $# = 1 ] || usage
here=$(cd "$(dirname "$0")" && pwd)
examples=$(cd "$here/../../examples/python" && pwd)
python=${PYTHON:-python3}
limit=${LIMIT:-300} jobs=${JOBS:-4}
temporary=$(mktemp -d)
out=${OUT:-$temporary/out}
mkdir -p "$out/status"
mps=no

finish() {
  local failed
  failed=$(find "$out/status" -type f -name '*.failed' | wc -l)
  if [ "$mps" = yes ]; then echo quit -t 10 | timeout 30 nvidia-cuda-mps-control >/dev/null 2>&1; fi
  if [ "$out" != "$temporary/out" ] || [ "$failed" = 0 ]; then rm -rf "$temporary"; else echo "output: $out"; fi
  rm -rf "$out/status"
}
trap finish EXIT

unpack() { "$python" -m zipfile -e "$1" "$2"; }
unpack "$1" "$temporary/site" || exit 2
chmod +x "$temporary"/site/pgas/bin/*
export PATH=$temporary/site/pgas/bin:$PATH PYTHONPATH=$temporary/site${PYTHONPATH:+:$PYTHONPATH} PYTHONDONTWRITEBYTECODE=1 PYTHONFAULTHANDLER=1
export PGASRUN=$temporary/site/pgas/bin/pgasrun PGAS_HEAP=cuda PGAS_WAIT_TIMEOUT=${PGAS_WAIT_TIMEOUT:-20s}
export TRITON_CACHE_DIR=$temporary/triton XDG_CACHE_HOME=$temporary/cache CUPY_CACHE_DIR=$temporary/cupy
export XLA_PYTHON_CLIENT_PREALLOCATE=false  # otherwise JAX would reserve three quarters of the GPU's memory for each PE
numba_path=$PYTHONPATH
case ${NUMPY:-} in
  '') ;;
  *.whl) unpack "$NUMPY" "$temporary/numpy" && numba_path=$temporary/numpy:$PYTHONPATH ;;
  *) numba_path=$NUMPY:$PYTHONPATH ;;
esac

# PEs that share a GPU run alternately, unless MPS lets them run at the same time. Kernels that wait for one another
# need MPS.
if [ "${MPS:-yes}" != no ] && [ -z "${CUDA_MPS_PIPE_DIRECTORY:-}" ] && command -v nvidia-cuda-mps-control >/dev/null; then
  export CUDA_MPS_PIPE_DIRECTORY=$temporary/mps CUDA_MPS_LOG_DIRECTORY=$temporary/mps
  mkdir -p "$temporary/mps"
  # The control daemon numbers the GPUs that it sees from 0.
  nvidia-cuda-mps-control -d && mps=yes && [ -n "${CUDA_VISIBLE_DEVICES:-}" ] &&
    CUDA_VISIBLE_DEVICES=$(seq -s , 0 "$(tr -cd , <<<"$CUDA_VISIBLE_DEVICES" | wc -c)")
fi

# ---- one program ----------------------------------------------------------------------------------------------------

has() { "$python" -c 'import importlib.util, sys; sys.exit(any(importlib.util.find_spec(m) is None for m in sys.argv[1:]))' "$@"; }
declare -A there
missing() {  # the first of these modules that is missing
  local module
  for module in "$@"; do
    if [ -z "${there[$module]:-}" ]; then has "$module" && there[$module]=yes || there[$module]=no; fi
    [ "${there[$module]}" = yes ] || { echo "$module"; return; }
  done
}

report() { printf '%-7s %4ss  %s%s\n' "$1" "$2" "$3" "${4:+  ($4)}"; }

# program NAME SECONDS "MODULES" EXPECTED COMMAND...: passes if the command ends with 0 and prints EXPECTED, unless
# EXPECTED is empty.
program() {
  local name=$1 seconds=$2 modules=$3 expected=$4 lacks left began status took log
  shift 4
  # shellcheck disable=SC2053  # a pattern on purpose
  [[ $name == ${ONLY:-*} ]] || return 0
  # shellcheck disable=SC2086  # words on purpose
  lacks=$(missing $modules)
  if [ -n "$lacks" ]; then report skipped 0 "$name" "no $lacks"; return 0; fi
  left=$((limit - SECONDS))
  if [ "$left" -lt 10 ]; then report skipped 0 "$name" "no time left"; return 0; fi
  if [ "$seconds" -gt "$left" ]; then seconds=$left; fi
  log=$out/${name//[^A-Za-z0-9_.-]/_}.txt
  began=$SECONDS
  timeout -k 5 "$seconds" "$@" >"$log" 2>&1
  status=$?
  took=$((SECONDS - began))
  if [ "$status" = 124 ] || [ "$status" = 137 ]; then
    report failed "$took" "$name" "did not end within $seconds s; $log"
  elif [ "$status" != 0 ] || { [ -n "$expected" ] && ! grep -q -e "$expected" "$log"; }; then
    report failed "$took" "$name" "status $status: $(grep -E 'Error|error:|invalid|Fatal|free\(\)|rror' "$log" | tail -n 1 | cut -c1-160); $log"
  else
    report passed "$took" "$name"
    grep -hE '^(result: |\{")' "$log" | sed -E 's/^(result: )?/                /'
    return 0
  fi
  grep -hE 'failed at step| is WRONG$| failed: ' "$log" | cut -c1-200 | sed 's/^/                /'
  touch "$out/status/${log##*/}.failed"
}

# As program(), at the same time as other programs.
beside() {
  while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
  program "$@" &
}

run() { echo "$PGASRUN -n $1 $python"; }

# ---- the installed packages -----------------------------------------------------------------------------------------

"$python" - <<'TEXT'
import importlib.metadata as about, platform
def version(name):
    try:
        return f"{name} {about.version(name)}"
    except about.PackageNotFoundError:
        return f"no {name}"
names = ("torch", "triton", "cupy-cuda12x", "cupy-cuda13x", "jax", "numba", "numba-cuda", "numpy")
print(f"Python {platform.python_version()}: {', '.join(version(name) for name in names)}")
TEXT
"$python" -c 'import pgas; pgas.show_versions()' >"$out/versions.txt" 2>&1 || { cat "$out/versions.txt"; exit 1; }

# checked once, not by each program
for modules in torch cupy jax numba_cuda triton; do missing $modules >/dev/null; done

# ---- programs -------------------------------------------------------------------------------------------------------

program import_orders 150 "torch triton" "" "$python" "$here/pe/import_orders.py"
for front_end in triton cupy numba; do
  case $front_end in triton) needs="torch triton" ;; cupy) needs=cupy ;; numba) needs="numba_cuda cupy" ;; esac
  with=()
  if [ $front_end = numba ]; then with=(env "PYTHONPATH=$numba_path"); fi
  for n in 1 2 4; do
    beside "conformance $front_end $n" 120 "$needs" "ok check_signals" "${with[@]}" $(run $n) "$here/kernels/conformance.py" $front_end
  done
  if [ $front_end != numba ]; then
    beside "conformance $front_end 4 direct" 120 "$needs" "ok check_signals" env DIRECT=1 $(run 4) "$here/kernels/conformance.py" $front_end
  fi
  beside "lost_wait $front_end" 60 "$needs" "did not become >= 7" bash -c '"$@"; true' -- "${with[@]}" env PGAS_WAIT_TIMEOUT=500ms $(run 1) "$here/kernels/lost_wait.py" $front_end
done
for library in torch cupy jax; do
  for n in 1 2 4; do beside "gpu.py $library $n" 120 "$library" "is content" $(run $n) "$here/pe/gpu.py" $library; done
done
for n in 1 2 4; do beside "two_streams.py $n" 60 torch "is content" $(run $n) "$here/pe/two_streams.py"; done
for backend in aot_eager inductor; do
  beside "compiled.py $backend 2" 120 torch "is content" $(run 2) "$here/pe/compiled.py" $backend --gpu
done
for example in triton_ring triton_all_reduce triton_halo triton_moe cupy_kernel numba_kernel; do
  with=()
  case $example in
    triton_*) needs="torch triton" ;;
    cupy_*) needs=cupy ;;
    numba_*) needs="numba_cuda cupy"; with=(env "PYTHONPATH=$numba_path") ;;
  esac
  for n in 2 4; do beside "$example $n" 120 "$needs" "^PE" "${with[@]}" $(run $n) "$examples/$example.py"; done
done
# The extension for torch's symmetric memory is part of the wheel, or is compiled here once.
symm_mem="torch"
if ! ls "$temporary"/site/pgas/_torch_backend.*.so >/dev/null 2>&1; then
  if command -v "${CXX:-c++}" >/dev/null; then
    program "pgas.torch is compiled" 200 torch "" "$python" -c "import pgas._load_torch_backend as build; build.load()"
  else
    symm_mem="torch c++"  # there is no module of this name, so the programs are skipped
  fi
fi
for n in 2 4; do
  beside "torch_symm_mem.py $n" 200 "$symm_mem" "is content" $(run $n) "$here/pe/torch_symm_mem.py" "$temporary/meeting.$n"
  beside "torch_operators.py $n" 120 "$symm_mem" "is content" $(run $n) "$here/pe/torch_operators.py"
  beside "torch_symm_mem.py expandable segments $n" 120 "$symm_mem" "is content" env PYTORCH_ALLOC_CONF=expandable_segments:True $(run $n) \
    "$here/pe/torch_symm_mem.py" "$temporary/expandable.$n" expandable pool
  beside "torch_symm_mem.py torchrun $n" 200 "$symm_mem" "is content" "$python" -m torch.distributed.run --nproc-per-node $n \
    --master-port $((29500 + n)) "$here/pe/torch_symm_mem.py" env
  beside "torch_symm_mem.py first_divergence $n" 90 "$symm_mem" "is content" $(run $n) "$here/pe/torch_symm_mem.py" "$temporary/first.$n" \
    first_divergence
  beside "torch_symm_mem.py divergence $n" 90 "$symm_mem" "is content" $(run $n) "$here/pe/torch_symm_mem.py" "$temporary/divergence.$n" divergence
  for example in tutorial all_reduce matmul shared_weights; do
    needs=$symm_mem
    case $example in all_reduce | matmul) needs+=" triton" ;; esac
    beside "symm_mem_$example $n" 120 "$needs" "^PE" $(run $n) "$examples/symm_mem_$example.py"
  done
done
for n in 2 4; do
  for thread in sglang_34230 sglang_33037 sglang_29946 vllm_54626 pytorch_188567 functions_of_torch; do
    beside "torch_threads.py $thread $n" 120 "$symm_mem" "is content" $(run $n) "$here/pe/torch_threads.py" "$temporary/$thread.$n" $thread
  done
  beside "torch_threads.py sglang_36943 $n" 120 "$symm_mem" "is content" env PGAS_WAIT_TIMEOUT=2s $(run $n) "$here/pe/torch_threads.py" \
    "$temporary/sglang_36943.$n" sglang_36943
done
beside "torch_threads.py pytorch_196082 3" 120 "$symm_mem" "is content" $(run 3) "$here/pe/torch_threads.py" "$temporary/pytorch_196082" pytorch_196082
gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')
if [ "$gpus" -gt 2 ]; then  # the ranks see the last two GPUs only
  beside "torch_threads.py vllm_38550 2" 120 "$symm_mem" "is content" env CUDA_VISIBLE_DEVICES=$((gpus - 2)),$((gpus - 1)) $(run 2) \
    "$here/pe/torch_threads.py" "$temporary/vllm_38550" vllm_38550
else
  report skipped 0 "torch_threads.py vllm_38550" "needs three GPUs"
fi
beside "torch_symm_mem.py inductor 2" 120 "$symm_mem" "is content" $(run 2) "$here/pe/torch_symm_mem.py" "$temporary/inductor" inductor
wait
# The following programs run alone: one of them kills a PE, which would affect others under MPS, and the other programs
# measure times.
program "pytest test_gpu.py (sharing, dead PE)" 150 "pytest torch" "" "$python" -m pytest -p no:cacheprovider -q -rs -m gpu "$here/test_gpu.py" -k "not operations"
program "torch_symm_mem.py lost_signal" 90 "$symm_mem" "rank 0 was told" bash -c '"$@"; true' -- $(run 2) "$here/pe/torch_symm_mem.py" "$temporary/lost" lost_signal
program "latency.py" 120 "torch triton cupy" "ratio" $(run 2) "$here/kernels/latency.py"
program "torch_costs.py" 120 "$symm_mem triton" "result" env TORCH_SYMM_MEM_ALLOW_OVERLAPPING_DEVICES=1 TORCH_SYMM_MEM_DISABLE_MULTICAST=1 \
  $(run 4) "$here/pe/torch_costs.py" "$temporary/costs"
program "overhead.py torch" 90 torch "result" $(run 2) "$here/pe/overhead.py" torch
program "overhead.py cupy" 90 cupy "result" $(run 2) "$here/pe/overhead.py" cupy
[ -z "$(find "$out/status" -name '*.failed')" ]
