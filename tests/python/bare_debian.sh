#!/usr/bin/env bash
# Installs a wheel on a bare Debian without a compiler, made by debootstrap, and runs programs of 4 PEs there on the
# host heap.
#
#   tests/python/bare_debian.sh dist/pgas-*.whl     needs root, debootstrap and the network; takes two minutes
#     PYTHON   the interpreter whose pip downloads NumPy (default: python3)
#     MIRROR   Debian's packages (default: http://deb.debian.org/debian)
#
# A wheel for Python 3.11 runs on Debian 12, and a wheel for 3.12 and later (abi3) on Debian 13. If root, debootstrap or
# the network is missing, the exit status is 77: skipped. The script leaves no files.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../support/debian_root.sh"
[ $# = 1 ] || { sed -n '2,/^set/{/^#/p}' "$0" | cut -c3-; exit 2; }
wheel=$(readlink -f "$1")
examples=$here/../../examples/python
case $wheel in
  *-cp311-*) suite=bookworm version=3.11 ;;
  *-abi3-*) suite=trixie version=3.13 ;;
  *) skip "no release of Debian has the Python of ${wheel##*/}" ;;
esac

make_debian "$suite" python3,python3-venv
mkdir "$root/wheels" "$root/examples"
cp "$wheel" "$root/wheels/"
cp "$examples"/{numpy_ring,numpy_halo,share_array}.py "$root/examples/"
# Downloads on this system, where the package index is known. The new system has neither its settings nor its
# certificates.
"${PYTHON:-python3}" -m pip download -q --disable-pip-version-check --only-binary :all: --python-version "$version" -d "$root/wheels" numpy ||
  skip "pip can't download NumPy here"

for compiler in cc gcc g++ clang nvcc cmake ninja; do
  if inside sh -c "command -v $compiler" >/dev/null; then echo "there is a compiler: $compiler"; exit 1; fi
done
inside python3 -m venv /env
inside pip install -q --disable-pip-version-check --no-index --find-links /wheels pgas
inside python -c 'import pgas; pgas.show_versions()'
inside pgas-info >/dev/null
inside pgas-doctor --quick
for program in numpy_ring numpy_halo; do
  echo "== pgasrun -n 4 python $program.py"
  inside timeout 60 pgasrun -n 4 python "/examples/$program.py"
done
echo "== python share_array.py"
inside timeout 60 python /examples/share_array.py
echo "passed on $suite, $SECONDS s, $made s of them for debootstrap: $(inside python --version)"
