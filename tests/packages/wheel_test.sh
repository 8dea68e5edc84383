#!/usr/bin/env bash
# Builds the wheel of a release, and runs C++ programs that g++ of this system compiles with its headers and its library.
#
#   tests/packages/wheel_test.sh WORK [--arch aarch64] [CMAKE OPTIONS]     WORK/dist gets the wheel
#
# The library for another architecture runs under qemu. The wheel is of the interpreter PYTHONS.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,/^set/{/^#/p}' "$0" | cut -c3-; exit 2; }
source=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
work=$(readlink -f "$1")
shift
rm -rf "$work/dist" "$work/unpacked"
BUILD=$work/tree "$source/packaging/wheels.sh" "$work/dist" "$@"

compiler=g++
[ "${1:-}" != --arch ] || compiler=$2-linux-gnu-g++
python3 -m zipfile -e "$work"/dist/*.whl "$work/unpacked"
package=$work/unpacked/pgas
chmod +x "$package"/bin/*
# The library's exceptions and strings reach a program that has the runtime of this system, or a runtime of its own.
cat >"$work/catch.cpp" <<'PROGRAM'
#include <cstdio>
#include <pgas/pgas.hpp>
#include <string>

int main() {
  auto world = pgas::world::join();
  auto word = world.allocate<int>(1);
  try {
    pgas::put(world, word.data(), word.data(), 1, world.n_pes() + 7);
  } catch (const pgas::error& failure) {
    const std::string code = pgas::to_string(failure.code());
    std::printf("caught %s: %s\n", code.c_str(), failure.what());
    return code == "PGAS-E0301" ? 0 : 1;
  }
  return 1;
}
PROGRAM
# Programs for another architecture become scripts that start them with qemu.
startable() {
  [ $compiler != g++ ] || return 0
  mv "$1" "$1.aarch64"
  install -m 755 "$source/cmake/start_with_qemu.sh" "$1"
}
compile() { $compiler -std=c++20 -O1 -I"$package/include" -I"$source/examples" "$@" -L"$package/lib" -lpgas -Wl,-rpath,"$package/lib"; }
compile "$source/examples/06_halo_exchange.cpp" -o "$work/halo"
compile "$work/catch.cpp" -o "$work/catch"
compile "$work/catch.cpp" -static-libstdc++ -o "$work/catch_static"
for program in "$work"/{halo,catch,catch_static} "$package/bin/pgasrun"; do startable "$program"; done
run() { echo "== $*"; PGAS_HEAP=host timeout 100 "$package/bin/pgasrun" "$@" 2>&1 | tee "$work/output"; }
run -n 4 "$work/halo" -nx 515 -ny 130 -niter 60 -nccheck 20
grep -q "equal the serial result bit for bit" "$work/output"
for program in catch catch_static; do
  run -n 2 "$work/$program"
  [ "$(grep -c "caught PGAS-E0301" "$work/output")" = 2 ]
done
echo "passed: $(cd "$work/dist" && ls)"
