if !SIMULATION
tests_programs += tests/tomography/suites
tests_programs += tests/tomography/test_invert_memory # it interposes functions of the library
endif
tests_invert_job = tests/tomography/invert_test_job.c tests/tomography/invert_test_job.h
tests_tomography_suites_SOURCES = \
  tests/tomography/test_invert.c tests/tomography/test_invert_page.c tests/tomography/test_invert_robust.c \
  tests/tomography/test_invert_sure.c tests/tomography/test_reference.c tests/tomography/test_reference_kernel.c \
  tests/tomography/test_tomo_choice.c tests/tomography/test_tomo_data.c tests/tomography/test_tomo_draw.c \
  tests/tomography/test_tomo_grid.c tests/tomography/test_tomo_io.c tests/tomography/test_tomo_model.c \
  tests/tomography/test_tomo_path.c tests/tomography/test_tomo_prior_file.c tests/tomography/test_tomo_recovery.c \
  tests/tomography/test_tomo_reference.c tests/tomography/test_tomo_sphere.c tests/tomography/test_tomo_store.c \
  tests/tomography/test_tomo_xml.c \
  tests/tomography/earth_check.c tests/tomography/earth_check.h \
  tests/tomography/invert_reference.c tests/tomography/invert_reference.h $(tests_invert_job) \
  tests/tomography/list_columns.c tests/tomography/list_columns.h tests/tomography/list_help.c tests/tomography/list_help.h \
  tests/lzf_filter.h
tests_tomography_suites_LDADD = tests/libosla_test.la libosla_armci.la tools/libinvert.la tools/libreference.la \
  tools/libtomo.la libosla.la $(CUNIT_LIBS) $(POPT_LIBS) $(JANSSON_LIBS) $(NETCDF_LIBS) $(HDF5_LIBS)

tests_tomography_test_invert_memory_SOURCES = tests/tomography/test_invert_memory.c $(tests_invert_job)
tests_tomography_test_invert_memory_LDADD = $(tests_tomography_suites_LDADD)
tests_tomography_test_invert_memory_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=osla_memory_check -Wl,--wrap=osla_potri

# A helper of test_invert.sh.
tests_helpers += tests/tomography/result_diff
tests_tomography_result_diff_SOURCES = tests/tomography/result_diff.c
tests_tomography_result_diff_LDADD = tools/libtomo.la libosla.la

tests_scripts += \
  tests/tomography/test_invert.sh \
  tests/tomography/test_invert_data.sh \
  tests/tomography/test_invert_errors.sh \
  tests/tomography/test_invert_formats.sh \
  tests/tomography/test_invert_iterative.sh \
  tests/tomography/test_invert_kill.sh \
  tests/tomography/test_invert_report.sh \
  tests/tomography/test_invert_sure.sh \
  tests/tomography/test_plot.sh \
  tests/tomography/test_reference.sh
EXTRA_DIST += tests/tomography/invert_runs.sh
