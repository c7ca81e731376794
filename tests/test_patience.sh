#!/usr/bin/env bash
# OSLA_PATIENCE: a job whose ranks wait for one that never answers ends in that time, with one line
# that names who waits, for whom, and where; on one node, on two fake ones, and between hosts whose
# line breaks.
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

# A factorisation on two hosts; their line goes down in its middle. Then all ranks end; mpiexec, which
# cannot know of those on the other host, may stay (MPICH 4.0.2), and is killed here.
broken() {
  PATIENCE_JOB=$$ "$MPIEXEC" -n 2 "$BUILDDIR/bench/osla-bench" chol --ref none --n 3000 --reps 1000 \
    >"$scratch/out" 2>"$scratch/err" &
  local job=$! left=2 rank
  for _ in $(seq 300); do # until both have computed for 2 s
    sleep 0.1
    ranks=$(for rank in $(pgrep -x osla-bench); do
      grep -qsz "^PATIENCE_JOB=$$\$" "/proc/$rank/environ" && echo "$rank"
    done)
    [ "$(for rank in $ranks; do awk '$14 > 200' "/proc/$rank/stat"; done 2>/dev/null | wc -l)" -ge 2 ] && break
  done
  $HOSTS_DOWN
  SECONDS=0
  while [ $SECONDS -lt 40 ] && [ "$left" -gt 0 ]; do
    sleep 0.2
    left=$(for rank in $ranks; do grep -qs osla-bench "/proc/$rank/comm" && echo; done | wc -l)
  done
  echo "$left $SECONDS" "$(echo $ranks | wc -w)" >"$scratch/end"
  kill $job 2>/dev/null
  true
}
export -f broken
export scratch
label="two hosts"
timeout 90 "$SRCDIR/tests/hosts" -b "$BUILDDIR" 2 bash -c broken >"$scratch/hosts" 2>&1
case $? in
  0) read -r left seconds ranks <"$scratch/end"
     status=1
     [ "$ranks" -ge 2 ] || fail "only $ranks ranks were seen"
     [ "$left" = 0 ] || fail "$left ranks are left"
     ended 15 '^osla\[[01]\]: nothing came .*for 2 s in osla_potrf, step [0-9]+.*; ending all ranks$' ;;
  77) echo "test_patience: without hosts: $(tail -n 1 "$scratch/hosts")" ;;
  *) cat "$scratch/hosts"; fail "tests/hosts failed" ;;
esac
exit $failed
