# Layer 4: the command `osla invert`, in a separate library so that tests can link its steps.
noinst_LTLIBRARIES += apps/tomography/libinvert.la
apps_tomography_libinvert_la_CPPFLAGS = $(AM_CPPFLAGS) -DOSLA_PKGDATADIR='"$(pkgdatadir)"' \
  -DOSLA_SOURCE_DATADIR='"$(abs_srcdir)/data"'
apps_tomography_libinvert_la_LIBADD = apps/tomography/libtomo.la
apps_tomography_libinvert_la_LIBTOOLFLAGS = $(static_alone)
apps_tomography_libinvert_la_SOURCES = \
  apps/tomography/tomography.h \
  tools/common/command.h tools/common/command.c tools/common/command_process.c tools/common/command_util.c \
  tools/common/command_same_line.c \
  tools/common/command_files.h tools/common/command_files.c \
  tools/common/checkpoint.h tools/common/checkpoint.c \
  tools/common/report_directory.h tools/common/report_directory.c \
  tools/common/order_free.h tools/common/order_free.c \
  tools/common/reproducible.h tools/common/reproducible.c \
  tools/common/local_elements.h tools/common/local_elements.c \
  apps/tomography/invert/invert.h apps/tomography/invert/invert_results.h \
  apps/tomography/invert/invert_list_options.c \
  apps/tomography/invert/invert_options.h apps/tomography/invert/invert_options.c apps/tomography/invert/invert_options_data.c \
  apps/tomography/invert/invert_options_files.c \
  apps/tomography/invert/invert_tables.c apps/tomography/invert/invert_selection.c \
  apps/tomography/invert/invert_netcdf.c apps/tomography/invert/invert_xdmf.c \
  apps/tomography/invert/invert_input.c apps/tomography/invert/invert_data.c \
  apps/tomography/invert/invert_bounds.c \
  apps/tomography/invert/invert_memory.c apps/tomography/invert/invert_memory_files.c \
  apps/tomography/invert/invert_problem.c \
  apps/tomography/invert/invert_terminal.c \
  apps/tomography/invert/invert_pass.c \
  apps/tomography/invert/invert_resume.c \
  apps/tomography/invert/invert_prior.c \
  apps/tomography/invert/invert_forecast.c \
  apps/tomography/invert/invert_assemble.c \
  apps/tomography/invert/invert_fit.c apps/tomography/invert/invert_robust.c \
  apps/tomography/invert/invert_solve.c \
  apps/tomography/invert/invert_path_qr.c \
  apps/tomography/invert/invert_rays.h apps/tomography/invert/invert_rays.c \
  apps/tomography/invert/invert_iterate.c \
  apps/tomography/invert/invert_scan.h apps/tomography/invert/invert_curve.c \
  apps/tomography/invert/invert_saved_hessian.c apps/tomography/invert/invert_scan.c \
  apps/tomography/invert/invert_rows.c apps/tomography/invert/invert_posterior.c apps/tomography/invert/invert_columns.c \
  apps/tomography/invert/invert_resolution.c \
  apps/tomography/invert/invert_report_uncertainty.c \
  apps/tomography/report/invert_section.c \
  apps/tomography/report/invert_page.h apps/tomography/report/invert_page_maps.c \
  apps/tomography/report/invert_page_charts.c apps/tomography/report/invert_page_html.c \
  apps/tomography/report/invert_page_parts.c apps/tomography/report/invert_page_tables.c apps/tomography/report/invert_page.c \
  apps/tomography/invert/invert_output.c apps/tomography/invert/invert_write_data.c \
  apps/tomography/invert/invert_report.c \
  apps/tomography/invert/invert_json.c \
  apps/tomography/invert/invert.c
