# Sourced by tests of configure's macros, which have a folder $scratch.

# make_configure LINE...: makes a configure script from these lines of configure.ac, with the macros
# of config/m4/.
make_configure() {
  command -v aclocal >/dev/null && command -v autoconf >/dev/null || { echo "no aclocal or autoconf"; exit 77; }
  mkdir "$scratch/macros"
  printf '%s\n' 'AC_INIT([macros], [1])' AC_PROG_CC AC_PROG_SED AC_PROG_AWK PKG_PROG_PKG_CONFIG "$@" AC_OUTPUT \
    >"$scratch/macros/configure.ac"
  (cd "$scratch/macros" && aclocal -I "$SRCDIR/config/m4" && autoconf) >"$scratch/autoconf.log" 2>&1 ||
    { cat "$scratch/autoconf.log"; echo "autoconf failed"; exit 1; }
}

# lines_of PATTERN: the lines of configure.ac from a matching line to the end of its macro call
lines_of() { sed -n "/$1/,/)\$/p" "$SRCDIR/configure.ac"; }

# configure ARGUMENT...: runs that script with this build's compiler
configure() { "$scratch/macros/configure" CC="$CC" "$@"; }
