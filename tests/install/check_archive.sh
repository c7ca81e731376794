#!/usr/bin/env bash
# The archive of a release (make dist) holds every file that git tracks, and configure.
set -u
. "$BUILDDIR/tests/config.env"
unset MAKEFLAGS MAKELEVEL MFLAGS
fail() { echo "check_archive: $*"; exit 1; }
git -C "$SRCDIR" rev-parse --verify HEAD >/dev/null 2>&1 || { echo "not a clone of git"; exit 77; }

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
make -C "$BUILDDIR" -s distdir distdir="$scratch/osla" >"$scratch/log" 2>&1 || { tail -n 20 "$scratch/log"; fail "make distdir"; }
[ -x "$scratch/osla/configure" ] || fail "no configure in the archive"
git -C "$SRCDIR" ls-files | while read -r file; do
  [ -e "$scratch/osla/$file" ] || echo "$file"
done >"$scratch/missing"
[ -s "$scratch/missing" ] && fail "files that the archive lacks (EXTRA_DIST):" $(cat "$scratch/missing")
echo "the archive holds the tree"
