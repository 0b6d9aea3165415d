#!/bin/bash
# Runs clang-tidy over the sources named, or over all of the library's, with the compile commands of the
# debug build (cmake --preset debug). Not part of test.sh: it takes a few seconds a file.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ ! -e build/debug/compile_commands.json ]; then
  cmake --preset debug >/dev/null
fi
if [ $# -eq 0 ]; then
  mapfile -t files < <(git ls-files 'xla_indexing/*.cc')
else
  files=("$@")
fi
printf '%s\0' "${files[@]}" |
  xargs -0 -n 4 -P "$(nproc)" "clang-tidy-${XLA_INDEXING_LLVM_MAJOR:-22}" --quiet -p build/debug \
    --extra-arg=-Wno-unknown-warning-option
