#!/bin/bash
# Runs the benchmarks of the release build and compares them with benchmarks/baseline.json; with
# --write, makes them the baseline. With names (operation module ..) only these programs, which cannot
# be the baseline. Takes some minutes on a machine that does nothing else.
set -euo pipefail
cd "$(dirname "$0")/.."

write=
if [ "${1:-}" = --write ]; then
  write=--write
  shift
fi
names=("$@")
if [ $# -eq 0 ]; then
  names=(start parse operation simplify module fusion utilization coalescing tiling)
elif [ -n "$write" ]; then
  echo "$0: --write takes no names: the baseline has every row" >&2
  exit 2
fi

cmake --preset release >/dev/null
cmake --build --preset release --target print-indexing "${names[@]/%/_benchmark}"
mkdir -p build/runs
runs=()
for name in "${names[@]}"; do
  "build/release/bin/${name}_benchmark" --benchmark_min_time=0.1 --benchmark_repetitions=3 \
    --benchmark_out="build/runs/$name.json" --benchmark_out_format=json 2>/dev/null |
    sed -n 's/_median/       /p'
  runs+=("build/runs/$name.json")
done
benchmarks/compare.py ${write:+"$write"} benchmarks/baseline.json "${runs[@]}"
