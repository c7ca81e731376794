#!/usr/bin/env bash
# The drop-in's factorisations and solves: ScaLAPACK programs print the same bits, pivots and INFO
# with and without it, and ScaLAPACK's own testers pass as many tests. Its counters show that it did
# the work.
set -u
. "$SRCDIR/tests/adaptors/dropin_help.sh"
program=$BUILDDIR/tests/adaptors/dropin_lapack

# With and without the drop-in, results must have equal bits and INFO.
for ranks in 1 2 3; do
  calls=$((ranks < 3 ? 120 : 16))
  run off.$ranks $ranks "$program" $calls NONE=
  run on.$ranks $ranks "$program" $calls "${on[@]}"
  same "$ranks ranks" off.$ranks on.$ranks
done
run off.4 4 "$program" 8 NONE=
run on.4 4 "$program" 8 "${on[@]}" "${fake[@]}"
same "4 ranks on two nodes" off.4 on.4
run off.6 6 "$program" 8 NONE=
run on.6 6 "$program" 8 "${on[@]}"
same "6 ranks" off.6 on.6
run blocks.2 2 "$program" 120 "${on[@]}" OSLA_SCALAPACK_BLOCK=17
same "other blocks" off.2 blocks.2
grep -q 'getrf .* info [1-9]' off.2 || complain "no matrix was singular"
grep -q 'potrf .* info [1-9]' off.2 || complain "every matrix was positive definite"
for routine in getrf getrs gesv potrf potrs posv; do
  for type in s d c z; do
    [ "$(taken on.2.err p$type$routine)" -gt 0 ] || complain "no p$type$routine was taken"
  done
done
run small 2 "$program" 120 "${with[@]}"
same "small ones" off.2 small
grep -q '^pdgetrf  *0 .* too small$' small.err || complain "small calls are offloaded"

# wrong arguments: the same INFO on each rank, and the same texts of PXERBLA. Each rank writes its
# own file, since a launcher may print one rank's line in the middle of another's.
cat >apart <<EOT
#!/bin/sh
exec "$program" wrong >"\$1.\$\$"
EOT
chmod +x apart
run wrong 2 ./apart wrong.off NONE=
run wrong 2 ./apart wrong.on LD_PRELOAD="$preload" OSLA_SCALAPACK=force
sort -o wrong.off wrong.off.*
sort -o wrong.on wrong.on.*
same "wrong arguments" wrong.off wrong.on
grep -q 'On entry to PDPOTRF' wrong.off || complain "no text of a wrong argument"

# a NaN: INFO is its column for LU, and its row for Cholesky, for all grids and blocks (ScaLAPACK's
# is 0 or any column); B is unchanged
run nan 2 "$program" nan "${on[@]}"
awk -F'[(,) :]+' '/NaN at/ {
  bad += /gesv/ ? $5 != $7 || !/as it was/ : $4 != $7 || !/as it was/; n++
} END {exit bad || n != 44}' nan || { complain "a NaN"; cat nan; }

# ScaLAPACK's testers, on two processes
testers=$(ls -d /usr/lib/*/scalapack/"$MPI_FAMILY"-tests 2>/dev/null | head -n 1)
[ -n "$testers" ] || echo "no ScaLAPACK testers (Debian package: scalapack-mpi-test)"

# shorten INPUT: the testers' input with fewer sizes, grids of two processes, and without condition
# estimates and refinement, which the drop-in does not have: with them xsllt of libscalapack 2.2.1
# hangs in half of its runs on two processes, also without the drop-in
shorten() {
  sed -E -e "s/^3(\s+number of NB's)/2\1/" -e "s/^3(\s+number of NRHS's)/2\1/" \
    -e "s/^3(\s+[Nn]umber of NBRHS's)/1\1/" -e 's/^4(\s+number of process grids)/2\1/' \
    -e 's/^1 2 1 4 2 3 8(\s+values of P)/1 2\1/' -e 's/^1 2 4 1 3 2 1(\s+values of Q)/2 1\1/' \
    -e 's/^T(\s+\(T or F\))/F\1/' \
    "$testers/$1.dat" >"$1.dat"
}

# try_tester TYPE INPUT ROUTINE...: as many tests pass as without the drop-in, and these routines
# were offloaded
try_tester() {
  local type=$1 name=x$1${2,,} routine
  shift 2
  run tester.off 2 "$testers/$name" "" NONE=
  run tester.on 2 "$testers/$name" "" "${on[@]}"
  for out in tester.off tester.on; do
    grep -E ' tests (completed|skipped)' $out >$out.counts
  done
  same "$name" tester.off.counts tester.on.counts
  for routine in "$@"; do
    [ "$(taken tester.on.err p$type$routine)" -gt 0 ] || complain "$name: no p$type$routine was taken"
  done
}

for type in ${testers:+s d c z}; do
  shorten LU
  try_tester $type LU getrf getrs
  shorten LLT
  try_tester $type LLT potrf potrs
done

[ $failures = 0 ] && echo "factorisations and solves give ScaLAPACK's bits"
