#!/bin/bash
# Compiles the library and print-indexing against MLIR 19 and passes the examples of the indexing document
# with it. The packages of MLIR 19 and of MLIR 22 displace each other, so those of 19 are unpacked into
# build/mlir19/packages and not installed. Needs what `setup.sh test` installs.
set -euo pipefail
cd "$(dirname "$0")/.."

build=build/mlir19
llvm=$PWD/$build/packages/usr/lib/llvm-19
packages=(libmlir-19-dev libmlir-19 mlir-19-tools llvm-19-dev llvm-19 llvm-19-tools llvm-19-linker-tools
  libllvm19 libclang-cpp19 libpolly-19-dev)

if [ ! -e "$build/unpacked" ]; then
  echo "mlir19: unpacking MLIR 19"
  rm -rf "$build/packages" "$build/archives"
  mkdir -p "$build/packages" "$build/archives"
  if ! apt-cache show libmlir-19-dev >/dev/null 2>&1; then
    if [ "$(id -u)" -eq 0 ]; then apt-get update -qq; else sudo apt-get update -qq; fi
  fi
  # apt's own user may not write here, which apt-get then says in a warning.
  (cd "$build/archives" && apt-get download -qq "${packages[@]}" 2> >(grep -v unsandboxed >&2))
  for archive in "$build"/archives/*.deb; do
    dpkg -x "$archive" "$build/packages"
  done
  rm -rf "$build/archives"
  touch "$build/unpacked"
fi

cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS=-O0 -DCMAKE_UNITY_BUILD=ON \
  -DXLA_INDEXING_PRECOMPILE_HEADERS=ON -DXLA_INDEXING_BUILD_TESTS=OFF -DXLA_INDEXING_LLVM_MAJOR=19 \
  -DMLIR_DIR="$llvm/lib/cmake/mlir" -DLLVM_DIR="$llvm/lib/cmake/llvm" >/dev/null
cmake --build "$build" --target print-indexing

# lit and FileCheck of any version of LLVM that is installed.
tools=$(dirname "$(compgen -G '/usr/lib/llvm-*/bin/lit' | sort -V | tail -n 1)")
"$tools/lit" -s --param print_indexing="$build/bin/print-indexing" --param tools="$tools" \
  --param output="$build/lit" tests/tools/document
echo "mlir19: the examples of the indexing document passed"
