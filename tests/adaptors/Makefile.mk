# The adaptor to Global Arrays. Each suite is a separate program, because it ends Global Arrays.
tests_ga_programs += tests/adaptors/test_ga tests/adaptors/test_ga_solve tests/adaptors/test_ga_hessian
tests_ga_help = tests/adaptors/ga_help.c tests/adaptors/ga_help.h
tests_ga_libs = tests/libosla_test.la libosla_armci.la libosla_shmem.la $(ga_adapt_libs) libosla.la $(GA_LIBS) $(CUNIT_LIBS)
tests_adaptors_test_ga_SOURCES = tests/adaptors/test_ga.c $(tests_ga_help)
tests_adaptors_test_ga_LDADD = $(tests_ga_libs)
tests_adaptors_test_ga_solve_SOURCES = tests/adaptors/test_ga_solve.c $(tests_ga_help)
tests_adaptors_test_ga_solve_LDADD = $(tests_ga_libs)
tests_adaptors_test_ga_hessian_SOURCES = tests/adaptors/test_ga_hessian.c $(tests_hessian_reference) $(tests_ga_help)
tests_adaptors_test_ga_hessian_LDADD = $(tests_ga_libs)

tests_armci_programs += tests/adaptors/test_armci
tests_shmem_programs += tests/adaptors/test_shmem

# The Fortran module. Each program has its own main.
tests_fortran_programs += \
  tests/adaptors/test_fortran tests/adaptors/test_fortran_sparse tests/adaptors/test_fortran_forests \
  tests/adaptors/test_fortran_iterations tests/adaptors/test_fortran_collectives tests/adaptors/test_fortran_devices
tests_adaptors_test_fortran_SOURCES = tests/adaptors/fortran_trial.f90 tests/adaptors/test_fortran.f90
tests_adaptors_test_fortran_LDADD = libosla_fortran.la libosla.la
tests_adaptors_test_fortran_sparse_SOURCES = tests/adaptors/fortran_trial.f90 tests/adaptors/test_fortran_sparse.f90
tests_adaptors_test_fortran_sparse_LDADD = libosla_fortran.la libosla.la
tests_adaptors_test_fortran_forests_SOURCES = tests/adaptors/fortran_trial.f90 tests/adaptors/test_fortran_forests.f90
tests_adaptors_test_fortran_forests_LDADD = libosla_fortran.la libosla.la
tests_adaptors_test_fortran_iterations_SOURCES = tests/adaptors/fortran_trial.f90 tests/adaptors/test_fortran_iterations.f90
tests_adaptors_test_fortran_iterations_LDADD = libosla_fortran.la libosla.la
tests_adaptors_test_fortran_collectives_SOURCES = tests/adaptors/fortran_trial.f90 tests/adaptors/test_fortran_collectives.f90
tests_adaptors_test_fortran_collectives_LDADD = libosla_fortran.la libosla.la
tests_adaptors_test_fortran_devices_SOURCES = tests/adaptors/fortran_trial.f90 tests/adaptors/test_fortran_devices.f90
tests_adaptors_test_fortran_devices_LDADD = libosla_fortran.la libosla.la
tests/adaptors/fortran_trial.$(OBJEXT): fortran/osla.lo
tests/adaptors/test_fortran.$(OBJEXT) tests/adaptors/test_fortran_sparse.$(OBJEXT) tests/adaptors/test_fortran_forests.$(OBJEXT) \
tests/adaptors/test_fortran_iterations.$(OBJEXT) tests/adaptors/test_fortran_collectives.$(OBJEXT) tests/adaptors/test_fortran_devices.$(OBJEXT): tests/adaptors/fortran_trial.$(OBJEXT)

# The drop-in, tested by ScaLAPACK programs that are not linked with OSLA.
if HAVE_SCALAPACK
tests_helpers += tests/adaptors/dropin_random tests/adaptors/dropin_errors tests/adaptors/dropin_lapack tests/adaptors/dropin_threads \
  tests/adaptors/dropin_contexts tests/adaptors/dropin_orders doc/from_scalapack
endif
tests_dropin_help = tests/adaptors/dropin_program.c tests/adaptors/dropin_program.h
tests_adaptors_dropin_random_SOURCES = tests/adaptors/dropin_random.c $(tests_dropin_help)
tests_adaptors_dropin_random_LDADD = $(SCALAPACK_LIBS) -lm
tests_adaptors_dropin_lapack_SOURCES = tests/adaptors/dropin_lapack.c tests/adaptors/dropin_lapack.h tests/adaptors/dropin_matrices.c \
  $(tests_dropin_help)
tests_adaptors_dropin_lapack_LDADD = $(SCALAPACK_LIBS) -lm
tests_adaptors_dropin_threads_SOURCES = tests/adaptors/dropin_threads.c $(tests_dropin_help)
tests_adaptors_dropin_threads_LDADD = $(SCALAPACK_LIBS) -lpthread
tests_adaptors_dropin_errors_SOURCES = tests/adaptors/dropin_errors.c $(tests_dropin_help)
tests_adaptors_dropin_errors_LDADD = $(SCALAPACK_LIBS)
tests_adaptors_dropin_orders_SOURCES = tests/adaptors/dropin_orders.c $(tests_dropin_help)
tests_adaptors_dropin_orders_LDADD = $(SCALAPACK_LIBS)
tests_adaptors_dropin_contexts_SOURCES = tests/adaptors/dropin_contexts.c $(tests_dropin_help)
tests_adaptors_dropin_contexts_LDADD = $(SCALAPACK_LIBS)
doc_from_scalapack_SOURCES = doc/from_scalapack.c
doc_from_scalapack_LDADD = libosla.la $(SCALAPACK_LIBS) -lm

tests_scripts += \
  tests/adaptors/test_dropin.sh \
  tests/adaptors/test_dropin_device.sh \
  tests/adaptors/test_dropin_guide.sh \
  tests/adaptors/test_dropin_lapack.sh \
  tests/adaptors/test_dropin_load.sh \
  tests/adaptors/test_dropin_memory.sh \
  tests/adaptors/test_dropin_orders.sh \
  tests/adaptors/test_dropin_testers.sh \
  tests/adaptors/test_python.sh
EXTRA_DIST += tests/adaptors/dropin_help.sh tests/adaptors/dropin_host.c tests/adaptors/dropin_lengths.c \
  tests/adaptors/dropin_ctypes.py
