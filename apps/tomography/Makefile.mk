# Layer 4: the tomography of `osla invert`, in a separate library so that tests can link it.
noinst_LTLIBRARIES += apps/tomography/libtomo.la
AM_CPPFLAGS += $(HDF5_CFLAGS) $(LIBXML2_CFLAGS) $(NETCDF_CFLAGS)
apps_tomography_libtomo_la_LIBADD = libosla.la $(HDF5_LIBS) $(LIBXML2_LIBS) $(NETCDF_LIBS)
apps_tomography_libtomo_la_LIBTOOLFLAGS = $(static_alone)
apps_tomography_libtomo_la_SOURCES = \
  apps/tomography/readers/tomo_text.h apps/tomography/readers/tomo_text.c apps/tomography/readers/tomo_site_list.c \
  apps/tomography/readers/tomo_io.h apps/tomography/readers/tomo_stations.c apps/tomography/readers/tomo_events.c \
  apps/tomography/readers/tomo_ndk.c \
  apps/tomography/readers/tomo_time.c apps/tomography/readers/tomo_event_time.c \
  apps/tomography/readers/tomo_xml.h apps/tomography/readers/tomo_xml.c \
  apps/tomography/readers/tomo_stationxml.c apps/tomography/readers/tomo_quakeml.c \
  apps/tomography/readers/tomo_selection.h apps/tomography/readers/tomo_selection.c \
  apps/tomography/earth/tomo_sphere.h apps/tomography/earth/tomo_sphere.c \
  apps/tomography/earth/tomo_mesh.h apps/tomography/earth/tomo_mesh.c \
  apps/tomography/earth/tomo_radial.h apps/tomography/earth/tomo_radial.c \
  apps/tomography/earth/tomo_reference.h apps/tomography/earth/tomo_reference_table.h \
  apps/tomography/earth/tomo_reference_parse.c apps/tomography/earth/tomo_reference.c \
  apps/tomography/earth/tomo_kernel.h apps/tomography/earth/tomo_kernel.c \
  apps/tomography/readers/tomo_data.h apps/tomography/readers/tomo_data.c \
  apps/tomography/readers/tomo_ids.c \
  apps/tomography/readers/tomo_table.h apps/tomography/readers/tomo_table.c apps/tomography/readers/tomo_table_hdf5.c \
  tools/common/reader_process.h tools/common/reader_process.c apps/tomography/readers/tomo_table_process.c \
  apps/tomography/readers/tomo_datum_list.c apps/tomography/readers/tomo_data_sets.c \
  apps/tomography/earth/tomo_path.h apps/tomography/earth/tomo_path.c \
  apps/tomography/earth/tomo_model.h apps/tomography/earth/tomo_model.c apps/tomography/earth/tomo_prior.c \
  apps/tomography/readers/tomo_prior_file.h apps/tomography/readers/tomo_prior_file.c \
  apps/tomography/readers/tomo_prior_process.c \
  apps/tomography/readers/tomo_file.c \
  apps/tomography/readers/tomo_store_format.h apps/tomography/readers/tomo_store_plain.c apps/tomography/readers/tomo_store_hdf5.c \
  apps/tomography/readers/tomo_store.h apps/tomography/readers/tomo_store.c \
  apps/tomography/earth/tomo_slices.h apps/tomography/earth/tomo_slices.c \
  apps/tomography/readers/tomo_grid_file.h apps/tomography/readers/tomo_grid_file.c \
  apps/tomography/earth/tomo_prisms.h apps/tomography/earth/tomo_prisms.c \
  apps/tomography/draw/tomo_frame.h apps/tomography/draw/tomo_frame.c \
  apps/tomography/draw/tomo_draw_region.c \
  apps/tomography/draw/tomo_scale.h apps/tomography/draw/tomo_scale.c \
  apps/tomography/draw/tomo_raster.h apps/tomography/draw/tomo_raster.c \
  apps/tomography/draw/tomo_draw.h apps/tomography/draw/tomo_draw_parts.h apps/tomography/draw/tomo_draw_lines.c \
  apps/tomography/draw/tomo_draw_pixels.c apps/tomography/draw/tomo_draw_map.c \
  apps/tomography/draw/tomo_draw_chart.c apps/tomography/draw/tomo_draw_run.c apps/tomography/draw/tomo_draw.c \
  apps/tomography/draw/tomo_views.h apps/tomography/draw/tomo_views.c \
  apps/tomography/draw/tomo_map.h apps/tomography/draw/tomo_map.c
EXTRA_DIST += apps/tomography/README.md apps/tomography/draw/README.md apps/tomography/earth/README.md \
  apps/tomography/readers/README.md apps/tomography/reference/README.md apps/tomography/invert/README.md apps/tomography/report/README.md
