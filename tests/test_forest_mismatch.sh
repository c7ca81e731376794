#!/usr/bin/env bash
# Ranks that begin different transfers of a star forest: the job ends with a line that says what each
# began, in place, through rings, and between nodes; nobody reads past what is there.
set -u
: "${MPIEXEC:?}" "${SRCDIR:?}" "${BUILDDIR:?}"
. "$BUILDDIR/tests/config.env"
. "$SRCDIR/tests/modes.sh"
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failed=0
fail() { echo "test_forest_mismatch: $*"; head -n 20 "$scratch/err"; failed=1; }

while IFS='|' read -r kind one other; do
  for place in "node shared" "node plain" "nolocal plain"; do
    read -r mode memory <<<"$place"
    label="$kind ($mode, $memory)"
    timeout 30 env $(in_mode "$mode" 2) "$MPIEXEC" -n 2 "$BUILDDIR/tests/forest_mismatch" $kind $memory \
      >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
    [ $status = 0 ] && fail "$label: exit status 0"
    [ $status = 124 ] && fail "$label: does not end"
    begins='^osla\[[01]\]: [a-z ]+: ranks begin different transfers of a forest: on rank'
    # where more than eight have begun, the first is known no more
    number=2
    [ $kind = again ] && number='[0-9]+'
    here="transfer $number is a ($one|$other) [a-z0-9]+"
    grep -qE "$begins [01] $here, on rank [01] transfer 2 is a ($one|$other) [a-z0-9]+; ending all ranks\$" "$scratch/err" ||
      fail "$label: not the line"
    grep -q "goes on" "$scratch/err" && fail "$label: a rank goes on"
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
exit $failed
