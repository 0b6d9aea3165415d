#!/bin/bash
# What CI runs, in about 25 minutes on two cores: everything that is in scripts/test.sh, with a third of the random cases and
# the whole corpora, and also the tests with JAX, the commands of the documentation, the installed package, each public
# header alone, the benchmarks and the page of reports in a browser; the library with MLIR 19; and under the sanitizers what
# reads the text and messages of strangers, with 20 seconds of each of its fuzzers. Stops at the first failure; says what
# each step took. scripts/nightly.sh has the rest.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/steps.sh
source scripts/steps.sh

jobs=$(nproc)
fuzzers=(hlo_parser_fuzz map_parser_fuzz proto_fuzz stablehlo_fuzz)

sanitized_build() {
  scripts/fuzz.sh --configure &&
    cmake --build --preset fuzz --target base_test hlo_test stablehlo_test fusion_test "${fuzzers[@]}"
}

step "packages" scripts/setup.sh ci
step "Python environment" scripts/python_env.sh python/requirements-basic.txt python/requirements-test.txt
step "formatting" formatting
step "configure" configure -DXLA_INDEXING_BUILD_BENCHMARKS=ON -DCMAKE_VERIFY_INTERFACE_HEADER_SETS=ON
step "build" cmake --build --preset check
step "tests" env XLA_INDEXING_EFFORT=third ctest --preset check -j "$jobs"
if [ -z "${XLA_INDEXING_LLVM_MAJOR:-}" ]; then
  step "MLIR 19" scripts/test_mlir19.sh
fi
step "sanitizers: build" sanitized_build
step "sanitizers: tests" ctest --preset fuzz -j "$jobs" -L '^(base|hlo|stablehlo|fusion)$'
step "fuzzers" scripts/fuzz.sh 20 "${fuzzers[@]}"
