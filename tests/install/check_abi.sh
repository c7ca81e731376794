#!/usr/bin/env bash
# Checks that programs compiled earlier run with this libosla.so, by comparing it with the
# description in tests/install/abi/. Functions may have been added; nothing else may differ.
# CONTRIBUTING.md, Versions, describes intended changes.
set -u
. "$BUILDDIR/tests/config.env"

fail() { echo "check_abi: $*"; exit 1; }
skip() { echo "$*"; exit 77; }

machine=$(uname -m)
before=$SRCDIR/tests/install/abi/libosla-$machine-$MPI_FAMILY.abi
library=$BUILDDIR/.libs/libosla.so
command -v abidw >/dev/null || skip "abidw not found (Debian package: abigail-tools)"
[ -f "$library" ] || skip "built without a shared library"
[ -f "$before" ] || skip "there is no description for $machine with $MPI_FAMILY"

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
now=$scratch/now.abi
of="the library"
if ! readelf -S "$library" | grep -q debug_info; then
  of="the headers, and what the library exports"
  CC=$CC "$SRCDIR/tests/install/abi/from_headers" "$library" "$scratch/libosla.so" || fail "tests/install/abi/from_headers failed"
  library=$scratch/libosla.so
fi
"$SRCDIR/tests/install/abi/describe" "$library" >"$now" || fail "tests/install/abi/describe failed"

compatible() { abidiff --no-added-syms "$1" "$2" >"$scratch/changes" 2>&1; }

# Check of this check: a removed function and a changed parameter type must be found, an added
# function must be accepted.
sed "/<function-decl name='osla_potrs'/,/<\/function-decl>/d; /<elf-symbol name='osla_potrs'/d" "$now" >"$scratch/less.abi"
compatible "$now" "$scratch/less.abi" && fail "a function that is gone was not found"
compatible "$scratch/less.abi" "$now" || { cat "$scratch/changes"; fail "an added function is no change"; }
sed "/<class-decl name='osla_layout'/s/size-in-bits='[0-9]*'/size-in-bits='512'/" "$now" >"$scratch/other.abi"
compatible "$now" "$scratch/other.abi" && fail "a struct of another size was not found"

if ! compatible "$before" "$now"; then
  cat "$scratch/changes"
  fail "programs compiled before may not run: make -C build abi, and -version-info (CONTRIBUTING.md, Versions)"
fi
echo "$(grep -c '<function-decl' "$now") functions of $of, as before or added"
