#!/usr/bin/env bash
# Lack of memory on one process does not end a job: each of the drop-in's allocations fails in turn
# on one process; the calls are passed on, and ScaLAPACK programs print the same.
set -u
. "$SRCDIR/tests/adaptors/dropin_help.sh"
[ "$SANITIZERS" = no ] || { echo "a preloaded library must not come before the sanitizer's"; exit 77; }
read -ra compiler <<<"$CC"
"${compiler[@]}" -shared -fPIC -o failing.so "$SRCDIR/tests/commands/failing_malloc.c" || { echo "no library"; exit 1; }

# without_memory RANKS PROGRAM CALLS [VARIABLE=VALUE...]
without_memory() {
  local ranks=$1 program=$2 calls=$3
  shift 3
  run off "$ranks" "$BUILDDIR/tests/adaptors/$program" "$calls" NONE=
  run on "$ranks" "$BUILDDIR/tests/adaptors/$program" "$calls" "${on[@]}" LD_PRELOAD="$scratch/failing.so $preload" "$@"
  same "$program $ranks $*" off on
  grep -qE ' no memory for copies$| too little memory ' on.err || complain "$program $ranks $*: no allocation failed"
}

without_memory 1 dropin_random 40
without_memory 2 dropin_random 10
without_memory 2 dropin_random 6 "${fake[@]}"
without_memory 1 dropin_lapack 24
without_memory 2 dropin_lapack 5
without_memory 2 dropin_lapack 5 "${fake[@]}"
without_memory 2 dropin_lapack 3 OSLA_SCALAPACK_BLOCK=17
without_memory 2 dropin_lapack 5 OSLA_SCALAPACK_CACHE=0
device=(OSLA_SCALAPACK_DEVICE=fake OSLA_SCALAPACK_DEVICE_MIN=0)
without_memory 1 dropin_random 12 "${device[@]}"
without_memory 2 dropin_random 6 "${device[@]}"
without_memory 1 dropin_lapack 8 "${device[@]}"
without_memory 2 dropin_lapack 4 "${device[@]}"

[ $failures = 0 ] && echo "no allocation that fails ends a job, or spoils a result"
