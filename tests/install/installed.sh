# Sets `installed` to a folder with the result of `make install`, made once for all tests of a run
# of tests/run. Tests that change it use a copy.
: "${BUILDDIR:?}"
installed=$BUILDDIR/tests/installed
exec {installed_lock}>"$installed.lock" || exit 1
flock "$installed_lock"
if [ ! -e "$installed.done" ]; then
  rm -rf "$installed"
  env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -C "$BUILDDIR" install DESTDIR="$installed" >"$installed.log" 2>&1 ||
    { tail -n 20 "$installed.log"; echo "make install failed"; exit 1; }
  touch "$installed.done"
fi
exec {installed_lock}>&-
