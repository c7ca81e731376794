if !SIMULATION
tests_programs += apps/tomography/tests/suites
tests_programs += apps/tomography/tests/test_invert_memory # separate, as it interposes functions
endif
tests_invert_job = apps/tomography/tests/invert_test_job.c apps/tomography/tests/invert_test_job.h
apps_tomography_tests_suites_SOURCES = \
  apps/tomography/tests/test_invert.c apps/tomography/tests/test_invert_page.c apps/tomography/tests/test_invert_robust.c \
  apps/tomography/tests/test_invert_uncertainty.c apps/tomography/tests/test_reference.c apps/tomography/tests/test_reference_kernel.c \
  apps/tomography/tests/test_tomo_choice.c apps/tomography/tests/test_tomo_data.c apps/tomography/tests/test_tomo_draw.c \
  apps/tomography/tests/test_tomo_grid.c apps/tomography/tests/test_tomo_io.c apps/tomography/tests/test_tomo_model.c \
  apps/tomography/tests/test_tomo_path.c apps/tomography/tests/test_tomo_prior_file.c apps/tomography/tests/test_tomo_recovery.c \
  apps/tomography/tests/test_tomo_reference.c apps/tomography/tests/test_tomo_sphere.c apps/tomography/tests/test_tomo_store.c \
  apps/tomography/tests/test_tomo_xml.c \
  apps/tomography/tests/earth_check.c apps/tomography/tests/earth_check.h \
  apps/tomography/tests/invert_reference.c apps/tomography/tests/invert_reference.h $(tests_invert_job) \
  apps/tomography/tests/list_columns.c apps/tomography/tests/list_columns.h apps/tomography/tests/list_read.c apps/tomography/tests/list_read.h apps/tomography/tests/list_help.c apps/tomography/tests/list_help.h \
  tests/lzf_filter.h
apps_tomography_tests_suites_LDADD = tests/libosla_test.la libosla_armci.la libosla_shmem.la apps/tomography/libinvert.la apps/tomography/libreference.la \
  apps/tomography/libtomo.la libosla.la $(CUNIT_LIBS) $(POPT_LIBS) $(JANSSON_LIBS) $(NETCDF_LIBS) $(HDF5_LIBS)

apps_tomography_tests_test_invert_memory_SOURCES = apps/tomography/tests/test_invert_memory.c $(tests_invert_job)
apps_tomography_tests_test_invert_memory_LDADD = $(apps_tomography_tests_suites_LDADD)
apps_tomography_tests_test_invert_memory_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=osla_memory_check -Wl,--wrap=osla_potri

# A program that test_invert.sh runs.
tests_helpers += apps/tomography/tests/result_diff
apps_tomography_tests_result_diff_SOURCES = apps/tomography/tests/result_diff.c
apps_tomography_tests_result_diff_LDADD = apps/tomography/libtomo.la libosla.la

tests_scripts += \
  apps/tomography/tests/test_invert.sh \
  apps/tomography/tests/test_invert_data.sh \
  apps/tomography/tests/test_invert_errors.sh \
  apps/tomography/tests/test_invert_formats.sh \
  apps/tomography/tests/test_invert_iterative.sh \
  apps/tomography/tests/test_invert_kill.sh \
  apps/tomography/tests/test_invert_report.sh \
  apps/tomography/tests/test_invert_uncertainty.sh \
  apps/tomography/tests/test_plot.sh \
  apps/tomography/tests/test_reference.sh
EXTRA_DIST += apps/tomography/tests/invert_runs.sh
