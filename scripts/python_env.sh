#!/bin/bash
# Makes the virtual environment build/python-env, or brings it up to the files of requirements that are named. Asks no
# package index if they have not changed since.
set -euo pipefail
cd "$(dirname "$0")/.."

python=build/python-env/bin/python
if [ ! -x "$python" ]; then
  python3 -m venv build/python-env
fi
for requirements in "$@"; do
  installed=build/python-env/$(basename "$requirements").installed
  if ! cmp -s "$requirements" "$installed"; then
    "$python" -m pip install --quiet --disable-pip-version-check -r "$requirements"
    cp "$requirements" "$installed"
  fi
done
