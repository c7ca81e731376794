# The tests. A new one: tests/test_NAME.c, its name in tests_programs, and a line in tests/list.
# A program's source is its name with .c; extra sources go into tests_test_NAME_SOURCES.
tests_programs = \
  tests/test_base

tests_scalapack_programs =

tests_scripts = \
  tests/check_floors.sh \
  tests/check_tree.sh \
  tests/check_install.sh

if HAVE_CUNIT
check_LTLIBRARIES = tests/libosla_test.la
check_PROGRAMS += $(tests_programs)
if HAVE_SCALAPACK
check_PROGRAMS += $(tests_scalapack_programs)
endif
endif

tests_libosla_test_la_SOURCES = tests/osla_test.c tests/osla_test.h
AM_CPPFLAGS += $(CUNIT_CFLAGS)
LDADD = tests/libosla_test.la libosla.la $(CUNIT_LIBS)

EXTRA_DIST += tests/run tests/list tests/lsan.supp $(tests_scripts)

# Builds the test programs without running them.
check-programs: all $(check_PROGRAMS)
check-local: all
	$(srcdir)/tests/run -b .
clean-local:
	rm -rf tests/logs
.PHONY: check-programs
