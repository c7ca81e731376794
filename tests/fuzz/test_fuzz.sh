#!/usr/bin/env bash
# Gives damaged files to the readers, built with sanitizers, and to the command (tests/fuzz/fuzz.h):
# 75 of each kind, and 6 of them also to the command (OSLA_TESTS=full: 300 and 20). The seed is
# fixed, so every run tests the same files. `make fuzz` sets FUZZ_SEED and FUZZ_SECONDS and tests new
# ones. Files that cause a failure are saved in tests/logs/fuzz.
set -u
: "${OSLA:?}" "${MPIEXEC:?}" "${BUILDDIR:?}" "${SRCDIR:?}"
. "$BUILDDIR/tests/config.env"
fuzz=$BUILDDIR/tests/fuzz/fuzz
seed=${FUZZ_SEED:-1} seconds=${FUZZ_SECONDS:-0}
[ "$seed" = random ] && seed=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
[ "$seconds" = unlimited ] && seconds=1e18

# The settings of tests/run for a build with sanitizers, which must be loaded first. An allocation of
# a size from a damaged file fails instead of ending the process.
unset LD_PRELOAD
export UCX_MEM_EVENTS=no HWLOC_COMPONENTS=-pci OPENBLAS_NUM_THREADS=1 OSLA MPIEXEC
export ASAN_OPTIONS=detect_leaks=1:halt_on_error=1:detect_stack_use_after_return=0
ASAN_OPTIONS+=:allocator_may_return_null=1:max_allocation_size_mb=4096
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export LSAN_OPTIONS=suppressions=$SRCDIR/tests/lsan.supp:print_suppressions=0
if [ "$MPI_FAMILY" = openmpi ]; then
  # Open MPI 4.1.4 leaks memory in plug-ins that it unloads. Debian's build has no frame pointers, so
  # only a complete stack contains a name that lsan.supp suppresses. Hundreds of processes are started
  # without mpiexec; without a daemon and UCX each starts in a quarter of the time.
  ASAN_OPTIONS+=:fast_unwind_on_malloc=0
  export OMPI_MCA_ess_singleton_isolated=1 OMPI_MCA_pml=ob1
fi

mkdir -p "$BUILDDIR/tests/logs/fuzz" && cd "$BUILDDIR/tests/logs/fuzz" || exit 1
rm -rf fuzz-* scratch-* # an interrupted run leaves scratch-*
count=75 jobs=6
[ "${OSLA_TESTS:-}" = full ] && count=300 jobs=20
exec "$fuzz" --seed "$seed" --seconds "$seconds" --count $count --jobs $jobs "$@"
