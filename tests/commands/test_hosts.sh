#!/usr/bin/env bash
# The commands on separate hosts joined by real sockets: an inversion ends with the result of one
# host, also over a slow line; a kernel of the bench is correct; forwarding pays, and so do
# asynchronous sweeps.
set -u
: "${SRCDIR:?}" "${BUILDDIR:?}" "${OSLA:?}"
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failed=0
fail() { echo "test_hosts: $*"; tail -n 20 "$scratch/log"; failed=1; }

# on OPTIONS COMMAND...: runs it by tests/hosts with OPTIONS
on() {
  timeout "$JOB_LIMIT" "$SRCDIR/tests/hosts" -b "$BUILDDIR" "$@" >"$scratch/log" 2>&1 </dev/null
  status=$?
  [ $status = 77 ] && { tail -n 1 "$scratch/log"; exit 77; }
  [ $status = 0 ] || fail "$*: exit status $status"
}
invert=("$OSLA" invert --stations "$SRCDIR/data/sample_stations.csv"
  --events "$SRCDIR/data/sample_events.csv" --mesh 6 --max-paths 300)

OSLA_EXPECT_NODES=2 on -n 4 2 "${invert[@]}" --output "$scratch/m4.h5" --json "$scratch/m4.json"
grep -q '"nodes": 2' "$scratch/m4.json" || fail "not on two nodes"
OSLA_EXPECT_NODES=3 on -n 3 3 "${invert[@]}" --output "$scratch/m3.h5"
OSLA_EXPECT_NODES=2 on -n 4 2 "${invert[@]}" --solver lsqr --tolerance 1e-12 --output "$scratch/lsqr.h5"
"$BUILDDIR/apps/tomography/tests/result_diff" "$scratch/m4.h5" "$scratch/lsqr.h5" 1e-6 || fail "LSQR: another model"
slow="netem delay 1ms rate 100mbit" # not in every kernel
"$SRCDIR/tests/hosts" -b "$BUILDDIR" -q "$slow" 2 true >/dev/null 2>&1 ||
  slow="tbf rate 100mbit burst 32kbit latency 50ms"
OSLA_EXPECT_NODES=2 on -n 2 -q "$slow" 2 "${invert[@]}" --output "$scratch/m2.h5"
OSLA_EXPECT_NODES=2 on -n 4 2 "$BUILDDIR/bench/osla-bench" gemm --n 500 --reps 2
grep -q PASS "$scratch/log" || fail "no verdict of the bench"
# Four hosts at 1 Gbit/s: a forwarded panel arrives twice as fast as a panel that its root sends to
# all.
if "$SRCDIR/tests/hosts" -b "$BUILDDIR" -q "tbf rate 1gbit burst 256kb latency 50ms" 2 true >/dev/null 2>&1; then
  OSLA_TEST_LINE=slow on -n 4 -q "tbf rate 1gbit burst 256kb latency 50ms" 4 "$BUILDDIR/tests/kernels/test_forward"
fi
# A line with a delay of 1 ms: asynchronous sweeps continue without waiting (50^3 points a rank: 6.9
# times as fast as in lock-step), and save at least half of the delay in each of 100 sweeps. The
# sweeps are short, also with sanitizers: long sweeps hide the delay in lock-step.
if "$SRCDIR/tests/hosts" -b "$BUILDDIR" -d 1000 2 true >/dev/null 2>&1; then
  on -n 2 -d 1000 2 "$BUILDDIR/bench/osla-bench" jacobi --points 20 --sweeps 100 --mode async --ref sync \
    --reps 3 --json "$scratch/jacobi.json"
  awk '{ match($0, /"seconds_min":[0-9.e-]+/); least = substr($0, RSTART + 14, RLENGTH - 14) + 0 }
    /"impl":"osla"/ { ours = least } /"impl":"sync"/ { lockstep = least }
    END { exit !(ours > 0 && lockstep - ours >= 0.05) }' "$scratch/jacobi.json" ||
    fail "asynchronous sweeps over a slow line: $(cat "$scratch/jacobi.json")"
fi
exit $failed
