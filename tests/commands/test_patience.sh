#!/usr/bin/env bash
# OSLA_PATIENCE: a job whose ranks wait for a rank that never answers ends within that time, with
# one line that names the waiting rank, the other rank, and the call; on one node and on two fake
# ones.
set -u
: "${SRCDIR:?}" "${BUILDDIR:?}" "${MPIEXEC:?}" "${OSLA:?}"
. "$SRCDIR/tests/modes.sh"
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failed=0
fail() { echo "test_patience: $label: $*"; head -n 20 "$scratch/err"; failed=1; }
export OSLA_PATIENCE=2

# ended SECONDS LINE: checks that the job ended in time, with an error and one line of OSLA
ended() {
  [ $status != 0 ] && [ $status != 124 ] || fail "exit status $status"
  [ $seconds -le "$1" ] || fail "took $seconds s"
  [ "$(grep -c '^osla\[' "$scratch/err")" = 1 ] || fail "not one line"
  grep -qE "$2" "$scratch/err" || fail "no line '$2'"
  # the program's last function ran once, on the rank that the line names
  [ "$(grep -c '^last act of rank' "$scratch/err")" = 1 ] &&
    grep -qx "last act of rank $(sed -nE 's/^osla\[([0-9]+)\].*/\1/p' "$scratch/err")" "$scratch/err" || fail "no last act, or another rank's"
}

for mode in node fake2; do
  label=$mode
  SECONDS=0
  timeout "$JOB_LIMIT" env $(in_mode $mode 4) "$MPIEXEC" -n 4 "$BUILDDIR/tests/commands/never_notified" \
    >"$scratch/out" 2>"$scratch/err" </dev/null
  status=$? seconds=$SECONDS
  ended 15 '^osla\[[0-2]\]: nothing came from rank 3 \(node [01]\) for 2 s in a test, step 7 \(OSLA_PATIENCE=2\); ending all ranks$'
done

# A rank of three nodes that forwards panels in a ring stops, or is killed, during a factorisation.
pids() { # prints the process ids of the ranks of the background job
  local pid
  for pid in $(pgrep -f "$scratch/lu.json"); do
    [ "$(readlink "/proc/$pid/exe")" != "$BUILDDIR/bench/osla-bench" ] || echo "$pid"
  done
}
for signal in STOP KILL; do
  label="a forwarder that gets $signal"
  rm -f "$scratch/lu.json"
  timeout "$JOB_LIMIT" env $(in_mode nolocal 3) "$MPIEXEC" -n 3 "$BUILDDIR/bench/osla-bench" lu --n 600 --nb 32 --grid 1x3 \
    --forward ring --ref none --reps 100000 --json "$scratch/lu.json" >"$scratch/out" 2>"$scratch/err" </dev/null &
  job=$!
  for _ in $(seq 100); do
    ranks=($(pids))
    [ ${#ranks[@]} = 3 ] && break
    sleep 0.1
  done
  [ ${#ranks[@]} = 3 ] || fail "no three ranks: ${ranks[*]}"
  sleep 1.5
  SECONDS=0
  kill -$signal "${ranks[1]}"
  wait $job
  status=$? seconds=$SECONDS
  [ $status != 0 ] && [ $status != 124 ] && [ $seconds -le 20 ] || fail "exit status $status after $seconds s"
  lines=$(grep -c '^osla\[' "$scratch/err")
  if [ $signal = STOP ]; then
    [ "$lines" = 1 ] && grep -qE '^osla\[[0-2]\]: nothing came (from rank [0-2] .*)?for 2 s in osla_getrf, step [0-9]+ ' "$scratch/err" ||
      fail "$lines lines of ours"
  else
    [ "$lines" -le 1 ] || fail "$lines lines of ours"
  fi
  [ -z "$(pids)" ] || fail "ranks go on: $(pids)"
done

label="a rank that ends the job"
SECONDS=0
OSLA_PATIENCE=30 timeout "$JOB_LIMIT" "$MPIEXEC" -n 4 "$BUILDDIR/tests/commands/never_notified" end \
  >"$scratch/out" 2>"$scratch/err" </dev/null
status=$? seconds=$SECONDS
ended 10 '^osla\[0\]: .*: a test; ending all ranks$'

label="a thread in a collective call, others that flush"
SECONDS=0
timeout "$JOB_LIMIT" "$MPIEXEC" -n 1 "$BUILDDIR/tests/commands/never_notified" create >"$scratch/out" 2>"$scratch/err" </dev/null
status=$? seconds=$SECONDS
ended 10 '^osla\[0\]: nothing came for 2 s, waiting in MPI_Win_create \(OSLA_PATIENCE=2\); ending all ranks$'
exit $failed
