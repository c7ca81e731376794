#!/usr/bin/env bash
# The documentation as HTML: `make doc` gives no warning, every internal link works, and each public
# function of the C library and each name of the Python package has an entry with text.
set -u
. "$BUILDDIR/tests/config.env"
unset MAKEFLAGS MAKELEVEL MFLAGS
fail() { echo "check_doc: $*"; exit 1; }
[ -z "$DOC_PACKAGES" ] || { echo "needs the tools of make doc (Debian packages: $DOC_PACKAGES)"; exit 77; }
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

make -C "$BUILDDIR" doc || fail "make doc"
site=$BUILDDIR/site/html

# --- expected entries: functions from the preprocessed headers, Python's names from __all__ ---
includes="-I$SRCDIR/include"
echo '#include <osla_unstable.h>' | $CC $includes -E - >"$scratch/osla.i" || fail "the preprocessor"
awk '/^# [0-9]+ "/ { ours = $3 ~ /osla_[a-z_]*\.h"$/ } ours && !/^#/' "$scratch/osla.i" | tr '\n' ' ' |
  grep -oE '\bosla_[a-z0-9_]+\([^()]*(\([^()]*\)[^()]*)*\) *(__attribute__ *\(\([^;]*\)\))? *;' |
  grep -oE '^osla_[a-z0-9_]+' | sort -u >"$scratch/functions"
[ "$(wc -l <"$scratch/functions")" -gt 200 ] || fail "only $(wc -l <"$scratch/functions") functions in osla_unstable.h?"
sed -n '/^__all__/,/\]/p' "$SRCDIR/python/osla/__init__.py" | grep -oE '"[A-Za-z_]+"' | tr -d '"' >"$scratch/python"
[ -s "$scratch/python" ] || fail "no names in python/osla/__init__.py"
{ sed 's/^/c /' "$scratch/functions"; sed 's/^/py osla./' "$scratch/python"; } >"$scratch/names"
look() { python3 "$SRCDIR/doc/site/check.py" "$1"; }
look "$site" <"$scratch/names" || fail "the site has faults"

# --- check of this check: it finds spoilt pages ---
cp -r "$site" "$scratch/spoilt"
rm "$scratch/spoilt/api/osla_gemm.html"
look "$scratch/spoilt" <"$scratch/names" >"$scratch/out" && fail "a page that is gone was not noticed"
grep -q 'osla_gemm has no entry' "$scratch/out" || fail "a function without entry was not noticed"
grep -q 'osla_gemm.html does not exist' "$scratch/out" || fail "a link without a target was not noticed"
echo "make doc builds the site, and the site is whole"
