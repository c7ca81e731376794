#!/usr/bin/env bash
# Debian packages of the tree: built, checked by lintian, unpacked into a folder, and used from
# there.
set -u
. "$BUILDDIR/tests/config.env"
unset MAKEFLAGS MAKELEVEL MFLAGS
fail() { echo "test_deb: $*"; exit 1; }
skip() { echo "$*"; exit 77; }
[ "$MPI_FAMILY" = mpich ] || skip "the packages are of MPICH"
[ "$SANITIZERS" = no ] || skip "not with sanitizers"
for tool in dpkg-buildpackage dh lintian chrpath gfortran; do
  command -v $tool >/dev/null || skip "$tool not found (Debian packages: debhelper lintian chrpath gfortran)"
done

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
"$SRCDIR/packaging/make_deb" "$BUILDDIR" "$scratch/debs" >"$scratch/log" 2>&1 || { tail -n 40 "$scratch/log"; fail "make_deb"; }
[ "$(find "$scratch/debs" -name '*.deb' ! -name '*dbgsym*' | wc -l)" = 6 ] || fail "not six packages"
lintian --fail-on error,warning "$scratch"/debs/*.changes >"$scratch/lintian" 2>&1 || { cat "$scratch/lintian"; fail "lintian"; }

root=$scratch/root
for package in "$scratch"/debs/*.deb; do
  [[ $package == *dbgsym* ]] || dpkg -x "$package" "$root" || fail "dpkg -x $package"
done
lib=$(dirname "$(find "$root" -name libosla.so.0)")
export LD_LIBRARY_PATH=$lib OPENBLAS_NUM_THREADS=1
export PKG_CONFIG_PATH=$lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
run() { timeout "$JOB_LIMIT" mpiexec.mpich "$@" >"$scratch/out" 2>&1 || { cat "$scratch/out"; fail "failed: $*"; }; }

"$root/usr/bin/osla" --version | grep -qx "osla $(sed -n 's/^Version: //p' "$BUILDDIR/osla.pc")" || fail "osla --version"
run -n 2 "$root/usr/bin/osla" invert --stations "$root/usr/share/osla/sample_stations.csv" \
  --events "$root/usr/share/osla/sample_events.csv" --output "$scratch/model.h5"
[ -s "$scratch/model.h5" ] || fail "no model"
examples=$root/usr/share/doc/libosla-dev/examples
# shellcheck disable=SC2046
mpicc.mpich "$examples/example.c" $(pkg-config --cflags --libs osla) -o "$scratch/example" || fail "example.c"
run -n 2 "$scratch/example"
cp "$scratch/out" "$scratch/answer"
# shellcheck disable=SC2046
mpifort.mpich "$examples/example.f90" $(pkg-config --cflags --libs osla-fortran) -o "$scratch/example-f" || fail "example.f90"
run -n 2 "$scratch/example-f"
cmp "$scratch/answer" "$scratch/out" || fail "the examples' answers differ"
readelf -d "$lib"/libosla*.so* | grep -E 'RPATH|RUNPATH' && fail "a library names a folder"
echo "six packages; $(cat "$scratch/answer")"
