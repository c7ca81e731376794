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
# pkg-config puts the sysroot before the folders of other libraries, too
for i in "${!static[@]}"; do
  folder=${static[i]#-L}
  [[ ${static[i]} == -L* && ! -d $folder ]] && static[i]=-L${folder#"$scratch/root"}
done
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

# README.md shows the middle of doc/example.c
shown=$(awk '/^```c$/ {on = 1; next} /^```$/ {on = 0} on' "$SRCDIR/README.md")
[ -n "$shown" ] || fail "README.md shows no C"
while read -r line; do
  sed 's/^ *//' "$SRCDIR/doc/example.c" | grep -qxF -- "$line" ||
    fail "README.md shows a line that is not in doc/example.c: $line"
done <<<"$shown"

uses() { # WHICH LIBRARY-FLAGS...
  local which=$1
  shift
  quietly "${compiler[@]}" "${cflags[@]}" "$SRCDIR/doc/example.c" -o "$scratch/user-$which" "$@"
  for ranks in 1 2 3; do
    quietly env LD_LIBRARY_PATH="$libdir" timeout 60 "$MPIEXEC" -n $ranks "$scratch/user-$which"
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

# the same answer on every number of ranks, from both libraries
[ "$(sort -u "$scratch/answers" | wc -l)" = 1 ] || { cat "$scratch/answers"; fail "answers differ"; }
grep -qE '^info 0, largest \|x\| 0\.[0-9]+$' "$scratch/answers" || fail "$(cat "$scratch/answers")"

program=$(find "$scratch/root" -type f -path '*/bin/osla')
if [ -n "$program" ]; then quietly timeout 30 "$program" --help; fi
quietly make -C "$BUILDDIR" uninstall DESTDIR="$scratch/root"
left=$(find "$scratch/root" ! -type d)
[ -z "$left" ] || fail "left after make uninstall: $left"
