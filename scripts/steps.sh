# Read by test.sh, ci.sh and nightly.sh: steps with names, and a table of what each took, which is printed when the script
# ends, also after a failure. `step NAME COMMAND..` runs a command.
# shellcheck shell=bash

mkdir -p build
steps=$PWD/build/steps.txt
: >"$steps"
trap print_steps EXIT

step() {
  local name=$1 start=$SECONDS result=0
  shift
  printf '\n== %s\n' "$name"
  "$@" || result=$?
  printf '%d\t%s%s\n' $((SECONDS - start)) "$name" "$([ "$result" = 0 ] || echo ' (failed)')" >>"$steps"
  return "$result"
}

print_steps() {
  awk -F '\t' '{ seconds[NR] = $1; name[NR] = $2; sum += $1 }
    END {
      print "\n  seconds  share  step"
      for (i = 1; i <= NR; ++i) printf "%9d  %4.0f%%  %s\n", seconds[i], sum ? 100 * seconds[i] / sum : 0, name[i]
      printf "%9d  %4.0f%%  all steps\n", sum, 100
    }' "$steps"
}

# Steps of several scripts.
formatting() {
  scripts/format.sh --check && build/python-env/bin/ruff check --quiet
}

# Configures the preset `check` with the Python package, and the given options.
configure() {
  local python=$PWD/build/python-env/bin/python
  cmake --preset check -DXLA_INDEXING_BUILD_PYTHON=ON -DPython_EXECUTABLE="$python" -DXLA_INDEXING_PAGE_PYTHON="$python" \
    "$@" >build/configure.log || { cat build/configure.log; return 1; }
}
