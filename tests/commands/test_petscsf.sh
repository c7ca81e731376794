#!/usr/bin/env bash
# bench/peers/petscsf: messages for wrong arguments; and with a PETSc of this build's MPI, that both
# programs run and report their figures. OSLA_TEST_PETSC: the PETSc folder with include and lib.
set -u
: "${MPIEXEC:?}" "${SRCDIR:?}" "${BUILDDIR:?}"
. "$BUILDDIR/tests/config.env"
script=$SRCDIR/bench/peers/petscsf
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failed=0
fail() { echo "test_petscsf: $*"; head -n 20 "$scratch/out" "$scratch/err"; failed=1; }
petscsf() { "$script" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null; }

# refused STATUS LINE ARGUMENT...: checks that there is one line, and no figures
refused() {
  local status=$1 line=$2
  shift 2
  petscsf "$@"
  [ $? = "$status" ] || fail "$*: not exit status $status"
  grep -qxF "$line" "$scratch/err" || fail "$*: stderr has not '$line'"
  [ ! -e "$scratch/o/pairs.txt" ] || fail "$*: figures of nothing"
}
refused 2 "usage: bench/peers/petscsf [-n RANKS] [-r PAIRS] [-p PETSC] BUILD OUT CASE:N..." "$BUILDDIR" "$scratch/o"
refused 1 "bench/peers/petscsf: $scratch/none: no build (bench/osla-bench)" "$scratch/none" "$scratch/o" halo:64
export PKG_CONFIG_LIBDIR=$scratch
PKG_CONFIG_PATH='' refused 1 "bench/peers/petscsf: pkg-config knows no PETSc: -p" "$BUILDDIR" "$scratch/o" halo:64
unset PKG_CONFIG_LIBDIR
[ $failed = 0 ] || exit 1

[ "$MPI_FAMILY" = openmpi ] || { echo "its runs: Debian's PETSc is Open MPI's (MPI=openmpi ./quickstart check)"; exit 77; }
petsc=()
[ -n "${OSLA_TEST_PETSC:-}" ] && petsc=(-p "$OSLA_TEST_PETSC")
[ ${#petsc[@]} -gt 0 ] || pkg-config --exists PETSc 2>/dev/null || { echo "its runs: no PETSc (pkg-config, OSLA_TEST_PETSC)"; exit 77; }
petscsf -r 1 "${petsc[@]}" "$BUILDDIR" "$scratch/o" pingpong:8 halo:64 gather:64 spmm:512 ptap:512 || fail "exit status $?"
for what in "pingpong 8" "halo 64" "gather 64" {spmm,ptap}-{initial,numeric}" 512"; do
  awk -v what="$what" '$1 " " $2 == what && NF == 5 && $3 > 0 && $4 > 0 && $5 > 0 {
    d = $5 - $4 / $3
    n += d < 1e-3 * $5 && d > -1e-3 * $5
  } END {exit n != 1}' "$scratch/o/pairs.txt" || fail "$what: no pair of figures and their ratio"
done
[ "$(grep -cE '^(pingpong|halo|gather|(spmm|ptap)-(initial|numeric)) +[0-9]+( +[0-9.e+-]+){3}$' "$scratch/out")" = 7 ] || fail "not a line for each"
petscsf -r 1 "${petsc[@]}" "$BUILDDIR" "$scratch/o" ring:8 && fail "ring: exit status 0"
grep -qE '^bench/peers/petscsf: ring 8: no figure' "$scratch/err" || fail "ring: not the line"
exit $failed
