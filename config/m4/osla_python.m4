dnl OSLA_CHECK_PYTHON: sets PYTHON, PYTHON_CFLAGS, pythondir; osla_python is the result for the
dnl summary. The first python3 in PATH that has numpy and its headers is used, since the first one may
dnl be a user's own, without either.
AC_DEFUN([OSLA_CHECK_PYTHON], [
  AC_ARG_VAR([PYTHON], [the Python (3.10 or later, with numpy) that the package osla is made for])
  AC_ARG_WITH([python], [AS_HELP_STRING([--with-python], [fail where the Python package cannot be made])],
    [], [with_python=auto])
  AC_ARG_WITH([python-site], [AS_HELP_STRING([--with-python-site=DIR], [where the package is installed
    (default: where that Python looks, in the prefix)])], [], [with_python_site=])
  AC_MSG_CHECKING([for Python with numpy and its headers])
  osla_python=no; osla_candidates=$PYTHON
  AS_IF([test "x$with_python" = xno || test "x$enable_shared" = xno || test "x$enable_simulation" != xno],
    [osla_candidates=],
    [test -z "$PYTHON"], [
      osla_save_ifs=$IFS; IFS=$PATH_SEPARATOR
      for osla_dir in $PATH; do
        test -x "$osla_dir/python3" && osla_candidates="$osla_candidates $osla_dir/python3"
      done
      IFS=$osla_save_ifs])
  for osla_candidate in $osla_candidates; do
    osla_include=`$osla_candidate -c 'import sys, sysconfig, os.path, numpy
p = sysconfig.get_path("include")
print(p if sys.version_info >= (3, 10) and os.path.isfile(p + "/Python.h") else "")' 2>/dev/null`
    AS_IF([test $osla_python = no && test -n "$osla_include"],
      [PYTHON=$osla_candidate; osla_python=$osla_candidate; PYTHON_CFLAGS="-isystem $osla_include"])
  done
  AC_MSG_RESULT([$osla_python])
  AS_IF([test $osla_python != no], [
    osla_prefix=$prefix; test "x$prefix" = xNONE && osla_prefix=$ac_default_prefix
    pythondir=$with_python_site
    test -n "$pythondir" || pythondir=`$PYTHON -c 'import site, sysconfig, sys
prefix = sys.argv@<:@1@:>@
own = sysconfig.get_path("platlib")
known = @<:@p for p in @<:@own@:>@ + sys.path if p.startswith(prefix + "/lib") and p.endswith(("site-packages", "dist-packages"))@:>@
print(known@<:@0@:>@ if known else "%s/lib/python%d.%d/site-packages" % (prefix, *sys.version_info@<:@:2@:>@))' "$osla_prefix"`
    dnl one build for all later versions, if the stable interface includes buffers
    osla_stable=`$PYTHON -c 'import sys; print(sys.version_info >= (3, 11))'`
    AS_IF([test "x$osla_stable" = xTrue], [PYTHON_CFLAGS="$PYTHON_CFLAGS -DPy_LIMITED_API=0x030b0000"])],
    [AS_IF([test "x$with_python" = xyes],
       [AC_MSG_ERROR([--with-python: no python3 with numpy and headers, or no shared libraries (on Debian: apt-get install python3-dev python3-numpy)])])
     AS_IF([test "x$with_python" = xauto && test "x$enable_shared" = xyes],
       [OSLA_MISSING([Python 3.10 with numpy and headers], [the Python package osla], [python3-dev python3-numpy])])])
  AC_SUBST([PYTHON_CFLAGS])
  AC_SUBST([pythondir])
  AC_SUBST([HAVE_PYTHON], [`test $osla_python != no && echo yes || echo no`])
  AM_CONDITIONAL([HAVE_PYTHON], [test $osla_python != no])])
