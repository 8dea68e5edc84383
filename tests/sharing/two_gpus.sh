#!/bin/sh
# Runs a test of sharing whose two sides use two GPUs. The first GPU of the side that opens tickets is the second GPU of
# the machine.
#
#   two_gpus.sh test PROGRAM PYTHON SCRIPT ARGUMENTS...   77, skipped, if there are no two GPUs
#   two_gpus.sh ROLE ARGUMENTS...                         a side, as SCRIPT starts it in place of PROGRAM
#
# If CUDA_VISIBLE_DEVICES is set, it lists the GPUs.
if [ "$1" != test ]; then
  first=${TWO_GPUS%,*} second=${TWO_GPUS#*,}
  case $1 in
    consume | open | take | use) export CUDA_VISIBLE_DEVICES="$second,$first" ;;
    *) export CUDA_VISIBLE_DEVICES="$first,$second" ;;
  esac
  exec "$PROGRAM_OF_TWO_GPUS" "$@"
fi

there=${CUDA_VISIBLE_DEVICES-$(nvidia-smi -L 2>/dev/null | sed -n 's/.*UUID: \([^)]*\)).*/\1/p' | paste -sd ,)}
case $there in
  *,*) ;;
  *) echo "skipped: there are not two GPUs"; exit 77 ;;
esac
TWO_GPUS=$(echo "$there" | cut -d , -f 1,2)
PROGRAM_OF_TWO_GPUS=$2
export TWO_GPUS PROGRAM_OF_TWO_GPUS
python=$3 script=$4
shift 4
exec "$python" "$script" "$0" "$@"
