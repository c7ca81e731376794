#!/usr/bin/env bash
# ScaLAPACK's own testers of PBLAS 3 pass with the drop-in as without it, and the counters show that
# it did the work. The input is the testers', with all its eight problems, grids for two processes,
# and only the routines that the drop-in has.
set -u
. "$SRCDIR/tests/adaptors/dropin_help.sh"
testers=$(ls -d /usr/lib/*/scalapack/"$MPI_FAMILY"-tests/PBLAS 2>/dev/null | head -n 1)
[ -n "$testers" ] || { echo "no ScaLAPACK testers (Debian package: scalapack-mpi-test)"; exit 77; }

# tester TYPE OUT [VARIABLE=VALUE...]: writes the tester's output to OUT, and its last table to
# OUT.sum
tester() {
  local type=$1 out=$scratch/$2 name=P${1^^}BLAS3TST.dat
  shift 2
  mkdir -p "$scratch/in" && cd "$scratch/in" || exit 1
  sed -E -e 's/^4(\s+number of process grids)/3\1/' -e 's/^4(\s+number of tests)/8\1/' \
    -e 's/^(P.(SYR2K|HER2K|TRADD) +)T/\1F/' -e 's/^2 1 2 1 4 2 3 8(\s+values of P)/1 2 1\1/' \
    -e 's/^2 2 1 4 1 3 2 1(\s+values of Q)/2 1 1\1/' "$testers/$name" >"$name"
  timeout "$JOB_LIMIT" "$MPIEXEC" -n 2 env "$@" "$testers/${type}pb3tst" >"$out" 2>&1 ||
    { complain "${type}pb3tst failed"; tail "$out"; }
  grep -E "^ *\| +P" "$out" >"$out.sum"
}

for type in s d c z; do
  tester $type $type.off NONE=
  tester $type $type.on "${on[@]}"
  [ -s "$scratch/$type.off.sum" ] || complain "$type: the tester printed no table"
  diff "$scratch/$type.off.sum" "$scratch/$type.on.sum" || complain "$type: another table"
  routines="gemm syrk symm trmm trsm"
  [[ $type == [sd] ]] && routines+=" geadd" || routines+=" hemm herk"
  for routine in $routines; do
    count=$(taken "$scratch/$type.on" p$type$routine)
    [ "$count" -gt 0 ] || complain "no p$type$routine was taken"
    echo "p$type$routine: $count taken, $(grep -c . "$scratch/$type.on.sum") lines agree"
  done
done
[ $failures = 0 ] && echo "the testers' tables are the same"
