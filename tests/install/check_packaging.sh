#!/usr/bin/env bash
# The recipes in packaging/: they parse, their options are options of configure, each file that the
# Debian packages contain is installed by `make install`, and each installed file is in a package.
set -u
. "$BUILDDIR/tests/config.env"
unset MAKEFLAGS MAKELEVEL MFLAGS
fail() { echo "check_packaging: $*"; exit 1; }
recipes=$SRCDIR/packaging
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

# --- options: --with-X, and X in Spack's helper functions ---
"$SRCDIR/configure" --help >"$scratch/help" || fail "configure --help"
offered=$(grep -oE '^ +--(enable|disable|with|without)-[A-Za-z0-9-]+' "$scratch/help" | sed -E 's/^ +--(enable|disable|with|without)-//' | sort -u)
given=$({
  grep -rhoE -- '--(enable|disable|with|without)-[A-Za-z0-9-]+' "$recipes/spack" "$recipes/easybuild" "$recipes/debian/rules" |
    sed -E 's/^--(enable|disable|with|without)-//'
  grep -hoE '(enable_or_disable|with_or_without)\("[^"]+"' "$recipes/spack/package.py" | sed 's/.*"\(.*\)"/\1/'
} | sort -u)
[ "$(wc -l <<<"$given")" -ge 3 ] || fail "the recipes give no options?"
for option in $given; do
  grep -qx -- "$option" <<<"$offered" || fail "a recipe gives an option that configure does not have: $option"
done

# --- syntax ---
bash -n "$recipes/make_deb" || fail "make_deb"
sed 's|%:|all:|' "$recipes/debian/rules" | make -n -f - all >/dev/null 2>&1 || fail "debian/rules"
if command -v python3 >/dev/null; then
  for recipe in "$recipes"/spack/package.py "$recipes"/easybuild/*.eb; do
    python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read(), sys.argv[1])' "$recipe" || fail "${recipe##*/}"
  done
  # EasyBuild's recipes consist of assignments; these are required
  python3 - "$recipes"/easybuild/*.eb <<'EOT' || fail "the recipe of EasyBuild"
import sys
values = {}
exec(open(sys.argv[1]).read(), {}, values)
missing = {"easyblock", "name", "version", "homepage", "description", "toolchain", "sources", "moduleclass"} - set(values)
if missing or f"{values['name']}-{values['version']}-{values['toolchain']['name']}-{values['toolchain']['version']}.eb" not in sys.argv[1]:
    sys.exit(f"missing: {missing}, or a name that does not fit {sys.argv[1]}")
EOT
fi

# --- one version everywhere: configure, pkg-config and Debian take it from osla_version.h ---
version=$(sed -n 's/^#define OSLA_VERSION_[A-Z]* \([0-9]*\)$/\1/p' "$SRCDIR/include/osla_version.h" | paste -s -d .)
for made in osla.pc osla-fortran.pc osla-config-version.cmake; do
  [ ! -e "$BUILDDIR/$made" ] || grep -qF "$version" "$BUILDDIR/$made" || fail "$made lacks version $version"
done
for page in "$SRCDIR"/doc/*.1; do
  head -n 1 "$page" | grep -qF "\"OSLA $version\"" || fail "the heading of ${page##*/} lacks version $version"
done
[ "$(grep -m 1 '^## ' "$SRCDIR/NEWS.md" | cut -d' ' -f2)" = "$version" ] || fail "the first version in NEWS.md is not $version"

# --- files in the Debian packages ---
if [ -f "$BUILDDIR/.libs/libosla.so" ] && [ "${HAVE_FORTRAN:-no}" = yes ]; then
  . "$SRCDIR/tests/install/installed.sh"
  cp -as "$installed" "$scratch/root" || exit 1
  # move the files to where prefix /usr and libdir /usr/lib/MACHINE put them
  libdir=$(dirname "$(find "$scratch/root" -name libosla.so)")
  mkdir -p "$scratch/as/usr/lib" && mv "$libdir" "$scratch/as/usr/lib/machine" || exit 1
  mv "$(dirname "$libdir")"/* "$scratch/as/usr" || exit 1
  cd "$scratch/as" || exit 1
  # Debian keeps the packages of every Python version in one folder; for other prefixes than /usr and /usr/local the name differs.
  for folder in usr/lib/machine/python3*/{dist,site}-packages; do
    [ -d "$folder" ] && mkdir -p usr/lib/python3 && mv "$folder" usr/lib/python3/dist-packages
  done
  find . -name '*.la' -delete
  find . ! -type d | sed 's|^\./||' | sort >"$scratch/files"
  : >"$scratch/taken"
  while read -r pattern; do
    found=$(compgen -G "$pattern") # a file, files, or a folder
    if [ -n "$found" ]; then
      # shellcheck disable=SC2086
      find $found ! -type d >>"$scratch/taken"
    elif [[ $pattern != *_ga* && $pattern != *_cuda.so ]]; then # only builds with Global Arrays or CUDA install the excepted files
      fail "a Debian package takes what is not installed: $pattern"
    fi
  done < <(cat "$recipes"/debian/*.install "$recipes/debian/not-installed")
  left=$(sort -u "$scratch/taken" | comm -23 "$scratch/files" -)
  [ -z "$left" ] || fail "in no Debian package:" $left
fi
echo "options: $(tr '\n' ' ' <<<"$given"); $(find "$recipes" -type f | wc -l) files"
