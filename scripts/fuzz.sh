#!/bin/bash
# Builds the fuzzers and runs each for the given number of seconds (30 by default), or only those named:
#   ./scripts/fuzz.sh 600 hlo_parser_fuzz
# A fuzzer NAME starts from tests/fuzz/corpus/NAME/, with the words of tests/fuzz/NAME.dict, and keeps
# what it finds in build/fuzz/corpus/NAME/. An input that fails is left in build/fuzz/ and named.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-30}
shift || true

for major in ${XLA_INDEXING_LLVM_MAJOR:-22 19}; do
  if command -v "clang++-$major" >/dev/null; then
    break
  fi
done
cmake --preset fuzz -DCMAKE_CXX_COMPILER="clang++-$major" >/dev/null
cmake --build --preset fuzz --target fuzzers

if [ $# -eq 0 ]; then
  for source in tests/fuzz/*_fuzz.cc; do
    set -- "$@" "$(basename "$source" .cc)"
  done
fi
for name in "$@"; do
  echo "fuzz: $name, $seconds s"
  found=build/fuzz/corpus/$name
  log=build/fuzz/$name.log
  mkdir -p "$found"
  arguments=("$found")
  [ ! -d "tests/fuzz/corpus/$name" ] || arguments+=("tests/fuzz/corpus/$name")
  [ ! -f "tests/fuzz/$name.dict" ] || arguments+=("-dict=tests/fuzz/$name.dict")
  if ! "build/fuzz/bin/$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2560 \
    -artifact_prefix="build/fuzz/$name-" -print_final_stats=1 "${arguments[@]}" >"$log" 2>&1; then
    tail -n 60 "$log"
    echo "fuzz: $name failed"
    exit 1
  fi
  grep -E 'stat::number_of_executed_units' "$log"
done
