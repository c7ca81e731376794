#!/usr/bin/env bash
# Installs into an empty folder and uses what is there as a stranger would: every header on its own,
# a small program against the shared and against the static library, both found by pkg-config.
set -u
. "$BUILDDIR/tests/config.env"
unset MAKEFLAGS MAKELEVEL MFLAGS

fail() { echo "check_install: $*"; exit 1; }
quietly() { "$@" >"$scratch/out" 2>&1 || { cat "$scratch/out"; fail "failed: $*"; }; }

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
quietly make -C "$BUILDDIR" install DESTDIR="$scratch/root"

pc=$(find "$scratch/root" -name osla.pc)
[ -n "$pc" ] || fail "no osla.pc installed"
export PKG_CONFIG_PATH=${pc%/*} PKG_CONFIG_SYSROOT_DIR=$scratch/root
read -ra cflags <<<"$(pkg-config --cflags osla)"
read -ra shared <<<"$(pkg-config --libs osla)"
read -ra static <<<"$(pkg-config --libs --static osla)"
libdir=$(dirname "$(dirname "$pc")")
read -ra compiler <<<"$CC $SANITIZE_FLAGS"

# gcc knows C++ only where its C++ part is installed
languages="c"
echo 'int main() { return 0; }' | "${compiler[@]}" -x c++ -fsyntax-only - 2>/dev/null && languages="c c++"

includes=$(find "$scratch/root" -type d -path '*include/osla')
for header in "$includes"/*.h; do
  echo "#include <${header##*/}>" >"$scratch/header.c"
  for language in $languages; do
    quietly "${compiler[@]}" -x "$language" -Wall -Werror -fsyntax-only "${cflags[@]}" "$scratch/header.c"
  done
done
[ "$(find "$includes" -name '*.h' | wc -l)" -gt 4 ] || fail "headers are missing"

cat >"$scratch/user.c" <<'EOT'
#include <mpi.h>
#include <osla.h>
#include <stdio.h>

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  double x = osla_random_uniform(1, 2, 3);
  osla_err err = osla_error_set(OSLA_ERR_ARG, "x = %g", x);
  printf("%s\n", osla_err_name(err));
  MPI_Finalize();
  return osla_clock() >= 0.0 && err == OSLA_ERR_ARG ? 0 : 1;
}
EOT

uses() { # WHICH LIBRARY-FLAGS...
  local which=$1
  shift
  quietly "${compiler[@]}" "${cflags[@]}" "$scratch/user.c" -o "$scratch/user-$which" "$@"
  quietly env LD_LIBRARY_PATH="$libdir" timeout 30 "$MPIEXEC" -n 2 "$scratch/user-$which"
  [ "$(grep -o "bad argument" "$scratch/out" | wc -l)" = 2 ] || { cat "$scratch/out"; fail "$which: wrong output"; }
  echo "$which library: ok"
}
if [ -f "$libdir/libosla.so" ]; then
  uses shared "${shared[@]}"
  ldd "$scratch/user-shared" | grep -q libosla || fail "the shared library is not used"
fi
if [ -f "$libdir/libosla.a" ]; then
  uses static "${static[@]/#-losla/-l:libosla.a}"
  ldd "$scratch/user-static" | grep -q libosla && fail "the static library is not used"
fi

program=$(find "$scratch/root" -type f -path '*/bin/osla')
if [ -n "$program" ]; then quietly timeout 30 "$program" --help; fi
quietly make -C "$BUILDDIR" uninstall DESTDIR="$scratch/root"
left=$(find "$scratch/root" ! -type d)
[ -z "$left" ] || fail "left after make uninstall: $left"
