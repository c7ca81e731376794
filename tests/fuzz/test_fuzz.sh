#!/usr/bin/env bash
# Spoilt inputs for the readers, under sanitizers, and for the command (tests/fuzz/fuzz.h): 75 of
# each kind and 6 through the command, always the same ones (OSLA_TESTS=full: 300 and 20).
# `make fuzz` sets FUZZ_SEED and FUZZ_SECONDS, to go on with others. Inputs that fail are kept in tests/logs/fuzz.
set -u
: "${OSLA:?}" "${MPIEXEC:?}" "${BUILDDIR:?}" "${SRCDIR:?}"
. "$BUILDDIR/tests/config.env"
fuzz=$BUILDDIR/tests/fuzz/fuzz
seed=${FUZZ_SEED:-1} seconds=${FUZZ_SECONDS:-0}
[ "$seed" = random ] && seed=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
[ "$seconds" = unlimited ] && seconds=1e18

# As in tests/run for a build with sanitizers, which want to be loaded first. No single allocation of a spoilt size.
unset LD_PRELOAD
export UCX_MEM_EVENTS=no HWLOC_COMPONENTS=-pci OPENBLAS_NUM_THREADS=1 OSLA MPIEXEC
export ASAN_OPTIONS=detect_leaks=1:halt_on_error=1:detect_stack_use_after_return=0
ASAN_OPTIONS+=:allocator_may_return_null=1:max_allocation_size_mb=4096
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export LSAN_OPTIONS=suppressions=$SRCDIR/tests/lsan.supp:print_suppressions=0
if [ "$MPI_FAMILY" = openmpi ]; then
  # Open MPI 4.1.4 leaks in plug-ins that it unloads, and Debian's has no frame pointers: only a whole
  # stack has a name that lsan.supp knows. Processes without mpiexec, hundreds here, start without a
  # daemon and without UCX in a quarter of the time.
  ASAN_OPTIONS+=:fast_unwind_on_malloc=0
  export OMPI_MCA_ess_singleton_isolated=1 OMPI_MCA_pml=ob1
fi

mkdir -p "$BUILDDIR/tests/logs/fuzz" && cd "$BUILDDIR/tests/logs/fuzz" || exit 1
rm -rf fuzz-* scratch-* # the latter after a run that was stopped
count=75 jobs=6
[ "${OSLA_TESTS:-}" = full ] && count=300 jobs=20
exec "$fuzz" --seed "$seed" --seconds "$seconds" --count $count --jobs $jobs "$@"
