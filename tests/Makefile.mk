# The tests. A new one: tests/test_NAME.c, its name in tests_programs, and a line in tests/list.
# A program's source is its name with .c; extra sources go into tests_test_NAME_SOURCES.
if SIMULATION
# Those that say something of many ranks.
tests_programs = \
  tests/test_transport tests/test_exchange tests/test_segment tests/test_notify tests/test_stripes tests/test_channel tests/test_reduction tests/test_matrix \
  tests/test_grid tests/test_panels tests/test_gemm tests/test_gemm_share tests/test_syrk tests/test_lu tests/test_lu_pivot tests/test_chol tests/test_trsm \
  tests/test_solve tests/test_hessian tests/test_hessian_flow tests/test_hessian_solve \
  tests/test_forest tests/test_forest_flow tests/test_forest_limits tests/test_forest_derive tests/test_forest_share \
  tests/test_sparse tests/test_sums tests/test_krylov
else
tests_programs = \
  tests/test_base \
  tests/test_new_file \
  tests/test_new_file_others \
  tests/test_updates_batch \
  tests/test_blas \
  tests/test_blas_ready \
  tests/test_blas_refused \
  tests/test_index \
  tests/test_route \
  tests/test_tile \
  tests/test_calibrate_fit \
  tests/test_panels \
  tests/test_forward \
  tests/test_groups \
  tests/test_transport \
  tests/test_exchange \
  tests/test_farewell \
  tests/test_meet \
  tests/test_host \
  tests/test_lack \
  tests/test_memory \
  tests/test_shared_memory \
  tests/test_settings \
  tests/test_window \
  tests/test_progress \
  tests/test_trace \
  tests/test_trace_lines \
  tests/test_trace_unwritable \
  tests/test_segment \
  tests/test_attach \
  tests/test_notify \
  tests/test_eager \
  tests/test_stripes \
  tests/test_channel \
  tests/test_channel_wire \
  tests/test_reduction \
  tests/test_grid \
  tests/test_matrix \
  tests/test_matrix_memory \
  tests/test_matrix_ops \
  tests/test_norm \
  tests/test_file \
  tests/test_file_errors \
  tests/test_file_same \
  tests/test_gemm \
  tests/test_gemm_parts \
  tests/test_gemm_share \
  tests/test_parts \
  tests/test_solve_parts \
  tests/test_parts_lack \
  tests/test_gemm_predict \
  tests/test_syrk \
  tests/test_own \
  tests/test_lu \
  tests/test_lu_pivot \
  tests/test_lu_hard \
  tests/test_chol \
  tests/test_potri \
  tests/test_getri \
  tests/test_products \
  tests/test_inverse_lack \
  tests/test_products_lack \
  tests/test_trsm \
  tests/test_solve \
  tests/test_refine \
  tests/test_condition \
  tests/test_agree \
  tests/test_same \
  tests/test_same_solves \
  tests/test_reserved \
  tests/test_hessian_split \
  tests/test_hessian \
  tests/test_hessian_ops \
  tests/test_hessian_node \
  tests/test_hessian_arrivals \
  tests/test_hessian_exact \
  tests/test_hessian_lack \
  tests/test_hessian_bound \
  tests/test_hessian_flow \
  tests/test_hessian_threads \
  tests/test_hessian_wire \
  tests/test_hessian_isolation \
  tests/test_hessian_solve \
  tests/test_hessian_restart \
  tests/test_hessian_ids \
  tests/test_forest \
  tests/test_forest_units \
  tests/test_forest_flow \
  tests/test_forest_large \
  tests/test_forest_long \
  tests/test_forest_errors \
  tests/test_forest_derive \
  tests/test_forest_limits \
  tests/test_forest_exact \
  tests/test_forest_pattern \
  tests/test_forest_share \
  tests/test_forest_fetch \
  tests/test_forest_view \
  tests/test_sparse \
  tests/test_sparse_products \
  tests/test_sparse_file \
  tests/test_sums \
  tests/test_krylov \
  tests/test_diffusion \
  tests/test_iterate \
  tests/test_record \
  tests/test_stalled \
  tests/test_splitting \
  tests/test_splitting_dense \
  tests/test_sweeps \
  tests/test_tomo_sphere \
  tests/test_tomo_path \
  tests/test_tomo_model \
  tests/test_tomo_store \
  tests/test_tomo_io \
  tests/test_tomo_xml \
  tests/test_tomo_choice \
  tests/test_tomo_grid \
  tests/test_tomo_data \
  tests/test_tomo_recovery \
  tests/test_reference \
  tests/test_reference_kernel \
  tests/test_tomo_reference \
  tests/test_tomo_draw \
  tests/test_tomo_prior_file \
  tests/test_invert \
  tests/test_invert_sure \
  tests/test_invert_memory \
  tests/test_invert_page \
  tests/test_invert_robust \
  tests/test_command_util \
  tests/test_order_free
endif

tests_scalapack_programs = \
  tests/test_scalapack_layout \
  tests/test_lu_scalapack
tests_test_scalapack_layout_LDADD = $(LDADD) $(SCALAPACK_LIBS)

tests_ga_programs = \
  tests/test_ga \
  tests/test_ga_solve \
  tests/test_ga_hessian

tests_armci_programs = \
  tests/test_armci

tests_fortran_programs = \
  tests/test_fortran tests/test_fortran_sparse tests/test_fortran_forests tests/test_fortran_iterations \
  tests/test_fortran_meetings
tests_test_fortran_SOURCES = tests/fortran_trial.f90 tests/test_fortran.f90
tests_test_fortran_LDADD = libosla_fortran.la libosla.la
tests_test_fortran_sparse_SOURCES = tests/fortran_trial.f90 tests/test_fortran_sparse.f90
tests_test_fortran_sparse_LDADD = libosla_fortran.la libosla.la
tests_test_fortran_forests_SOURCES = tests/fortran_trial.f90 tests/test_fortran_forests.f90
tests_test_fortran_forests_LDADD = libosla_fortran.la libosla.la
tests_test_fortran_iterations_SOURCES = tests/fortran_trial.f90 tests/test_fortran_iterations.f90
tests_test_fortran_iterations_LDADD = libosla_fortran.la libosla.la
tests_test_fortran_meetings_SOURCES = tests/fortran_trial.f90 tests/test_fortran_meetings.f90
tests_test_fortran_meetings_LDADD = libosla_fortran.la libosla.la
tests/fortran_trial.$(OBJEXT): fortran/osla.lo
tests/test_fortran.$(OBJEXT) tests/test_fortran_sparse.$(OBJEXT) tests/test_fortran_forests.$(OBJEXT) \
tests/test_fortran_iterations.$(OBJEXT) tests/test_fortran_meetings.$(OBJEXT): tests/fortran_trial.$(OBJEXT)

tests_scripts = \
  tests/check_floors.sh \
  tests/check_tree.sh \
  tests/check_install.sh \
  tests/check_abi.sh \
  tests/check_cmake.sh \
  tests/test_python.sh \
  tests/check_fortran.sh \
  tests/check_packaging.sh \
  tests/check_doc.sh \
  tests/test_deb.sh \
  tests/test_chroot.sh \
  tests/check_one_mpi.sh \
  tests/check_blas.sh \
  tests/test_hosts.sh \
  tests/test_slurm.sh \
  tests/test_patience.sh \
  tests/test_threads.sh \
  tests/test_command.sh \
  tests/test_files.sh \
  tests/test_left_alive.sh \
  tests/test_plot.sh \
  tests/test_quickstart.sh \
  tests/test_info.sh \
  tests/test_invert.sh \
  tests/test_invert_errors.sh \
  tests/test_invert_data.sh \
  tests/test_invert_iterative.sh \
  tests/test_invert_formats.sh \
  tests/test_invert_report.sh \
  tests/test_invert_sure.sh \
  tests/test_solve_sparse.sh \
  tests/test_reference.sh \
  tests/test_forest_mismatch.sh \
  tests/test_petscsf.sh \
  tests/test_invert_kill.sh \
  tests/test_restart_kill.sh \
  tests/test_reproducible.sh \
  tests/test_assemble.sh \
  tests/test_assemble_hostile.sh \
  tests/test_fuzz.sh \
  tests/test_bench.sh \
  tests/test_calibrate.sh \
  tests/test_dropin.sh \
  tests/test_dropin_orders.sh \
  tests/test_dropin_testers.sh \
  tests/test_dropin_guide.sh \
  tests/test_dropin_lapack.sh \
  tests/test_dropin_memory.sh \
  tests/test_dropin_load.sh \
  tests/test_broken_line.sh \
  tests/test_simulation.sh \
  tests/test_simulation_large.sh \
  tests/test_study.sh

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

tests_list_help = tests/list_help.c tests/list_help.h
tests_test_tomo_xml_SOURCES = tests/test_tomo_xml.c $(tests_list_help)
tests_test_tomo_choice_SOURCES = tests/test_tomo_choice.c tests/list_columns.h tests/list_columns.c $(tests_list_help)
tests_test_tomo_grid_LDADD = $(LDADD) $(NETCDF_LIBS) $(HDF5_LIBS)
tests_test_tomo_data_SOURCES = tests/test_tomo_data.c tests/lzf_filter.h
tests_test_tomo_data_LDADD = $(LDADD) $(HDF5_LIBS)

tests_invert_job = tests/invert_test_job.c tests/invert_test_job.h
tests_invert_help = tests/invert_reference.c tests/invert_reference.h $(tests_invert_job)
tests_test_invert_sure_SOURCES = tests/test_invert_sure.c $(tests_invert_help)
tests_test_invert_sure_LDADD = $(tests_test_invert_LDADD)
tests_test_invert_memory_SOURCES = tests/test_invert_memory.c $(tests_invert_job)
tests_test_invert_memory_LDADD = $(tests_test_invert_LDADD)
tests_test_invert_SOURCES = tests/test_invert.c $(tests_invert_help)
tests_test_invert_LDADD = tests/libosla_test.la libosla_armci.la tools/libinvert.la tools/libtomo.la libosla.la \
  $(CUNIT_LIBS) $(POPT_LIBS) $(JANSSON_LIBS)
tests_test_invert_robust_SOURCES = tests/test_invert_robust.c $(tests_invert_job)
tests_test_invert_robust_LDADD = $(tests_test_invert_LDADD)
tests_test_invert_page_LDADD = $(tests_test_invert_LDADD)

# Helpers of test_dropin.sh: plain ScaLAPACK programs, without OSLA.
if HAVE_SCALAPACK
check_PROGRAMS += tests/dropin_random tests/dropin_errors tests/dropin_lapack tests/dropin_threads \
  tests/dropin_contexts tests/dropin_orders doc/from_scalapack
endif
tests_dropin_help = tests/dropin_program.c tests/dropin_program.h
tests_dropin_random_SOURCES = tests/dropin_random.c $(tests_dropin_help)
tests_dropin_random_LDADD = $(SCALAPACK_LIBS) -lm
tests_dropin_lapack_SOURCES = tests/dropin_lapack.c tests/dropin_lapack.h tests/dropin_matrices.c \
  $(tests_dropin_help)
tests_dropin_lapack_LDADD = $(SCALAPACK_LIBS) -lm
tests_dropin_threads_SOURCES = tests/dropin_threads.c $(tests_dropin_help)
tests_dropin_threads_LDADD = $(SCALAPACK_LIBS) -lpthread
tests_dropin_errors_SOURCES = tests/dropin_errors.c $(tests_dropin_help)
tests_dropin_errors_LDADD = $(SCALAPACK_LIBS)
tests_dropin_orders_SOURCES = tests/dropin_orders.c $(tests_dropin_help)
tests_dropin_orders_LDADD = $(SCALAPACK_LIBS)
tests_dropin_contexts_SOURCES = tests/dropin_contexts.c $(tests_dropin_help)
tests_dropin_contexts_LDADD = $(SCALAPACK_LIBS)
doc_from_scalapack_SOURCES = doc/from_scalapack.c
doc_from_scalapack_LDADD = libosla.la $(SCALAPACK_LIBS) -lm

# A helper of test_invert.sh.
check_PROGRAMS += tests/result_diff tests/never_notified tests/left_alive tests/forest_mismatch
tests_result_diff_SOURCES = tests/result_diff.c
tests_result_diff_LDADD = tools/libtomo.la libosla.la

# A line with a delay between the hosts of tests/hosts.
check_PROGRAMS += tests/delay_line
tests_delay_line_SOURCES = tests/delay_line.c
tests_delay_line_LDADD =

# Helpers of test_assemble.sh and test_assemble_hostile.sh.
if HAVE_HDF5
check_PROGRAMS += tests/assemble_check tests/hostile_updates doc/write_updates
endif
tests_assemble_check_SOURCES = tests/assemble_check.c
tests_assemble_check_LDADD = $(HDF5_LIBS) -lm
tests_hostile_updates_SOURCES = tests/hostile_updates.c tests/lzf_filter.h
tests_hostile_updates_LDADD = $(HDF5_LIBS)
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

tests_earth_check = tests/earth_check.h tests/earth_check.c
tests_earth_libs = tests/libosla_test.la libosla_armci.la tools/libreference.la tools/libtomo.la libosla.la $(CUNIT_LIBS)
tests_test_reference_SOURCES = tests/test_reference.c $(tests_earth_check)
tests_test_reference_LDADD = $(tests_earth_libs)
tests_test_reference_kernel_SOURCES = tests/test_reference_kernel.c $(tests_earth_check)
tests_test_reference_kernel_LDADD = $(tests_earth_libs)

tests_test_command_util_SOURCES = tests/test_command_util.c \
  tools/command.h tools/command.c tools/command_process.c tools/command_util.c
tests_test_command_util_LDADD = $(LDADD) $(POPT_LIBS) $(JANSSON_LIBS)

tests_test_order_free_SOURCES = tests/test_order_free.c tools/order_free.h tools/order_free.c
tests_test_host_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=fopen -Wl,--wrap=gethostname \
  -Wl,--wrap=osla_groups_read
tests_test_shared_memory_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=mmap
tests_test_memory_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc \
  -Wl,--wrap=free -Wl,--wrap=osla_memory_check
tests_test_lack_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc
tests_test_inverse_lack_LDFLAGS = $(tests_test_lack_LDFLAGS)
tests_test_invert_memory_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=osla_memory_check -Wl,--wrap=osla_potri
tests_test_products_lack_LDFLAGS = $(tests_test_lack_LDFLAGS)
tests_test_parts_lack_LDFLAGS = $(tests_test_lack_LDFLAGS)
tests_test_exchange_LDFLAGS = $(tests_test_lack_LDFLAGS)
tests_test_refine_LDFLAGS = $(tests_test_lack_LDFLAGS) -Wl,--wrap=osla_getrf

tests_test_trace_LDADD = $(LDADD) $(JANSSON_LIBS)

tests_libosla_test_la_LIBTOOLFLAGS = $(static_alone)
tests_libosla_test_la_SOURCES = tests/osla_test.c tests/osla_test.h \
  tests/osla_test_help.c tests/osla_test_help.h tests/complex_help.h \
  tests/osla_test_watch.c tests/osla_test_watch.h
tests_file_help = tests/file_help.c tests/file_help.h
tests_test_updates_batch_SOURCES = tests/test_updates_batch.c tools/assemble/updates_batch.c
tests_test_calibrate_fit_SOURCES = tests/test_calibrate_fit.c bench/calibrate.h bench/calibrate_fit.c
tests_test_trace_unwritable_SOURCES = tests/test_trace_unwritable.c $(tests_file_help)
tests_new_file_help = tests/new_file_help.c tests/new_file_help.h
tests_test_new_file_SOURCES = tests/test_new_file.c $(tests_new_file_help)
tests_test_new_file_others_SOURCES = tests/test_new_file_others.c $(tests_new_file_help)
tests_attacker = tests/attacker.c tests/attacker.h
tests_test_file_SOURCES = tests/test_file.c $(tests_attacker) $(tests_file_help)
tests_test_file_same_SOURCES = tests/test_file_same.c $(tests_file_help)
tests_test_file_errors_SOURCES = tests/test_file_errors.c $(tests_file_help)
tests_test_file_errors_LDADD = $(LDADD) $(HDF5_LIBS)
tests_test_tomo_prior_file_LDADD = $(LDADD) $(HDF5_LIBS)
tests_kernel_reference = tests/kernel_reference.c tests/kernel_reference.h \
  tests/kernel_stress.c tests/kernel_stress.h
tests_gemm_reference = $(tests_kernel_reference) tests/gemm_reference.c tests/gemm_reference.h \
  tests/gemm_pool.c tests/gemm_pool.h
tests_test_gemm_SOURCES = tests/test_gemm.c $(tests_gemm_reference)
tests_test_gemm_parts_SOURCES = tests/test_gemm_parts.c $(tests_gemm_reference)
tests_test_gemm_share_SOURCES = tests/test_gemm_share.c $(tests_gemm_reference)
tests_test_gemm_predict_SOURCES = tests/test_gemm_predict.c $(tests_gemm_reference)
tests_test_own_SOURCES = tests/test_own.c
tests_test_syrk_SOURCES = tests/test_syrk.c $(tests_gemm_reference)
tests_lu_reference = $(tests_kernel_reference) tests/lu_reference.c tests/lu_reference.h
tests_test_lu_SOURCES = tests/test_lu.c $(tests_lu_reference)
tests_test_panels_SOURCES = tests/test_panels.c $(tests_kernel_reference)
tests_test_forward_SOURCES = tests/test_forward.c $(tests_kernel_reference)
tests_kernel_trace = tests/kernel_trace.c tests/kernel_trace.h
tests_test_lu_pivot_SOURCES = tests/test_lu_pivot.c $(tests_lu_reference) $(tests_kernel_trace)
tests_test_lu_hard_SOURCES = tests/test_lu_hard.c $(tests_lu_reference)
tests_test_lu_scalapack_SOURCES = tests/test_lu_scalapack.c $(tests_lu_reference)
tests_test_lu_scalapack_LDADD = $(LDADD) $(SCALAPACK_LIBS)
tests_test_chol_SOURCES = tests/test_chol.c $(tests_kernel_reference) $(tests_kernel_trace)
tests_test_products_SOURCES = tests/test_products.c $(tests_kernel_reference)
tests_test_getri_SOURCES = tests/test_getri.c $(tests_kernel_reference) $(tests_kernel_trace)
tests_test_products_lack_SOURCES = tests/test_products_lack.c tests/lacking_memory.h tests/lacking_memory.c $(tests_kernel_reference)
tests_parts_reference = tests/parts_reference.c tests/parts_reference.h $(tests_kernel_reference)
tests_test_parts_SOURCES = tests/test_parts.c $(tests_parts_reference)
tests_test_solve_parts_SOURCES = tests/test_solve_parts.c $(tests_parts_reference)
tests_test_parts_lack_SOURCES = tests/test_parts_lack.c tests/lacking_memory.h tests/lacking_memory.c \
  $(tests_parts_reference)
tests_test_potri_SOURCES = tests/test_potri.c $(tests_kernel_reference) $(tests_kernel_trace)
tests_test_inverse_lack_SOURCES = tests/test_inverse_lack.c tests/lacking_memory.h tests/lacking_memory.c $(tests_kernel_reference)
tests_test_exchange_SOURCES = tests/test_exchange.c tests/lacking_memory.h tests/lacking_memory.c
tests_test_lack_SOURCES = tests/test_lack.c tests/lacking_memory.h tests/lacking_memory.c
tests_solve_reference = $(tests_kernel_reference) \
  tests/solve_reference.c tests/solve_reference.h
tests_same_call = tests/same_call.h tests/same_call.c
tests_test_same_SOURCES = tests/test_same.c $(tests_same_call)
tests_test_same_solves_SOURCES = tests/test_same_solves.c $(tests_same_call)
tests_test_trsm_SOURCES = tests/test_trsm.c $(tests_solve_reference)
tests_test_solve_SOURCES = tests/test_solve.c $(tests_solve_reference)
tests_test_refine_SOURCES = tests/test_refine.c tests/lacking_memory.h tests/lacking_memory.c $(tests_solve_reference)
tests_test_condition_SOURCES = tests/test_condition.c $(tests_solve_reference)
tests_hessian_reference = tests/hessian_reference.c tests/hessian_reference.h
tests_test_hessian_SOURCES = tests/test_hessian.c $(tests_hessian_reference)
tests_test_hessian_ops_SOURCES = tests/test_hessian_ops.c $(tests_hessian_reference)
tests_test_hessian_node_SOURCES = tests/test_hessian_node.c $(tests_hessian_reference)
tests_test_hessian_arrivals_SOURCES = tests/test_hessian_arrivals.c $(tests_hessian_reference)
tests_test_hessian_lack_SOURCES = tests/test_hessian_lack.c tests/lacking_memory.h tests/lacking_memory.c $(tests_hessian_reference)
tests_test_hessian_lack_LDFLAGS = $(tests_test_lack_LDFLAGS)
tests_test_hessian_exact_SOURCES = tests/test_hessian_exact.c $(tests_hessian_reference)
tests_test_hessian_bound_SOURCES = tests/test_hessian_bound.c $(tests_hessian_reference)
tests_test_hessian_flow_SOURCES = tests/test_hessian_flow.c $(tests_hessian_reference)
tests_test_hessian_threads_SOURCES = tests/test_hessian_threads.c $(tests_hessian_reference)
tests_test_hessian_wire_SOURCES = tests/test_hessian_wire.c $(tests_hessian_reference)
tests_test_hessian_isolation_SOURCES = tests/test_hessian_isolation.c $(tests_hessian_reference)
tests_test_hessian_solve_SOURCES = tests/test_hessian_solve.c $(tests_hessian_reference)
tests_test_hessian_restart_SOURCES = tests/test_hessian_restart.c $(tests_hessian_reference) \
  $(tests_file_help)
tests_test_hessian_ids_SOURCES = tests/test_hessian_ids.c $(tests_hessian_reference) \
  $(tests_file_help)
tests_forest_model = tests/forest_model.h tests/forest_model.c tests/forest_trial.c \
  tests/model_value.h tests/model_value.c
tests_test_forest_SOURCES = tests/test_forest.c $(tests_forest_model)
tests_test_forest_units_SOURCES = tests/test_forest_units.c $(tests_forest_model)
tests_test_forest_flow_SOURCES = tests/test_forest_flow.c $(tests_forest_model)
tests_test_forest_long_SOURCES = tests/test_forest_long.c $(tests_forest_model)
tests_test_forest_derive_SOURCES = tests/test_forest_derive.c $(tests_forest_model)
tests_test_forest_fetch_SOURCES = tests/test_forest_fetch.c $(tests_forest_model)
tests_test_forest_limits_SOURCES = tests/test_forest_limits.c $(tests_forest_model)
tests_test_forest_errors_SOURCES = tests/test_forest_errors.c $(tests_forest_model)
tests_sparse_model = tests/sparse_model.h tests/sparse_model.c
tests_test_sparse_products_SOURCES = tests/test_sparse_products.c $(tests_sparse_model)
tests_test_sparse_SOURCES = tests/test_sparse.c $(tests_sparse_model)
tests_test_sparse_file_SOURCES = tests/test_sparse_file.c $(tests_sparse_model) $(tests_file_help)
tests_test_krylov_SOURCES = tests/test_krylov.c $(tests_sparse_model)
tests_ga_help = tests/ga_help.c tests/ga_help.h
tests_ga_libs = tests/libosla_test.la libosla_armci.la $(ga_adapt_libs) libosla.la $(GA_LIBS) $(CUNIT_LIBS)
tests_test_ga_SOURCES = tests/test_ga.c $(tests_ga_help)
tests_test_ga_LDADD = $(tests_ga_libs)
tests_test_ga_solve_SOURCES = tests/test_ga_solve.c $(tests_ga_help)
tests_test_ga_solve_LDADD = $(tests_ga_libs)
tests_test_ga_hessian_SOURCES = tests/test_ga_hessian.c $(tests_hessian_reference) $(tests_ga_help)
tests_test_ga_hessian_LDADD = $(tests_ga_libs)
AM_CPPFLAGS += $(CUNIT_CFLAGS)
LDADD = tests/libosla_test.la libosla_armci.la tools/libtomo.la libosla.la $(CUNIT_LIBS)

EXTRA_DIST += tests/abi/describe tests/abi/from_headers tests/abi/libosla-x86_64-mpich.abi tests/run tests/open_mpi.sh tests/configure.sh tests/limits tests/hosts tests/modes.sh tests/invert_runs.sh tests/simulated.sh tests/list tests/dropin_help.sh tests/kill_help.sh tests/lsan.supp tests/newest_threads.c tests/ring_threads.c tests/yield.c \
  tests/broken_mpi.c tests/failing_malloc.c tests/dropin_host.c tests/dropin_lengths.c tests/bench_rows.py tests/dropin_ctypes.py tests/stable_names.py $(tests_scripts)

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
	  timeout 900 $(MPIEXEC) -n 3 tests/test_hessian_wire soak
	OSLA_TEST_SECONDS=$${OSLA_TEST_SECONDS:-300} OPENBLAS_NUM_THREADS=1 \
	  OSLA_FAKE_NODES=2 MPIR_CVAR_NUM_CLIQUES=2 MPIR_CVAR_CLIQUES_BY_BLOCK=1 \
	  timeout 900 $(MPIEXEC) -n 4 tests/test_hessian_wire soak

# Not in check: new inputs for the readers and the command for FUZZ_SECONDS, or until it is stopped.
fuzz: check-programs
	FUZZ_SECONDS=$${FUZZ_SECONDS:-unlimited} FUZZ_SEED=$${FUZZ_SEED:-random} BUILDDIR=$(abs_builddir) \
	  SRCDIR=$(abs_srcdir) OSLA=$(abs_builddir)/osla MPIEXEC=$(MPIEXEC) $(srcdir)/tests/test_fuzz.sh

# Not in check: jobs that meet limits of the system, and jobs whose ranks are killed, some 5 minutes.
check-limits: check-programs
	$(srcdir)/tests/limits -b .
# Not in check: renews what check_abi.sh compares with, for this machine and MPI.
abi: libosla.la
	$(srcdir)/tests/abi/describe .libs/libosla.so >$(srcdir)/tests/abi/libosla-`uname -m`-$(MPI_FAMILY).abi
.PHONY: abi check-programs list-check-programs check-limits fuzz soak
