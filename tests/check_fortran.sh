#!/usr/bin/env bash
# Module osla as a stranger meets it: installed, found by pkg-config, the programs of doc/ built and run. And what it
# stands on: interfaces that are those of the C headers, types and constants of C's sizes and values.
set -u
. "$BUILDDIR/tests/config.env"
unset MAKEFLAGS MAKELEVEL MFLAGS

fail() { echo "check_fortran: $*"; exit 1; }
quietly() { "$@" >"$scratch/out" 2>&1 || { cat "$scratch/out"; fail "failed: $*"; }; }
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
interfaces=$SRCDIR/fortran/osla_c.f90

# The interfaces are what the headers say.
if command -v python3 >/dev/null; then
  python3 "$SRCDIR/fortran/interfaces.py" "$SRCDIR" >"$scratch/osla_c.f90" || fail "fortran/interfaces.py"
  diff "$interfaces" "$scratch/osla_c.f90" >"$scratch/out" ||
    { head -n 20 "$scratch/out"; fail "the headers have changed: make -C build fortran-interfaces"; }
  mkdir -p "$scratch/tree/fortran" # is the comparison awake?
  cp -r "$SRCDIR/src" "$SRCDIR/kernels" "$scratch/tree" && cp "$SRCDIR"/fortran/*.h "$scratch/tree/fortran"
  sed -i 's/osla_err osla_potrf(osla_uplo uplo,/& double more,/' "$scratch/tree/kernels/chol/osla_chol.h"
  python3 "$SRCDIR/fortran/interfaces.py" "$scratch/tree" 2>"$scratch/out" | diff -q "$interfaces" - >/dev/null &&
    fail "a changed header was not noticed"
fi

# Each function of these headers is in module osla, or is known not to be: also those of whole matrices in whose place the module
# calls those of parts.
not_in="agree_same at_step csr_renumber csr_row csr_submatrix dot_local error_set_mpi forest_allgather forest_alltoall
  forest_compose_inverse forest_concatenate forest_edges forest_embed_leaves forest_embed_roots forest_end forest_end_read
  forest_gather forest_leaf_ranks forest_nearer forest_root_ranks forest_strided forest_test forest_transport forest_view forest_writable
  getrf getrs grid_choose grid_prow_of grid_same grid_shift
  matrix_bytes matrix_copy matrix_fill matrix_norm matrix_peer matrix_scale matrix_transpose matrix_wrap_own memory_available
  memory_check potrf potrs random_bits simulated_machine sums_all sums_create sums_destroy trace_add trace_add_until trace_check
  trace_now trace_unit transport_abort transport_at_end transport_largest_node transport_memory_by_mpi transport_memory_share
  transport_node_rank_of transport_node_size trsm vertices_create vertices_free"
unused=$(comm -23 <(sed -nE 's/^    (function|subroutine) c_osla_([a-z0-9_]+)\(.*/\2/p' "$interfaces" | sort -u) \
  <(find "$SRCDIR/fortran" -name '*.f90' ! -name osla_c.f90 -exec grep -ohE '\bc_osla_[a-z0-9_]+' {} + | sed 's/^c_osla_//' | sort -u))
[ "$(xargs -n 1 <<<"$not_in")" = "$unused" ] ||
  fail "in the headers and not in module osla, or not in this list:" $(sort <(xargs -n 1 <<<"$not_in") <(echo "$unused") | uniq -u)

quietly make -C "$BUILDDIR" install DESTDIR="$scratch/root"
pc=$(find "$scratch/root" -name osla-fortran.pc)
[ -n "$pc" ] || fail "no osla-fortran.pc installed"
export PKG_CONFIG_PATH=${pc%/*} PKG_CONFIG_SYSROOT_DIR=$scratch/root
libdir=$(dirname "$(dirname "$pc")")
export LD_LIBRARY_PATH=$libdir
how=--shared
[ -f "$libdir/libosla_fortran.so" ] || how=--static
read -ra flags <<<"$(pkg-config --cflags --libs ${how/--shared/} osla-fortran)"
for i in "${!flags[@]}"; do # pkg-config puts the sysroot before the folders of other libraries, too
  folder=${flags[i]#-L}
  [[ ${flags[i]} == -L* && ! -d $folder ]] && flags[i]=-L${folder#"$scratch/root"}
done
read -ra fortran <<<"$FC $SANITIZE_FLAGS"
read -ra c <<<"$CC $SANITIZE_FLAGS $(pkg-config --cflags osla)"

# Types and constants, by both compilers.
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

# The example has the answer of the one in C, on any number of ranks; the guide shows its lines.
quietly "${c[@]}" "$SRCDIR/doc/example.c" -o "$scratch/example-c" "${flags[@]}"
quietly "${fortran[@]}" -std=f2008 -Wall "$SRCDIR/doc/example.f90" -o "$scratch/example" "${flags[@]}"
for ranks in 1 2 4; do
  quietly timeout 60 "$MPIEXEC" -n $ranks "$scratch/example"
  cat "$scratch/out" >>"$scratch/answers"
done
quietly timeout 60 "$MPIEXEC" -n 2 "$scratch/example-c"
[ "$(sort -u "$scratch/answers")" = "$(cat "$scratch/out")" ] || { cat "$scratch/answers" "$scratch/out"; fail "answers differ"; }
guide=$SRCDIR/doc/fortran.md
while read -r line; do
  sed 's/^ *//' "$SRCDIR/doc/example.f90" | grep -qxF -- "$line" || fail "fortran.md shows a line that is not in example.f90: $line"
done < <(awk '/^```fortran$/ {block++; on = 1; next} /^```$/ {on = 0} on && block == 1' "$guide")

# The program in the guide.
awk '/^```fortran$/ {block++; on = 1; next} /^```$/ {on = 0} on && block == 2' "$guide" >"$scratch/local.f90"
quietly "${fortran[@]}" -std=f2008 -Wall "$scratch/local.f90" -o "$scratch/local" "${flags[@]}"
quietly timeout 60 "$MPIEXEC" -n 2 "$scratch/local"
grep -qx 'corner 328350.0 323400.0 323400.0 318550.0' "$scratch/out" || { cat "$scratch/out"; fail "the program in fortran.md"; }
grep -q '^error 1, osla_matrix_get_block: .* counted from 1$' "$scratch/out" || { cat "$scratch/out"; fail "its error"; }

# The one of sparse matrices.
awk '/^```fortran$/ {block++; on = 1; next} /^```$/ {on = 0} on && block == 3' "$guide" >"$scratch/sparse.f90"
quietly "${fortran[@]}" -std=f2008 -Wall "$scratch/sparse.f90" -o "$scratch/sparse" "${flags[@]}"
quietly timeout 60 "$MPIEXEC" -n 3 "$scratch/sparse"
[ "$(cat "$scratch/out")" = $'solved T T\nnext, leaves 1 1' ] || { cat "$scratch/out"; fail "the second program in fortran.md"; }

# Without stat an error of all ranks ends the job, with one line.
sed '/osla_matrix_get_block(C, 100, 100/s/, stat, text//' "$scratch/local.f90" >"$scratch/wrong.f90"
quietly "${fortran[@]}" "$scratch/wrong.f90" -o "$scratch/wrong" "${flags[@]}"
timeout 60 "$MPIEXEC" -n 2 "$scratch/wrong" >"$scratch/out" 2>&1 && fail "an error without stat did not end the job"
[ "$(grep -c '^osla\[0\]: bad argument: osla_matrix_get_block: a block of 2 x 2 .*; ending all ranks$' "$scratch/out")" = 1 ] &&
  [ "$(grep -c '^osla' "$scratch/out")" = 1 ] || { cat "$scratch/out"; fail "an error without stat"; }
echo "Fortran: $(sort -u "$scratch/answers")"
