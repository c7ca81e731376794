#!/usr/bin/env bash
# Uses an installation in an empty folder: every header on its own, a small program linked with the
# shared and with the static library, and a program linked with the archives of ARMCI and Global
# Arrays. pkg-config finds all libraries.
set -u
HAVE_GA=no HAVE_ARMCI=no HAVE_SHMEM=no
. "$BUILDDIR/tests/config.env"
. "$SRCDIR/tests/modes.sh"
unset MAKEFLAGS MAKELEVEL MFLAGS

fail() { echo "check_install: $*"; exit 1; }
quietly() { "$@" >"$scratch/out" 2>&1 || { cat "$scratch/out"; fail "failed: $*"; }; }

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
. "$SRCDIR/tests/install/installed.sh"

pc=$(find "$installed" -name osla.pc)
[ -n "$pc" ] || fail "no osla.pc installed"
export PKG_CONFIG_PATH=${pc%/*} PKG_CONFIG_SYSROOT_DIR=$installed
read -ra cflags <<<"$(pkg-config --cflags osla)"
read -ra shared <<<"$(pkg-config --libs osla)"
read -ra static <<<"$(pkg-config --libs --static osla)"
# pkg-config also prefixes folders of other libraries with the sysroot
for i in "${!static[@]}"; do
  folder=${static[i]#-L}
  [[ ${static[i]} == -L* && ! -d $folder ]] && static[i]=-L${folder#"$installed"}
done
libdir=$(dirname "$(dirname "$pc")")
read -ra compiler <<<"$CC $SANITIZE_FLAGS"

# gcc accepts C++ only if its C++ part is installed
languages="c"
echo 'int main() { return 0; }' | "${compiler[@]}" -x c++ -fsyntax-only - 2>/dev/null && languages="c c++"

includes=$(find "$installed" -type d -path '*include/osla')
for header in "$includes"/*.h; do
  echo "#include <${header##*/}>" >"$scratch/header.c"
  for language in $languages; do
    # clang warns if a wrapper passes linker flags while compiling
    quietly "${compiler[@]}" -x "$language" -Wall -Werror -Wno-unused-command-line-argument -fsyntax-only "${cflags[@]}" "$scratch/header.c"
  done
done
# Real factors are passed without conversion in C and C++ (without Open MPI's own C++ bindings,
# which warn).
cat >"$scratch/real.c" <<'EOT'
#include <osla.h>
osla_err product(osla_part a, osla_part b, osla_part c, double alpha, float beta);
osla_err product(osla_part a, osla_part b, osla_part c, double alpha, float beta)
{
  OSLA_CALL(osla_herk(OSLA_LOWER, OSLA_NOTRANS, alpha, a, 1, c, NULL));
  return osla_gemm(OSLA_NOTRANS, OSLA_TRANS, alpha, a, b, beta, c, NULL);
}
EOT
for language in $languages; do
  quietly "${compiler[@]}" -x "$language" -Wall -Wextra -Wconversion -Werror -Wno-unused-command-line-argument -fsyntax-only \
    -DOMPI_SKIP_MPICXX "${cflags[@]}" "$scratch/real.c"
done
[ "$(find "$includes" -name '*.h' | wc -l)" -gt 4 ] || fail "headers are missing"

shows() { # PAGE PROGRAM: each line of C in the page is a line of the program
  local shown line
  shown=$(awk '/^```c$/ {on = 1; next} /^```$/ {on = 0} on' "$SRCDIR/$1")
  [ -n "$shown" ] || fail "$1 shows no C"
  while read -r line; do
    sed 's/^ *//' "$SRCDIR/$2" | grep -qxF -- "$line" ||
      fail "$1 shows a line that is not in $2: $line"
  done <<<"$shown"
}
shows README.md doc/example.c
shows doc/grid_and_blocks.md doc/grid_and_blocks.c
shows doc/asynchronous.md doc/asynchronous.c

# The C of doc/devices.md compiles. BLOCK_i declares the variables of block i.
{
  cat <<'EOT'
#include <osla.h>
#include <osla_unstable.h>
#define BLOCK_1 osla_matrix *a, *on_host = NULL; int64_t info;
#define BLOCK_2 osla_csr *a = NULL; double *b, *x, *b_on_host = NULL; osla_segment *segment; \
  osla_transfer transfer; osla_krylov_result result; const size_t rows = 5; const int rank = 0;
#define BLOCK_3 void *roots, *leaves = NULL; osla_forest *forest = NULL; osla_forest_run run;
#define BLOCK_4 void *x = NULL, *leaves = NULL, *stream = NULL; osla_forest *forest = NULL;
#define BLOCK_5 osla_matrix *h_on_device = NULL, *x_on_device = NULL; osla_hessian *hessian; \
  int64_t indices[3] = {0, 1, 2}, count = 3, k = 1, info; double g[3] = {1, 2, 3};
int cudaMalloc(void **memory, size_t bytes);
int cudaFree(void *memory);
void page(osla_transport *transport, osla_device *device, osla_grid *grid, int64_t n);
void page(osla_transport *transport, osla_device *device, osla_grid *grid, int64_t n)
{
EOT
  awk '/^```c$/ {print "{ BLOCK_" ++n; on = 1; next} /^```$/ && on {print "}"; on = 0} on' "$SRCDIR/doc/devices.md"
  echo "}"
} >"$scratch/devices.c"
quietly "${compiler[@]}" -Wall -Wextra -Werror -Wno-unused-but-set-variable -Wno-unused-command-line-argument -fsyntax-only \
  "${cflags[@]}" "$scratch/devices.c"

# All global names of the libraries begin with osla_ or osli_: a function of the program with the
# same name as one of the library's would replace it.
for library in "$libdir"/libosla.so "$libdir"/libosla*.a; do
  [ -f "$library" ] || continue
  how=--extern-only
  [[ $library == *.so ]] && how=--dynamic
  foreign=$(nm "$how" --defined-only "$library" |
    awk 'NF == 3 && $2 ~ /^[A-Z]$/ && $3 !~ /^(osla_|osli_|_)/ {print $3}' | sort -u)
  [ -z "$foreign" ] || fail "${library##*/} shows the names" $foreign
done
for name in update_block gemm_run solve_panel copy_block lu_publish file_sum; do
  echo "int $name(void); int $name(void) { __builtin_abort(); }"
done >"$scratch/names.c"

uses() { # WHICH LIBRARY-FLAGS...
  local which=$1
  shift
  quietly "${compiler[@]}" "${cflags[@]}" "$SRCDIR/doc/example.c" "$scratch/names.c" \
    -rdynamic -o "$scratch/user-$which" "$@"
  for ranks in 1 2 3; do
    quietly env LD_LIBRARY_PATH="$libdir" timeout "$JOB_LIMIT" "$MPIEXEC" -n $ranks "$scratch/user-$which"
    cat "$scratch/out" >>"$scratch/answers"
  done
  echo "$which library: $(cat "$scratch/out")"
}
if [ -f "$libdir/libosla.so" ]; then
  uses shared "${shared[@]}"
  ldd "$scratch/user-shared" | grep -q libosla || fail "the shared library is not used"
fi
if [ -f "$libdir/libosla.a" ]; then
  uses static "${static[@]/#-losla/-l:libosla.a}"
  ldd "$scratch/user-static" | grep -q libosla && fail "the static library is not used"
fi

guide() { # RANKS ANSWER ARGUMENT...
  local ranks=$1 answer=$2
  shift 2
  quietly env LD_LIBRARY_PATH="$libdir" timeout "$JOB_LIMIT" "$MPIEXEC" -n "$ranks" "$scratch/guide" "$@"
  grep -q "^grid $answer MiB a rank" "$scratch/out" || fail "guide $*, $ranks ranks: $(cat "$scratch/out")"
}
libraries=("${static[@]}")
[ -f "$libdir/libosla.so" ] && libraries=("${shared[@]}")
quietly "${compiler[@]}" "${cflags[@]}" "$SRCDIR/doc/grid_and_blocks.c" -o "$scratch/guide" "${libraries[@]}"
guide 1 '1 x 1 on 1 nodes, blocks of 96: 0.3' 200
guide 4 '1 x 4 on 1 nodes, blocks of 16: 0.1' 200 16
guide 4 '2 x 2 on 1 nodes, blocks of 32: 0.1' 200 32 2 2

# The program of doc/asynchronous.md, in each mode.
quietly "${compiler[@]}" "${cflags[@]}" "$SRCDIR/doc/asynchronous.c" -o "$scratch/asynchronous" "${libraries[@]}"
for mode in sync async racy; do
  quietly env LD_LIBRARY_PATH="$libdir" timeout "$JOB_LIMIT" "$MPIEXEC" -n 2 "$scratch/asynchronous" $mode
  grep -q '^converged: residual ' "$scratch/out" || fail "asynchronous $mode: $(cat "$scratch/out")"
done

# every number of ranks gives the same result, with both libraries
[ "$(sort -u "$scratch/answers" | wc -l)" = 1 ] || { cat "$scratch/answers"; fail "answers differ"; }
grep -qE '^info 0, largest \|x\| 0\.[0-9]+$' "$scratch/answers" || fail "$(cat "$scratch/answers")"

# links PACKAGES SOURCE NAME [OPTION...]: compiles and links a program by the .pc files of some
# packages, with libosla.so, or libosla.a if there is no shared library
links() {
  local flags how=
  [ -f "$libdir/libosla.so" ] || how=--static
  read -ra flags <<<"$(pkg-config --cflags --libs $how $1)"
  for i in "${!flags[@]}"; do
    folder=${flags[i]#-L}
    [[ ${flags[i]} == -L* && ! -d $folder ]] && flags[i]=-L${folder#"$installed"}
  done
  quietly "${compiler[@]}" "$2" -o "$scratch/$3" "${@:4}" "${flags[@]}"
}

# The archives of ARMCI, OpenSHMEM and Global Arrays with the shared library. They are linked whole, so that
# the link fails if any of their objects needs a symbol that libosla.so does not export.
if [ -f "$libdir/libosla.so" ]; then
  packages="osla-armci osla-shmem" archives=("$libdir/libosla_armci.a" "$libdir/libosla_shmem.a") offered=0 shmem=0
  [ "$HAVE_ARMCI" = yes ] || { offered=OSLA_ERR_UNSUPPORTED; echo "archives: this build has no ARMCI"; }
  [ "$HAVE_SHMEM" = yes ] || { shmem=OSLA_ERR_UNSUPPORTED; echo "archives: this build has no OpenSHMEM"; }
  if [ "$HAVE_GA" = yes ]; then
    packages+=" osla-ga" archives+=("$libdir/libosla_ga.a" -DWITH_GA)
  else
    echo "archives: this build has no Global Arrays"
  fi
  cat >"$scratch/archives.c" <<'EOT'
#include <mpi.h>
#include <osla.h>
#ifdef WITH_GA
#include <osla_ga.h>
#endif
int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  int wrong = osla_armci_offer() != OFFERED || osla_shmem_offer() != OFFERED_SHMEM;
#ifdef WITH_GA
  wrong |= osla_ga_initialize(1 << 10) != OSLA_OK;
  osla_ga_terminate();
#endif
  MPI_Finalize();
  return wrong;
}
EOT
  links "$packages" "$scratch/archives.c" archives -DOFFERED=$offered -DOFFERED_SHMEM=$shmem \
    -Wl,--whole-archive "${archives[@]}" -Wl,--no-whole-archive
  ldd "$scratch/archives" | grep -q libosla || fail "the archives are not linked with the shared library"
  quietly env $(in_mode node 2 ga) LD_LIBRARY_PATH="$libdir" timeout "$JOB_LIMIT" "$MPIEXEC" -n 2 "$scratch/archives"
fi

if [ "$HAVE_GA" = yes ]; then
  page=$SRCDIR/doc/global_arrays.md
  # the page shows lines of the example ...
  while read -r line; do
    sed 's/^ *//' "$SRCDIR/ga_adapt/example.c" | grep -qxF -- "$line" ||
      fail "doc/global_arrays.md shows a line that is not in ga_adapt/example.c: $line"
  done < <(awk '/^```c$/ {on = 1; next} /^```$/ {on = 0} on' "$page")
  # ... and calls before and after the change, which are combined into one program
  calls=$(awk '/^```diff$/ {on = 1; next} /^```$/ {on = 0} on' "$page" | sed -nE 's/^[-+] *((osla_ga|GA)_.*\(.*)/  \1/p')
  [ "$(grep -c . <<<"$calls")" -ge 8 ] || fail "doc/global_arrays.md shows no calls"
  cat >"$scratch/calls.c" <<EOT
#include <ga.h>
#include <macdecls.h>
#include <mpi.h>
#include <osla_ga.h>
#include <stdio.h>
static int make(void)
{
  int dims[2] = {40, 40};
  double zero = 0, two = 2;
  int g = NGA_Create(C_DBL, 2, dims, "array", NULL);
  GA_Fill(g, &zero);
  GA_Shift_diagonal(g, &two);
  return g;
}
int main(int argc, char **argv)
{
  int64_t info = -1, m = 40, n = 40, k = 40;
  double alpha = 1, beta = 0;
  MPI_Init(&argc, &argv);
  if (osla_ga_initialize(1 << 20) != OSLA_OK) return 1;
  int g_a = make(), g_b = make(), g_c = make();
$calls
  printf("info %d\n", (int)info);
  GA_Terminate();
  MPI_Finalize();
  return 0;
}
EOT
  links osla-ga "$scratch/calls.c" calls
  links osla-ga "$SRCDIR/ga_adapt/example.c" user-ga
  : >"$scratch/answers"
  for ranks in 1 2 3; do
    for name in calls user-ga; do
      quietly env $(in_mode node $ranks ga) LD_LIBRARY_PATH="$libdir" timeout "$JOB_LIMIT" "$MPIEXEC" -n $ranks "$scratch/$name"
      cat "$scratch/out" >>"$scratch/answers"
    done
  done
  [ "$(sort -u "$scratch/answers" | grep -cE '^info 0(, x\[0\] 0\.[0-9]+)?$')" = 2 ] &&
    [ "$(sort -u "$scratch/answers" | wc -l)" = 2 ] || { cat "$scratch/answers"; fail "Global Arrays"; }
  echo "Global Arrays: $(tail -n 1 "$scratch/answers")"
fi

program=$(find "$installed" -type f -path '*/bin/osla')
if [ -n "$program" ]; then quietly timeout "$JOB_LIMIT" "$program" --help; fi
# The installed command `osla`, which contains libosla, must find the plug-in in the folder of the
# libraries.
if [ "$HAVE_CUDA" = yes ]; then
  quietly env -u LD_LIBRARY_PATH OSLA_DEVICE=cuda CUDA_VISIBLE_DEVICES= timeout "$JOB_LIMIT" "$MPIEXEC" -n 1 "$program" info
  grep -q 'Devices .*cuda' "$scratch/out" || fail "osla info: $(cat "$scratch/out")"
  ! tr -s '\n ' ' ' <"$scratch/out" | grep -q 'cannot be loaded' || fail "osla info: $(cat "$scratch/out")"
fi
cp -a "$installed" "$scratch/root" || exit 1
quietly make -C "$BUILDDIR" uninstall DESTDIR="$scratch/root"
left=$(find "$scratch/root" ! -type d)
[ -z "$left" ] || fail "left after make uninstall: $left"
