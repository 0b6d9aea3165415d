#!/bin/bash
# Builds the wheel of the Python package into build/wheel, for the Python named, python3 by default:
#   ./scripts/wheel.sh python3.12
# A wheel of Python 3.12 or later is for all of these; one of an earlier Python is for that one alone.
# auditwheel names the oldest glibc that it runs with, and refuses one that needs more of the system than a
# wheel may.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh build
python=${1:-python3}
directory=build/wheel/$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
if [ ! -x "$directory/env/bin/python" ]; then
  "$python" -m venv "$directory/env"
fi
"$directory/env/bin/python" -m pip install --quiet -r python/requirements-build.txt

rm -rf "$directory/raw"
"$directory/env/bin/python" -m build --wheel --no-isolation --outdir "$directory/raw" \
  -C build-dir="$directory/cmake"
PATH="$PWD/$directory/env/bin:$PATH" "$directory/env/bin/auditwheel" repair --wheel-dir build/wheel \
  "$directory"/raw/*.whl
ls -l build/wheel/*.whl
