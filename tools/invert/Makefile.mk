# Floor 4: `osla invert`, a library of its own so that tests can link its steps.
noinst_LTLIBRARIES += tools/libinvert.la
tools_libinvert_la_CPPFLAGS = $(AM_CPPFLAGS) -DOSLA_PKGDATADIR='"$(pkgdatadir)"' \
  -DOSLA_SOURCE_DATADIR='"$(abs_srcdir)/data"'
tools_libinvert_la_LIBADD = tools/libtomo.la
tools_libinvert_la_SOURCES = \
  tools/command.h tools/command.c tools/command_process.c tools/command_util.c \
  tools/command_same.c \
  tools/command_files.h tools/command_files.c \
  tools/checkpoint.h tools/checkpoint.c \
  tools/order_free.h tools/order_free.c \
  tools/reproducible.h tools/reproducible.c \
  tools/invert/invert.h \
  tools/invert/invert_options.c \
  tools/invert/invert_input.c \
  tools/invert/invert_bounds.c \
  tools/invert/invert_memory.c \
  tools/invert/invert_problem.c \
  tools/invert/invert_terminal.c \
  tools/invert/invert_work.c \
  tools/invert/invert_resume.c \
  tools/invert/invert_totals.c \
  tools/invert/invert_assemble.c \
  tools/invert/invert_misfit.c \
  tools/invert/invert_solve.c \
  tools/invert/invert_rays.h tools/invert/invert_rays.c \
  tools/invert/invert_iterate.c \
  tools/invert/invert_judge.c \
  tools/invert/invert_resolution.c \
  tools/invert/invert_output.c \
  tools/invert/invert_report.c \
  tools/invert/invert_json.c \
  tools/invert/invert.c
