if !SIMULATION
tests_programs += tests/base/suites
# These are separate programs, because they interpose routines of BLAS and LAPACK.
tests_programs += tests/base/test_blas tests/base/test_blas_ready tests/base/test_blas_refused
endif
tests_base_suites_SOURCES = \
  tests/base/test_base.c tests/base/test_new_file.c tests/base/test_new_file_others.c \
  tests/base/new_file_help.c tests/base/new_file_help.h \
  tests/base/test_row_swap.c
