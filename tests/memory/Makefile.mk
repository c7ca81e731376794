tests_programs += tests/memory/suites
tests_memory_suites_SOURCES = \
  tests/memory/test_segment.c tests/memory/test_notify.c tests/memory/test_stripes.c tests/memory/test_channel.c \
  tests/memory/test_reduction.c
if !SIMULATION
tests_memory_suites_SOURCES += tests/memory/test_attach.c tests/memory/test_shared_copy.c
# These are separate programs, because they interpose functions of MPI or of the C library.
tests_programs += \
  tests/memory/test_channel_wire \
  tests/memory/test_eager \
  tests/memory/test_memory \
  tests/memory/test_shared_memory
endif
tests_memory_test_memory_LDFLAGS = $(tests_wrap_memory) -Wl,--wrap=free -Wl,--wrap=osla_memory_check
tests_memory_test_shared_memory_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=mmap
