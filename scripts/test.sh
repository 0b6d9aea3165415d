#!/bin/bash
# Builds and passes the tests, the same ones that CI runs: formatting; the release build and its tests, those of
# the Python package and of the report's page in the virtual environment build/python-env; the tool built with
# MLIR 19; 20 seconds of each fuzzer; the tests under the address and undefined-behaviour sanitizers, with a
# twentieth of the random modules. Stops at the first failure.
#
# XLA_INDEXING_FUZZ_SECONDS is the time for each fuzzer, 20 by default.
set -euo pipefail
cd "$(dirname "$0")/.."

step() { printf '\n== %s (%d s so far)\n' "$*" "$SECONDS"; }

scripts/setup.sh test

step "formatting"
scripts/format.sh --check

step "Python: the packages of the tests"
if [ ! -x build/python-env/bin/python ]; then
  python3 -m venv build/python-env
fi
build/python-env/bin/python -m pip install --quiet --disable-pip-version-check -r python/requirements-test.txt

step "release: build"
python=$PWD/build/python-env/bin/python
cmake --preset release -DXLA_INDEXING_BUILD_PYTHON=ON -DPython_EXECUTABLE="$python" \
  -DXLA_INDEXING_PAGE_PYTHON="$python"
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
scripts/fuzz.sh "${XLA_INDEXING_FUZZ_SECONDS:-20}"

step "sanitizers: tests"
ctest --preset fuzz -j "$(nproc)" --label-exclude '^(package|docs)$'
