#!/usr/bin/env bash
# Executes the commands of packaging/Containerfile on a new Debian made by debootstrap, without a container runtime.
#
#   tests/packages/container_test.sh DIR     DIR: the context of the image, with the packages; needs root, debootstrap and
#                                            the network
set -euo pipefail
[ $# = 1 ] || { sed -n '2,/^set/{/^#/p}' "$0" | cut -c3-; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../support/debian_root.sh"
context=$(readlink -f "$1")
file=$here/../../packaging/Containerfile
suite=$(sed -n 's/^FROM debian:\([a-z]*\)-slim$/\1/p' "$file")
make_debian "$suite" ca-certificates
while read -r word rest; do
  case $word in
    COPY)
      mkdir -p "$root${rest##* }"
      # shellcheck disable=SC2086  # patterns of files
      (cd "$context" && cp ${rest% *} "$root${rest##* }")
      ;;
    RUN) echo "== $rest" && inside sh -c "$rest" ;;
    FROM | '#'* | '') ;;
    *) echo "this test knows no $word" && exit 1 ;;
  esac
done <"$file"
inside ldconfig -p | grep -E "libpgas|libucp|libpmix"
echo "passed: the commands of Containerfile, on $suite"
