# Layer 4: the modes of a spherical Earth, which `osla reference` computes, in a separate library so
# that tests can link them.
noinst_LTLIBRARIES += apps/tomography/libreference.la
apps_tomography_libreference_la_LIBTOOLFLAGS = $(static_alone)
apps_tomography_libreference_la_SOURCES = \
  apps/tomography/reference/earth_model.h apps/tomography/reference/earth_model.c apps/tomography/reference/earth_prem.c apps/tomography/reference/earth_read.c \
  apps/tomography/reference/band.c \
  apps/tomography/reference/radial.h apps/tomography/reference/radial_form.c apps/tomography/reference/radial_mesh.c apps/tomography/reference/radial_system.c \
  apps/tomography/reference/mode.h apps/tomography/reference/mode.c \
  apps/tomography/reference/surface_wave.c
