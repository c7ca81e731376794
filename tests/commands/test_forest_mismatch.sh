#!/usr/bin/env bash
# Ranks that begin different transfers of a star forest: the job ends with a line that names both
# transfers, in place, through rings, and between nodes; no rank reads outside of valid data. The
# job also ends if one rank lacks memory, because the others would wait for it. Values that are
# overwritten while neighbours may still read them are detected with OSLA_VERIFY.
set -u
: "${MPIEXEC:?}" "${SRCDIR:?}" "${BUILDDIR:?}"
. "$BUILDDIR/tests/config.env"
. "$SRCDIR/tests/modes.sh"
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failed=0
fail() { echo "test_forest_mismatch: $*"; head -n 20 "$scratch/err"; failed=1; }

# ends KIND MODE PLACE: checks that the job ends by itself, on all ranks
ends() {
  label="$1 ($2, $3)"
  timeout "$JOB_LIMIT" env $(in_mode "$2" 2) "$MPIEXEC" -n 2 "$BUILDDIR/tests/commands/forest_mismatch" "$1" "$3" \
    >"$scratch/out" 2>"$scratch/err" </dev/null
  status=$?
  [ $status = 0 ] && fail "$label: exit status 0"
  [ $status = 124 ] && fail "$label: does not end"
  grep -q "goes on" "$scratch/err" && fail "$label: a rank goes on"
}

while IFS='|' read -r kind one other; do
  for place in "node shared" "node plain" "nolocal plain"; do
    ends "$kind" $place
    begins='^osla\[[01]\]: [a-z ]+: ranks begin different transfers of a forest: on rank'
    # after more than eight transfers the first is no longer known
    number=2
    [ $kind = again ] && number='[0-9]+'
    here="transfer $number is a ($one|$other) [a-z0-9]+"
    grep -qE "$begins [01] $here, on rank [01] transfer $number is a ($one|$other) [a-z0-9]+; ending all ranks\$" "$scratch/err" ||
      fail "$label: not the line"
  done
done <<'LIST'
kind|broadcast, SUM, of 1|reduction, SUM, of 1
combine|reduction, SUM, of 1|reduction, MAX, of 1
type|broadcast, REPLACE, of 1|broadcast, REPLACE, of 1
count|broadcast, REPLACE, of 1|broadcast, REPLACE, of 2
order|broadcast, REPLACE, of 2|reduction, SUM, of 2
thin|broadcast, SUM, of 1|reduction, SUM, of 1
apart|broadcast, SUM, of 1|reduction, SUM, of 1
again|broadcast, SUM, of 1|reduction, SUM, of 1
LIST

for mode in node nolocal; do
  [ "$SANITIZERS" = no ] || break # their allocator ends the program itself
  ends memory $mode plain
  grep -qE '^osla\[1\]: .*values of 200 edges to gather.*; ending all ranks$' "$scratch/err" || fail "$label: not the line"
done
export OSLA_VERIFY=on
for kind in writable begin destroy; do
  ends $kind node shared
  line='^osla\[1\]: .*forest 1: rank 1 has overwritten its roots between osla_forest_end_read and osla_forest_writable, .*'
  grep -qE "${line}transfer 2 is a broadcast, REPLACE, of 1 double; ending all ranks\$" "$scratch/err" || fail "$label: not the line"
done
# goes_on: correct programs are not ended: values written in time, not read in place, or not
# verified
goes_on() { # KIND PLACE VERIFY
  timeout "$JOB_LIMIT" env $(in_mode node 2) OSLA_VERIFY="$3" "$MPIEXEC" -n 2 "$BUILDDIR/tests/commands/forest_mismatch" "$1" "$2" \
    >"$scratch/out" 2>"$scratch/err" </dev/null
  if ! grep -q "goes on" "$scratch/err" || grep -q "ending all" "$scratch/err"; then fail "$1 ($2, $3): ended"; fi
}
goes_on kept shared on
goes_on writable plain on
goes_on writable shared off
exit $failed
