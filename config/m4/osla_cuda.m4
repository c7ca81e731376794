dnl The plug-in for CUDA (src/device/cuda).

dnl OSLA_CHECK_CUDA: --with-cuda. Sets CUDA_INCLUDE, CUDA_LIBDIR, NVCC, osla_cuda, HAVE_CUDA,
dnl HAVE_NVCC and PLUGIN_PATH, which lets installed programs that contain libosla find the plug-in
dnl in libdir.
AC_DEFUN([OSLA_CHECK_CUDA], [
  AC_ARG_WITH([cuda], [AS_HELP_STRING([--with-cuda@<:@=DIR@:>@],
    [build the plug-in for NVIDIA GPUs with the CUDA toolkit in DIR, version 12 or later (default: no; without DIR: /usr/local/cuda)])],
    [], [with_cuda=no])
  osla_cuda=no
  AS_CASE([$with_cuda], [no], [], [yes], [osla_cuda=/usr/local/cuda], [osla_cuda=$with_cuda])
  AS_IF([test $osla_cuda != no], [
    CUDA_INCLUDE=$osla_cuda/include; CUDA_LIBDIR=
    for osla_dir in $osla_cuda/lib64 $osla_cuda/lib $osla_cuda/lib/*-linux-gnu; do
      AS_IF([test -z "$CUDA_LIBDIR" && test -e $osla_dir/libcudart.so], [CUDA_LIBDIR=$osla_dir])
    done
    for osla_name in cuda_runtime_api.h cublas_v2.h cusolverDn.h cusparse.h; do
      AS_IF([test ! -e $CUDA_INCLUDE/$osla_name], [OSLA_REQUIRED([$CUDA_INCLUDE/$osla_name], [--with-cuda], [nvidia-cuda-toolkit])])
    done
    AS_IF([test -e $CUDA_INCLUDE/cublas_v2.h && ! grep -q cublasDgemm_v2_64 $CUDA_INCLUDE/cublas_api.h],
      [OSLA_REQUIRED([cublasDgemm_64 of CUDA 12 in $CUDA_INCLUDE], [--with-cuda], [nvidia-cuda-toolkit])])
    for osla_name in libcudart.so libcublas.so libcusolver.so libcusparse.so; do
      AS_IF([test ! -e ${CUDA_LIBDIR:-$osla_cuda/lib64}/$osla_name],
        [OSLA_REQUIRED([${CUDA_LIBDIR:-$osla_cuda/lib64}/$osla_name], [--with-cuda], [nvidia-cuda-toolkit])])
    done])
  dnl NVCC=no leaves the kernels out.
  AS_IF([test $osla_cuda = no || test "x$NVCC" = xno], [NVCC=no],
    [AC_PATH_PROG([NVCC], [nvcc], [no], [$osla_cuda/bin:$PATH])])
  AS_IF([test $osla_cuda != no && test "$NVCC" = no],
    [osla_cuda="$osla_cuda, without kernels: nvcc was not found"])
  AS_IF([test "$NVCC" = no], [HAVE_NVCC=no], [HAVE_NVCC=yes])
  AC_SUBST([HAVE_NVCC])
  AM_CONDITIONAL([HAVE_NVCC], [test $HAVE_NVCC = yes])
  AC_SUBST([CUDA_INCLUDE])
  AC_SUBST([CUDA_LIBDIR])
  PLUGIN_PATH=
  AS_IF([test "$osla_cuda" != no],
    [PLUGIN_PATH="-Wl,--enable-new-dtags,-rpath,'\$\$ORIGIN/\$(libdir_from_bindir)'"])
  AC_SUBST([PLUGIN_PATH])
  AS_IF([test "$osla_cuda" = no], [HAVE_CUDA=no], [HAVE_CUDA=yes])
  AC_SUBST([HAVE_CUDA])
  AM_CONDITIONAL([HAVE_CUDA], [test $HAVE_CUDA = yes])])
