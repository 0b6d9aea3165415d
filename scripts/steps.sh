# Read by test.sh and ci.sh: steps with names, and a table of what each took. `step NAME COMMAND..` runs a command;
# what ran stands, also after a failure, in the table that is printed when the script ends. A script that calls
# another passes XLA_INDEXING_STEPS on, the file that the steps are written to, and prints one table for both.
# shellcheck shell=bash

if [ -z "${XLA_INDEXING_STEPS:-}" ]; then
  mkdir -p build
  export XLA_INDEXING_STEPS=$PWD/build/steps.txt
  : >"$XLA_INDEXING_STEPS"
  trap print_steps EXIT
fi

step() {
  local name=$1 start=$SECONDS result=0
  shift
  printf '\n== %s\n' "$name"
  "$@" || result=$?
  printf '%d\t%s%s\n' $((SECONDS - start)) "$name" "$([ "$result" = 0 ] || echo ' (failed)')" >>"$XLA_INDEXING_STEPS"
  return "$result"
}

print_steps() {
  awk -F '\t' '{ seconds[NR] = $1; name[NR] = $2; sum += $1 }
    END {
      print "\n  seconds  share  step"
      for (i = 1; i <= NR; ++i) printf "%9d  %4.0f%%  %s\n", seconds[i], sum ? 100 * seconds[i] / sum : 0, name[i]
      printf "%9d  %4.0f%%  all steps\n", sum, 100
    }' "$XLA_INDEXING_STEPS"
}
