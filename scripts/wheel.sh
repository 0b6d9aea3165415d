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

# What was made runs by itself, and computes if it has the component for that.
"$directory/env/bin/python" -m pip install --quiet numpy
"$directory/env/bin/python" -m pip install --quiet --no-index --no-deps --force-reinstall \
  --find-links build/wheel xla-indexing
(cd / && "$OLDPWD/$directory/env/bin/python" - <<'END'
import numpy as np
import xla_indexing as xi

module = xi.load("ENTRY e { p = f32[3] parameter(0)  ROOT s = f32[3] add(p, p) }")
assert len(module.entry.indexing()) == 1
print("lowering:", "yes" if xi.has_lowering() else "no")
if xi.has_lowering():
    assert module.entry.run(np.arange(3, dtype=np.float32)).tolist() == [0, 2, 4]
END
)
