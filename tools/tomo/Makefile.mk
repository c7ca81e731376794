# Floor 4: the tomography behind `osla invert`, a library of its own so that tests can link it.
noinst_LTLIBRARIES = tools/libtomo.la
AM_CPPFLAGS += $(HDF5_CFLAGS)
tools_libtomo_la_LIBADD = libosla.la $(HDF5_LIBS)
tools_libtomo_la_SOURCES = \
  tools/tomo/tomo_text.h tools/tomo/tomo_text.c \
  tools/tomo/tomo_io.h tools/tomo/tomo_stations.c tools/tomo/tomo_events.c \
  tools/tomo/tomo_fdsn.c tools/tomo/tomo_ndk.c \
  tools/tomo/tomo_sphere.h tools/tomo/tomo_sphere.c \
  tools/tomo/tomo_icosahedron.h tools/tomo/tomo_icosahedron.c \
  tools/tomo/tomo_mesh.h tools/tomo/tomo_mesh.c \
  tools/tomo/tomo_radial.h tools/tomo/tomo_radial.c \
  tools/tomo/tomo_kernel.h tools/tomo/tomo_kernel.c \
  tools/tomo/tomo_path.h tools/tomo/tomo_path.c \
  tools/tomo/tomo_model.h tools/tomo/tomo_model.c tools/tomo/tomo_prior.c \
  tools/tomo/tomo_file.h tools/tomo/tomo_file.c \
  tools/tomo/tomo_image.h tools/tomo/tomo_image_plain.c tools/tomo/tomo_image_hdf5.c \
  tools/tomo/tomo_store.h tools/tomo/tomo_store.c \
  tools/tomo/tomo_projection.h tools/tomo/tomo_projection.c \
  tools/tomo/tomo_map.h tools/tomo/tomo_map_parts.h tools/tomo/tomo_map_raster.c \
  tools/tomo/tomo_map_lines.c tools/tomo/tomo_map_script.c tools/tomo/tomo_map.c
