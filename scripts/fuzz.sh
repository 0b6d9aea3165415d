#!/bin/bash
# Builds the fuzzers and runs each for the given number of seconds (30 by default), or only those named:
#   ./scripts/fuzz.sh 600 hlo_parser_fuzz
# A fuzzer NAME starts from tests/fuzz/corpus/NAME/, with the words of tests/fuzz/NAME.dict, and keeps
# what it finds in build/fuzz/corpus/NAME/. An input that fails is left in build/fuzz/ and named.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-30}
shift || true

compiler=clang++-${XLA_INDEXING_LLVM_MAJOR:-22}
cmake --preset fuzz -DCMAKE_CXX_COMPILER="$compiler" >/dev/null
cmake --build --preset fuzz --target fuzzers

[ $# -gt 0 ] || set -- $(cd tests/fuzz && ls -- *_fuzz.cc | sed 's/\.cc$//')
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
