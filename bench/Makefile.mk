# Layer 4: benchmarks.

# All sources except main are in a library, so that tests can link them.
noinst_LTLIBRARIES += bench/libbench.la
bench_libbench_la_LIBTOOLFLAGS = $(static_alone)
bench_libbench_la_SOURCES = \
  bench/bench.h bench/bench_options.h bench/bench_product.h bench/bench_factor.h \
  bench/bench_hessian.h bench/bench_forest.h bench/bench_reference.h bench/seeded_updates.h bench/permutation.h \
  bench/bench_command.c bench/bench_options.c bench/bench_option_values.c bench/bench_options_product.c \
  bench/bench_options_factor.c bench/bench_options_updates.c bench/bench_run.c bench/bench_report.c bench/bench_trace.c \
  bench/bench_data.c bench/bench_device.c bench/bench_product.c bench/bench_gemm.c bench/bench_gemm_plan.c \
  bench/bench_syrk.c bench/bench_triangle.c bench/bench_vector.c bench/bench_factor.c bench/bench_lu_chol.c bench/bench_inverse.c bench/bench_solve.c \
  bench/bench_hpl.c bench/bench_hessian.c bench/hessian_osla.c bench/hessian_on_ga.c bench/hessian_own.c \
  bench/bench_chain.h bench/bench_chain.c bench/chain_osla.c bench/chain_scalapack.c bench/chain_ga.c \
  bench/hessian_produce.c bench/hessian_accumulate.c \
  bench/hessian_ga.h bench/hessian_ga.c bench/hessian_ga_update.c bench/bench_put.c bench/seeded_updates.c \
  bench/bench_forest.c bench/bench_options_forest.c bench/forest_on_device.c bench/forest_graph.c \
  bench/forest_osla.c bench/forest_reference_mpi.c bench/forest_neighbor.c bench/forest_staged.c \
  bench/mesh.h bench/mesh.c bench/mesh_partition.c bench/graph_partition.h bench/graph_partition.c \
  bench/mesh_migrate.h bench/mesh_migrate.c bench/mesh_migrate_mpi.c bench/bench_migrate.c \
  bench/bench_setup.h bench/bench_setup.c bench/setup_neighbor.c \
  bench/bench_sparse.h bench/bench_sparse.c bench/sparse_problem.c bench/sparse_partition.c bench/sparse_exchange.c \
  bench/spmm_loop.h bench/spmm_loop.c bench/bench_spmm.c \
  bench/bench_jacobi.h bench/bench_jacobi.c bench/bench_options_jacobi.c bench/jacobi_problem.c bench/jacobi_mpi.c \
  bench/jacobi_matrix.c bench/bench_splitting.c bench/bench_options_splitting.c \
  bench/bench_channel.h bench/bench_channel.c bench/bench_options_channel.c bench/channel_message.c bench/channel_mpi.c \
  bench/channel_shared.c \
  bench/jacobi_copying.c bench/jacobi_threads.c bench/jacobi_rows.c bench/jacobi_cg.c bench/jacobi_record.c bench/jacobi_bound.c \
  bench/reference_blas.c bench/reference_cublasxt.c bench/reference_mpi.c \
  bench/reference_scalapack.c bench/reference_ga.c \
  tools/common/command.h tools/common/command.c tools/common/command_process.c tools/common/command_util.c \
  tools/common/command_same_line.c \
  tools/common/command_files.h tools/common/command_files.c tools/common/report_directory.h tools/common/report_directory.c
if HAVE_SHMEM
bench_libbench_la_SOURCES += bench/jacobi_shmem.c
AM_CPPFLAGS += $(SHMEM_CFLAGS)
endif
EXTRA_DIST += bench/jacobi_shmem.c
bin_PROGRAMS += bench/osla-bench
bench_osla_bench_SOURCES = bench/osla_bench.c
bench_libs = $(ga_adapt_libs) libosla_armci.la libosla_shmem.la libosla.la $(GA_LIBS) $(SCALAPACK_LIBS) \
  $(METIS_LIBS) $(POPT_LIBS) $(JANSSON_LIBS)
bench_osla_bench_LDADD = bench/libbench.la $(bench_libs) $(PLUGIN_PATH)

# osla-calibrate fits the model of a core for simulated machines.
bin_PROGRAMS += bench/osla-calibrate
bench_osla_calibrate_SOURCES = bench/calibrate.h bench/calibrate.c bench/calibrate_fit.c bench/calibrate_work.c \
  tools/common/command.h tools/common/command.c tools/common/command_process.c tools/common/command_util.c \
  tools/common/command_same_line.c \
  tools/common/command_files.h tools/common/command_files.c tools/common/report_directory.h tools/common/report_directory.c
bench_osla_calibrate_LDADD = libosla.la $(POPT_LIBS) $(JANSSON_LIBS)

# bench/scalapack_table times scalapack_program, a plain ScaLAPACK program, with and without the
# drop-in. scalapack_pairs times small calls of ScaLAPACK and of the drop-in in turn.
if HAVE_SCALAPACK
noinst_PROGRAMS += bench/scalapack_program bench/scalapack_pairs
endif
bench_scalapack_program_SOURCES = bench/scalapack_program.c bench/scalapack_calls.h
bench_scalapack_program_LDADD = $(SCALAPACK_LIBS) -lm
bench_scalapack_pairs_SOURCES = bench/scalapack_pairs.c
bench_scalapack_pairs_LDADD = $(SCALAPACK_LIBS) -ldl

# ga_program compares the functions of osla_ga.h with those of Global Arrays.
if HAVE_GA
noinst_PROGRAMS += bench/ga_program
endif
bench_ga_program_SOURCES = bench/ga_program.c
bench_ga_program_LDADD = $(ga_adapt_libs) libosla.la $(GA_LIBS)

EXTRA_DIST += bench/README.md bench/updates.md bench/scalapack_table bench/scripts bench/machines bench/peers
