#!/usr/bin/env bash
# Every program and library of this build loads one MPI, the compiler's; and configure refuses
# libraries and an mpiexec of another one, where there is another.
set -u
: "${SRCDIR:?}" "${BUILDDIR:?}"
. "$BUILDDIR/tests/config.env"
command -v ldd >/dev/null || { echo "no ldd"; exit 77; }
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failed=0
fail() { echo "check_one_mpi: $*"; failed=1; }

mpi_of() { ldd "$1" 2>/dev/null | awk '/libmpi(ch)?\.so/ {print $1}' | sort -u | tr '\n' ' '; }

mine=$(mpi_of "$BUILDDIR/osla")
[ "$(wc -w <<<"$mine")" = 1 ] || fail "osla loads '$mine'"
count=0
while read -r file; do
  [ "$(head -c 4 "$file")" = $'\177ELF' ] || continue
  count=$((count + 1))
  loaded=$(mpi_of "$file")
  [ -z "$loaded" ] || [ "$loaded" = "$mine" ] || fail "$file loads $loaded"
done < <(find "$BUILDDIR" -type f \( -perm -u+x -o -name '*.so.*' \) ! -path '*/logs/*' ! -name '*.sh')
[ $count -gt 20 ] || fail "only $count programs"

# refused ARGUMENT...: configure says so, in one line with both
refused() {
  (cd "$scratch" && "$SRCDIR/configure" CC="$CC" "$@" >log 2>&1) && fail "configure takes $*"
  grep -qE "^configure: error: .*\b$MPI_FAMILY\b" "$scratch/log" && grep -qF -- "${!##*=}" "$scratch/log" ||
    { fail "configure $*"; tail -n 3 "$scratch/log"; }
}
case $MPI_FAMILY in mpich) other=openmpi ;; openmpi) other=mpich ;; *) other=none ;; esac
if command -v mpiexec.$other >/dev/null; then refused MPIEXEC=mpiexec.$other; fi
if [ -f "$($CC -print-file-name=libscalapack-$other.so)" ]; then
  refused SCALAPACK_LIBS=-lscalapack-$other
fi
exit $failed
