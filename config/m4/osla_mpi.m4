dnl Checks that a program uses one MPI only. A library of another MPI links and may even run, and then
dnl fails: MPICH's handles are numbers, Open MPI's are pointers.

dnl OSLA_MPI_FAMILY(VARIABLE, CFLAGS): openmpi, mpich (with its derivatives Intel MPI, Cray MPICH and
dnl MVAPICH), simgrid, other, or no, according to the macros of mpi.h
AC_DEFUN([OSLA_MPI_FAMILY], [
  osla_save_cppflags=$CPPFLAGS
  CPPFLAGS="$2 $CPPFLAGS"
  AC_LANG_CONFTEST([AC_LANG_SOURCE([[#include <mpi.h>
#if defined OPEN_MPI
osla_family openmpi
#elif defined MPICH_VERSION || defined MPICH_NAME || defined I_MPI_VERSION
osla_family mpich
#elif defined SMPI_H
osla_family simgrid
#else
osla_family other
#endif
]])])
  $1=`($CC -E $CPPFLAGS conftest.$ac_ext) 2>&AS_MESSAGE_LOG_FD | $SED -n 's/^osla_family //p'`
  $1=${$1:-no}
  CPPFLAGS=$osla_save_cppflags])

dnl OSLA_MPI_LOADED(VARIABLE, CFLAGS, LIBS): the MPI libraries that a program with these flags loads,
dnl including the compiler's; empty if ldd gives no result or the program does not link
AC_DEFUN([OSLA_MPI_LOADED], [
  osla_save_cppflags=$CPPFLAGS; osla_save_libs=$LIBS; $1=
  CPPFLAGS="$2 $CPPFLAGS"; LIBS="-Wl,--no-as-needed $3 $LIBS"
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>]], [[return MPI_Init(0, 0);]])],
    [$1=`ldd conftest$EXEEXT 2>/dev/null | $AWK '/libmpi(ch)?\.so|libmpi_(cray|gnu|intel|aocc|amd|nvidia|pgi)[_0-9]*\.so/ {print @S|@1}' | sort -u | tr '\n' ' ' | $SED 's/ *@S|@//'`])
  CPPFLAGS=$osla_save_cppflags; LIBS=$osla_save_libs])

dnl OSLA_MPI_ARCHIVE(VARIABLE, LIBS): the first -lNAME among LIBS that is an archive with calls of
dnl another MPI family: only code for Open MPI uses its symbols, such as ompi_mpi_comm_world
AC_DEFUN([OSLA_MPI_ARCHIVE], [
  $1=
  osla_folders=; for osla_w in $2; do
    AS_CASE([$osla_w], [-L*], [osla_folders="$osla_folders $osla_w"])
  done
  for osla_w in $2; do
    AS_CASE([$osla_w], [-l*], [osla_name=lib`echo $osla_w | $SED 's/^-l//'`], [continue])
    test -f "`$CC $osla_folders -print-file-name=$osla_name.so`" && continue
    osla_archive=`$CC $osla_folders -print-file-name=$osla_name.a`
    test -f "$osla_archive" || continue
    $NM "$osla_archive" 2>/dev/null | $AWK '@S|@1 == "U" {print @S|@2}' >conftest.nm
    AS_IF([$GREP '^ompi_' conftest.nm >/dev/null], [osla_made_for=openmpi],
          [$GREP '^MPI_' conftest.nm >/dev/null], [osla_made_for=mpich], [continue])
    AS_IF([test $osla_made_for != $osla_mpi_family && test -z "[$]$1"], [$1=$osla_w])
  done
  rm -f conftest.nm])

dnl OSLA_MPI_CHECK: sets osla_mpi_family, of the compiler, and osla_mpi_loaded, the MPI that its
dnl programs load
AC_DEFUN([OSLA_MPI_CHECK], [
  AC_MSG_CHECKING([which MPI $CC belongs to])
  OSLA_MPI_FAMILY([osla_mpi_family], [])
  OSLA_MPI_LOADED([osla_mpi_loaded], [], [])
  AC_MSG_RESULT([$osla_mpi_family${osla_mpi_loaded:+ ($osla_mpi_loaded)}])
  AS_CASE([$osla_mpi_loaded], [*' '*],
    [AC_MSG_ERROR([programs of $CC load two MPIs: $osla_mpi_loaded])])
  AC_SUBST([MPI_FAMILY], [$osla_mpi_family])])

dnl OSLA_MPI_IF_SAME(CFLAGS, LIBS, IF-SO, IF-NOT): tests whether a program with these flags uses only
dnl the compiler's MPI. If not, osla_mpi_other names the other one.
AC_DEFUN([OSLA_MPI_IF_SAME], [
  osla_mpi_other=
  OSLA_MPI_FAMILY([osla_family_now], [$1])
  OSLA_MPI_LOADED([osla_loaded_now], [$1], [$2])
  OSLA_MPI_ARCHIVE([osla_archive_now], [$2])
  AS_IF([test $osla_family_now != $osla_mpi_family],
          [osla_mpi_other="its mpi.h is of $osla_family_now"],
        [test -n "$osla_loaded_now" && test "$osla_loaded_now" != "$osla_mpi_loaded"],
          [osla_mpi_other="its programs load $osla_loaded_now"],
        [test -n "$osla_archive_now"],
          [osla_mpi_other="$osla_archive_now is made for another"])
  AS_IF([test -z "$osla_mpi_other"], [$3], [$4])])

dnl OSLA_MPIEXEC: MPIEXEC of the compiler's family; an mpiexec that reports another family is refused
AC_DEFUN([OSLA_MPIEXEC], [
  AC_ARG_VAR([MPIEXEC], [starts MPI programs; takes "-n RANKS"])
  osla_given=$MPIEXEC; osla_beside=
  AC_MSG_CHECKING([for mpiexec of $osla_mpi_family])
  AS_CASE([$CC], [*/mpicc*], [osla_beside=`echo "$CC" | $SED 's|/mpicc.*|/mpiexec|'`])
  MPIEXEC=
  for osla_w in ${osla_given:-mpiexec.$osla_mpi_family $osla_beside mpiexec mpirun}; do
    AS_IF([test -z "$MPIEXEC" && command -v $osla_w >/dev/null 2>&1], [
      AS_CASE([`$osla_w --version </dev/null 2>&1 | head -n 5`],
        [*OpenRTE*|*'Open MPI'*|*PRRTE*], [osla_family_now=openmpi],
        [*HYDRA*|*'Intel(R) MPI'*], [osla_family_now=mpich],
        [osla_family_now=$osla_mpi_family])
      AS_IF([test $osla_family_now = $osla_mpi_family], [MPIEXEC=$osla_w],
        [AC_MSG_RESULT([not $osla_w])
         AS_IF([test -n "$osla_given"],
           [AC_MSG_ERROR([MPIEXEC=$osla_w is of $osla_family_now, and the compiler $CC of $osla_mpi_family])])])])
  done
  AC_MSG_RESULT([${MPIEXEC:-no}])])

dnl OSLA_QUICK_COMPILER, after all other checks: sources are compiled by the compiler that CC calls,
dnl and programs are linked by it (LINK_BEGIN, the objects, LINK_END). MPICH's mpicc is a shell script
dnl that starts a process for each of its arguments, which takes longer than compiling most sources.
dnl It is asked once for the flags that it adds; its folders come after all others.
AC_DEFUN([OSLA_QUICK_COMPILER], [
  AC_SUBST([MPI_CC], [$CC])
  AC_SUBST([CCLD], [$CC])
  AC_SUBST([LINK_BEGIN], [$CC])
  AC_SUBST([LINK_END], [])
  osla_quick=
  AC_LANG_CONFTEST([AC_LANG_PROGRAM([[#include <mpi.h>]], [[return MPI_Init(0, 0);]])])
  AS_CASE(["$osla_mpi_family $CC"], [*ccache*|*distcc*], [], [mpich*], [
    AC_MSG_CHECKING([what $CC compiles with])
    for osla_w in `$CC -show -c conftest.$ac_ext 2>/dev/null`; do
      AS_CASE([$osla_w], [-c|conftest.*], [continue],
        [-I?*], [osla_w=`echo "$osla_w" | $SED 's/^-I/-isystem /'`])
      osla_quick="$osla_quick $osla_w"
    done
    osla_quick=`echo $osla_quick`
    rm -f conftest.$ac_objext
    AS_IF([test -n "$osla_quick" && $osla_quick $CPPFLAGS $CFLAGS -c conftest.$ac_ext >&AS_MESSAGE_LOG_FD 2>&1 && test -f conftest.$ac_objext],
      [CC=$osla_quick])
    AC_MSG_RESULT([$CC])
    AC_MSG_CHECKING([what $MPI_CC links with])
    osla_begin= osla_end= osla_behind=no
    for osla_w in `$MPI_CC -show conftest.$ac_objext 2>/dev/null`; do
      AS_CASE([$osla_behind,$osla_w], [*,conftest.*], [osla_behind=yes], [*,-I*], [],
        [no,*], [osla_begin="$osla_begin $osla_w"], [osla_end="$osla_end $osla_w"])
    done
    AS_CASE([$osla_begin$osla_end], [*\@S|@*|*\'*|*\"*|*\`*], [osla_behind=no]) # words that make or the shell would change
    AS_IF([test $osla_behind = yes && $osla_begin $CFLAGS $LDFLAGS -o conftest$EXEEXT conftest.$ac_objext $osla_end >&AS_MESSAGE_LOG_FD 2>&1],
      [LINK_BEGIN=`echo $osla_begin` LINK_END=`echo $osla_end`])
    AC_MSG_RESULT([$LINK_BEGIN ... $LINK_END])])
  rm -f conftest.$ac_ext conftest.$ac_objext conftest$EXEEXT])
