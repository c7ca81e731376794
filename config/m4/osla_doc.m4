dnl OSLA_CHECK_DOC: finds SPHINX_BUILD, DOXYGEN, MANDOC and the Python modules that `make doc` needs;
dnl osla_doc is the result for the summary.
AC_DEFUN([OSLA_CHECK_DOC], [
  AC_PATH_PROG([SPHINX_BUILD], [sphinx-build])
  AC_PATH_PROG([DOXYGEN], [doxygen])
  AC_PATH_PROG([MANDOC], [mandoc])
  osla_doc=yes
  AC_MSG_CHECKING([for Breathe, Furo and the MyST parser])
  osla_doc_modules=
  AS_IF([test -n "$SPHINX_BUILD"], [
    osla_doc_python=`$SED -n '1s/^#! *//p' "$SPHINX_BUILD"`
    for osla_module in breathe furo myst_parser; do
      $osla_doc_python -c "import $osla_module" 2>/dev/null || osla_doc_modules="$osla_doc_modules $osla_module"
    done])
  AC_MSG_RESULT([${osla_doc_modules:-yes}])
  osla_doc_packages=
  test -n "$SPHINX_BUILD" || osla_doc_packages="$osla_doc_packages python3-sphinx"
  test -n "$DOXYGEN" || osla_doc_packages="$osla_doc_packages doxygen"
  test -n "$MANDOC" || osla_doc_packages="$osla_doc_packages mandoc"
  AS_CASE(["$SPHINX_BUILD $osla_doc_modules"], [*breathe*|" "], [osla_doc_packages="$osla_doc_packages python3-breathe"])
  AS_CASE(["$SPHINX_BUILD $osla_doc_modules"], [*furo*|" "], [osla_doc_packages="$osla_doc_packages furo"])
  AS_CASE(["$SPHINX_BUILD $osla_doc_modules"], [*myst*|" "], [osla_doc_packages="$osla_doc_packages python3-myst-parser"])
  osla_doc_packages=`echo $osla_doc_packages`
  AS_IF([test -n "$osla_doc_packages"],
    [osla_doc=no
     OSLA_MISSING([tools of documentation], [make doc, the documentation as HTML], [$osla_doc_packages])])
  AC_SUBST([DOC_PACKAGES], [$osla_doc_packages])])
