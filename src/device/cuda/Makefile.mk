# The plug-in for CUDA. libosla opens the plug-in by dlopen, and the plug-in is linked with neither
# libosla nor MPI.
EXTRA_DIST += src/device/cuda/README.md src/device/cuda/cuda_state.h src/device/cuda/cuda.c src/device/cuda/cuda_work.c \
  src/device/cuda/cuda_kernels.h src/device/cuda/cuda_kernels.cu \
  src/device/cuda/cuda_sparse.c src/device/cuda/cuda_signal.c
if HAVE_CUDA
plugindir = $(libdir)
plugin_DATA = src/device/cuda/libosla_cuda.so
CLEANFILES += $(plugin_DATA) src/device/cuda/cuda_kernels.o
libdir_from_bindir = $(shell realpath -ms --relative-to=$(bindir) $(libdir))
cuda_sources = $(srcdir)/src/device/cuda/cuda.c $(srcdir)/src/device/cuda/cuda_work.c $(srcdir)/src/device/cuda/cuda_sparse.c \
  $(srcdir)/src/device/cuda/cuda_signal.c
cuda_headers = $(srcdir)/src/device/cuda/cuda_state.h $(srcdir)/src/device/cuda/cuda_kernels.h \
  $(srcdir)/src/device/device.h $(srcdir)/src/device/combine.h $(srcdir)/src/device/vertices.h $(srcdir)/src/base/fixed_point.h
if HAVE_NVCC
# -arch=all-major compiles the kernels for all GPUs that the CUDA toolkit supports. -fmad=false
# forbids fused operations, so that the bits of a sum are those of the host.
cuda_kernels = src/device/cuda/cuda_kernels.o
cuda_kernels_define = -DHAVE_CUDA_KERNELS
src/device/cuda/cuda_kernels.o: $(srcdir)/src/device/cuda/cuda_kernels.cu $(cuda_headers)
	$(AM_V_at)$(MKDIR_P) src/device/cuda
	$(AM_V_GEN)$(NVCC) -c -o $@ -I$(srcdir) -O3 -std=c++17 -fmad=false -arch=all-major \
	  -Xcompiler -fPIC,-fvisibility=hidden,-fno-exceptions,-fno-threadsafe-statics $(srcdir)/src/device/cuda/cuda_kernels.cu
endif
src/device/cuda/libosla_cuda.so: $(cuda_sources) $(cuda_headers) $(cuda_kernels)
	$(AM_V_at)$(MKDIR_P) src/device/cuda
	$(AM_V_CCLD)$(PLAIN_CC) -shared -fPIC $(OSLA_CFLAGS) $(VISIBILITY_CFLAGS) $(CFLAGS) $(OSLA_SANITIZE) $(LDFLAGS) -o $@ \
	  -I$(srcdir) -I$(srcdir)/include -isystem $(CUDA_INCLUDE) $(cuda_kernels_define) $(cuda_sources) $(cuda_kernels) -Wl,-soname,libosla_cuda.so \
	  -L$(CUDA_LIBDIR) -Wl,--enable-new-dtags,-rpath,$(CUDA_LIBDIR) -Wl,-z,defs -lcudart -lcublas -lcusolver -lcusparse -lpthread
endif
