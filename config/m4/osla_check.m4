dnl Checks for libraries and compiler flags.

dnl OSLA_CHECK_CFLAGS(VARIABLE, FLAGS): appends to VARIABLE each flag that the compiler accepts
AC_DEFUN([OSLA_CHECK_CFLAGS], [
  for osla_flag in $2; do
    AC_MSG_CHECKING([whether the compiler takes $osla_flag])
    osla_save_cflags=$CFLAGS
    CFLAGS="$CFLAGS -Werror $osla_flag"
    AC_LINK_IFELSE([AC_LANG_PROGRAM()],
      [AC_MSG_RESULT([yes]); $1="${$1:+[$]$1 }$osla_flag"],
      [AC_MSG_RESULT([no])])
    CFLAGS=$osla_save_cflags
  done])

dnl OSLA_TRY_LINK(CFLAGS, LIBS, HEADER, FUNCTIONS, IF-FOUND, IF-NOT)
dnl If HEADER is given, it must declare the functions; otherwise they are declared here.
AC_DEFUN([OSLA_TRY_LINK], [
  osla_save_cppflags=$CPPFLAGS; osla_save_libs=$LIBS
  CPPFLAGS="$CPPFLAGS $1"; LIBS="$2 $LIBS"
  AC_LINK_IFELSE([AC_LANG_PROGRAM(
    [m4_ifval([$3], [#include <stddef.h>
#include <stdio.h>
#include <$3>], [m4_foreach_w([osla_fn], [$4], [void osla_fn[](void);
])])],
    [m4_foreach_w([osla_fn], [$4], [if (!&osla_fn) return 1;
])])], [osla_linked=yes], [osla_linked=no])
  CPPFLAGS=$osla_save_cppflags; LIBS=$osla_save_libs
  AS_IF([test $osla_linked = yes], [$5], [$6])])

dnl OSLA_CHECK_LIB(NAME, CANDIDATES, HEADER, FUNCTIONS)
dnl A candidate is pkg:NAME, for pkg-config, or link flags. The first candidate that links, and does
dnl not load a second MPI, is used. NAME_CFLAGS and NAME_LIBS of the user come first, and an error is
dnl reported if they fail. NAME_LIBS=no leaves the library out. Sets these variables, osla_have_NAME,
dnl and HAVE_NAME (config.h and Automake conditional).
AC_DEFUN([OSLA_CHECK_LIB], [
  AC_ARG_VAR([$1_CFLAGS], [compiler flags for $1])
  AC_ARG_VAR([$1_LIBS], [link flags for $1, or no: build without it])
  AC_MSG_CHECKING([for $1])
  osla_have_$1=no; osla_not_taken=; osla_given_l=[$]$1_LIBS; osla_given_c=[$]$1_CFLAGS
  for osla_candidate in "$osla_given_l" $2; do
    AS_IF([test "x$osla_given_l" = xno], [break])
    osla_c=$osla_given_c; osla_l=$osla_candidate
    AS_CASE([$osla_candidate], [''], [continue], [pkg:*], [
      osla_pkg=`echo $osla_candidate | $SED 's/^pkg://'`
      { test -n "$PKG_CONFIG" && $PKG_CONFIG --exists $osla_pkg; } || continue
      osla_c=`$PKG_CONFIG --cflags $osla_pkg`
      dnl without -lmpi, since the compiler links its own MPI
      osla_l=`$PKG_CONFIG --libs $osla_pkg | $SED 's/-lmpi\(ch\)*@<:@^ @:>@*//g'`])
    AS_IF([test [$]osla_have_$1 = no], [
      OSLA_TRY_LINK([$osla_c], [$osla_l], [$3], [$4], [
        OSLA_MPI_IF_SAME([$osla_c], [$osla_l],
          [osla_have_$1=yes; $1_CFLAGS=$osla_c; $1_LIBS=$osla_l],
          [osla_not_taken="${osla_not_taken:+$osla_not_taken; }$osla_l: $osla_mpi_other"
           AS_IF([test -n "$osla_given_l"], [break])])])])
  done
  AC_MSG_RESULT([[$]osla_have_$1${$1_LIBS:+ ([$]$1_LIBS)}])
  AS_IF([test -n "$osla_not_taken"], [
    osla_not_taken="$1 of another MPI than that of $CC ($osla_mpi_family${osla_mpi_loaded:+, $osla_mpi_loaded}): $osla_not_taken"
    AS_IF([test -n "$osla_given_l"], [AC_MSG_ERROR([$osla_not_taken])],
      [AC_MSG_NOTICE([not taken: $osla_not_taken])])])
  AS_IF([test [$]osla_have_$1 = yes],
    [AC_DEFINE([HAVE_$1], [1], [$1 is present])], [$1_CFLAGS=; $1_LIBS=])
  AM_CONDITIONAL([HAVE_$1], [test [$]osla_have_$1 = yes])
  AC_SUBST([HAVE_$1], [[$]osla_have_$1])])

dnl OSLA_CHECK_BLAS: sets BLAS_CFLAGS, BLAS_LIBS, osla_blas; OSLA_CBLAS_H, the header of the CBLAS;
dnl HAVE_OPENBLAS if the BLAS is OpenBLAS
AC_DEFUN([OSLA_CHECK_BLAS], [
  AC_ARG_VAR([BLAS_CFLAGS], [compiler flags that find cblas.h or mkl_cblas.h])
  AC_MSG_CHECKING([for CBLAS and LAPACK])
  osla_blas=no; osla_ilp64=; BLAS_LIBS=
  AS_CASE([$with_blas],
    [auto|yes], [
      AS_IF([test -n "$PKG_CONFIG" && $PKG_CONFIG --exists openblas], [
        osla_c=`$PKG_CONFIG --cflags openblas`; osla_l=`$PKG_CONFIG --libs openblas`
        OSLA_TRY_BLAS([$osla_c], [$osla_l])])
      for osla_l in "-lopenblas" "-lflexiblas" "-lblis -llapack" "-llapack -lcblas -lblas" \
                    "-llapack -lblas"; do
        AS_IF([test "x$osla_blas" = xno], [OSLA_TRY_BLAS([$BLAS_CFLAGS], [$osla_l])])
      done],
    [OSLA_TRY_BLAS([$BLAS_CFLAGS], [$with_blas])])
  AS_IF([test "x$osla_blas" = xno], [AC_MSG_RESULT([no])],
    [AC_MSG_RESULT([$osla_blas, $osla_cblas_h])])
  AS_IF([test -n "$osla_ilp64"],
    [AC_MSG_NOTICE([not taken: $osla_ilp64, whose integers have 64 bits (ILP64; OpenBLAS: INTERFACE64=1)])])
  AS_IF([test "x$osla_blas" != xno], [
    AC_DEFINE_UNQUOTED([OSLA_CBLAS_H], [<$osla_cblas_h>], [the header of the CBLAS])
    OSLA_TRY_LINK([$BLAS_CFLAGS], [$BLAS_LIBS], [cblas.h],
      [openblas_get_config openblas_set_num_threads],
      [AC_DEFINE([HAVE_OPENBLAS], [1], [the BLAS is OpenBLAS])
       osla_blas="OpenBLAS ($BLAS_LIBS)"])])
  AC_SUBST([BLAS_LIBS])])

dnl OSLA_TRY_BLAS(CFLAGS, LIBS): checks for a CBLAS with its header (MKL's has another name), a LAPACK
dnl (no header is needed), and 32-bit integers
AC_DEFUN([OSLA_TRY_BLAS], [
  osla_cblas_h=no
  OSLA_TRY_LINK([$1], [$2], [cblas.h], [cblas_dgemm], [osla_cblas_h=cblas.h],
    [OSLA_TRY_LINK([$1], [$2], [mkl_cblas.h], [cblas_dgemm], [osla_cblas_h=mkl_cblas.h])])
  AS_IF([test $osla_cblas_h != no], [
    OSLA_TRY_LINK([$1], [$2], [], [dpotrf_ dgetrf_ dasum_], [
      OSLA_IF_ILP64([$2], [osla_ilp64=$2],
        [BLAS_CFLAGS=$1; BLAS_LIBS=$2; osla_blas=$2])])])])

dnl OSLA_IF_ILP64(LIBS, IF-SO, IF-NOT): tests whether the BLAS reads 64-bit integers, by the call that
dnl src/blas/blas_library.c makes. IF-NOT is used if programs cannot be run.
AC_DEFUN([OSLA_IF_ILP64], [
  osla_save_libs=$LIBS; LIBS="$1 $LIBS"
  rm -f conftest.ilp64
  AC_RUN_IFELSE([AC_LANG_PROGRAM([[#include <stdio.h>
double dasum_(const void *n, const double *x, const void *incx);]], [[
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    const int n[2] = {1, -1}, incx[2] = {1, 0};
    const double x = 1;
    if (!(dasum_(n, &x, incx) > 0)) (void)fclose(fopen("conftest.ilp64", "w"));
#endif
]])], [], [], [:])
  LIBS=$osla_save_libs
  AS_IF([test -f conftest.ilp64], [rm -f conftest.ilp64; $2], [$3])])
