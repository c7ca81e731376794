#!/usr/bin/env bash
# Dispatch of the osla command: help, version and bad input, alone and under mpiexec: the exit
# status, and that only one rank writes.
set -u
: "${OSLA:?}" "${MPIEXEC:?}" "${BUILDDIR:?}"
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failed=0
fail() { echo "test_command: $*"; cat "$scratch/out" "$scratch/err"; failed=1; }

# run RANKS ARGUMENT...: with 0 ranks without mpiexec
run() {
  local ranks=$1
  shift
  label="$* ($ranks ranks)"
  if [ "$ranks" = 0 ]; then
    timeout "$JOB_LIMIT" "$OSLA" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
  else
    timeout "$JOB_LIMIT" "$MPIEXEC" -n "$ranks" "$OSLA" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
  fi
  status=$?
}
out_lines() { [ "$(wc -l <"$scratch/out")" "$@" ]; }
err_lines() { [ "$(wc -l <"$scratch/err")" "$@" ]; }

# good PATTERN: checks status 0, the pattern once on stdout, nothing on stderr
good() {
  [ $status = 0 ] || fail "$label: exit status $status, not 0"
  [ "$(grep -c -- "$1" "$scratch/out")" = 1 ] || fail "$label: '$1' is not printed once"
  err_lines = 0 || fail "$label: something on stderr"
}

# bad LINE: checks status 2, exactly that line on stderr, nothing on stdout
bad() {
  [ $status = 2 ] || fail "$label: exit status $status, not 2"
  [ "$(cat "$scratch/err")" = "$1" ] || fail "$label: stderr is not '$1'"
  err_lines = 1 || fail "$label: not one line on stderr"
  out_lines = 0 || fail "$label: something on stdout"
}

for ranks in 0 3; do
  run $ranks --version
  good '^osla [0-9]'
  out_lines = 1 || fail "$label: more than the version"
  run $ranks help
  good '^  info '
  run $ranks --help
  good '^  info '
  run $ranks help info
  good '--json=FILE'
  run $ranks info --help
  good '--json=FILE'

  run $ranks
  bad "osla: no command (see osla help)"
  run $ranks frobnicate
  bad "osla: frobnicate: unknown command (see osla help)"
  run $ranks help frobnicate
  bad "osla: frobnicate: unknown command (see osla help)"
  run $ranks --frobnicate
  bad "osla: --frobnicate: unknown option (see osla help)"
  run $ranks info --frobnicate
  bad "osla info: --frobnicate: unknown option (see osla info --help)"
  run $ranks info -x
  bad "osla info: -x: unknown option (see osla info --help)"
  run $ranks info stray
  bad "osla info: 'stray' is not an option (see osla info --help)"
  run $ranks info --json
  bad "osla info: --json: needs a value"
  run $ranks info --limit=
  bad "osla info: --limit: needs a value"
  run $ranks info --limit ""
  bad "osla info: --limit: needs a value"
  run $ranks info --limit=ten
  bad "osla info: --limit: 'ten' is not a number"
  run $ranks info --limit ten
  bad "osla info: --limit: 'ten' is not a number"
  run $ranks info --limit -5
  bad "osla info: --limit: -5 is not a positive number of seconds"
  run $ranks info --limit 99999999999
  bad "osla info: --limit: '99999999999' is out of range"
done

# Ranks with different command lines get an error, and no rank waits for a call of another.
differ() { # EXPECTED PROGRAM LINE-OF-RANK-0 LINE-OF-RANK-1: lines are split into words
  label="$3 : $4"
  timeout "$JOB_LIMIT" "$MPIEXEC" -n 1 "$2" $3 : -n 1 "$2" $4 >"$scratch/out" 2>"$scratch/err" </dev/null
  status=$?
  bad "$1: all ranks need the same command line"
}
differ "osla info: '--limit 9' on rank 0, but '--limit 8' on rank 1" "$OSLA" "info --limit 9" "info --limit 8"
differ "osla info: 'info' on rank 0, but 'solve' on rank 1" "$OSLA" "info" "solve --limit 9"
differ "osla-bench: '--nb 32' on rank 0, but '--nb 64' on rank 1" "$BUILDDIR/bench/osla-bench" \
  "chol --n 100 --nb 32" "chol --n 100 --nb 64"
differ "osla-bench: '(nothing)' on rank 0, but '--grid' on rank 1" "$BUILDDIR/bench/osla-bench" \
  "chol --n 100" "chol --n 100 --grid 1x2"
exit $failed
