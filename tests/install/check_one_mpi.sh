#!/usr/bin/env bash
# Every program and library of this build loads one MPI, that of the compiler. configure refuses
# libraries and an mpiexec of another MPI, if the machine has another one.
set -u
: "${SRCDIR:?}" "${BUILDDIR:?}"
. "$BUILDDIR/tests/config.env"
. "$SRCDIR/tests/install/configure.sh"
command -v ldd >/dev/null || { echo "no ldd"; exit 77; }
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failed=0
fail() { echo "check_one_mpi: $*"; failed=1; }

programs=()
while read -r file; do
  LC_ALL=C read -rN 4 magic <"$file" && [ "$magic" = $'\177ELF' ] && programs+=("$file")
done < <(find "$BUILDDIR" -type f \( -perm -u+x -o -name '*.so.*' \) ! -path '*/logs/*' ! -name '*.sh')
[ ${#programs[@]} -gt 10 ] || fail "only ${#programs[@]} programs"
ldd "${programs[@]}" >"$scratch/all" 2>/dev/null
[ "$(grep -c '^[^[:space:]].*:$' "$scratch/all")" = ${#programs[@]} ] || fail "ldd did not read all programs"
# one line for each MPI that each file loads: the MPI, the file
awk '/^[^\t]/ {file = $0} /libmpi(ch)?\.so/ {print $1, file}' "$scratch/all" | sort -u >"$scratch/loaded"
mine=$(awk -v osla="$BUILDDIR/osla:" '$2 == osla {print $1}' "$scratch/loaded")
[ "$(wc -w <<<"$mine")" = 1 ] || fail "osla loads '$mine'"
while read -r loaded file; do
  [ "$loaded" = "$mine" ] || fail "${file%:} loads $loaded"
done <"$scratch/loaded"

scalapack=$(lines_of 'OSLA_CHECK_LIB(\[SCALAPACK')
[ -n "$scalapack" ] || fail "configure.ac does not look for ScaLAPACK"
make_configure 'osla_mpi=$CC' OSLA_MPI_CHECK OSLA_MPIEXEC "$scalapack"
# refused ARGUMENT...: configure must refuse them, with one line that names both MPIs
refused() {
  (cd "$scratch" && configure "$@" >log 2>&1) && fail "configure takes $*"
  grep -qE "^configure: error: .*\b$MPI_FAMILY\b" "$scratch/log" && grep -qF -- "${!##*=}" "$scratch/log" ||
    { fail "configure $*"; tail -n 3 "$scratch/log"; }
}
case $MPI_FAMILY in mpich) other=openmpi ;; openmpi) other=mpich ;; *) other=none ;; esac
if command -v mpiexec.$other >/dev/null; then refused MPIEXEC=mpiexec.$other; fi
if [ -f "$($CC -print-file-name=libscalapack-$other.so)" ]; then
  refused SCALAPACK_LIBS=-lscalapack-$other
fi
exit $failed
