#!/bin/bash
# Installs the Debian packages that building (`setup.sh build`), building and testing (`setup.sh test`) or all that CI
# does (`setup.sh ci`) needs and that are not installed yet, as root or through sudo. Says what it does;
# asks the package system only, and takes no time, where there is nothing to do. BUILD.md says what
# each package is for.
#
# XLA_INDEXING_LLVM_MAJOR chooses the major version of LLVM and MLIR. Without it: 22, or 19 where
# Debian's archive on this machine has no MLIR 22.
#
# shellcheck disable=SC2046,SC2086  # Lists of packages are words.
set -euo pipefail

kind=${1:-build}
case "$kind" in
  build | test | ci) ;;
  *)
    echo "usage: $0 [build|test|ci]" >&2
    exit 2
    ;;
esac

# missing PACKAGE...: those that are not installed, one a line.
missing() {
  local package
  for package in "$@"; do
    if ! dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed; then
      echo "$package"
    fi
  done
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    echo "setup: this takes root, and there is no sudo; run as root: $0 $kind" >&2
    exit 1
  fi
}

# packages MAJOR: what this kind of set-up needs with that version of LLVM.
packages() {
  echo g++ cmake ninja-build libabsl-dev zlib1g-dev libzstd-dev python3-dev python3-venv
  echo "libmlir-$1-dev mlir-$1-tools llvm-$1-dev"
  if [ "$kind" != build ]; then
    echo libgtest-dev libgmock-dev libisl-dev "llvm-$1-tools"
    # Versions format differently, and the project is formatted by this one.
    if [ "$1" = 22 ]; then echo clang-format-22; fi
  fi
  if [ "$kind" = ci ]; then
    echo libbenchmark-dev "clang-$1 libclang-rt-$1-dev"
    # The page of reports is tested in a browser.
    echo chromium
  fi
}

major=${XLA_INDEXING_LLVM_MAJOR:-}
if [ -z "$major" ]; then
  major=22
  if [ -z "$(missing libmlir-19-dev)" ] && [ -n "$(missing libmlir-22-dev)" ]; then
    major=19
  fi
fi
wanted=$(missing $(packages "$major"))
if [ -z "$wanted" ]; then
  echo "setup: every Debian package that is needed is installed (LLVM $major)"
  exit 0
fi

echo "setup: reading the package lists (apt-get update)"
as_root apt-get update -qq
if [ -z "${XLA_INDEXING_LLVM_MAJOR:-}" ] && [ "$major" = 22 ] &&
  ! apt-cache show libmlir-22-dev >/dev/null 2>&1; then
  echo "setup: no MLIR 22 in the package archive, taking MLIR 19"
  major=19
  wanted=$(missing $(packages "$major"))
fi
echo setup: installing $wanted
as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o Dpkg::Use-Pty=0 \
  --no-install-recommends $wanted
echo "setup: done"
