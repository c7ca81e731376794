# Layer 4: the drop-in for ScaLAPACK. It consists of a library with ScaLAPACK's names and a library
# that does the work (caller.h).
noinst_LTLIBRARIES += scalapack_adapt/libadapt.la scalapack_adapt/libnames.la
scalapack_adapt_libnames_la_SOURCES = \
  scalapack_adapt/caller.h \
  scalapack_adapt/library.c \
  scalapack_adapt/names.c
scalapack_adapt_libnames_la_CFLAGS = $(OSLA_CFLAGS) $(OSLA_SANITIZE)
scalapack_adapt_libnames_la_LIBTOOLFLAGS = $(shared_alone)
scalapack_adapt_libnames_la_LDFLAGS = # not -static, because it becomes part of a shared library
scalapack_adapt_libadapt_la_SOURCES = \
  scalapack_adapt/caller.h \
  scalapack_adapt/adapt.h \
  scalapack_adapt/adapt_state.c \
  scalapack_adapt/adapt_report.c \
  scalapack_adapt/adapt_context.c \
  scalapack_adapt/adapt_call.c \
  scalapack_adapt/adapt_device.c \
  scalapack_adapt/adapt_stage.c \
  scalapack_adapt/gemm.c \
  scalapack_adapt/syrk.c \
  scalapack_adapt/symm.c \
  scalapack_adapt/triangle.h scalapack_adapt/triangle.c \
  scalapack_adapt/trmm.c \
  scalapack_adapt/trsm.c \
  scalapack_adapt/geadd.c \
  scalapack_adapt/lapack.h \
  scalapack_adapt/lapack.c \
  scalapack_adapt/lapack_entries.c
scalapack_adapt_libadapt_la_CFLAGS = $(OSLA_CFLAGS) $(OSLA_SANITIZE)
scalapack_adapt_libadapt_la_LIBTOOLFLAGS = $(shared_alone)
scalapack_adapt_libadapt_la_LDFLAGS = # not -static, because it becomes part of a shared library

# libosla_scalapack.so is loaded into any process, so it depends on no MPI library, which the MPI
# compiler would add, and on no BLAS. libosla_scalapack_kernels.so is found beside it.
scalapackdir = $(libdir)
scalapack_DATA = scalapack_adapt/libosla_scalapack.so scalapack_adapt/libosla_scalapack_kernels.so
scalapack_adapt/libosla_scalapack.so: scalapack_adapt/libnames.la $(srcdir)/scalapack_adapt/symbols.map
	$(AM_V_CCLD)$(PLAIN_CC) -shared $(CFLAGS) $(OSLA_SANITIZE) $(LDFLAGS) -o $@ \
	  -Wl,--whole-archive scalapack_adapt/.libs/libnames.a -Wl,--no-whole-archive \
	  -Wl,-soname,libosla_scalapack.so '-Wl,-rpath,$$ORIGIN' \
	  -Wl,--version-script=$(srcdir)/scalapack_adapt/symbols.map -lpthread -ldl
scalapack_adapt/libosla_scalapack_kernels.so: scalapack_adapt/libadapt.la libosla_kernels.la \
  $(srcdir)/scalapack_adapt/symbols.map
	$(AM_V_CCLD)$(CCLD) -shared $(CFLAGS) $(OSLA_SANITIZE) $(LDFLAGS) -o $@ \
	  -Wl,--whole-archive scalapack_adapt/.libs/libadapt.a -Wl,--no-whole-archive \
	  .libs/libosla_kernels.a -Wl,-soname,libosla_scalapack_kernels.so \
	  -Wl,--version-script=$(srcdir)/scalapack_adapt/symbols.map \
	  $(BLAS_LIBS) -lpthread -lm
CLEANFILES += $(scalapack_DATA)
EXTRA_DIST += scalapack_adapt/symbols.map scalapack_adapt/README.md
