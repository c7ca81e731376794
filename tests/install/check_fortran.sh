#!/usr/bin/env bash
# Module osla after installation: found by pkg-config, the programs of doc/ are built and run. The
# generated interfaces agree with the C headers, and types and constants have C's sizes and values.
set -u
. "$BUILDDIR/tests/config.env"
unset MAKEFLAGS MAKELEVEL MFLAGS

fail() { echo "check_fortran: $*"; exit 1; }
quietly() { "$@" >"$scratch/out" 2>&1 || { cat "$scratch/out"; fail "failed: $*"; }; }
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
interfaces=$SRCDIR/fortran/osla_c.f90

# The generated sources are up to date.
if command -v python3 >/dev/null; then
  python3 "$SRCDIR/fortran/interfaces.py" "$SRCDIR" >"$scratch/osla_c.f90" || fail "fortran/interfaces.py"
  diff "$interfaces" "$scratch/osla_c.f90" >"$scratch/out" ||
    { head -n 20 "$scratch/out"; fail "the headers have changed: make -C build fortran-interfaces"; }
  mkdir "$scratch/kinds" && quietly python3 "$SRCDIR/fortran/kinds.py" "$SRCDIR" "$scratch/kinds"
  for made in "$scratch"/kinds/*.f90; do
    diff "$SRCDIR/fortran/${made##*/}" "$made" >"$scratch/out" ||
      { head -n 20 "$scratch/out"; fail "${made##*/} is not what its template says: make -C build fortran-interfaces"; }
  done
  mkdir -p "$scratch/tree/fortran" # check of this check: a changed header must be noticed
  cp -r "$SRCDIR/include" "$scratch/tree" && cp "$SRCDIR"/fortran/*.h "$scratch/tree/fortran"
  sed -i 's/osla_err osla_potrf(osla_uplo uplo,/& double more,/' "$scratch/tree/include/osla_chol.h"
  python3 "$SRCDIR/fortran/interfaces.py" "$scratch/tree" 2>"$scratch/out" | diff -q "$interfaces" - >/dev/null &&
    fail "a changed header was not noticed"
  quietly python3 "$SRCDIR/fortran/left_out.py" "$SRCDIR" # functions that module osla leaves out
  sed -i 's/osla_err osla_potrf(osla_uplo uplo,/osla_err osla_new(int n);\n&/' "$scratch/tree/include/osla_chol.h"
  cp "$SRCDIR"/fortran/*.f90 "$scratch/tree/fortran" && mkdir -p "$scratch/tree/tests/install" &&
    cp "$SRCDIR/tests/install/stable_names.py" "$scratch/tree/tests/install"
  sed -i '/^  public ::/s/ osla_spmv,//' "$scratch/tree/fortran/osla_sparse_matrices.f90" # called, but not public
  python3 "$SRCDIR/fortran/left_out.py" "$scratch/tree" >"$scratch/out" 2>&1 && fail "a function that Fortran has not was not noticed"
  grep -q "\['new', 'spmv'\]" "$scratch/out" || { cat "$scratch/out"; fail "fortran/left_out.py"; }
fi

. "$SRCDIR/tests/install/installed.sh"
pc=$(find "$installed" -name osla-fortran.pc)
[ -n "$pc" ] || fail "no osla-fortran.pc installed"
export PKG_CONFIG_PATH=${pc%/*} PKG_CONFIG_SYSROOT_DIR=$installed
libdir=$(dirname "$(dirname "$pc")")
export LD_LIBRARY_PATH=$libdir
how=--shared
[ -f "$libdir/libosla_fortran.so" ] || how=--static
read -ra flags <<<"$(pkg-config --cflags --libs ${how/--shared/} osla-fortran)"
for i in "${!flags[@]}"; do # pkg-config also prefixes folders of other libraries with the sysroot
  folder=${flags[i]#-L}
  [[ ${flags[i]} == -L* && ! -d $folder ]] && flags[i]=-L${folder#"$installed"}
done
# Variables of a main program are saved (Fortran 2008, 5.3.16), but gfortran places them on the
# stack, where the leak check does not find the memory that they point to.
read -ra fortran <<<"$FC $SANITIZE_FLAGS ${SANITIZE_FLAGS:+-fno-automatic}"
read -ra c <<<"$CC $SANITIZE_FLAGS $(pkg-config --cflags osla)"

# Sizes of types and values of constants, printed by both compilers.
types=$(sed -n 's/^  type, bind(c) :: //p' "$interfaces")
constants=$(sed -n 's/^  integer(c_int), parameter :: \([A-Z_0-9]*\) = .*/\1/p' "$interfaces")
[ "$(wc -l <<<"$types")" -ge 15 ] && [ "$(wc -l <<<"$constants")" -ge 90 ] || fail "types or constants are missing"
{
  echo '#include <osla_unstable.h>
#include <stdio.h>
int main(void) {'
  for name in $types; do echo "printf(\"$name %d\\n\", (int)sizeof($name));"; done
  for name in $constants; do echo "printf(\"$name %d\\n\", (int)$name);"; done
  echo 'return 0; }'
} >"$scratch/sizes.c"
{
  echo 'program sizes
use osla_values
implicit none'
  for name in $types; do echo "type($name) :: a_$name"; done
  for name in $types; do echo "print '(a, i0)', '$name ', storage_size(a_$name) / 8"; done
  for name in $constants; do echo "print '(a, i0)', '$name ', $name"; done
  echo 'end program'
} >"$scratch/sizes.f90"
quietly "${c[@]}" "$scratch/sizes.c" -o "$scratch/sizes-c" "${flags[@]}"
quietly "${fortran[@]}" "$scratch/sizes.f90" -o "$scratch/sizes-f" "${flags[@]}"
"$scratch/sizes-c" >"$scratch/c" && "$scratch/sizes-f" >"$scratch/f" || fail "sizes"
diff "$scratch/c" "$scratch/f" || fail "C's sizes and values are others than Fortran's"

# The example prints the result of the C example, on any number of ranks, and the guide shows its
# lines.
quietly "${c[@]}" "$SRCDIR/doc/example.c" -o "$scratch/example-c" "${flags[@]}"
quietly "${fortran[@]}" -std=f2008 -Wall "$SRCDIR/doc/example.f90" -o "$scratch/example" "${flags[@]}"
for ranks in 1 2 4; do
  quietly timeout "$JOB_LIMIT" "$MPIEXEC" -n $ranks "$scratch/example"
  cat "$scratch/out" >>"$scratch/answers"
done
quietly timeout "$JOB_LIMIT" "$MPIEXEC" -n 2 "$scratch/example-c"
[ "$(sort -u "$scratch/answers")" = "$(cat "$scratch/out")" ] || { cat "$scratch/answers" "$scratch/out"; fail "answers differ"; }
guide=$SRCDIR/doc/fortran.md
while read -r line; do
  sed 's/^ *//' "$SRCDIR/doc/example.f90" | grep -qxF -- "$line" || fail "fortran.md shows a line that is not in example.f90: $line"
done < <(awk '/^```fortran$/ {block++; on = 1; next} /^```$/ {on = 0} on && block == 1' "$guide")

# The program in the guide on local arrays.
awk '/^```fortran$/ {block++; on = 1; next} /^```$/ {on = 0} on && block == 2' "$guide" >"$scratch/local.f90"
quietly "${fortran[@]}" -std=f2008 -Wall "$scratch/local.f90" -o "$scratch/local" "${flags[@]}"
quietly timeout "$JOB_LIMIT" "$MPIEXEC" -n 2 "$scratch/local"
grep -qx 'corner 328350.0 323400.0 323400.0 318550.0' "$scratch/out" || { cat "$scratch/out"; fail "the program in fortran.md"; }
grep -q '^error 1, osla_matrix_get_block: .* counted from 1$' "$scratch/out" || { cat "$scratch/out"; fail "its error"; }

# The program in the guide on sparse matrices.
awk '/^```fortran$/ {block++; on = 1; next} /^```$/ {on = 0} on && block == 3' "$guide" >"$scratch/sparse.f90"
quietly "${fortran[@]}" -std=f2008 -Wall "$scratch/sparse.f90" -o "$scratch/sparse" "${flags[@]}"
quietly timeout "$JOB_LIMIT" "$MPIEXEC" -n 3 "$scratch/sparse"
[ "$(cat "$scratch/out")" = $'solved T T\nnext, leaves 1 1' ] || { cat "$scratch/out"; fail "the second program in fortran.md"; }

# The program in the guide on iterations.
awk '/^```fortran$/ {block++; on = 1; next} /^```$/ {on = 0} on && block == 4' "$guide" >"$scratch/iterations.f90"
quietly "${fortran[@]}" -std=f2008 -Wall "$scratch/iterations.f90" -o "$scratch/iterations" "${flags[@]}"
quietly timeout "$JOB_LIMIT" "$MPIEXEC" -n 2 "$scratch/iterations"
[ "$(cat "$scratch/out")" = $'iterated: converged\nnext 1' ] || { cat "$scratch/out"; fail "the third program in fortran.md"; }

# Without stat an error on all ranks ends the job, with one line.
sed '/osla_matrix_get_block(C, 100, 100/s/, stat, text//' "$scratch/local.f90" >"$scratch/wrong.f90"
quietly "${fortran[@]}" "$scratch/wrong.f90" -o "$scratch/wrong" "${flags[@]}"
timeout "$JOB_LIMIT" "$MPIEXEC" -n 2 "$scratch/wrong" >"$scratch/out" 2>&1 && fail "an error without stat did not end the job"
[ "$(grep -c '^osla\[0\]: bad argument: osla_matrix_get_block: a block of 2 x 2 .*; ending all ranks$' "$scratch/out")" = 1 ] &&
  [ "$(grep -c '^osla' "$scratch/out")" = 1 ] || { cat "$scratch/out"; fail "an error without stat"; }
echo "Fortran: $(sort -u "$scratch/answers")"
