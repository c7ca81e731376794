# A suite that interposes functions of MPI or of the C library is a separate program.
tests_programs += tests/transport/test_transport tests/transport/test_exchange
if !SIMULATION
tests_programs += \
  tests/transport/suites \
  tests/transport/test_farewell \
  tests/transport/test_host \
  tests/transport/test_lack \
  tests/transport/test_settings \
  tests/transport/test_trace \
  tests/transport/test_window
endif
tests_transport_suites_SOURCES = \
  tests/transport/test_groups.c tests/transport/test_meet.c tests/transport/test_progress.c \
  tests/transport/test_trace_lines.c tests/transport/test_trace_unwritable.c $(tests_file_help)
tests_transport_test_exchange_SOURCES = tests/transport/test_exchange.c $(tests_lacking_memory)
tests_transport_test_exchange_LDFLAGS = $(tests_wrap_memory)
tests_transport_test_host_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=fopen -Wl,--wrap=gethostname -Wl,--wrap=osli_groups_read
tests_transport_test_lack_SOURCES = tests/transport/test_lack.c $(tests_lacking_memory)
tests_transport_test_lack_LDFLAGS = $(tests_wrap_memory)
tests_transport_test_trace_LDADD = $(LDADD) $(JANSSON_LIBS)
