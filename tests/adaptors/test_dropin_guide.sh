#!/usr/bin/env bash
# doc/scalapack.md: its commands run unchanged in a folder with a ScaLAPACK program (under Open MPI
# with the names that the guide gives), and the C code that it shows is in doc/from_scalapack.c.
set -u
. "$BUILDDIR/tests/config.env"
guide=$SRCDIR/doc/scalapack.md source=$SRCDIR/doc/from_scalapack.c
[ -f "$BUILDDIR/scalapack_adapt/libosla_scalapack.so" ] || { echo "built without shared libraries"; exit 77; }
[ "$SANITIZERS" = no ] || { echo "a preloaded library needs the sanitizers' own first"; exit 77; }
case $MPI_FAMILY in mpich|openmpi) ;; *) echo "the guide has no names for $MPI_FAMILY"; exit 77 ;; esac
command -v mpiexec.$MPI_FAMILY mpicc.$MPI_FAMILY >/dev/null ||
  { echo "the guide is for mpiexec.$MPI_FAMILY"; exit 77; }

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
fail() { echo "test_dropin_guide: $*"; exit 1; }

# blocks LANGUAGE: the lines of the guide's code blocks in that language
blocks() { awk -v fence="\`\`\`$1" '$0 == fence {on = 1; next} /^```$/ {on = 0} on' "$guide"; }

while read -r line; do
  sed 's/^ *//' "$source" | grep -qxF -- "$line" || fail "the guide shows C that is not in the program: $line"
done < <(blocks c)

# The guide links the program without its part for OSLA; the complete program is built already.
sed -e '/^#include <osla.h>/d' -e '/^static void check/,/^}/d' -e '/^static void multiply/,/^}/d' \
  -e 's/^  multiply(.*/  for (int l = 0; l < rows * cols; l++) d[l] = c[l];/' "$source" >program.c
cp "$BUILDDIR/doc/from_scalapack" program
export LD_LIBRARY_PATH=$BUILDDIR/scalapack_adapt${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LIBRARY_PATH=$BUILDDIR/scalapack_adapt
blocks sh | sed -E "s/([.-])mpich\\b/\\1$MPI_FAMILY/g" >commands.sh
[ "$(grep -c . commands.sh)" -ge 4 ] || fail "the guide has no commands"
timeout "$JOB_LIMIT" bash -e commands.sh >out 2>err || { cat out err; fail "its commands fail"; }
[ "$(grep -cx 'the products differ by 0' out)" = 4 ] || { cat out err; fail "other products"; }
grep -qE '^pdgemm +1 .* 0 ' err || { cat err; fail "pdgemm was not offloaded"; }
ldd linked | grep -q "$BUILDDIR/scalapack_adapt/libosla_scalapack.so" || fail "not linked with the drop-in"
OSLA_SCALAPACK_VERBOSE=1 timeout "$JOB_LIMIT" mpiexec.$MPI_FAMILY -n 2 ./linked 2>&1 | grep -qE '^pdgemm +1 ' ||
  fail "the linked program does not use the drop-in"
echo "the guide's commands work"
