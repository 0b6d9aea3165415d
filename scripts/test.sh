#!/bin/bash
# Builds the library, print-indexing and the tests, and passes the tests that matter to someone who has just cloned:
# formatting, every test of behaviour on a tenth of the random cases and on a fixed list of corpus files, and the Python
# package's own tests without JAX. At most 15 minutes on a bare Debian 12 machine with two cores, packages included, and
# less than three when there is nothing to build. Stops at the first failure; says what each step took. scripts/ci.sh has
# more.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/steps.sh
source scripts/steps.sh

step "packages" scripts/setup.sh test
step "Python environment" scripts/python_env.sh python/requirements-basic.txt
step "formatting" formatting
step "configure" configure
step "build" cmake --build --preset check
step "tests" ctest --preset check -j "$(nproc)" --label-exclude '^(full|ci)$'
