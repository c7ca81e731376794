#!/usr/bin/env bash
# Tests the plug-in for CUDA without a GPU, with stand-ins for the libraries of CUDA
# (stand_in/stand_in.h). Checks that the plug-in imports no function of libosla, that the suites of
# tests/device pass on 1 to 4 ranks, that `osla info` and the tests of Fortran and Python pass, and
# that OSLA refuses a plug-in of another version.
: "${SRCDIR:?}" "${BUILDDIR:?}" "${MPIEXEC:?}" "${JOB_LIMIT:?}"
. "$BUILDDIR/tests/config.env"
plugin=$BUILDDIR/src/device/cuda/libosla_cuda.so
skip() { echo "$1"; exit 77; }
[ "$HAVE_CUDA" = yes ] || skip "needs configure --with-cuda"
[ -f "$BUILDDIR/.libs/libosla.so" ] || skip "needs shared libraries"
make -s -C "$BUILDDIR" src/device/cuda/libosla_cuda.so || exit 1
cd "$BUILDDIR" || exit 1
here=tests/device/stand_in
mkdir -p tests/logs "$here"
ulimit -c 0
failed=0
fail() { echo "$*"; failed=1; }

# stand_in NAME SOURCE...
# Builds the stand-in for the library NAME and adds it to $libraries. The stand-in has the file name
# and the symbol version that the plug-in needs. It is linked with MPI and BLAS, because in Python
# the symbols of libraries that are already loaded are not visible to it.
libraries=()
stand_in() {
  local soname
  soname=$(objdump -p "$plugin" | awk -v name="lib$1.so" '$1 == "NEEDED" && index($2, name) == 1 {print $2}')
  [ -n "$soname" ] || { echo "$plugin does not need $1"; exit 1; }
  echo "$soname { global: cu*; __cuda*; stand_in_*; local: *; };" >"$here/$1.map"
  $CC -shared -fPIC -std=gnu17 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Werror $SANITIZE_FLAGS \
    -I"$SRCDIR" -I"$SRCDIR/include" -isystem "$CUDA_INCLUDE" -o "$here/$soname" -Wl,-soname,"$soname" \
    -Wl,--version-script="$here/$1.map" '-Wl,-rpath,$ORIGIN' "${@:2}" "${libraries[@]}" $BLAS_LIBS -lm || exit 1
  libraries+=("$here/$soname")
}
stand_in cudart "$SRCDIR"/tests/device/stand_in/cudart{,_copy,_kernel,_work,_signal}.c .libs/libosla_kernels.a
stand_in cublas "$SRCDIR/tests/device/stand_in/cublas.c"
stand_in cusolver "$SRCDIR/tests/device/stand_in/cusolver.c"
stand_in cusparse "$SRCDIR/tests/device/stand_in/cusparse.c"

imports=$(nm -D --undefined-only "$plugin" | grep -c ' osl[ai]_')
[ "$imports" = 0 ] || fail "$plugin imports $imports functions of libosla"

export OSLA_TEST_DEVICE=cuda LD_LIBRARY_PATH=$BUILDDIR/$here:$BUILDDIR/src/device/cuda${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
# run NAME RANKS PROGRAM ARGUMENT...
# Runs a program on RANKS ranks. If the program fails, makes the test fail and prints the end of the
# program's output.
run() {
  local log=tests/logs/device-cuda-$1-$2.log status=0 start=$SECONDS
  timeout "$JOB_LIMIT" $MPIEXEC -n "$2" "${@:3}" >"$log" 2>&1 || status=$?
  if [ $status = 0 ]; then
    echo "$1 on $2 ranks: passed"
  else
    fail "$1 on $2 ranks: status $status after $((SECONDS - start)) of $JOB_LIMIT s, see $log"
    tail -n 20 "$log"
  fi
}
for ranks in 1 2 3 4; do
  run suites $ranks tests/device/suites test_device test_device_kernels test_device_lu test_device_register test_device_signals test_device_triangle cuda_cases
  run forests $ranks tests/device/suites test_device_sparse test_device_cg test_device_forest
  [ "$HAVE_NVCC" = no ] || run hessian $ranks tests/device/suites test_device_hessian test_device_assembly
done

OSLA_DEVICE=cuda run info 2 ./osla info
[ "$(grep -c '^  ok  *device ' tests/logs/device-cuda-info-2.log)" = 5 ] || fail "info: see tests/logs/device-cuda-info-2.log"
if [ "$HAVE_FORTRAN" = yes ]; then run fortran 2 tests/adaptors/test_fortran_devices; fi
if [ "$HAVE_PYTHON" = yes ] && "$PYTHON" -c 'import pytest' 2>/dev/null; then
  PYTHONPATH=python PYTHONDONTWRITEBYTECODE=1 run python 2 "$PYTHON" -m pytest -q --color=no -p no:cacheprovider "$SRCDIR"/python/tests/test_device{,_arrays}.py
  ! grep -q skipped tests/logs/device-cuda-python-2.log || fail "python: see tests/logs/device-cuda-python-2.log"
fi

# A library whose interface has another version stands for the plug-in of another build of OSLA.
# OSLA must refuse it with a message that names its version.
mkdir -p "$here/other"
echo 'int version = 999; const void *osla_cuda_device_ops(void) { return &version; }' |
  $PLAIN_CC -shared -fPIC -x c - -o "$here/other/libosla_cuda.so" || exit 1
LD_LIBRARY_PATH=$BUILDDIR/$here/other timeout "$JOB_LIMIT" $MPIEXEC -n 1 tests/device/suites test_device/backend \
  >tests/logs/device-cuda-version.log 2>&1
grep -q 'libosla_cuda.so has version 999 of the interface' tests/logs/device-cuda-version.log ||
  fail "version: see tests/logs/device-cuda-version.log"
exit $failed
