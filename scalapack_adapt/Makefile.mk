# Floor 4: the drop-in for ScaLAPACK, a shared library of its own that shows ScaLAPACK's names alone.
lib_LTLIBRARIES += scalapack_adapt/libosla_scalapack.la
scalapack_adapt_libosla_scalapack_la_SOURCES = \
  scalapack_adapt/adapt.h \
  scalapack_adapt/adapt_state.c \
  scalapack_adapt/adapt_report.c \
  scalapack_adapt/adapt_context.c \
  scalapack_adapt/adapt_call.c \
  scalapack_adapt/adapt_stage.c \
  scalapack_adapt/gemm.c \
  scalapack_adapt/syrk.c \
  scalapack_adapt/trsm.c \
  scalapack_adapt/geadd.c \
  scalapack_adapt/lapack.h \
  scalapack_adapt/lapack.c \
  scalapack_adapt/getrf.c \
  scalapack_adapt/getrs.c \
  scalapack_adapt/gesv.c \
  scalapack_adapt/potrf.c \
  scalapack_adapt/potrs.c \
  scalapack_adapt/posv.c
scalapack_adapt_libosla_scalapack_la_CFLAGS = $(OSLA_CFLAGS) $(OSLA_SANITIZE)
scalapack_adapt_libosla_scalapack_la_LDFLAGS = -shared -module -avoid-version \
  -export-symbols-regex '^([pP][sdczSDCZ])'
scalapack_adapt_libosla_scalapack_la_LIBADD = libosla_kernels.la $(BLAS_LIBS) -lpthread -lm -ldl
