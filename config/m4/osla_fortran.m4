dnl Fortran compiler for module osla, with the same MPI and module mpi_f08. Must precede LT_INIT.

dnl OSLA_FORTRAN: sets osla_have_FORTRAN, and FC, the compiler or "no"
AC_DEFUN([OSLA_FORTRAN], [
  AC_REQUIRE([AC_PROG_SED]) AC_REQUIRE([AC_PROG_AWK])
  AC_ARG_WITH([fortran], [AS_HELP_STRING([--without-fortran], [no Fortran module (default: if there is a compiler)])],
    [], [with_fortran=auto])
  AC_MSG_CHECKING([for a Fortran compiler with mpi_f08])
  osla_have_FORTRAN=no
  AS_IF([test "x$with_fortran" != xno && test "x$enable_simulation" = xno], [
    osla_guess=`echo "$CC" | $SED -n 's/mpicc/mpifort/p'`
    osla_given_fc=$FC; FC=
    for osla_fc in ${osla_given_fc:-"$osla_guess" mpifort mpif90}; do
      AS_IF([test -n "$osla_fc" && test -z "$FC"], [OSLA_FORTRAN_TRY([$osla_fc], [FC=$osla_fc; osla_have_FORTRAN=yes])])
    done])
  AC_MSG_RESULT([${FC:-no}])
  AS_IF([test $osla_have_FORTRAN = no], [
    FC=no
    AS_IF([test "x$with_fortran" = xyes], [AC_MSG_ERROR([--with-fortran: no compiler takes a program with mpi_f08])])
    AS_IF([test "x$with_fortran" = xauto && test "x$enable_simulation" = xno],
      [OSLA_MISSING([Fortran compiler of this MPI], [module osla for Fortran], [gfortran])])])])

dnl OSLA_FORTRAN_FLAGS: sets OSLA_FCFLAGS, FC_MODINC, FC_MODOUT, FORTRAN_MODULES (folder of module
dnl files, named after the compiler). Called at the top level, as AC_PROG_FC must be, also if FC is
dnl "no".
AC_DEFUN([OSLA_FORTRAN_FLAGS], [
  AC_REQUIRE([AC_PROG_FC])
  AC_LANG_PUSH([Fortran])
  AC_FC_FREEFORM([:], [:])
  dnl Autoconf 2.71 does not leave conftest.dir if nothing can be compiled, so the results are preset.
  AS_IF([test $osla_have_FORTRAN = no], [ac_cv_fc_module_flag=unknown ac_cv_fc_module_output_flag=unknown])
  AC_FC_MODULE_FLAG([:], [:])
  AC_FC_MODULE_OUTPUT_FLAG([:], [:])
  AC_LANG_POP([Fortran])
  AS_IF([test $osla_have_FORTRAN = yes], [
    AS_CASE([`$FC --version 2>/dev/null | head -n 1`],
      [*'GNU Fortran'*], [osla_fc_name=gfortran
        OSLA_FCFLAGS="-std=f2008 -Wall -Wextra -Wno-c-binding-type -Wno-compare-reals -Wno-function-elimination"
        AS_IF([test "x$enable_werror" != xno], [OSLA_FCFLAGS="$OSLA_FCFLAGS -Werror"])],
      [*ifx*|*ifort*|*IFX*|*IFORT*], [osla_fc_name=ifx], [*flang*], [osla_fc_name=flang],
      [*nvfortran*], [osla_fc_name=nvfortran], [osla_fc_name=other])
    osla_fc_major=`$FC --version 2>/dev/null | $SED -n '1s/.*@<:@^0-9.@:>@\(@<:@0-9@:>@@<:@0-9@:>@*\)\.@<:@0-9@:>@.*/\1/p'`
    FORTRAN_MODULES=fortran/$osla_fc_name${osla_fc_major:+-$osla_fc_major}])
  AC_SUBST([OSLA_FCFLAGS]) AC_SUBST([FORTRAN_MODULES])
  AC_SUBST([HAVE_FORTRAN], [$osla_have_FORTRAN])
  AM_CONDITIONAL([HAVE_FORTRAN], [test $osla_have_FORTRAN = yes])])

dnl OSLA_FORTRAN_TRY(COMPILER, IF-IT-LINKS): the program must also load the MPI library that $CC's
dnl programs load
AC_DEFUN([OSLA_FORTRAN_TRY], [
  cat >conftest.f90 <<'EOT'
program p
  use mpi_f08
  use, intrinsic :: iso_c_binding
  integer(c_int) :: n
  call MPI_Init()
  n = MPI_COMM_WORLD%mpi_val
  call MPI_Finalize()
end program p
EOT
  cat >conftest.c <<'EOT'
#include <mpi.h>
int main(void) { return MPI_Init(0, 0) || MPI_Finalize(); }
EOT
  AS_IF([$1 $FCFLAGS -o conftest_fc conftest.f90 >&AS_MESSAGE_LOG_FD 2>&1 && $CC $CFLAGS -o conftest_cc conftest.c >&AS_MESSAGE_LOG_FD 2>&1], [
    osla_mpi_of_fc=`ldd conftest_fc 2>/dev/null | $AWK '/libmpi(ch)?\.so/ {print @S|@1}'`
    osla_mpi_of_cc=`ldd conftest_cc 2>/dev/null | $AWK '/libmpi(ch)?\.so/ {print @S|@1}'`
    AS_IF([test "x$osla_mpi_of_fc" = "x$osla_mpi_of_cc"], [$2],
      [AC_MSG_NOTICE([not taken: $1 is of another MPI than $CC ($osla_mpi_of_fc, not $osla_mpi_of_cc)])])])
  rm -f conftest.f90 conftest.c conftest_fc conftest_cc])
