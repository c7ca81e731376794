# Read by tests that run configure; they have a folder $scratch.
# configure ARGUMENT...: knows of the compiler and of libtool what this build's configure found; libraries and
# programs it looks up itself.
configure() {
  sed -n '/^## Cache variables/,/^## Output/p' "$BUILDDIR/config.log" |
    grep -E '^(ac|am|lt)_cv_' | grep -vE '^ac_cv_(env|path|prog_[A-Z]|prog_ac)' >"$scratch/cache"
  "$SRCDIR/configure" --cache-file="$scratch/cache" CC="$CC" "$@"
}
