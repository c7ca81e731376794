dnl One line for each missing piece; required ones stop configure together, at the end.

dnl OSLA_MISSING(NAME, NEEDED-FOR, DEBIAN-PACKAGES)
AC_DEFUN([OSLA_MISSING],
  [AC_MSG_NOTICE([$1 not found: needed for $2 (Debian package: $3)])])

dnl OSLA_REQUIRED(NAME, NEEDED-FOR, DEBIAN-PACKAGES): the same, and remember it
AC_DEFUN([OSLA_REQUIRED],
  [OSLA_MISSING([$1], [$2], [$3])
   osla_missing_names="${osla_missing_names:+$osla_missing_names, }$1"
   osla_missing_packages="${osla_missing_packages:+$osla_missing_packages }$3"])

AC_DEFUN([OSLA_STOP_IF_REQUIRED_MISSING],
  [AS_IF([test -n "$osla_missing_names"],
    [AC_MSG_ERROR([required and not found: $osla_missing_names (on Debian: apt-get install $osla_missing_packages)])])])
