# The fuzzer. It compiles the readers again, with sanitizers.
if HAVE_HDF5
tests_helpers += tests/fuzz/fuzz
endif
tests_fuzz_fuzz_SOURCES = tests/fuzz/fuzz.h tests/fuzz/fuzz.c tests/fuzz/fuzz_bytes.c \
  tests/fuzz/fuzz_run.c tests/fuzz/fuzz_damage.c tests/fuzz/fuzz_parse.c tests/fuzz/fuzz_text.c tests/fuzz/fuzz_xml.c \
  tests/fuzz/fuzz_hdf5.c tests/fuzz/fuzz_updates.c tests/fuzz/fuzz_checkpoints.c tests/fuzz/fuzz_triangles.c \
  tests/fuzz/fuzz_parse.h tests/fuzz/fuzz_lines.c tests/fuzz/fuzz_times.c tests/fuzz/fuzz_table.c tests/fuzz/fuzz_reference.c \
  apps/tomography/readers/tomo_table.c apps/tomography/readers/tomo_table_hdf5.c apps/tomography/readers/tomo_datum_list.c \
  tools/common/reader_process.c apps/tomography/readers/tomo_table_process.c \
  apps/tomography/readers/tomo_data_sets.c apps/tomography/readers/tomo_data.c apps/tomography/readers/tomo_ids.c apps/tomography/earth/tomo_sphere.c \
  apps/tomography/earth/tomo_reference.c apps/tomography/earth/tomo_reference_parse.c \
  apps/tomography/tests/list_read.c apps/tomography/readers/tomo_file.c apps/tomography/readers/tomo_text.c apps/tomography/readers/tomo_site_list.c apps/tomography/readers/tomo_stations.c apps/tomography/readers/tomo_events.c \
  apps/tomography/readers/tomo_ndk.c apps/tomography/readers/tomo_time.c apps/tomography/readers/tomo_event_time.c \
  apps/tomography/readers/tomo_xml.c apps/tomography/readers/tomo_stationxml.c apps/tomography/readers/tomo_quakeml.c \
  tools/assemble/updates_sizes.c tools/assemble/updates_schema.c tools/assemble/updates.c tools/assemble/updates_batch.c \
  $(src_file_sources) $(kernels_hessian_sources)
tests_fuzz_fuzz_CFLAGS = $(OSLA_CFLAGS) -O1 -g $(FUZZ_SANITIZE)
tests_fuzz_fuzz_LDADD = libosla_kernels.la $(HDF5_LIBS) $(LIBXML2_LIBS) $(CHOLMOD_LIBS) $(BLAS_LIBS) -lpthread -lm

tests_scripts += tests/fuzz/test_fuzz.sh

# `make fuzz` reads new damaged files for FUZZ_SECONDS, or until it is interrupted. `make check`
# does not include it.
fuzz: check-programs
	FUZZ_SECONDS=$${FUZZ_SECONDS:-unlimited} FUZZ_SEED=$${FUZZ_SEED:-random} BUILDDIR=$(abs_builddir) \
	  SRCDIR=$(abs_srcdir) OSLA=$(abs_builddir)/osla MPIEXEC=$(MPIEXEC) $(srcdir)/tests/fuzz/test_fuzz.sh
.PHONY: fuzz
