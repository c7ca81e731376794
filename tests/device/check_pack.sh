#!/usr/bin/env bash
# Tests tests/device/pack and tests/device/check with the fake device. Checks that the packed folder
# needs no MPI and, except for the C library and CUDA, no library of this machine, that all steps of
# `check` pass, and that `check` reports a step that fails.
: "${BUILDDIR:?}" "${SRCDIR:?}" "${JOB_LIMIT:?}"
. "$BUILDDIR/tests/config.env"
[ "$MPI_FAMILY" = mpich ] && [ "$HAVE_SCALAPACK" = yes ] || { echo "tests/device/pack needs MPICH and ScaLAPACK"; exit 77; }
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
fail() { echo "check_pack: $*"; exit 1; }

"$SRCDIR/tests/device/pack" -b "$BUILDDIR" "$scratch/folder" || fail "pack failed"
mkdir "$scratch/tools" "$scratch/unpacked" "$scratch/out"
for tool in bash env tar gzip awk grep sed find ldd cut tail head sort uniq tr cat cp rm mkdir mktemp dirname tee \
  timeout nproc date ls seq; do
  ln -s "$(command -v $tool)" "$scratch/tools"
done
# check VARIABLE=VALUE...
# Runs the packed `check` on the fake device, with only the tools above in PATH and only these
# variables.
check() {
  timeout "$JOB_LIMIT" env -i PATH="$scratch/tools" HOME=/ OSLA_TEST_DEVICE=fake OUT="$scratch/out" "$@" \
    "$scratch/folder/check" >"$scratch/log" 2>&1
}

tar -C "$scratch/unpacked" -xzf "$scratch/folder/files.tar.gz" || fail "files.tar.gz cannot be unpacked"
LD_LIBRARY_PATH=$scratch/unpacked/lib ldd "$scratch"/unpacked/bin/* "$scratch"/unpacked/lib/*.so* 2>/dev/null |
  awk '$2 == "=>"' | grep -v "$scratch" | grep -vE '^\s*(libc|libm|libdl|librt|libpthread|libresolv|libgcc_s|ld-linux[^ ]*|libcudart|libcublas|libcublasLt|libcusolver|libcusparse|libnvJitLink)\.so' >"$scratch/outside"
[ ! -s "$scratch/outside" ] || { cat "$scratch/outside"; fail "these libraries are not packed"; }

check CHECK_SECONDS="$JOB_LIMIT"; status=$?
cat "$scratch/log"
[ $status = 0 ] || { tar -xzf "$scratch/out/logs.tar.gz" -O | tail -n 60; fail "check failed"; }
grep -q '^6 compute-sanitizer  *left out .*no GPU' "$scratch/out/table.txt" || fail "compute-sanitizer is not left out"
for line in "1 libraries" "2 gemm, host, 2 ranks" "3 osla info" "3 info of LAPACK" "3 copies between processes" \
  "4 cases, 1 rank" "5 cases, 2 ranks" "5 cases, 4 ranks" "7 gemm 300, 1 rank" "7 potrf 600, 1 rank" "7 getrf 600, 1 rank" \
  "7 forest 1000, 1 rank" "7 forest 1000, 2 ranks" "7 spmv, cg 216, 1 rank" "7 spmv, cg 216, 2 ranks" \
  "7 pdgemm 300, device" "7 pdgemm 300, .* ranks" "7 pdgemm, device : cores"; do
  grep -q "^$line  *ok " "$scratch/out/table.txt" || fail "no line '$line' that is ok"
done
[ "$(wc -l <"$scratch/out/rates.jsonl")" = 47 ] || fail "not 6 lines of matrices, 31 of star forests and 10 of sparse matrices in rates.jsonl"
grep -qE '^7 forest 1000, 2 ranks .* GB/s: pingpong [0-9.e+-]+, host-device .*, copy .*; gather .*; reduce .*; fetch .*, mpi ' "$scratch/out/table.txt" ||
  fail "not the rates of four cases on two ranks"
grep -qE '^7 spmv, cg 216, 2 ranks .* GF/s: spmv [0-9.e+-]+, host-host .*; cg .*, host-host .*, sync ' "$scratch/out/table.txt" ||
  fail "not the rates of sparse matrices on two ranks"
tar -tzf "$scratch/out/logs.tar.gz" | grep -q logs/cases-4 || fail "no log of the cases on four ranks"

ulimit -c 0
# With a planted fault of the device, steps that depend on the fault must fail, and later steps must
# run.
check CHECK_SECONDS="$JOB_LIMIT" OSLA_TEST_DEVICE_FAULT=16 && { cat "$scratch/log"; fail "a planted fault passes"; }
grep -q '^4 cases, 1 rank  *failed' "$scratch/out/table.txt" || { cat "$scratch/log"; fail "the cases do not fail"; }
grep -q '^7 gemm 300, 1 rank  *ok' "$scratch/out/table.txt" || fail "the rates do not run after a failure"
# Without a GPU or a plug-in, `check` must leave out the steps that need a GPU.
check OSLA_TEST_DEVICE=cuda CHECK_N=300 CHECK_SECONDS="$JOB_LIMIT"
grep -qE '^4 cases, 1 rank  *left out .*(no GPU|no plug-in was packed)' "$scratch/out/table.txt" || { cat "$scratch/log"; fail "the cases are not left out"; }
echo "packed and checked"
