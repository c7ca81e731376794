tests_programs += tests/matrix/suites
tests_matrix_suites_SOURCES = tests/matrix/test_matrix.c tests/matrix/test_grid.c
if !SIMULATION
tests_matrix_suites_SOURCES += \
  tests/matrix/test_file.c tests/matrix/test_file_errors.c tests/matrix/test_file_same.c \
  tests/matrix/test_index.c tests/matrix/test_triangle_index.c tests/matrix/test_triangle.c tests/matrix/test_triangle_refused.c \
  tests/matrix/test_file_triangle.c tests/matrix/test_triangle_copy.c tests/matrix/test_triangle_ops.c \
  tests/matrix/triangle_help.c tests/matrix/triangle_help.h \
  tests/matrix/test_matrix_memory.c tests/matrix/test_matrix_ops.c tests/matrix/test_norm.c \
  tests/matrix/attacker.c tests/matrix/attacker.h $(tests_file_help)
endif
tests_matrix_suites_LDADD = $(LDADD) $(HDF5_LIBS)

tests_scalapack_programs += tests/matrix/test_scalapack_layout
tests_matrix_test_scalapack_layout_LDADD = $(LDADD) $(SCALAPACK_LIBS)
