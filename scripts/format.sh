#!/bin/bash
# Formats every C++ file of the project with clang-format 22 (versions differ in what they do); with
# --check, changes nothing and fails if a file is not formatted.
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in
  "") action=(-i) ;;
  --check) action=(--dry-run -Werror) ;;
  *)
    echo "usage: $0 [--check]" >&2
    exit 2
    ;;
esac
if ! command -v clang-format-22 >/dev/null; then
  echo "format: skipped, there is no clang-format-22 here"
  exit 0
fi
# Also files that are not added yet; not those that are deleted and still listed.
git ls-files -z --cached --others --exclude-standard '*.cc' '*.h' | sort -zu | while IFS= read -r -d '' file; do
  if [ -e "$file" ]; then printf '%s\0' "$file"; fi
done | xargs -0 --no-run-if-empty clang-format-22 "${action[@]}"
echo "format: ok"
