#!/usr/bin/env bash
# The ABI comparison fails if a struct of options gets a member, and passes if accepted.abignore has a line for it.
#
#   tests/abi/added_member.sh SOURCE WORK CXX [COMPILER LAUNCHER]
#
# Compiles one source of the library with the headers of this version, and with headers whose team_config has one more
# member. The exit status is 77 without abigail-tools.
set -euo pipefail
source=$1 work=$2
shift 2
compare=(python3 -B "$source/tests/abi/abi.py")

rm -rf "$work"
mkdir -p "$work"
cp -r "$source/include" "$work/include"
sed -i 's|^  bool staged = false;$|&\n  int wide = 0;|' "$work/include/pgas/team.hpp"
grep -q 'int wide' "$work/include/pgas/team.hpp" || { echo "team_config has changed: adapt this script"; exit 1; }
for headers in "$source/include" "$work/include"; do
  library=$work/libreleased.so
  [ "$headers" = "$source/include" ] || library=$work/libchanged.so
  "${@:2}" "$1" -std=c++20 -g2 -O0 -fPIC -fvisibility=hidden -fvisibility-inlines-hidden -I"$headers" -I"$source/src" \
    -c "$source/src/host/api/team.cpp" -o "$library.o"
  "$1" -shared -o "$library" "$library.o"
done

status=0
"${compare[@]}" write --part "$work/libreleased.so" "$work/reference.abi.xz" "$source/include" || status=$?
[ $status != 77 ] || exit 77
"${compare[@]}" compare --part "$work/libreleased.so" "$work/reference.abi.xz" "$source/include"
if "${compare[@]}" compare --part "$work/libchanged.so" "$work/reference.abi.xz" "$work/include" | tee "$work/report"; then
  echo "the new member was not found"
  exit 1
fi
for part in team_config wide stability.md; do grep -q "$part" "$work/report" || { echo "the report lacks $part"; exit 1; }; done

printf '[suppress_type]\n  name = pgas::team_config\n  has_data_member_inserted_at = end\n  has_size_change = true\n' >"$work/accepted.abignore"
"${compare[@]}" compare --part "$work/libchanged.so" "$work/reference.abi.xz" "$work/include" --accepted "$work/accepted.abignore"
echo "passed: the comparison finds the new member, and accepts it if it is listed"
