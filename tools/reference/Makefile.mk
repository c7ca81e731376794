# Floor 4: modes of a spherical Earth, behind `osla reference`, a library of its own so that tests can link it.
noinst_LTLIBRARIES += tools/libreference.la
tools_libreference_la_LIBTOOLFLAGS = $(static_alone)
tools_libreference_la_SOURCES = \
  tools/reference/earth_model.h tools/reference/earth_model.c tools/reference/earth_prem.c tools/reference/earth_read.c \
  tools/reference/band.h tools/reference/band.c \
  tools/reference/radial.h tools/reference/radial_form.c tools/reference/radial_mesh.c tools/reference/radial_system.c \
  tools/reference/mode.h tools/reference/mode.c \
  tools/reference/surface_wave.h tools/reference/surface_wave.c
