# Floor 4: `osla invert`, a library of its own so that tests can link its steps.
noinst_LTLIBRARIES += tools/libinvert.la
tools_libinvert_la_CPPFLAGS = $(AM_CPPFLAGS) -DOSLA_PKGDATADIR='"$(pkgdatadir)"' \
  -DOSLA_SOURCE_DATADIR='"$(abs_srcdir)/data"'
tools_libinvert_la_LIBADD = tools/libtomo.la
tools_libinvert_la_LIBTOOLFLAGS = $(static_alone)
tools_libinvert_la_SOURCES = \
  tools/command.h tools/command.c tools/command_process.c tools/command_util.c \
  tools/command_same.c \
  tools/command_files.h tools/command_files.c \
  tools/checkpoint.h tools/checkpoint.c \
  tools/report_place.h tools/report_place.c \
  tools/order_free.h tools/order_free.c \
  tools/reproducible.h tools/reproducible.c \
  tools/invert/invert.h tools/invert/invert_found.h \
  tools/invert/invert_asked.h tools/invert/invert_asked.c \
  tools/invert/invert_options.h tools/invert/invert_options.c tools/invert/invert_options_data.c \
  tools/invert/invert_files.h tools/invert/invert_options_files.c \
  tools/invert/invert_tables.c tools/invert/invert_selection.c tools/invert/invert_check_files.c \
  tools/invert/invert_netcdf.c tools/invert/invert_xdmf.c \
  tools/invert/invert_input.c tools/invert/invert_data.c \
  tools/invert/invert_bounds.c \
  tools/invert/invert_memory.c tools/invert/invert_memory_files.c \
  tools/invert/invert_problem.c \
  tools/invert/invert_terminal.c \
  tools/invert/invert_work.c \
  tools/invert/invert_resume.c \
  tools/invert/invert_totals.c \
  tools/invert/invert_prior.c \
  tools/invert/invert_forecast.c \
  tools/invert/invert_assemble.c \
  tools/invert/invert_misfit.c tools/invert/invert_fit.c tools/invert/invert_robust.c \
  tools/invert/invert_solve.c \
  tools/invert/invert_split.h tools/invert/invert_split.c \
  tools/invert/invert_rays.h tools/invert/invert_rays.c \
  tools/invert/invert_iterate.c \
  tools/invert/invert_scan.h tools/invert/invert_curve.c \
  tools/invert/invert_kept.c tools/invert/invert_scan.c \
  tools/invert/invert_scan_chart.h tools/invert/invert_scan_chart.c tools/invert/invert_scan_plot.c \
  tools/invert/invert_rows.c tools/invert/invert_posterior.c tools/invert/invert_columns.c \
  tools/invert/invert_judge.c \
  tools/invert/invert_resolution.c \
  tools/invert/invert_sure_report.c \
  tools/invert/invert_section.h tools/invert/invert_section.c tools/invert/invert_frame.c \
  tools/invert/invert_page.h tools/invert/invert_page_draw.c tools/invert/invert_page_maps.c \
  tools/invert/invert_page_charts.c tools/invert/invert_page_html.c \
  tools/invert/invert_page_parts.c tools/invert/invert_page_tables.c tools/invert/invert_page.c \
  tools/invert/invert_output.c tools/invert/invert_write_data.c \
  tools/invert/invert_report_data.c tools/invert/invert_report.c \
  tools/invert/invert_json_data.h tools/invert/invert_json_data.c tools/invert/invert_json.c \
  tools/invert/invert.c
