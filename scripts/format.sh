#!/bin/bash
# Formats every C++ file of the project with clang-format; with --check, changes nothing and fails if a
# file is not formatted.
set -euo pipefail
cd "$(dirname "$0")/.."

for candidate in clang-format-22 clang-format-19 clang-format; do
  if command -v "$candidate" >/dev/null; then
    formatter=$candidate
    break
  fi
done
if [ -z "${formatter:-}" ]; then
  echo "format: clang-format is not installed" >&2
  exit 1
fi

if [ "${1:-}" = --check ]; then
  action=(--dry-run -Werror)
else
  action=(-i)
fi
git ls-files -z '*.cc' '*.h' | xargs -0 --no-run-if-empty "$formatter" "${action[@]}"
echo "format: ok"
