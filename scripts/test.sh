#!/bin/bash
# Builds and passes the tests, the same ones that CI runs: formatting; the release build and its tests; the
# tool built with MLIR 19; half a minute of each fuzzer; the tests under the address and undefined-behaviour
# sanitizers, with a twentieth of the random modules. Stops at the first failure.
#
# XLA_INDEXING_FUZZ_SECONDS is the time for each fuzzer, 30 by default.
set -euo pipefail
cd "$(dirname "$0")/.."

step() { printf '\n== %s (%d s so far)\n' "$*" "$SECONDS"; }

scripts/setup.sh test

step "formatting"
scripts/format.sh --check

step "release: build"
cmake --preset release
cmake --build --preset release

step "release: tests"
ctest --preset release -j "$(nproc)"

if [ -z "${XLA_INDEXING_LLVM_MAJOR:-}" ]; then
  step "MLIR 19"
  scripts/test_mlir19.sh
fi

# One build by clang serves both.
step "sanitizers and fuzzers: build"
scripts/fuzz.sh --build-all

step "fuzzers"
scripts/fuzz.sh "${XLA_INDEXING_FUZZ_SECONDS:-30}"

step "sanitizers: tests"
ctest --preset fuzz -j "$(nproc)" --label-exclude '^(package|docs)$'
