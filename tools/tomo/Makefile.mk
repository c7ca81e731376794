# Floor 4: the tomography behind `osla invert`, a library of its own so that tests can link it.
noinst_LTLIBRARIES += tools/libtomo.la
AM_CPPFLAGS += $(HDF5_CFLAGS) $(LIBXML2_CFLAGS) $(NETCDF_CFLAGS)
tools_libtomo_la_LIBADD = libosla.la $(HDF5_LIBS) $(LIBXML2_LIBS) $(NETCDF_LIBS)
tools_libtomo_la_LIBTOOLFLAGS = $(static_alone)
tools_libtomo_la_SOURCES = \
  tools/tomo/tomo_text.h tools/tomo/tomo_text.c tools/tomo/tomo_site_list.c \
  tools/tomo/tomo_io.h tools/tomo/tomo_stations.c tools/tomo/tomo_events.c \
  tools/tomo/tomo_fdsn.c tools/tomo/tomo_ndk.c \
  tools/tomo/tomo_time.h tools/tomo/tomo_time.c tools/tomo/tomo_event_time.h tools/tomo/tomo_event_time.c \
  tools/tomo/tomo_xml.h tools/tomo/tomo_xml.c \
  tools/tomo/tomo_stationxml.c tools/tomo/tomo_quakeml.c \
  tools/tomo/tomo_same.h tools/tomo/tomo_same.c \
  tools/tomo/tomo_choice.h tools/tomo/tomo_choice.c \
  tools/tomo/tomo_sphere.h tools/tomo/tomo_sphere.c \
  tools/tomo/tomo_icosahedron.h tools/tomo/tomo_icosahedron.c \
  tools/tomo/tomo_mesh.h tools/tomo/tomo_mesh.c \
  tools/tomo/tomo_radial.h tools/tomo/tomo_radial.c \
  tools/tomo/tomo_reference.h tools/tomo/tomo_reference_table.h \
  tools/tomo/tomo_reference_parse.c tools/tomo/tomo_reference.c \
  tools/tomo/tomo_measure.h tools/tomo/tomo_measure.c \
  tools/tomo/tomo_kernel.h tools/tomo/tomo_kernel.c \
  tools/tomo/tomo_data.h tools/tomo/tomo_data.c \
  tools/tomo/tomo_ids.h tools/tomo/tomo_ids.c \
  tools/tomo/tomo_table.h tools/tomo/tomo_table.c tools/tomo/tomo_table_csv.c tools/tomo/tomo_table_hdf5.c \
  tools/reader_process.h tools/reader_process.c tools/tomo/tomo_table_process.c \
  tools/tomo/tomo_intake.h tools/tomo/tomo_intake.c tools/tomo/tomo_sets.c \
  tools/tomo/tomo_path.h tools/tomo/tomo_path.c \
  tools/tomo/tomo_model.h tools/tomo/tomo_model.c tools/tomo/tomo_prior.c \
  tools/tomo/tomo_prior_file.h tools/tomo/tomo_prior_file.c \
  tools/tomo/tomo_prior_process.h tools/tomo/tomo_prior_process.c \
  tools/tomo/tomo_file.h tools/tomo/tomo_file.c \
  tools/tomo/tomo_image.h tools/tomo/tomo_image_plain.c tools/tomo/tomo_image_hdf5.c \
  tools/tomo/tomo_store.h tools/tomo/tomo_store.c \
  tools/tomo/tomo_slices.h tools/tomo/tomo_slices.c \
  tools/tomo/tomo_grid_file.h tools/tomo/tomo_grid_file.c \
  tools/tomo/tomo_prisms.h tools/tomo/tomo_prisms.c \
  tools/tomo/tomo_projection.h tools/tomo/tomo_projection.c tools/tomo/tomo_frame.h tools/tomo/tomo_frame.c \
  tools/tomo/tomo_draw_region.c \
  tools/tomo/tomo_colours.h tools/tomo/tomo_colours.c \
  tools/tomo/tomo_scale.h tools/tomo/tomo_scale.c \
  tools/tomo/tomo_raster.h tools/tomo/tomo_raster.c \
  tools/tomo/tomo_draw.h tools/tomo/tomo_draw_parts.h tools/tomo/tomo_draw_lines.c \
  tools/tomo/tomo_draw_pixels.c tools/tomo/tomo_draw_map.c tools/tomo/tomo_draw_section.c \
  tools/tomo/tomo_draw_chart.c tools/tomo/tomo_draw_run.c tools/tomo/tomo_draw.c \
  tools/tomo/tomo_views.h tools/tomo/tomo_views.c \
  tools/tomo/tomo_map.h tools/tomo/tomo_map.c
