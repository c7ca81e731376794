#!/usr/bin/env bash
# A new Debian 12 system, made by mmdebstrap from this machine's package sources: apt installs the
# packages of this tree, and the examples in C, Fortran and Python run as the README and
# doc/fortran.md show them.
set -u
. "$BUILDDIR/tests/config.env"
unset MAKEFLAGS MAKELEVEL MFLAGS
fail() { echo "test_chroot: $*"; exit 1; }
skip() { echo "$*"; exit 77; }
[ "$MPI_FAMILY" = mpich ] || skip "the packages are of MPICH"
[ "$SANITIZERS" = no ] || skip "not with sanitizers"
[ "$(id -u)" = 0 ] || skip "only root makes such a system"
for tool in mmdebstrap dpkg-buildpackage dh chrpath gfortran; do
  command -v $tool >/dev/null || skip "$tool not found (Debian packages: mmdebstrap debhelper chrpath gfortran)"
done
unshare --mount true 2>/dev/null || skip "no mount name space here"
. /etc/os-release
[ "${VERSION_CODENAME:-}" = bookworm ] || skip "the sources of packages are not Debian 12's, but of ${PRETTY_NAME:-another system}"
# the machine's package sources: sources.list, or files in deb822 format
sources=()
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
  [ -s "$file" ] && grep -q bookworm "$file" && sources+=("$file")
done
[ ${#sources[@]} -gt 0 ] || skip "no sources of packages"

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
debs=${OSLA_DEBS:-} # packages that exist already
if [ -z "$debs" ]; then
  debs=$scratch/debs
  "$SRCDIR/packaging/make_deb" "$BUILDDIR" "$debs" >"$scratch/log" 2>&1 || { tail -n 40 "$scratch/log"; fail "make_deb"; }
fi
mkdir "$scratch/in" && cp "$debs"/*.deb "$scratch/in" && rm -f "$scratch"/in/*dbgsym* || fail "no packages"

# Commands of the README and of doc/fortran.md that compile and run, and the README's program in Python.
commands_of() { # PAGE FROM TO: commands of compilers and programs between two headings
  sed -n "/^$2/,/^$3/p" "$SRCDIR/$1" | awk '/^```sh$/ {on = 1; next} /^```$/ {on = 0} on && /^(mpicc|mpifort|OPENBLAS)/'
}
{ commands_of README.md '## Use the library' '## How fast' && commands_of doc/fortran.md '# From Fortran' 'With CMake'; } >"$scratch/in/lines"
awk '/^```python$/ {on = 1; next} /^```$/ {on = 0} on' "$SRCDIR/README.md" >"$scratch/in/program.py"
[ "$(grep -cE '^(mpicc|mpifort)' "$scratch/in/lines")" = 2 ] || fail "no command compiles the examples in C and in Fortran"
[ "$(grep -cE '^OPENBLAS.*mpiexec' "$scratch/in/lines")" = 3 ] || fail "no commands run the programs in C, Python and Fortran"
[ "$(grep -c . "$scratch/in/program.py")" -ge 5 ] || fail "the README has no program in Python"

cat >"$scratch/in/inside" <<'EOT2'
#!/bin/sh
# in the new system, in the folder of the packages
set -eux
export DEBIAN_FRONTEND=noninteractive HOME=/root
apt-get -q install -y --no-install-recommends ./*.deb
python3 -c "import osla; print(osla.Matrix(3, 3).fill('identity').norm('one'))"
osla --version
osla invert --stations /usr/share/osla/sample_stations.csv --events /usr/share/osla/sample_events.csv --output model.h5
test -s model.h5
# the packages brought no compiler; the next line installs it
apt-get -q install -y --no-install-recommends gcc libc6-dev gfortran pkg-config
cp /usr/share/doc/libosla-dev/examples/* .
gunzip -f ./*.gz || true
sh -eux ./lines
EOT2
cat >"$scratch/hook" <<EOT2
#!/bin/sh
set -eu
cp -r "$scratch/in" "\$1/in"
chroot "\$1" sh -c 'cd /in && sh ./inside'
EOT2
chmod +x "$scratch/hook"
# The system is used while mmdebstrap makes it, and is not stored.
if ! timeout 900 mmdebstrap --mode=root --variant=apt --format=directory --customize-hook="$scratch/hook" bookworm \
  "$scratch/root" "${sources[@]}" >"$scratch/out" 2>&1; then
  tail -n 60 "$scratch/out"
  grep -qE "Could not resolve|Failed to fetch|connection failed" "$scratch/out" && skip "the sources of packages cannot be reached"
  fail "in the new system"
fi
echo "packages installed, and in the new system:" $(grep -E '^info|^largest' "$scratch/out")
[ "$(grep -c '^info 0, largest' "$scratch/out")" = 2 ] && [ "$(grep -c '^largest |x|' "$scratch/out")" = 1 ] ||
  fail "the programs' answers"
[ "$(grep '^info' "$scratch/out" | sort -u | wc -l)" = 1 ] || fail "the answers in C and Fortran differ"
