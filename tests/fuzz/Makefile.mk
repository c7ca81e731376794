# The readers once more, with sanitizers.
if HAVE_HDF5
tests_helpers += tests/fuzz/fuzz
endif
tests_fuzz_fuzz_SOURCES = tests/fuzz/fuzz.h tests/fuzz/fuzz.c tests/fuzz/fuzz_bytes.c \
  tests/fuzz/fuzz_run.c tests/fuzz/fuzz_spoil.c tests/fuzz/fuzz_parse.c tests/fuzz/fuzz_text.c tests/fuzz/fuzz_xml.c \
  tests/fuzz/fuzz_hdf5.c tests/fuzz/fuzz_updates.c tests/fuzz/fuzz_checkpoints.c \
  tests/fuzz/fuzz_parse.h tests/fuzz/fuzz_lines.c tests/fuzz/fuzz_times.c tests/fuzz/fuzz_table.c tests/fuzz/fuzz_reference.c \
  tools/tomo/tomo_table.c tools/tomo/tomo_table_csv.c tools/tomo/tomo_table_hdf5.c tools/tomo/tomo_intake.c \
  tools/reader_process.c tools/tomo/tomo_table_process.c \
  tools/tomo/tomo_sets.c tools/tomo/tomo_data.c tools/tomo/tomo_ids.c tools/tomo/tomo_measure.c tools/tomo/tomo_sphere.c \
  tools/tomo/tomo_reference.c tools/tomo/tomo_reference_parse.c \
  tools/tomo/tomo_file.c tools/tomo/tomo_text.c tools/tomo/tomo_site_list.c tools/tomo/tomo_stations.c tools/tomo/tomo_events.c \
  tools/tomo/tomo_fdsn.c tools/tomo/tomo_ndk.c tools/tomo/tomo_time.c tools/tomo/tomo_event_time.c tools/tomo/tomo_same.c \
  tools/tomo/tomo_xml.c tools/tomo/tomo_stationxml.c tools/tomo/tomo_quakeml.c \
  tools/assemble/updates_sizes.c tools/assemble/updates_schema.c tools/assemble/updates.c tools/assemble/updates_batch.c \
  $(src_file_sources) $(kernels_hessian_sources)
tests_fuzz_fuzz_CFLAGS = $(OSLA_CFLAGS) -O1 -g $(FUZZ_SANITIZE)
tests_fuzz_fuzz_LDADD = libosla_kernels.la $(HDF5_LIBS) $(LIBXML2_LIBS) $(BLAS_LIBS) -lpthread -lm

tests_scripts += tests/fuzz/test_fuzz.sh

# Not in check: new inputs for the readers and the command for FUZZ_SECONDS, or until it is stopped.
fuzz: check-programs
	FUZZ_SECONDS=$${FUZZ_SECONDS:-unlimited} FUZZ_SEED=$${FUZZ_SEED:-random} BUILDDIR=$(abs_builddir) \
	  SRCDIR=$(abs_srcdir) OSLA=$(abs_builddir)/osla MPIEXEC=$(MPIEXEC) $(srcdir)/tests/fuzz/test_fuzz.sh
.PHONY: fuzz
