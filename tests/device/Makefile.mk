# Tests of device memory, which run on the fake device (src/device/README.md).
if !SIMULATION
tests_programs += tests/device/suites
tests_helpers += tests/device/probe
endif
tests_device_suites_SOURCES = tests/device/test_device.c tests/device/test_device_kernels.c \
  tests/device/test_device_lanes.c tests/device/test_device_lu.c tests/device/test_device_nodes.c \
  tests/device/test_device_forest.c tests/device/test_device_register.c \
  tests/device/test_device_triangle.c \
  tests/device/test_device_signals.c \
  tests/device/test_device_hessian.c tests/device/test_device_assembly.c tests/device/test_device_errors.c \
  tests/device/test_device_refused.c tests/device/cuda_cases.c \
  tests/device/test_device_sparse.c tests/device/test_device_cg.c \
  tests/device/sparse_system.c tests/device/sparse_system.h tests/kernels/sparse_model.c tests/kernels/sparse_model.h \
  $(tests_hessian_reference) $(tests_file_help) \
  tests/device/device_help.c tests/device/device_help.h
tests_device_probe_SOURCES = tests/device/probe.c
tests_device_probe_LDADD = libosla.la
tests_scripts += tests/device/check_faults.sh tests/device/check_cuda.sh tests/device/check_pack.sh \
  tests/device/pack tests/device/check tests/device/Makefile.mk
# Stand-ins for the libraries of CUDA, which check_cuda.sh compiles.
tests_scripts += tests/device/stand_in/stand_in.h tests/device/stand_in/cudart.c \
  tests/device/stand_in/cudart_copy.c tests/device/stand_in/cudart_kernel.c \
  tests/device/stand_in/cudart_work.c tests/device/stand_in/cudart_signal.c \
  tests/device/stand_in/cublas.c tests/device/stand_in/cusolver.c \
  tests/device/stand_in/cusparse.c
