#!/usr/bin/env bash
# --reproducible of `osla assemble` and `osla invert`: H, g and the ids have the same bits on 1 to 4
# ranks, on other grids, blocks, nodes and threads, killed and restarted or not; the model has them
# on the same grid. Without the option the same data give other bits. Bounds: found, given, from the
# checkpoint, and messages when they are too small.
set -u
: "${OSLA:?}" "${MPIEXEC:?}" "${SRCDIR:?}" "${BUILDDIR:?}"
. "$BUILDDIR/tests/config.env"
[ "$HAVE_HDF5" = yes ] || { echo "this build has no HDF5"; exit 77; }
check=$BUILDDIR/tests/commands/assemble_check
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failed=0
. "$SRCDIR/tests/modes.sh"
. "$SRCDIR/tests/commands/kill_help.sh"
fail() { echo "test_reproducible: $*"; tail -n 20 log; failed=1; }

# run RANKS MODE THREADS ARGUMENT...: THREADS is the number of BLAS threads
run() {
  local ranks=$1 mode=$2 env=(OPENBLAS_NUM_THREADS="$3")
  shift 3
  label="$* ($ranks ranks, $mode)"
  env+=($(in_mode "$mode" "$ranks"))
  timeout "$JOB_LIMIT" env "${env[@]}" "$MPIEXEC" -n "$ranks" "$OSLA" "$@" >log 2>&1 </dev/null
  status=$?
}
good() { [ $status = 0 ] || fail "$label: exit status $status"; }
same() { "$check" same "$@" >>log 2>&1 || fail "$label: other bits"; }
says() { grep -qE "$1" log || fail "$label: no line '$1'"; }
# bad PATTERN: checks that there is one line and exit status 2
bad() {
  [ $status = 2 ] || fail "$label: exit status $status, not 2"
  [ "$(wc -l <log)" = 1 ] || fail "$label: not one line"
  says "^osla [a-z]+: $1\$"
}
kept=(--checkpoint c.h5 --keep-checkpoint)
ledger=(H gradient ids) # data sets of a checkpoint

# killed_and_resumed COMMAND ARGUMENT...: killed twice, on 2 and 3 ranks, finished on 2. Starts anew
# when a job ends before it is killed, which happens on a busy machine.
killed_and_resumed() {
  local try
  for try in 1 2 3 4 5; do
    may_be_over=yes was_over=no before=0 size=0
    [ $try = 5 ] && may_be_over=no
    rm -f c.h5*
    start 2 node "$@" "${kept[@]}" --interval 0
    wait_for_checkpoint && wait_for_checkpoint && killed 1 && # the first one may be empty
      start 3 node "$@" "${kept[@]}" --interval 0 --nb 17 && wait_for_checkpoint && killed 0
    [ $was_over = yes ] || break
  done
  resumed 1
  rm -f c.h5.tmp*
  start 2 node "$@" "${kept[@]}"
  wait "$job" || fail "$label: exit status $?"
  resumed $((before + 1))
  says '^Bounds .*\(checkpoint\).*\(checkpoint\)$'
  same whole.h5 c.h5 "${ledger[@]}"
  rm -f c.h5*
}

# --- assemble: fractions of many magnitudes; panels and blocks ---
files=()
for kind in mixed_panels mixed_blocks panels blocks; do "$check" make "$kind" "$kind.h5" 90 || fail "$kind"; done
for i in $(seq 60); do files+=(mixed_panels.h5 mixed_blocks.h5); done
assemble=(assemble --n 90 --reproducible)
run 1 node 2 "${assemble[@]}" --output one.h5 "${kept[@]}" "${files[@]}"
good
says '^Bounds     of \|H\| [0-9.e+]+ \(first pass\), of \|g\| [0-9.e+]+ \(first pass\); the pass took .*'
mv c.h5 whole.h5
while read -r ranks mode options; do
  # shellcheck disable=SC2086 # the options are words
  run "$ranks" "$mode" 1 "${assemble[@]}" --output s.h5 "${kept[@]}" $options "${files[@]}"
  good
  same one.h5 s.h5 H g
  same whole.h5 c.h5 "${ledger[@]}"
  rm -f c.h5
done <<'LIST'
2 node --nb 7
3 node --grid 1x2 --nb 32
3 node --grid 3x1 --nb 16
4 fake2 --nb 8
LIST
killed_and_resumed "${assemble[@]}" --output s.h5 "${files[@]}"
same one.h5 s.h5 H g
# the data are sensitive: without the option the bits depend on the order
run 1 node 1 assemble --n 90 --output one.h5 "${files[@]}"
run 3 node 1 assemble --n 90 --output s.h5 "${files[@]}"
for set in H g; do
  "$check" same one.h5 s.h5 $set >/dev/null && fail "plain mode has the same bits of $set: the test cannot fail"
done
# sums of whole numbers are exact
run 2 node 1 "${assemble[@]}" --uplo upper --nb 7 --output s.h5 panels.h5 blocks.h5
good
"$check" sum s.h5 90 0 panels.h5 blocks.h5 >>log 2>&1 || fail "$label: another sum"

# bounds that are given and exceeded
run 2 node 1 "${assemble[@]}" --output s.h5 --bound 1e6 --gradient-bound 1e6 -j s.json panels.h5
good
says '^Bounds     of \|H\| 1e\+06 \(given\), of \|g\| 1e\+06 \(given\)$'
grep -q '"bound_from": "given"' s.json || fail "$label: not in the JSON report"
rm -f s.h5
run 3 node 1 "${assemble[@]}" --output s.h5 --bound 3 panels.h5
bad '.*H\[[0-9]+, [0-9]+\].* is not within the bound 3 \(given; --bound gives a larger one\)'
run 2 node 1 "${assemble[@]}" --output s.h5 --gradient-bound 3 panels.h5
bad '.*gradient\[[0-9]+\].* is not within the bound 3 \(given; --gradient-bound gives a larger one\)'
run 2 node 1 "${assemble[@]}" --output s.h5 --bound 3 "${kept[@]}" --interval 0 panels.h5
bad '.*H\[[0-9]+, [0-9]+\].* is not within the bound 3 \(given; --bound gives a larger one\)'
rm -f c.h5 # a checkpoint from before the bound was exceeded
"$check" make index index.h5 90 || fail "cannot make index"
run 3 node 1 "${assemble[@]}" --output s.h5 panels.h5 index.h5
bad 'index.h5: update 39: ix\[[0-9]+\] = 90 is outside 0 to 89'
"$check" make asymmetric asymmetric.h5 90 || fail "cannot make asymmetric"
run 2 node 1 "${assemble[@]}" --output s.h5 panels.h5 asymmetric.h5
bad 'asymmetric.h5: update 39: U is not symmetric: .*'
run 2 node 1 "${assemble[@]}" --output s.h5 --type float panels.h5
bad '--reproducible requires double precision'
run 2 node 1 "${assemble[@]}" --output s.h5 --bound -1 panels.h5
bad '--bound: -1 is not from 1e-250 to 1e250'
run 2 node 1 assemble --n 90 --output s.h5 --gradient-bound 1 panels.h5
bad '--gradient-bound requires --reproducible'
[ -e s.h5 ] && fail "s.h5 was written after an error"

# --- invert ---
shape=(invert --mesh 3 --max-paths 2500 --subset 1)
run 1 node 2 "${shape[@]}" --reproducible "${kept[@]}" --output one.h5 --json one.json
good
says '^Bounds     of \|H\| [0-9.e+]+ \(first pass\), of \|g\| [0-9.e+]+ \(first pass\); the pass took .*'
mv c.h5 whole.h5
numbers() { grep -E '"(misfit_before|dense_threshold_km|bound|gradient_bound|data|updates|elements)"' "$1"; }
while read -r ranks mode options; do
  # shellcheck disable=SC2086 # the options are words
  run "$ranks" "$mode" 1 "${shape[@]}" --reproducible "${kept[@]}" $options --output m.h5 --json m.json
  good
  same one.h5 m.h5 gradient ray_density
  same whole.h5 c.h5 "${ledger[@]}"
  [ "$(numbers one.json)" = "$(numbers m.json)" ] || fail "$label: other numbers"
  "$BUILDDIR/apps/tomography/tests/result_diff" one.h5 m.h5 1e-9 || fail "$label: another model"
  rm -f c.h5
done <<'LIST'
2 node --threads 2
3 node --grid 3x1 --nb 16
4 fake2 --nb 37
LIST
run 2 node 1 "${shape[@]}" --reproducible --output two.h5
good
killed_and_resumed "${shape[@]}" --reproducible --output m.h5
same two.h5 m.h5 model gradient ray_density # the grids are equal
run 1 node 1 "${shape[@]}" --output one.h5
run 3 node 1 "${shape[@]}" --output m.h5
"$check" same one.h5 m.h5 gradient >/dev/null && fail "plain mode has the same gradient: the test cannot fail"
run 2 node 1 "${shape[@]}" --reproducible --bound 1 --output m.json
bad '.*H\[[0-9]+, [0-9]+\].* is not within the bound 1 \(given; --bound gives a larger one\)'
exit $failed
