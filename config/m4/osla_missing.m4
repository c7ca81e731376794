dnl Prints one line for each missing piece. Required pieces stop configure at its end, all together.

dnl OSLA_MISSING(NAME, NEEDED-FOR, DEBIAN-PACKAGES)
AC_DEFUN([OSLA_MISSING],
  [AC_MSG_NOTICE([$1 not found: needed for $2 (Debian package: $3)])])

dnl OSLA_REQUIRED(NAME, NEEDED-FOR, DEBIAN-PACKAGES): reports a missing required piece, and records it
AC_DEFUN([OSLA_REQUIRED],
  [OSLA_MISSING([$1], [$2], [$3])
   osla_missing_names="${osla_missing_names:+$osla_missing_names, }$1"
   osla_missing_packages="${osla_missing_packages:+$osla_missing_packages }$3"])

AC_DEFUN([OSLA_STOP_IF_REQUIRED_MISSING],
  [AS_IF([test -n "$osla_missing_names"],
    [AC_MSG_ERROR([required and not found: $osla_missing_names (on Debian: apt-get install $osla_missing_packages)])])])
