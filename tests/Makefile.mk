# The tests. A new one: tests/test_NAME.c, its name in tests_programs, and a line in tests/list.
# A program's source is its name with .c; extra sources go into tests_test_NAME_SOURCES.
if SIMULATION
# Those that say something of many ranks.
tests_programs = \
  tests/transport/test_transport tests/transport/test_exchange tests/memory/test_segment tests/memory/test_notify tests/memory/test_stripes tests/memory/test_channel tests/memory/test_reduction tests/matrix/test_matrix \
  tests/matrix/test_grid tests/kernels/test_panels tests/kernels/test_gemm tests/kernels/test_gemm_share tests/kernels/test_syrk tests/kernels/test_lu tests/kernels/test_lu_pivot tests/kernels/test_chol tests/kernels/test_trsm \
  tests/kernels/test_solve tests/kernels/test_hessian tests/kernels/test_hessian_flow tests/kernels/test_hessian_solve \
  tests/kernels/test_forest tests/kernels/test_forest_flow tests/kernels/test_forest_limits tests/kernels/test_forest_derive tests/kernels/test_forest_share \
  tests/kernels/test_sparse tests/kernels/test_sums tests/kernels/test_krylov
else
tests_programs = \
  tests/base/test_base \
  tests/base/test_new_file \
  tests/base/test_new_file_others \
  tests/commands/test_updates_batch \
  tests/base/test_blas \
  tests/base/test_blas_ready \
  tests/base/test_blas_refused \
  tests/matrix/test_index \
  tests/kernels/test_route \
  tests/kernels/test_tile \
  tests/commands/test_calibrate_fit \
  tests/kernels/test_panels \
  tests/kernels/test_forward \
  tests/transport/test_groups \
  tests/transport/test_transport \
  tests/transport/test_exchange \
  tests/transport/test_farewell \
  tests/transport/test_meet \
  tests/transport/test_host \
  tests/transport/test_lack \
  tests/memory/test_memory \
  tests/memory/test_shared_memory \
  tests/transport/test_settings \
  tests/transport/test_window \
  tests/transport/test_progress \
  tests/transport/test_trace \
  tests/transport/test_trace_lines \
  tests/transport/test_trace_unwritable \
  tests/memory/test_segment \
  tests/memory/test_attach \
  tests/memory/test_notify \
  tests/memory/test_eager \
  tests/memory/test_stripes \
  tests/memory/test_channel \
  tests/memory/test_channel_wire \
  tests/memory/test_reduction \
  tests/matrix/test_grid \
  tests/matrix/test_matrix \
  tests/matrix/test_matrix_memory \
  tests/matrix/test_matrix_ops \
  tests/matrix/test_norm \
  tests/matrix/test_file \
  tests/matrix/test_file_errors \
  tests/matrix/test_file_same \
  tests/kernels/test_gemm \
  tests/kernels/test_gemm_parts \
  tests/kernels/test_gemm_share \
  tests/kernels/test_parts \
  tests/kernels/test_solve_parts \
  tests/kernels/test_parts_lack \
  tests/kernels/test_gemm_predict \
  tests/kernels/test_syrk \
  tests/kernels/test_own \
  tests/kernels/test_lu \
  tests/kernels/test_lu_pivot \
  tests/kernels/test_lu_hard \
  tests/kernels/test_chol \
  tests/kernels/test_potri \
  tests/kernels/test_getri \
  tests/kernels/test_products \
  tests/kernels/test_inverse_lack \
  tests/kernels/test_products_lack \
  tests/kernels/test_trsm \
  tests/kernels/test_solve \
  tests/kernels/test_refine \
  tests/kernels/test_condition \
  tests/kernels/test_agree \
  tests/kernels/test_same \
  tests/kernels/test_same_solves \
  tests/kernels/test_reserved \
  tests/kernels/test_hessian_split \
  tests/kernels/test_hessian \
  tests/kernels/test_hessian_ops \
  tests/kernels/test_hessian_node \
  tests/kernels/test_hessian_arrivals \
  tests/kernels/test_hessian_exact \
  tests/kernels/test_hessian_lack \
  tests/kernels/test_hessian_bound \
  tests/kernels/test_hessian_flow \
  tests/kernels/test_hessian_threads \
  tests/kernels/test_hessian_wire \
  tests/kernels/test_hessian_isolation \
  tests/kernels/test_hessian_solve \
  tests/kernels/test_hessian_restart \
  tests/kernels/test_hessian_ids \
  tests/kernels/test_forest \
  tests/kernels/test_forest_units \
  tests/kernels/test_forest_flow \
  tests/kernels/test_forest_large \
  tests/kernels/test_forest_long \
  tests/kernels/test_forest_errors \
  tests/kernels/test_forest_derive \
  tests/kernels/test_forest_limits \
  tests/kernels/test_forest_exact \
  tests/kernels/test_forest_pattern \
  tests/kernels/test_forest_share \
  tests/kernels/test_forest_fetch \
  tests/kernels/test_forest_view \
  tests/kernels/test_sparse \
  tests/kernels/test_sparse_products \
  tests/kernels/test_sparse_file \
  tests/kernels/test_sums \
  tests/kernels/test_krylov \
  tests/kernels/test_diffusion \
  tests/kernels/test_iterate \
  tests/kernels/test_record \
  tests/kernels/test_stalled \
  tests/kernels/test_splitting \
  tests/kernels/test_splitting_dense \
  tests/kernels/test_sweeps \
  tests/tomography/test_tomo_sphere \
  tests/tomography/test_tomo_path \
  tests/tomography/test_tomo_model \
  tests/tomography/test_tomo_store \
  tests/tomography/test_tomo_io \
  tests/tomography/test_tomo_xml \
  tests/tomography/test_tomo_choice \
  tests/tomography/test_tomo_grid \
  tests/tomography/test_tomo_data \
  tests/tomography/test_tomo_recovery \
  tests/tomography/test_reference \
  tests/tomography/test_reference_kernel \
  tests/tomography/test_tomo_reference \
  tests/tomography/test_tomo_draw \
  tests/tomography/test_tomo_prior_file \
  tests/tomography/test_invert \
  tests/tomography/test_invert_sure \
  tests/tomography/test_invert_memory \
  tests/tomography/test_invert_page \
  tests/tomography/test_invert_robust \
  tests/commands/test_command_util \
  tests/commands/test_order_free
endif

tests_scalapack_programs = \
  tests/matrix/test_scalapack_layout \
  tests/kernels/test_lu_scalapack
tests_matrix_test_scalapack_layout_LDADD = $(LDADD) $(SCALAPACK_LIBS)

tests_ga_programs = \
  tests/adaptors/test_ga \
  tests/adaptors/test_ga_solve \
  tests/adaptors/test_ga_hessian

tests_armci_programs = \
  tests/adaptors/test_armci

tests_fortran_programs = \
  tests/adaptors/test_fortran tests/adaptors/test_fortran_sparse tests/adaptors/test_fortran_forests tests/adaptors/test_fortran_iterations \
  tests/adaptors/test_fortran_meetings
tests_adaptors_test_fortran_SOURCES = tests/adaptors/fortran_trial.f90 tests/adaptors/test_fortran.f90
tests_adaptors_test_fortran_LDADD = libosla_fortran.la libosla.la
tests_adaptors_test_fortran_sparse_SOURCES = tests/adaptors/fortran_trial.f90 tests/adaptors/test_fortran_sparse.f90
tests_adaptors_test_fortran_sparse_LDADD = libosla_fortran.la libosla.la
tests_adaptors_test_fortran_forests_SOURCES = tests/adaptors/fortran_trial.f90 tests/adaptors/test_fortran_forests.f90
tests_adaptors_test_fortran_forests_LDADD = libosla_fortran.la libosla.la
tests_adaptors_test_fortran_iterations_SOURCES = tests/adaptors/fortran_trial.f90 tests/adaptors/test_fortran_iterations.f90
tests_adaptors_test_fortran_iterations_LDADD = libosla_fortran.la libosla.la
tests_adaptors_test_fortran_meetings_SOURCES = tests/adaptors/fortran_trial.f90 tests/adaptors/test_fortran_meetings.f90
tests_adaptors_test_fortran_meetings_LDADD = libosla_fortran.la libosla.la
tests/adaptors/fortran_trial.$(OBJEXT): fortran/osla.lo
tests/adaptors/test_fortran.$(OBJEXT) tests/adaptors/test_fortran_sparse.$(OBJEXT) tests/adaptors/test_fortran_forests.$(OBJEXT) \
tests/adaptors/test_fortran_iterations.$(OBJEXT) tests/adaptors/test_fortran_meetings.$(OBJEXT): tests/adaptors/fortran_trial.$(OBJEXT)

tests_scripts = \
  tests/install/check_floors.sh \
  tests/install/check_tree.sh \
  tests/install/check_install.sh \
  tests/install/check_abi.sh \
  tests/install/check_cmake.sh \
  tests/adaptors/test_python.sh \
  tests/install/check_fortran.sh \
  tests/install/check_packaging.sh \
  tests/install/check_doc.sh \
  tests/install/test_deb.sh \
  tests/install/test_chroot.sh \
  tests/install/check_one_mpi.sh \
  tests/install/check_blas.sh \
  tests/commands/test_hosts.sh \
  tests/commands/test_slurm.sh \
  tests/commands/test_patience.sh \
  tests/commands/test_threads.sh \
  tests/commands/test_command.sh \
  tests/commands/test_files.sh \
  tests/commands/test_left_alive.sh \
  tests/tomography/test_plot.sh \
  tests/commands/test_quickstart.sh \
  tests/commands/test_info.sh \
  tests/tomography/test_invert.sh \
  tests/tomography/test_invert_errors.sh \
  tests/tomography/test_invert_data.sh \
  tests/tomography/test_invert_iterative.sh \
  tests/tomography/test_invert_formats.sh \
  tests/tomography/test_invert_report.sh \
  tests/tomography/test_invert_sure.sh \
  tests/commands/test_solve_sparse.sh \
  tests/tomography/test_reference.sh \
  tests/commands/test_forest_mismatch.sh \
  tests/commands/test_petscsf.sh \
  tests/tomography/test_invert_kill.sh \
  tests/commands/test_restart_kill.sh \
  tests/commands/test_reproducible.sh \
  tests/commands/test_assemble.sh \
  tests/commands/test_assemble_hostile.sh \
  tests/fuzz/test_fuzz.sh \
  tests/commands/test_bench.sh \
  tests/commands/test_calibrate.sh \
  tests/adaptors/test_dropin.sh \
  tests/adaptors/test_dropin_orders.sh \
  tests/adaptors/test_dropin_testers.sh \
  tests/adaptors/test_dropin_guide.sh \
  tests/adaptors/test_dropin_lapack.sh \
  tests/adaptors/test_dropin_memory.sh \
  tests/adaptors/test_dropin_load.sh \
  tests/commands/test_broken_line.sh \
  tests/commands/test_simulation.sh \
  tests/commands/test_simulation_large.sh \
  tests/commands/test_study.sh

if HAVE_CUNIT
check_LTLIBRARIES = tests/libosla_test.la
check_PROGRAMS += $(tests_programs)
if HAVE_SCALAPACK
check_PROGRAMS += $(tests_scalapack_programs)
endif
if HAVE_FORTRAN
check_PROGRAMS += $(tests_fortran_programs)
endif
if HAVE_GA
check_PROGRAMS += $(tests_ga_programs)
endif
if HAVE_ARMCI
check_PROGRAMS += $(tests_armci_programs)
endif
endif

tests_list_help = tests/tomography/list_help.c tests/tomography/list_help.h
tests_tomography_test_tomo_xml_SOURCES = tests/tomography/test_tomo_xml.c $(tests_list_help)
tests_tomography_test_tomo_choice_SOURCES = tests/tomography/test_tomo_choice.c tests/tomography/list_columns.h tests/tomography/list_columns.c $(tests_list_help)
tests_tomography_test_tomo_grid_LDADD = $(LDADD) $(NETCDF_LIBS) $(HDF5_LIBS)
tests_tomography_test_tomo_data_SOURCES = tests/tomography/test_tomo_data.c tests/lzf_filter.h
tests_tomography_test_tomo_data_LDADD = $(LDADD) $(HDF5_LIBS)

tests_invert_job = tests/tomography/invert_test_job.c tests/tomography/invert_test_job.h
tests_invert_help = tests/tomography/invert_reference.c tests/tomography/invert_reference.h $(tests_invert_job)
tests_tomography_test_invert_sure_SOURCES = tests/tomography/test_invert_sure.c $(tests_invert_help)
tests_tomography_test_invert_sure_LDADD = $(tests_tomography_test_invert_LDADD)
tests_tomography_test_invert_memory_SOURCES = tests/tomography/test_invert_memory.c $(tests_invert_job)
tests_tomography_test_invert_memory_LDADD = $(tests_tomography_test_invert_LDADD)
tests_tomography_test_invert_SOURCES = tests/tomography/test_invert.c $(tests_invert_help)
tests_tomography_test_invert_LDADD = tests/libosla_test.la libosla_armci.la tools/libinvert.la tools/libtomo.la libosla.la \
  $(CUNIT_LIBS) $(POPT_LIBS) $(JANSSON_LIBS)
tests_tomography_test_invert_robust_SOURCES = tests/tomography/test_invert_robust.c $(tests_invert_job)
tests_tomography_test_invert_robust_LDADD = $(tests_tomography_test_invert_LDADD)
tests_tomography_test_invert_page_LDADD = $(tests_tomography_test_invert_LDADD)

# Helpers of test_dropin.sh: plain ScaLAPACK programs, without OSLA.
if HAVE_SCALAPACK
check_PROGRAMS += tests/adaptors/dropin_random tests/adaptors/dropin_errors tests/adaptors/dropin_lapack tests/adaptors/dropin_threads \
  tests/adaptors/dropin_contexts tests/adaptors/dropin_orders doc/from_scalapack
endif
tests_dropin_help = tests/adaptors/dropin_program.c tests/adaptors/dropin_program.h
tests_adaptors_dropin_random_SOURCES = tests/adaptors/dropin_random.c $(tests_dropin_help)
tests_adaptors_dropin_random_LDADD = $(SCALAPACK_LIBS) -lm
tests_adaptors_dropin_lapack_SOURCES = tests/adaptors/dropin_lapack.c tests/adaptors/dropin_lapack.h tests/adaptors/dropin_matrices.c \
  $(tests_dropin_help)
tests_adaptors_dropin_lapack_LDADD = $(SCALAPACK_LIBS) -lm
tests_adaptors_dropin_threads_SOURCES = tests/adaptors/dropin_threads.c $(tests_dropin_help)
tests_adaptors_dropin_threads_LDADD = $(SCALAPACK_LIBS) -lpthread
tests_adaptors_dropin_errors_SOURCES = tests/adaptors/dropin_errors.c $(tests_dropin_help)
tests_adaptors_dropin_errors_LDADD = $(SCALAPACK_LIBS)
tests_adaptors_dropin_orders_SOURCES = tests/adaptors/dropin_orders.c $(tests_dropin_help)
tests_adaptors_dropin_orders_LDADD = $(SCALAPACK_LIBS)
tests_adaptors_dropin_contexts_SOURCES = tests/adaptors/dropin_contexts.c $(tests_dropin_help)
tests_adaptors_dropin_contexts_LDADD = $(SCALAPACK_LIBS)
doc_from_scalapack_SOURCES = doc/from_scalapack.c
doc_from_scalapack_LDADD = libosla.la $(SCALAPACK_LIBS) -lm

# A helper of test_invert.sh.
check_PROGRAMS += tests/tomography/result_diff tests/commands/never_notified tests/commands/left_alive tests/commands/forest_mismatch
tests_tomography_result_diff_SOURCES = tests/tomography/result_diff.c
tests_tomography_result_diff_LDADD = tools/libtomo.la libosla.la

# A line with a delay between the hosts of tests/hosts.
check_PROGRAMS += tests/commands/delay_line
tests_commands_delay_line_SOURCES = tests/commands/delay_line.c
tests_commands_delay_line_LDADD =

# Helpers of test_assemble.sh and test_assemble_hostile.sh.
if HAVE_HDF5
check_PROGRAMS += tests/commands/assemble_check tests/commands/hostile_updates doc/write_updates
endif
tests_commands_assemble_check_SOURCES = tests/commands/assemble_check.c
tests_commands_assemble_check_LDADD = $(HDF5_LIBS) -lm
tests_commands_hostile_updates_SOURCES = tests/commands/hostile_updates.c tests/lzf_filter.h
tests_commands_hostile_updates_LDADD = $(HDF5_LIBS)
doc_write_updates_SOURCES = doc/write_updates.c
doc_write_updates_LDADD = $(HDF5_LIBS)

# The fuzzer (test_fuzz.sh, make fuzz): the readers once more, with sanitizers.
if HAVE_HDF5
check_PROGRAMS += tests/fuzz/fuzz
endif
tests_fuzz_fuzz_SOURCES = tests/fuzz/fuzz.h tests/fuzz/fuzz.c tests/fuzz/fuzz_bytes.c \
  tests/fuzz/fuzz_run.c tests/fuzz/fuzz_spoil.c tests/fuzz/fuzz_parse.c tests/fuzz/fuzz_text.c tests/fuzz/fuzz_xml.c \
  tests/fuzz/fuzz_hdf5.c tests/fuzz/fuzz_updates.c tests/fuzz/fuzz_checkpoints.c \
  tests/fuzz/fuzz_parse.h tests/fuzz/fuzz_lines.c tests/fuzz/fuzz_times.c tests/fuzz/fuzz_table.c tests/fuzz/fuzz_reference.c \
  tools/tomo/tomo_table.c tools/tomo/tomo_table_csv.c tools/tomo/tomo_table_hdf5.c tools/tomo/tomo_intake.c \
  tools/reader_process.c tools/tomo/tomo_table_process.c \
  tools/tomo/tomo_sets.c tools/tomo/tomo_data.c tools/tomo/tomo_ids.c tools/tomo/tomo_measure.c tools/tomo/tomo_sphere.c \
  tools/tomo/tomo_reference.c tools/tomo/tomo_reference_parse.c \
  tools/tomo/tomo_file.c tools/tomo/tomo_text.c tools/tomo/tomo_site_list.c tools/tomo/tomo_stations.c tools/tomo/tomo_events.c \
  tools/tomo/tomo_fdsn.c tools/tomo/tomo_ndk.c tools/tomo/tomo_time.c tools/tomo/tomo_event_time.c tools/tomo/tomo_same.c \
  tools/tomo/tomo_xml.c tools/tomo/tomo_stationxml.c tools/tomo/tomo_quakeml.c \
  tools/assemble/updates_sizes.c tools/assemble/updates_schema.c tools/assemble/updates.c tools/assemble/updates_batch.c \
  $(src_file_sources) $(kernels_hessian_sources)
tests_fuzz_fuzz_CFLAGS = $(OSLA_CFLAGS) -O1 -g $(FUZZ_SANITIZE)
tests_fuzz_fuzz_LDADD = libosla_kernels.la $(HDF5_LIBS) $(LIBXML2_LIBS) $(BLAS_LIBS) -lpthread -lm

tests_earth_check = tests/tomography/earth_check.h tests/tomography/earth_check.c
tests_earth_libs = tests/libosla_test.la libosla_armci.la tools/libreference.la tools/libtomo.la libosla.la $(CUNIT_LIBS)
tests_tomography_test_reference_SOURCES = tests/tomography/test_reference.c $(tests_earth_check)
tests_tomography_test_reference_LDADD = $(tests_earth_libs)
tests_tomography_test_reference_kernel_SOURCES = tests/tomography/test_reference_kernel.c $(tests_earth_check)
tests_tomography_test_reference_kernel_LDADD = $(tests_earth_libs)

tests_commands_test_command_util_SOURCES = tests/commands/test_command_util.c \
  tools/command.h tools/command.c tools/command_process.c tools/command_util.c
tests_commands_test_command_util_LDADD = $(LDADD) $(POPT_LIBS) $(JANSSON_LIBS)

tests_commands_test_order_free_SOURCES = tests/commands/test_order_free.c tools/order_free.h tools/order_free.c
tests_transport_test_host_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=fopen -Wl,--wrap=gethostname \
  -Wl,--wrap=osla_groups_read
tests_memory_test_shared_memory_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=mmap
tests_memory_test_memory_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc \
  -Wl,--wrap=free -Wl,--wrap=osla_memory_check
tests_transport_test_lack_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc
tests_kernels_test_inverse_lack_LDFLAGS = $(tests_transport_test_lack_LDFLAGS)
tests_tomography_test_invert_memory_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=osla_memory_check -Wl,--wrap=osla_potri
tests_kernels_test_products_lack_LDFLAGS = $(tests_transport_test_lack_LDFLAGS)
tests_kernels_test_parts_lack_LDFLAGS = $(tests_transport_test_lack_LDFLAGS)
tests_transport_test_exchange_LDFLAGS = $(tests_transport_test_lack_LDFLAGS)
tests_kernels_test_refine_LDFLAGS = $(tests_transport_test_lack_LDFLAGS) -Wl,--wrap=osla_getrf

tests_transport_test_trace_LDADD = $(LDADD) $(JANSSON_LIBS)

tests_libosla_test_la_LIBTOOLFLAGS = $(static_alone)
tests_libosla_test_la_SOURCES = tests/osla_test.c tests/osla_test.h \
  tests/osla_test_help.c tests/osla_test_help.h tests/complex_help.h \
  tests/osla_test_watch.c tests/osla_test_watch.h
tests_file_help = tests/file_help.c tests/file_help.h
tests_commands_test_updates_batch_SOURCES = tests/commands/test_updates_batch.c tools/assemble/updates_batch.c
tests_commands_test_calibrate_fit_SOURCES = tests/commands/test_calibrate_fit.c bench/calibrate.h bench/calibrate_fit.c
tests_transport_test_trace_unwritable_SOURCES = tests/transport/test_trace_unwritable.c $(tests_file_help)
tests_new_file_help = tests/base/new_file_help.c tests/base/new_file_help.h
tests_base_test_new_file_SOURCES = tests/base/test_new_file.c $(tests_new_file_help)
tests_base_test_new_file_others_SOURCES = tests/base/test_new_file_others.c $(tests_new_file_help)
tests_attacker = tests/matrix/attacker.c tests/matrix/attacker.h
tests_matrix_test_file_SOURCES = tests/matrix/test_file.c $(tests_attacker) $(tests_file_help)
tests_matrix_test_file_same_SOURCES = tests/matrix/test_file_same.c $(tests_file_help)
tests_matrix_test_file_errors_SOURCES = tests/matrix/test_file_errors.c $(tests_file_help)
tests_matrix_test_file_errors_LDADD = $(LDADD) $(HDF5_LIBS)
tests_tomography_test_tomo_prior_file_LDADD = $(LDADD) $(HDF5_LIBS)
tests_kernel_reference = tests/kernels/kernel_reference.c tests/kernels/kernel_reference.h \
  tests/kernels/kernel_stress.c tests/kernels/kernel_stress.h
tests_gemm_reference = $(tests_kernel_reference) tests/kernels/gemm_reference.c tests/kernels/gemm_reference.h \
  tests/kernels/gemm_pool.c tests/kernels/gemm_pool.h
tests_kernels_test_gemm_SOURCES = tests/kernels/test_gemm.c $(tests_gemm_reference)
tests_kernels_test_gemm_parts_SOURCES = tests/kernels/test_gemm_parts.c $(tests_gemm_reference)
tests_kernels_test_gemm_share_SOURCES = tests/kernels/test_gemm_share.c $(tests_gemm_reference)
tests_kernels_test_gemm_predict_SOURCES = tests/kernels/test_gemm_predict.c $(tests_gemm_reference)
tests_kernels_test_own_SOURCES = tests/kernels/test_own.c
tests_kernels_test_syrk_SOURCES = tests/kernels/test_syrk.c $(tests_gemm_reference)
tests_lu_reference = $(tests_kernel_reference) tests/kernels/lu_reference.c tests/kernels/lu_reference.h
tests_kernels_test_lu_SOURCES = tests/kernels/test_lu.c $(tests_lu_reference)
tests_kernels_test_panels_SOURCES = tests/kernels/test_panels.c $(tests_kernel_reference)
tests_kernels_test_forward_SOURCES = tests/kernels/test_forward.c $(tests_kernel_reference)
tests_kernel_trace = tests/kernels/kernel_trace.c tests/kernels/kernel_trace.h
tests_kernels_test_lu_pivot_SOURCES = tests/kernels/test_lu_pivot.c $(tests_lu_reference) $(tests_kernel_trace)
tests_kernels_test_lu_hard_SOURCES = tests/kernels/test_lu_hard.c $(tests_lu_reference)
tests_kernels_test_lu_scalapack_SOURCES = tests/kernels/test_lu_scalapack.c $(tests_lu_reference)
tests_kernels_test_lu_scalapack_LDADD = $(LDADD) $(SCALAPACK_LIBS)
tests_kernels_test_chol_SOURCES = tests/kernels/test_chol.c $(tests_kernel_reference) $(tests_kernel_trace)
tests_kernels_test_products_SOURCES = tests/kernels/test_products.c $(tests_kernel_reference)
tests_kernels_test_getri_SOURCES = tests/kernels/test_getri.c $(tests_kernel_reference) $(tests_kernel_trace)
tests_kernels_test_products_lack_SOURCES = tests/kernels/test_products_lack.c tests/lacking_memory.h tests/lacking_memory.c $(tests_kernel_reference)
tests_parts_reference = tests/kernels/parts_reference.c tests/kernels/parts_reference.h $(tests_kernel_reference)
tests_kernels_test_parts_SOURCES = tests/kernels/test_parts.c $(tests_parts_reference)
tests_kernels_test_solve_parts_SOURCES = tests/kernels/test_solve_parts.c $(tests_parts_reference)
tests_kernels_test_parts_lack_SOURCES = tests/kernels/test_parts_lack.c tests/lacking_memory.h tests/lacking_memory.c \
  $(tests_parts_reference)
tests_kernels_test_potri_SOURCES = tests/kernels/test_potri.c $(tests_kernel_reference) $(tests_kernel_trace)
tests_kernels_test_inverse_lack_SOURCES = tests/kernels/test_inverse_lack.c tests/lacking_memory.h tests/lacking_memory.c $(tests_kernel_reference)
tests_transport_test_exchange_SOURCES = tests/transport/test_exchange.c tests/lacking_memory.h tests/lacking_memory.c
tests_transport_test_lack_SOURCES = tests/transport/test_lack.c tests/lacking_memory.h tests/lacking_memory.c
tests_solve_reference = $(tests_kernel_reference) \
  tests/kernels/solve_reference.c tests/kernels/solve_reference.h
tests_same_call = tests/kernels/same_call.h tests/kernels/same_call.c
tests_kernels_test_same_SOURCES = tests/kernels/test_same.c $(tests_same_call)
tests_kernels_test_same_solves_SOURCES = tests/kernels/test_same_solves.c $(tests_same_call)
tests_kernels_test_trsm_SOURCES = tests/kernels/test_trsm.c $(tests_solve_reference)
tests_kernels_test_solve_SOURCES = tests/kernels/test_solve.c $(tests_solve_reference)
tests_kernels_test_refine_SOURCES = tests/kernels/test_refine.c tests/lacking_memory.h tests/lacking_memory.c $(tests_solve_reference)
tests_kernels_test_condition_SOURCES = tests/kernels/test_condition.c $(tests_solve_reference)
tests_hessian_reference = tests/hessian_reference.c tests/hessian_reference.h
tests_kernels_test_hessian_SOURCES = tests/kernels/test_hessian.c $(tests_hessian_reference)
tests_kernels_test_hessian_ops_SOURCES = tests/kernels/test_hessian_ops.c $(tests_hessian_reference)
tests_kernels_test_hessian_node_SOURCES = tests/kernels/test_hessian_node.c $(tests_hessian_reference)
tests_kernels_test_hessian_arrivals_SOURCES = tests/kernels/test_hessian_arrivals.c $(tests_hessian_reference)
tests_kernels_test_hessian_lack_SOURCES = tests/kernels/test_hessian_lack.c tests/lacking_memory.h tests/lacking_memory.c $(tests_hessian_reference)
tests_kernels_test_hessian_lack_LDFLAGS = $(tests_transport_test_lack_LDFLAGS)
tests_kernels_test_hessian_exact_SOURCES = tests/kernels/test_hessian_exact.c $(tests_hessian_reference)
tests_kernels_test_hessian_bound_SOURCES = tests/kernels/test_hessian_bound.c $(tests_hessian_reference)
tests_kernels_test_hessian_flow_SOURCES = tests/kernels/test_hessian_flow.c $(tests_hessian_reference)
tests_kernels_test_hessian_threads_SOURCES = tests/kernels/test_hessian_threads.c $(tests_hessian_reference)
tests_kernels_test_hessian_wire_SOURCES = tests/kernels/test_hessian_wire.c $(tests_hessian_reference)
tests_kernels_test_hessian_isolation_SOURCES = tests/kernels/test_hessian_isolation.c $(tests_hessian_reference)
tests_kernels_test_hessian_solve_SOURCES = tests/kernels/test_hessian_solve.c $(tests_hessian_reference)
tests_kernels_test_hessian_restart_SOURCES = tests/kernels/test_hessian_restart.c $(tests_hessian_reference) \
  $(tests_file_help)
tests_kernels_test_hessian_ids_SOURCES = tests/kernels/test_hessian_ids.c $(tests_hessian_reference) \
  $(tests_file_help)
tests_forest_model = tests/kernels/forest_model.h tests/kernels/forest_model.c tests/kernels/forest_trial.c \
  tests/kernels/model_value.h tests/kernels/model_value.c
tests_kernels_test_forest_SOURCES = tests/kernels/test_forest.c $(tests_forest_model)
tests_kernels_test_forest_units_SOURCES = tests/kernels/test_forest_units.c $(tests_forest_model)
tests_kernels_test_forest_flow_SOURCES = tests/kernels/test_forest_flow.c $(tests_forest_model)
tests_kernels_test_forest_long_SOURCES = tests/kernels/test_forest_long.c $(tests_forest_model)
tests_kernels_test_forest_derive_SOURCES = tests/kernels/test_forest_derive.c $(tests_forest_model)
tests_kernels_test_forest_fetch_SOURCES = tests/kernels/test_forest_fetch.c $(tests_forest_model)
tests_kernels_test_forest_limits_SOURCES = tests/kernels/test_forest_limits.c $(tests_forest_model)
tests_kernels_test_forest_errors_SOURCES = tests/kernels/test_forest_errors.c $(tests_forest_model)
tests_sparse_model = tests/kernels/sparse_model.h tests/kernels/sparse_model.c
tests_kernels_test_sparse_products_SOURCES = tests/kernels/test_sparse_products.c $(tests_sparse_model)
tests_kernels_test_sparse_SOURCES = tests/kernels/test_sparse.c $(tests_sparse_model)
tests_kernels_test_sparse_file_SOURCES = tests/kernels/test_sparse_file.c $(tests_sparse_model) $(tests_file_help)
tests_kernels_test_krylov_SOURCES = tests/kernels/test_krylov.c $(tests_sparse_model)
tests_ga_help = tests/adaptors/ga_help.c tests/adaptors/ga_help.h
tests_ga_libs = tests/libosla_test.la libosla_armci.la $(ga_adapt_libs) libosla.la $(GA_LIBS) $(CUNIT_LIBS)
tests_adaptors_test_ga_SOURCES = tests/adaptors/test_ga.c $(tests_ga_help)
tests_adaptors_test_ga_LDADD = $(tests_ga_libs)
tests_adaptors_test_ga_solve_SOURCES = tests/adaptors/test_ga_solve.c $(tests_ga_help)
tests_adaptors_test_ga_solve_LDADD = $(tests_ga_libs)
tests_adaptors_test_ga_hessian_SOURCES = tests/adaptors/test_ga_hessian.c $(tests_hessian_reference) $(tests_ga_help)
tests_adaptors_test_ga_hessian_LDADD = $(tests_ga_libs)
AM_CPPFLAGS += -I$(srcdir)/tests $(CUNIT_CFLAGS)
LDADD = tests/libosla_test.la libosla_armci.la tools/libtomo.la libosla.la $(CUNIT_LIBS)

EXTRA_DIST += tests/install/abi/describe tests/install/abi/from_headers tests/install/abi/libosla-x86_64-mpich.abi tests/run tests/open_mpi.sh tests/install/configure.sh tests/limits tests/hosts tests/modes.sh tests/tomography/invert_runs.sh tests/commands/simulated.sh tests/list tests/adaptors/dropin_help.sh tests/commands/kill_help.sh tests/lsan.supp tests/commands/newest_threads.c tests/commands/ring_threads.c tests/yield.c \
  tests/commands/broken_mpi.c tests/commands/failing_malloc.c tests/adaptors/dropin_host.c tests/adaptors/dropin_lengths.c tests/commands/bench_rows.py tests/adaptors/dropin_ctypes.py tests/install/stable_names.py $(tests_scripts)

noinst_DATA = tests/config.env

# Builds the test programs without running them.
# WITHOUT: some that need not be built.
list-check-programs:
	@echo $(check_PROGRAMS)
check-programs: all-am $(filter-out $(WITHOUT),$(check_PROGRAMS))
check-local: all-am
	$(srcdir)/tests/run -b .
clean-local:
	rm -rf tests/logs

# Not in check: random runs of the accumulator for ten minutes, on one node and on two fake ones;
# memory must not grow.
soak: check-programs
	OSLA_TEST_SECONDS=$${OSLA_TEST_SECONDS:-300} OPENBLAS_NUM_THREADS=1 \
	  timeout 900 $(MPIEXEC) -n 3 tests/kernels/test_hessian_wire soak
	OSLA_TEST_SECONDS=$${OSLA_TEST_SECONDS:-300} OPENBLAS_NUM_THREADS=1 \
	  OSLA_FAKE_NODES=2 MPIR_CVAR_NUM_CLIQUES=2 MPIR_CVAR_CLIQUES_BY_BLOCK=1 \
	  timeout 900 $(MPIEXEC) -n 4 tests/kernels/test_hessian_wire soak

# Not in check: new inputs for the readers and the command for FUZZ_SECONDS, or until it is stopped.
fuzz: check-programs
	FUZZ_SECONDS=$${FUZZ_SECONDS:-unlimited} FUZZ_SEED=$${FUZZ_SEED:-random} BUILDDIR=$(abs_builddir) \
	  SRCDIR=$(abs_srcdir) OSLA=$(abs_builddir)/osla MPIEXEC=$(MPIEXEC) $(srcdir)/tests/fuzz/test_fuzz.sh

# Not in check: jobs that meet limits of the system, and jobs whose ranks are killed, some 5 minutes.
check-limits: check-programs
	$(srcdir)/tests/limits -b .
# Not in check: renews what check_abi.sh compares with, for this machine and MPI.
abi: libosla.la
	$(srcdir)/tests/install/abi/describe .libs/libosla.so >$(srcdir)/tests/install/abi/libosla-`uname -m`-$(MPI_FAMILY).abi
.PHONY: abi check-programs list-check-programs check-limits fuzz soak
