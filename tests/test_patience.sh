#!/usr/bin/env bash
# OSLA_PATIENCE: a job whose ranks wait for one that never answers ends in that time, with one line
# that names who waits, for whom, and where; on one node and on two fake ones.
set -u
: "${SRCDIR:?}" "${BUILDDIR:?}" "${MPIEXEC:?}" "${OSLA:?}"
. "$SRCDIR/tests/modes.sh"
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failed=0
fail() { echo "test_patience: $label: $*"; head -n 20 "$scratch/err"; failed=1; }
export OSLA_PATIENCE=2

# ended SECONDS LINE: soon, with an error, and one line of ours
ended() {
  [ $status != 0 ] && [ $status != 124 ] || fail "exit status $status"
  [ $seconds -le "$1" ] || fail "took $seconds s"
  [ "$(grep -c '^osla\[' "$scratch/err")" = 1 ] || fail "not one line"
  grep -qE "$2" "$scratch/err" || fail "no line '$2'"
}

for mode in node fake2; do
  label=$mode
  SECONDS=0
  timeout 60 env $(in_mode $mode 4) "$MPIEXEC" -n 4 "$BUILDDIR/tests/never_notified" \
    >"$scratch/out" 2>"$scratch/err" </dev/null
  status=$? seconds=$SECONDS
  ended 15 '^osla\[[0-2]\]: nothing came from rank 3 \(node [01]\) for 2 s in a test, step 7 \(OSLA_PATIENCE=2\); ending all ranks$'
done

label="a rank that ends the job"
SECONDS=0
OSLA_PATIENCE=30 timeout 60 "$MPIEXEC" -n 4 "$BUILDDIR/tests/never_notified" end \
  >"$scratch/out" 2>"$scratch/err" </dev/null
status=$? seconds=$SECONDS
ended 10 '^osla\[0\]: .*: a test; ending all ranks$'
exit $failed
