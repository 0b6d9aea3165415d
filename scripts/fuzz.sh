#!/bin/bash
# Builds the fuzzers and runs each for the given number of seconds (30 by default), or only those named:
#   ./scripts/fuzz.sh 600 map_parser_fuzz
# Two run at a time. A fuzzer NAME starts from the files of tests/fuzz/corpus/NAME/, knows the words of
# tests/fuzz/NAME.dict, and keeps what it finds in build/fuzz/corpus/NAME/. module_fuzz starts from small files
# of HLO besides, those of this project and of the real ones in XLA_INDEXING_CORPUS (../shared/hlo, ../shared/jax
# by default), proto_fuzz from the messages in tests/hlo/protos/. An input that fails, takes 10 s, 2.5 GB, or 1 GB at once, is left in build/fuzz/ and named.
set -euo pipefail
cd "$(dirname "$0")/.."

for major in ${XLA_INDEXING_LLVM_MAJOR:-22 19}; do
  if command -v "clang++-$major" >/dev/null; then
    break
  fi
done
cmake --preset fuzz -DCMAKE_CXX_COMPILER="clang++-$major" >/dev/null
if [ "${1:-}" = --configure ]; then
  exit
fi

seconds=${1:-30}
shift || true
if [ $# -eq 0 ]; then
  for source in tests/fuzz/*_fuzz.cc; do
    set -- "$@" "$(basename "$source" .cc)"
  done
fi
cmake --build --preset fuzz --target "$@"

# A short run takes smaller seeds, so that most of its time is left for changing them.
make_seeds() {
  local blocks=8  # of 512 bytes
  [ "$seconds" -ge 120 ] || blocks=1
  local seeds=build/fuzz/seeds/module_fuzz directory
  rm -rf "$seeds"
  mkdir -p "$seeds"
  for directory in examples tests/tools/cases ${XLA_INDEXING_CORPUS:-../shared/hlo ../shared/jax}; do
    if [ ! -d "$directory" ]; then
      echo "fuzz: NO SEEDS of $directory, which is not there; set XLA_INDEXING_CORPUS" >&2
      continue
    fi
    # Each under the name of its path, for files of one name in several directories.
    find "$directory" -name '*.hlo' -size "-$((blocks + 1))b" | while read -r file; do
      cp "$file" "$seeds/$(echo "$file" | tr / _)"
    done
  done
}
case " $* " in *" module_fuzz "*) make_seeds ;; esac
case " $* " in
  *" proto_fuzz "*)
    mkdir -p build/fuzz/seeds/proto_fuzz
    cp tests/hlo/protos/*.pb build/fuzz/seeds/proto_fuzz/
    ;;
esac

run() {
  local seconds=$1 name=$2
  local log=build/fuzz/$name.log found=build/fuzz/corpus/$name
  local arguments=("$found") longest=4096
  [ "$name" != proto_fuzz ] || longest=8192
  mkdir -p "$found"
  for directory in "tests/fuzz/corpus/$name" "build/fuzz/seeds/$name"; do
    [ ! -d "$directory" ] || arguments+=("$directory")
  done
  [ ! -f "tests/fuzz/$name.dict" ] || arguments+=("-dict=tests/fuzz/$name.dict")
  # Leaks are looked for at the end, not after each input.
  if ! "build/fuzz/bin/$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2560 \
    -malloc_limit_mb=1024 -max_len="$longest" -detect_leaks=0 \
    -artifact_prefix="build/fuzz/$name-" -print_final_stats=1 "${arguments[@]}" >"$log" 2>&1; then
    tail -n 60 "$log"
    echo "fuzz: $name failed"
    return 1
  fi
  echo "fuzz: $name, $seconds s: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs"
}
export -f run

# shellcheck disable=SC2016  # The inner shell expands them.
printf '%s\n' "$@" | xargs -P 2 -I '{}' bash -c 'run "$1" "$2"' run "$seconds" '{}'
