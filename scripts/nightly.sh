#!/bin/bash
# What takes longer than a change can wait for, about an hour and a half on two cores: all random cases; all programs
# under the sanitizers that parse, own memory, keep answers or use threads; five minutes of each fuzzer; a wheel. Needs what
# scripts/ci.sh has set up. Stops at the first failure; says what each step took.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/steps.sh
source scripts/steps.sh

sanitized_build() {
  scripts/fuzz.sh --configure && cmake --build --preset fuzz
}

jobs=$(nproc)
step "configure" configure
step "build" cmake --build --preset check
step "tests" env XLA_INDEXING_EFFORT=full ctest --preset check -j "$jobs" --label-exclude '^ci$'
step "sanitizers: build" sanitized_build
step "sanitizers: tests" ctest --preset fuzz -j "$jobs" --label-exclude '^(ci|layers)$'
step "fuzzers" scripts/fuzz.sh 300
step "wheel" scripts/wheel.sh
