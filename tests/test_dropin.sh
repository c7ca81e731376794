#!/usr/bin/env bash
# The drop-in for ScaLAPACK: plain ScaLAPACK programs print the same with it and without it, its counters
# say that it did the work, and wrong arguments are reported as ever.
set -u
. "$BUILDDIR/tests/config.env"
library=$BUILDDIR/scalapack_adapt/libosla_scalapack.so
[ -f "$library" ] || { echo "built without shared libraries"; exit 77; }
[ "$SANITIZERS" = no ] || { echo "a preloaded library needs the sanitizers' own first"; exit 77; }

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failures=0
complain() { echo "test_dropin: $*"; failures=$((failures + 1)); }

# run OUT [VARIABLE=VALUE...] RANKS PROGRAM ARGUMENTS...: stdout in OUT, stderr in OUT.err
run() {
  local out=$1 settings=()
  shift
  while [[ $1 == *=* ]]; do settings+=("$1"); shift; done
  local ranks=$1 program=$2
  shift 2
  env "${settings[@]}" timeout 90 "$MPIEXEC" -n "$ranks" "$BUILDDIR/tests/$program" "$@" \
    >"$out" 2>"$out.err" || { complain "$program on $ranks ranks failed"; tail "$out" "$out.err"; }
}

# same WHAT FILE FILE
same() {
  [ -s "$2" ] || complain "$1: nothing printed"
  diff "$2" "$3" >diff.out || { complain "$1: another result with the drop-in"; head diff.out; }
}

# counted FILE ROUTINE COLUMN: the number in that column of the table
counted() { awk -v routine="$2" -v column="$3" '$1 == routine {n = $column} END {print n + 0}' "$1"; }

on=(LD_PRELOAD="$library" OSLA_SCALAPACK=force OSLA_SCALAPACK_VERBOSE=1)
fake=(MPIR_CVAR_NUM_CLIQUES=2 MPIR_CVAR_CLIQUES_BY_BLOCK=1)
for ranks in 1 2 3; do
  calls=$((ranks < 3 ? 160 : 24))
  run "off.$ranks" $ranks dropin_random $calls
  run "on.$ranks" "${on[@]}" $ranks dropin_random $calls
  same "$ranks ranks" "off.$ranks" "on.$ranks"
done
run off.4 4 dropin_random 16
run on.4 "${on[@]}" "${fake[@]}" 4 dropin_random 16
same "4 ranks on two nodes" off.4 on.4
run blocks.2 "${on[@]}" OSLA_SCALAPACK_BLOCK=5 2 dropin_random 160
same "other blocks along k" off.2 blocks.2
run blocks.4 "${on[@]}" OSLA_SCALAPACK_BLOCK=7 4 dropin_random 16
same "other blocks along k, 4 ranks" off.4 blocks.4
for routine in psgemm pdgemm pcgemm pzgemm pssyrk pdsyrk pstrsm pdtrsm psgeadd pdgeadd; do
  [ "$(counted on.2.err $routine 2)" -gt 0 ] || complain "no $routine was taken"
done
grep -q '^pdtrsm .* blocks or alignment' on.2.err || complain "no reason for pdtrsm"

# switches
run small LD_PRELOAD="$library" OSLA_SCALAPACK_VERBOSE=1 1 dropin_random 160
same "small ones" off.1 small
grep -q '^pdgemm .* too small$' small.err || { complain "small calls are taken"; cat small.err; }
run off "${on[@]}" OSLA_SCALAPACK=off 1 dropin_random 160
same "switched off" off.1 off
[ "$(counted off.err pdsyrk 2)" = 0 ] || complain "switched off, and calls are taken"
grep -q '^pdsyrk .* switched off$' off.err || { complain "off is no reason"; cat off.err; }
run nocache "${on[@]}" OSLA_SCALAPACK_CACHE=0 2 dropin_random 160
same "no cache" off.2 nocache
run flops LD_PRELOAD="$library" OSLA_SCALAPACK_VERBOSE=1 OSLA_SCALAPACK_MIN_FLOPS=50000 1 dropin_random 160
same "some of them" off.1 flops
grep -q '^pdsyrk .* too small' flops.err || complain "MIN_FLOPS: no call is too small"
[ "$(counted flops.err pdsyrk 2)" -gt 0 ] || complain "MIN_FLOPS: no call is large enough"
run wrong LD_PRELOAD="$library" OSLA_SCALAPACK=maybe OSLA_SCALAPACK_CACHE=-3 1 dropin_random 8
grep -q 'OSLA_SCALAPACK=maybe ' wrong.err || complain "a wrong OSLA_SCALAPACK passes silently"
grep -q 'OSLA_SCALAPACK_CACHE=-3 ' wrong.err || complain "a wrong OSLA_SCALAPACK_CACHE passes silently"

# memory that does not suffice: a file of the size of the copies is not allowed
program=$BUILDDIR/bench/scalapack_program
timeout 60 "$MPIEXEC" -n 2 "$program" 2400 64 1 2 1 gemm-narrow >memory.off || complain "$program failed"
(
  trap '' XFSZ
  ulimit -f 20000
  env "${on[@]}" timeout 60 "$MPIEXEC" -n 2 "$program" 2400 64 1 2 1 gemm-narrow >memory.on 2>memory.err
) || complain "no memory: $(tail -n 3 memory.err)"
[ "$(awk '{print $NF}' memory.off)" = "$(awk '{print $NF}' memory.on)" ] || complain "no memory: another result"
grep -q '^pdgemm .* 1 no memory for copies$' memory.err || { complain "no memory"; cat memory.err; }

# wrong arguments: the same codes on each rank, the same texts
run error.off 2 dropin_errors
run error.on LD_PRELOAD="$library" OSLA_SCALAPACK=force 2 dropin_errors
for out in error.off error.on; do
  sort -o $out $out
  sort -o $out.err $out.err
done
same "codes of wrong arguments" error.off error.on
same "texts of wrong arguments" error.off.err error.on.err

# any process may be started with it
[ "$(LD_PRELOAD=$library sh -c 'echo started' 2>&1)" = started ] || complain "sh does not start"

[ $failures = 0 ] && echo "the drop-in computes what ScaLAPACK does"
