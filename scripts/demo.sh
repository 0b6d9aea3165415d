#!/bin/bash
# Builds print-indexing and runs it on an example: the one named, or examples/softmax.hlo. Further
# arguments go to the program, as in `./scripts/demo.sh --direction=both examples/softmax.hlo`.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh build
cmake --preset release -DXLA_INDEXING_BUILD_TESTS=OFF -DXLA_INDEXING_BUILD_BENCHMARKS=OFF >/dev/null
cmake --build --preset release --target print-indexing

[ $# -gt 0 ] || set -- examples/softmax.hlo
echo
echo "$ build/release/bin/print-indexing $*"
build/release/bin/print-indexing "$@"
