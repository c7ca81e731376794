#!/usr/bin/env bash
# Tests the drop-in with OSLA_SCALAPACK_DEVICE on the fake device. ScaLAPACK programs must print the
# same as without the drop-in, and the report must say which calls ran on the device, and why other
# calls ran on the host. If a device cannot be opened, the job must end with one line that gives the
# reason.
set -u
. "$SRCDIR/tests/adaptors/dropin_help.sh"
random=$BUILDDIR/tests/adaptors/dropin_random
lapack=$BUILDDIR/tests/adaptors/dropin_lapack
program=$BUILDDIR/bench/scalapack_program
fake_device=("${on[@]}" OSLA_SCALAPACK_DEVICE=fake)
device=("${fake_device[@]}" OSLA_SCALAPACK_DEVICE_MIN=0)

# on_device ROUTINE FILE...: prints the number of calls of a routine that ran on the device, by the
# tables of the device in these files
on_device() {
  local routine=$1
  shift
  awk -v routine="$routine" 'FNR == 1 {t = 0} /^Offloaded calls on device/ {t = 1} t && $1 == routine {n += $2} END {print n + 0}' "$@"
}
# reason FILE ROUTINE REGEX: checks that the table of the device has a line of the routine with a
# reason that matches REGEX
reason() {
  sed '1,/^Offloaded calls on device/d' "$1" | grep -qE "^$2 .*$3" || { complain "no reason '$3' for $2"; cat "$1"; }
}

for ranks in 1 2 4; do
  for p in random lapack; do
    [ $p = random ] && calls=96 || calls=120
    [ $ranks = 4 ] && calls=12
    run $p.off.$ranks $ranks "${!p}" $calls NONE=
    run $p.on.$ranks $ranks "${!p}" $calls "${device[@]}"
    same "$p, $ranks ranks" $p.off.$ranks $p.on.$ranks
  done
done
for ranks in 1 2; do
  grep -q '^Offloaded calls on device "fake"$' random.on.$ranks.err || complain "the report does not name the device"
done
for routine in pssyrk pdsyrk pcsyrk pzsyrk pcherk pzherk p{s,d,c,z}{gemm,trsm,potrf,potrs,posv,getrf,getrs,gesv}; do
  [ "$(on_device $routine ./*.on.[12].err)" -gt 0 ] || complain "$routine is not on the device"
done
reason random.on.2.err pdsymm ' 0  *0\.000 .* not on devices'
reason random.on.2.err 'p[sdcz]trsm' 'blocks or alignment'
grep -h 'refused' ./*.on.?.err && complain "a kernel refused device memory"
run early 2 "$random" 96 "${device[@]}" OSLA_FAKE_DEVICE=early
same "early queue" random.off.2 early
for p in random lapack; do
  [ $p = random ] && calls=96 || calls=120
  run blocks 2 "${!p}" $calls "${device[@]}" OSLA_SCALAPACK_BLOCK=5
  same "blocks of 5, $p" $p.off.2 blocks
done
run contexts.off 2 "$BUILDDIR/tests/adaptors/dropin_contexts" "" NONE=
run contexts.on 2 "$BUILDDIR/tests/adaptors/dropin_contexts" "" "${device[@]}"
same contexts contexts.off contexts.on
run turns.off 2 "$BUILDDIR/tests/adaptors/dropin_threads" turns NONE=
run threads 2 "$BUILDDIR/tests/adaptors/dropin_threads" once "${device[@]}"
same "threads at once" turns.off threads
[ "$(on_device pdgemm threads.err)" = 24 ] || { complain "threads at once"; cat threads.err; }

# On two nodes each routine must run on the devices, except LU if a process column is on both nodes.
run random.nodes 2 "$random" 96 "${device[@]}" "${fake[@]}"
same "random, 2 nodes" random.off.2 random.nodes
run lapack.nodes 2 "$lapack" 120 "${device[@]}" "${fake[@]}"
same "lapack, 2 nodes" lapack.off.2 lapack.nodes
for routine in pdsyrk pzherk pdgemm pdtrsm pdpotrf pdpotrs pdposv p{s,d,c,z}getrf pdgetrs pdgesv; do
  [ "$(on_device $routine ./*.nodes.err)" -gt 0 ] || complain "$routine is not on the devices of two nodes"
done
reason lapack.nodes.err 'p[sdcz]getrf' 'refused \(osla_getrf: on device memory the ranks of a process column must be on one node'
run lapack.nodes4 4 "$lapack" 12 "${device[@]}" $(in_mode fake2 4)
same "lapack, 4 ranks on 2 nodes" lapack.off.4 lapack.nodes4

# A matrix with a NaN must get the INFO of the host.
run nan.host 2 "$lapack" nan "${on[@]}"
run nan.device 2 "$lapack" nan "${device[@]}"
sort -o nan.host nan.host
sort -o nan.device nan.device
same "a NaN" nan.host nan.device

# The report must give the reason for which calls ran on the host.
run host.off 2 "$program" "600 64 1 2 2 gemm" NONE=
same_sum() { [ "$(awk '{print $NF}' host.off)" = "$(awk '{print $NF}' "$1")" ] || complain "$1: another result"; }
run small 2 "$program" "600 64 1 2 2 gemm" "${fake_device[@]}"
same_sum small
reason small.err pdgemm ' 0  *0\.000  *2  2 too few operations for each element$'
run memory 2 "$program" "600 64 1 2 2 gemm" "${device[@]}" OSLA_FAKE_DEVICE_BYTES=4000000
same_sum memory
reason memory.err pdgemm ' 2 too little memory \([0-9]+ bytes of device memory are needed, and the device has 4000000 available\)$'
# Without OSLA_SCALAPACK_VERBOSE, one line must say that calls ran on the host. Calls that are too
# small for the device must not cause this line.
run quiet 2 "$program" "600 64 1 2 2 gemm" "${device[@]}" OSLA_SCALAPACK_VERBOSE=0 OSLA_FAKE_DEVICE_BYTES=4000000
[ "$(grep -c 'OSLA_SCALAPACK_DEVICE=fake: 2 calls ran on the host' quiet.err)" = 1 ] || { complain "no line"; cat quiet.err; }
run quiet 2 "$program" "600 64 1 2 2 gemm" "${fake_device[@]}" OSLA_SCALAPACK_VERBOSE=0
[ ! -s quiet.err ] || { complain "a message about small calls"; cat quiet.err; }
run none 2 "$program" "600 64 1 2 2 gemm" "${on[@]}"
grep -q 'device' none.err && complain "the report names a device that nobody asked for"

# ends WHAT TEXT VARIABLE=VALUE...: checks that a job fails and that one line of its messages
# matches TEXT. WHAT names the case.
ends() {
  local what=$1 text=$2
  shift 2
  timeout "$JOB_LIMIT" "$MPIEXEC" -n 2 env "${with[@]}" OSLA_SCALAPACK=force "$@" "$program" 600 64 1 2 2 gemm >ends 2>ends.err &&
    complain "$what: the job does not end"
  [ "$(grep -c "$text" ends.err)" = 1 ] || { complain "$what"; cat ends.err; }
}
ends "another kind" 'OSLA_SCALAPACK_DEVICE=tpu: .*must be fake or cuda.*Unset the variable' \
  OSLA_SCALAPACK_DEVICE=tpu OSLA_SCALAPACK_DEVICE_MIN=0
ends "a bad queue" 'OSLA_SCALAPACK_DEVICE=fake: OSLA_FAKE_DEVICE=never: must be late or early' \
  "${device[@]}" OSLA_FAKE_DEVICE=never
ends "no memory size" 'OSLA_SCALAPACK_DEVICE=fake: OSLA_FAKE_DEVICE_BYTES=many: must be a number' \
  "${device[@]}" OSLA_FAKE_DEVICE_BYTES=many
ends "no CUDA" 'OSLA_SCALAPACK_DEVICE=cuda: ' OSLA_SCALAPACK_DEVICE=cuda OSLA_SCALAPACK_DEVICE_MIN=0 \
  CUDA_VISIBLE_DEVICES=

# Settings that are wrong, or that differ between ranks, must be reported.
run wrong 1 "$random" 8 "${fake_device[@]}" OSLA_SCALAPACK_DEVICE_MIN=-3
grep -q 'OSLA_SCALAPACK_DEVICE_MIN=-3 is ignored' wrong.err || complain "a wrong OSLA_SCALAPACK_DEVICE_MIN passes silently"
timeout "$JOB_LIMIT" "$MPIEXEC" -n 1 env "${device[@]}" "$program" 600 64 1 2 2 gemm : \
  -n 1 env "${on[@]}" "$program" 600 64 1 2 2 gemm >differ 2>differ.err || complain "different devices"
same_sum differ
grep -q 'different values of OSLA_SCALAPACK_DEVICE' differ.err || { complain "different devices"; cat differ.err; }

[ $failures = 0 ] && echo "the drop-in computes on the fake device what ScaLAPACK does"
