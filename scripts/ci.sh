#!/bin/bash
# What scripts/test.sh leaves out, with the programs that it has built: all random cases and whole corpora; Python with
# JAX, types, the page of reports in a browser; the installed package, every public header alone, the commands in the
# documentation, every benchmark for a moment; the library with MLIR 19; under the sanitizers, the programs that parse, own
# memory, keep answers or use threads, and 20 seconds of each fuzzer. Stops at the first failure; says what each step took.
#
# XLA_INDEXING_FUZZ_SECONDS is the time for each fuzzer, 20 by default.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/steps.sh
source scripts/steps.sh

configure() {
  local python=$PWD/build/python-env/bin/python
  cmake --preset check -DXLA_INDEXING_BUILD_PYTHON=ON -DPython_EXECUTABLE="$python" -DXLA_INDEXING_PAGE_PYTHON="$python" \
    -DXLA_INDEXING_BUILD_BENCHMARKS=ON -DCMAKE_VERIFY_INTERFACE_HEADER_SETS=ON >build/configure.log ||
    { cat build/configure.log; return 1; }
}

jobs=$(nproc)
step "CI: packages" scripts/setup.sh ci
step "CI: Python environment" scripts/python_env.sh python/requirements-basic.txt python/requirements-test.txt
step "CI: configure" configure
step "CI: build of benchmarks and the rest" cmake --build --preset check
step "full tests" env XLA_INDEXING_EFFORT=full ctest --preset check -j "$jobs" --label-exclude '^(ci|python|layers)$'
step "Python with JAX" ctest --preset check -j "$jobs" -L '^python$'
step "package, headers, documentation, benchmarks, page" ctest --preset check -j "$jobs" -L '^ci$' -LE '^python$'
if [ -z "${XLA_INDEXING_LLVM_MAJOR:-}" ]; then
  step "MLIR 19" scripts/test_mlir19.sh
fi
step "sanitizers: build" scripts/fuzz.sh --build-all
step "sanitizers: tests" ctest --preset fuzz -j "$jobs" --label-exclude '^(ci|layers)$'
step "fuzzers" scripts/fuzz.sh "${XLA_INDEXING_FUZZ_SECONDS:-20}"
