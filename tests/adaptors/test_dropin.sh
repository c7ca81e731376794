#!/usr/bin/env bash
# The drop-in for ScaLAPACK: ScaLAPACK programs print the same with and without it, its counters
# show that it did the work, and wrong arguments are reported as without it.
set -u
. "$SRCDIR/tests/adaptors/dropin_help.sh"
random=$BUILDDIR/tests/adaptors/dropin_random

for ranks in 1 2 3; do
  calls=$((ranks < 3 ? 160 : 24))
  run "off.$ranks" $ranks "$random" $calls NONE=
  run "on.$ranks" $ranks "$random" $calls "${on[@]}"
  same "$ranks ranks" "off.$ranks" "on.$ranks"
done
run off.4 4 "$random" 16 NONE=
run on.4 4 "$random" 16 "${on[@]}" "${fake[@]}"
same "4 ranks on two nodes" off.4 on.4
run blocks.2 2 "$random" 160 "${on[@]}" OSLA_SCALAPACK_BLOCK=5
same "other blocks along k" off.2 blocks.2
run blocks.4 4 "$random" 16 "${on[@]}" OSLA_SCALAPACK_BLOCK=7
same "other blocks along k, 4 ranks" off.4 blocks.4
for routine in psgemm pdgemm pcgemm pzgemm pssyrk pdsyrk pcsyrk pzsyrk pcherk pzherk pstrsm pdtrsm pctrsm pztrsm \
  pssymm pdsymm pcsymm pzsymm pchemm pzhemm pstrmm pdtrmm pctrmm pztrmm psgeadd pdgeadd; do
  [ "$(taken on.2.err $routine)" -gt 0 ] || complain "no $routine was taken"
done
grep -q '^pdtrsm .* blocks or alignment' on.2.err || complain "no reason for pdtrsm"

# contexts that are created and closed: few transports are made for them
for ranks in 1 2 3; do
  run contexts.off $ranks "$BUILDDIR/tests/adaptors/dropin_contexts" "" NONE=
  run contexts.on $ranks "$BUILDDIR/tests/adaptors/dropin_contexts" "" "${on[@]}"
  same "contexts, $ranks ranks" contexts.off contexts.on
  looks=$(awk '$1 == "looks" {print $2}' contexts.on.err)
  [ "$looks" -ge 1 ] && [ "$looks" -le 3 ] || complain "contexts, $ranks ranks: $looks transports"
done

# settings
run small 1 "$random" 160 "${with[@]}"
same "small ones" off.1 small
grep -q '^pdgemm  *0 .* too small' small.err || { complain "small calls are offloaded"; cat small.err; }
run off 1 "$random" 160 "${on[@]}" OSLA_SCALAPACK=off
same "switched off" off.1 off
[ "$(taken off.err pdsyrk)" = 0 ] || complain "switched off, and calls are offloaded"
grep -q '^pdsyrk .* switched off$' off.err || { complain "off is no reason"; cat off.err; }
run nocache 2 "$random" 160 "${on[@]}" OSLA_SCALAPACK_CACHE=0
same "no cache" off.2 nocache
run flops 1 "$random" 160 "${with[@]}" OSLA_SCALAPACK_MIN_FLOPS=50000
same "some of them" off.1 flops
grep -q '^pdgemm .* too small' flops.err || complain "MIN_FLOPS: no call is too small"
[ "$(taken flops.err pdgemm)" -gt 0 ] || complain "MIN_FLOPS: no call is large enough"
run wrong 1 "$random" 8 "${with[@]}" OSLA_SCALAPACK=maybe OSLA_SCALAPACK_CACHE=-3
grep -q 'OSLA_SCALAPACK=maybe ' wrong.err || complain "a wrong OSLA_SCALAPACK passes silently"
grep -q 'OSLA_SCALAPACK_CACHE=-3 ' wrong.err || complain "a wrong OSLA_SCALAPACK_CACHE passes silently"

# small calls are offloaded from the sizes on that gain
small="gemm syrk trsm getrf potrf"
run order.256 2 "$BUILDDIR/bench/scalapack_program" "256 32 1 2 2 $small getrs=128" "${with[@]}"
run order.64 2 "$BUILDDIR/bench/scalapack_program" "64 64 1 2 2 $small getrs=64" "${with[@]}"
run order.update 2 "$BUILDDIR/bench/scalapack_program" "256 32 1 2 2 gemm-update trsm-right" "${with[@]}"
for routine in $small getrs; do
  [ "$(taken order.256.err pd$routine)" -gt 0 ] || { complain "pd$routine of order 256"; cat order.256.err; }
  [ "$(taken order.64.err pd$routine)" = 0 ] || { complain "pd$routine of order 64"; cat order.64.err; }
done
[ "$(taken order.update.err pdgemm)$(taken order.update.err pdtrsm)" = 00 ] || complain "small ones that lose"

# between nodes whose ranks must help transfers nothing is gained, unless ranks outnumber cores
program=$BUILDDIR/bench/scalapack_program
run network.off 2 "$program" "600 64 1 2 2 gemm" NONE=
run network 2 "$program" "600 64 1 2 2 gemm" "${with[@]}" "${fake[@]}"
[ "$(awk '{print $NF}' network.off)" = "$(awk '{print $NF}' network)" ] || complain "fake nodes: another result"
grep -qE '^pdgemm +(0 .* 2 nodes must help transfers|2 .*)$' network.err || { complain "fake nodes"; cat network.err; }

# processes with different settings: a message, and ScaLAPACK's result
timeout "$JOB_LIMIT" "$MPIEXEC" -n 1 env "${on[@]}" OSLA_SCALAPACK_BLOCK=64 "$program" 600 64 1 2 2 gemm : \
  -n 1 env "${on[@]}" "$program" 600 64 1 2 2 gemm >differ 2>differ.err || complain "different settings"
[ "$(awk '{print $NF}' differ)" = "$(awk '{print $NF}' network.off)" ] || complain "different settings: another result"
grep -q 'different values of OSLA_SCALAPACK_BLOCK' differ.err || { complain "different settings"; cat differ.err; }
# OSLA_TRANSPORT names another transport: no effect
run transport 2 "$program" "600 64 1 2 2 gemm" "${on[@]}" OSLA_TRANSPORT=armci
[ "$(taken transport.err pdgemm)" = 2 ] || { complain "OSLA_TRANSPORT"; cat transport.err; }

# not enough memory: a file of the size of the copies is not allowed
timeout "$JOB_LIMIT" "$MPIEXEC" -n 2 "$program" 2400 64 1 2 1 gemm-narrow >memory.off || complain "$program failed"
(
  trap '' XFSZ
  ulimit -f 20000
  timeout "$JOB_LIMIT" "$MPIEXEC" -n 2 env "${on[@]}" "$program" 2400 64 1 2 1 gemm-narrow >memory.on 2>memory.err
) || complain "no memory: $(tail -n 3 memory.err)"
[ "$(awk '{print $NF}' memory.off)" = "$(awk '{print $NF}' memory.on)" ] || complain "no memory: another result"
grep -q '^pdgemm .* 1 no memory for copies$' memory.err || { complain "no memory"; cat memory.err; }

# wrong arguments: the same codes on each rank, and the same texts
run error.off 2 "$BUILDDIR/tests/adaptors/dropin_errors" "" NONE=
run error.on 2 "$BUILDDIR/tests/adaptors/dropin_errors" "" LD_PRELOAD="$preload" OSLA_SCALAPACK=force
for out in error.off error.on; do
  sort -o $out $out
  sort -o $out.err $out.err
done
same "codes of wrong arguments" error.off error.on
same "texts of wrong arguments" error.off.err error.on.err

# threads, each with a context: one after the other, which ScaLAPACK alone supports, and at the same
# time
run turns.off 2 "$BUILDDIR/tests/adaptors/dropin_threads" turns NONE=
for mode in turns once; do
  run threads 2 "$BUILDDIR/tests/adaptors/dropin_threads" $mode "${on[@]}"
  same "threads, $mode" turns.off threads
  [ "$(taken threads.err pdgemm)" = 24 ] || { complain "threads, $mode"; cat threads.err; }
done

[ $failures = 0 ] && echo "the drop-in computes what ScaLAPACK does"
