# The parts of the tests that all folders share. A new suite needs a file tests/FOLDER/test_NAME.c,
# its name among the sources of the folder's program in the folder's Makefile.mk, and a line in
# tests/list. A suite that ends the job, interposes symbols or needs another environment is a
# separate program, tests/FOLDER/test_NAME.
tests_programs =
tests_scalapack_programs =
tests_ga_programs =
tests_armci_programs =
tests_shmem_programs =
tests_fortran_programs =
tests_helpers =
tests_scripts =

AM_CPPFLAGS += $(CUNIT_CFLAGS)
LDADD = tests/libosla_test.la libosla_armci.la libosla_shmem.la apps/tomography/libtomo.la libosla.la $(CUNIT_LIBS)
tests_libosla_test_la_LIBTOOLFLAGS = $(static_alone)
tests_libosla_test_la_SOURCES = tests/osla_test.c tests/osla_test.h tests/osla_test_main.c \
  $(tests_process_state) \
  tests/osla_test_help.c tests/osla_test_help.h tests/complex_help.h \
  tests/osla_test_watch.c tests/osla_test_watch.h

tests_process_state = tests/process_state.c tests/process_state.h

# Sources that programs of several folders link.
tests_file_help = tests/file_help.c tests/file_help.h
tests_hessian_reference = tests/hessian_reference.c tests/hessian_reference.h
tests_lacking_memory = tests/failing_allocation.c tests/failing_allocation.h
tests_wrap_memory = $(AM_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc

include tests/base/Makefile.mk
include tests/transport/Makefile.mk
include tests/memory/Makefile.mk
include tests/matrix/Makefile.mk
include tests/kernels/Makefile.mk
include tests/device/Makefile.mk
include tests/adaptors/Makefile.mk
include tests/commands/Makefile.mk
include apps/tomography/tests/Makefile.mk
include tests/install/Makefile.mk
include tests/fuzz/Makefile.mk

check_PROGRAMS += $(tests_helpers)
if HAVE_CUNIT
check_LTLIBRARIES = tests/libosla_test.la
check_PROGRAMS += $(tests_programs)
if HAVE_SCALAPACK
check_PROGRAMS += $(tests_scalapack_programs)
endif
if HAVE_FORTRAN
check_PROGRAMS += $(tests_fortran_programs)
endif
if HAVE_GA
check_PROGRAMS += $(tests_ga_programs)
endif
if HAVE_ARMCI
check_PROGRAMS += $(tests_armci_programs)
endif
if HAVE_SHMEM
check_PROGRAMS += $(tests_shmem_programs)
endif
endif

EXTRA_DIST += tests/run tests/runner/plan.py tests/runner/jobs.py tests/runner/leftovers.py tests/runner/test_runner.py \
  tests/list tests/modes.sh tests/open_mpi.sh tests/time_limit.sh tests/hosts tests/limits \
  tests/lsan.supp tests/yield.c $(tests_scripts)

noinst_DATA = tests/config.env

# list-check-programs prints the names of the test programs. check-programs builds them, except
# those of the variable WITHOUT.
list-check-programs:
	@echo $(check_PROGRAMS)
# A second make builds the test programs when `all` is complete. If both were built by one make,
# `make all check-programs` could build a library twice at the same time.
check-programs: all
	@$(MAKE) $(AM_MAKEFLAGS) $(filter-out $(WITHOUT),$(check_PROGRAMS))
check-local: all-am
	$(srcdir)/tests/run -b .
clean_hooks += clean-test-results
clean-test-results:
	rm -rf tests/logs tests/installed tests/installed.*

# `make soak` tests random updates of the accumulator for ten minutes, on one node and on two fake
# nodes. The memory must not grow. No level of the tests includes it.
soak: check-programs
	OSLA_TEST_SECONDS=$${OSLA_TEST_SECONDS:-300} OPENBLAS_NUM_THREADS=1 \
	  timeout 900 $(MPIEXEC) -n 3 tests/kernels/hessian_suites test_hessian_wire/soak
	OSLA_TEST_SECONDS=$${OSLA_TEST_SECONDS:-300} OPENBLAS_NUM_THREADS=1 \
	  OSLA_FAKE_NODES=2 MPIR_CVAR_NUM_CLIQUES=2 MPIR_CVAR_CLIQUES_BY_BLOCK=1 \
	  timeout 900 $(MPIEXEC) -n 4 tests/kernels/hessian_suites test_hessian_wire/soak

# `make check-limits` tests jobs that reach limits of the system, and jobs whose ranks are killed,
# in about 5 minutes. `make check` does not include it.
check-limits: check-programs
	$(srcdir)/tests/limits -b .
.PHONY: check-programs list-check-programs check-limits soak
