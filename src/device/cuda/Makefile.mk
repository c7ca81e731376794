# The plug-in for CUDA. libosla opens it by dlopen, so it is linked with neither libosla nor MPI.
EXTRA_DIST += src/device/cuda/README.md src/device/cuda/cuda_state.h src/device/cuda/cuda.c src/device/cuda/cuda_work.c
if HAVE_CUDA
plugindir = $(libdir)
plugin_DATA = src/device/cuda/libosla_cuda.so
CLEANFILES += $(plugin_DATA)
cuda_sources = $(srcdir)/src/device/cuda/cuda.c $(srcdir)/src/device/cuda/cuda_work.c
src/device/cuda/libosla_cuda.so: $(cuda_sources) $(srcdir)/src/device/cuda/cuda_state.h $(srcdir)/src/device/device.h
	$(AM_V_at)$(MKDIR_P) src/device/cuda
	$(AM_V_CCLD)$(PLAIN_CC) -shared -fPIC $(OSLA_CFLAGS) $(VISIBILITY_CFLAGS) $(CFLAGS) $(OSLA_SANITIZE) $(LDFLAGS) -o $@ \
	  -I$(srcdir) -I$(srcdir)/include -isystem $(CUDA_INCLUDE) $(cuda_sources) -Wl,-soname,libosla_cuda.so \
	  -L$(CUDA_LIBDIR) -Wl,--enable-new-dtags,-rpath,$(CUDA_LIBDIR) -Wl,-z,defs -lcudart -lcublas -lcusolver -lpthread
endif
