# Layer 4: the command osla.
AM_CPPFLAGS += $(POPT_CFLAGS) $(JANSSON_CFLAGS)

if SIMULATION
info_probe = tools/info/info_probe_none.c
else
info_probe = tools/info/info_probe.c
endif
EXTRA_DIST += tools/info/info_probe.c tools/info/info_probe_none.c \
  tools/README.md tools/common/README.md tools/info/README.md tools/assemble/README.md tools/solve/README.md

# The sub-commands are in a separate library, so that tests can link them.
noinst_LTLIBRARIES += tools/libcommands.la
tools_libcommands_la_LIBTOOLFLAGS = $(static_alone)
tools_libcommands_la_SOURCES = \
  tools/common/library_files.h tools/info/info.h tools/info/info.c tools/info/info_system.c tools/info/info_transport.c \
  $(info_probe) tools/info/info_device.c tools/info/info_speed.c tools/info/info_rules.c \
  tools/info/info_print.c tools/info/info_json.c tools/info/info_watchdog.c tools/info/info_predict.c \
  tools/assemble/assemble.h tools/assemble/assemble_options.c \
  tools/assemble/updates.h tools/assemble/updates_batch.h tools/assemble/updates_file.h \
  tools/assemble/updates_sizes.c tools/assemble/updates_schema.c tools/assemble/updates.c tools/assemble/updates_batch.c \
  tools/assemble/updates_reader.c \
  tools/assemble/assemble_pass.h tools/assemble/assemble_pass.c tools/assemble/assemble_bounds.c \
  tools/assemble/assemble.c \
  tools/solve/solve_command.h tools/solve/solve_options.c tools/solve/solve.c tools/solve/solve_sparse.c \
  apps/tomography/reference/reference.h apps/tomography/reference/reference_options.c apps/tomography/reference/reference_table.c \
  apps/tomography/reference/reference_modes.c apps/tomography/reference/reference.c \
  tools/osla.c

bin_PROGRAMS += osla
osla_SOURCES = tools/main.c
osla_libs = apps/tomography/libinvert.la apps/tomography/libreference.la apps/tomography/libtomo.la libosla_armci.la libosla_shmem.la libosla.la $(HDF5_LIBS) $(POPT_LIBS) $(JANSSON_LIBS)
osla_LDADD = tools/libcommands.la $(osla_libs) $(PLUGIN_PATH)
