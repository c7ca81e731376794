# dense_suites tests products, factorisations, solves and inverses of matrices.
tests_programs += tests/kernels/dense_suites
tests_kernel_reference = tests/kernels/kernel_reference.c tests/kernels/kernel_reference.h \
  tests/kernels/kernel_stress.c tests/kernels/kernel_stress.h tests/kernels/solve_reference.c tests/kernels/solve_reference.h
tests_lu_reference = tests/kernels/lu_reference.c tests/kernels/lu_reference.h
tests_parts_reference = tests/kernels/parts_reference.c tests/kernels/parts_reference.h
tests_kernels_dense_suites_SOURCES = \
  tests/kernels/test_chol.c tests/kernels/test_gemm.c tests/kernels/test_gemm_layers.c tests/kernels/test_gemm_share.c \
  tests/kernels/test_gemm_order.c tests/kernels/test_lu.c \
  tests/kernels/test_lu_pivot.c tests/kernels/test_panels.c tests/kernels/test_solve.c tests/kernels/test_syrk.c \
  tests/kernels/test_trsm.c \
  $(tests_kernel_reference) $(tests_lu_reference) \
  tests/kernels/gemm_pool.c tests/kernels/gemm_pool.h tests/kernels/gemm_reference.c tests/kernels/gemm_reference.h \
  tests/kernels/kernel_trace.c tests/kernels/kernel_trace.h
if !SIMULATION
tests_kernels_dense_suites_SOURCES += \
  tests/kernels/test_agree.c tests/kernels/test_chol_triangle.c tests/kernels/test_condition.c tests/kernels/test_gemm_parts.c \
  tests/kernels/test_gemm_layers_plan.c tests/kernels/test_gemm_predict.c tests/kernels/test_getri.c \
  tests/kernels/test_lu_hard.c tests/kernels/test_own.c \
  tests/kernels/test_parts.c tests/kernels/test_potri.c tests/kernels/test_products.c tests/kernels/test_reserved.c \
  tests/kernels/test_route.c tests/kernels/test_same.c tests/kernels/test_same_solves.c tests/kernels/test_solve_parts.c \
  tests/kernels/test_tile.c tests/kernels/test_triangle_parts.c \
  $(tests_parts_reference) tests/kernels/same_call.c tests/kernels/same_call.h
# These are separate programs, because they interpose functions of MPI, OSLA or the C library.
tests_programs += tests/kernels/test_forward tests/kernels/test_refine
endif
tests_kernels_test_forward_SOURCES = tests/kernels/test_forward.c $(tests_kernel_reference)
tests_kernels_test_refine_SOURCES = tests/kernels/test_refine.c $(tests_lacking_memory) $(tests_kernel_reference)
tests_kernels_test_refine_LDFLAGS = $(tests_wrap_memory) -Wl,--wrap=osla_getrf

tests_scalapack_programs += tests/kernels/test_lu_scalapack
tests_kernels_test_lu_scalapack_SOURCES = tests/kernels/test_lu_scalapack.c $(tests_kernel_reference) $(tests_lu_reference)
tests_kernels_test_lu_scalapack_LDADD = $(LDADD) $(SCALAPACK_LIBS)

# lack_suites tests kernels that do not get enough memory.
if !SIMULATION
tests_programs += tests/kernels/lack_suites
endif
tests_kernels_lack_suites_SOURCES = \
  tests/kernels/test_forest_lack.c tests/kernels/test_hessian_lack.c \
  tests/kernels/test_inverse_lack.c tests/kernels/test_parts_lack.c \
  tests/kernels/test_products_lack.c \
  $(tests_lacking_memory) $(tests_hessian_reference) $(tests_kernel_reference) $(tests_parts_reference)
tests_kernels_lack_suites_LDFLAGS = $(tests_wrap_memory)

# hessian_suites tests the accumulator.
tests_programs += tests/kernels/hessian_suites
tests_kernels_hessian_suites_SOURCES = \
  tests/kernels/test_hessian.c tests/kernels/test_hessian_flow.c tests/kernels/test_hessian_solve.c \
  $(tests_hessian_reference)
if !SIMULATION
tests_kernels_hessian_suites_SOURCES += \
  tests/kernels/test_hessian_arrivals.c tests/kernels/test_hessian_bound.c tests/kernels/test_hessian_exact.c \
  tests/kernels/test_hessian_ids.c tests/kernels/test_hessian_isolation.c tests/kernels/test_hessian_node.c \
  tests/kernels/test_hessian_on.c tests/kernels/hessian_target_help.c tests/kernels/hessian_target_help.h \
  tests/kernels/test_hessian_ops.c tests/kernels/test_hessian_restart.c tests/kernels/test_hessian_split.c \
  tests/kernels/test_hessian_threads.c tests/kernels/test_hessian_wire.c $(tests_file_help)
endif

# forest_suites tests star forests.
tests_programs += tests/kernels/forest_suites
tests_kernels_forest_suites_SOURCES = \
  tests/kernels/test_forest.c tests/kernels/test_forest_derive.c tests/kernels/test_forest_flow.c \
  tests/kernels/test_forest_limits.c tests/kernels/test_forest_two_level.c \
  tests/kernels/forest_model.c tests/kernels/forest_model.h tests/kernels/forest_trial.c \
  tests/kernels/model_value.c tests/kernels/model_value.h
if !SIMULATION
tests_kernels_forest_suites_SOURCES += \
  tests/kernels/test_forest_errors.c tests/kernels/test_forest_exact.c tests/kernels/test_forest_fetch.c \
  tests/kernels/test_forest_function.c tests/kernels/test_forest_gather.c tests/kernels/test_forest_large.c tests/kernels/test_forest_long.c tests/kernels/test_forest_pattern.c \
  tests/kernels/test_forest_sections.c tests/kernels/test_forest_shared.c tests/kernels/test_forest_units.c tests/kernels/test_forest_view.c
endif

# sparse_suites tests sparse matrices, their solvers and iterations.
tests_programs += tests/kernels/sparse_suites
tests_kernels_sparse_suites_SOURCES = \
  tests/kernels/test_splitting_groups.c tests/kernels/test_groups_fail.c tests/kernels/groups_model.c \
  tests/kernels/groups_model.h tests/kernels/test_iterate.c tests/kernels/test_krylov.c tests/kernels/test_sparse.c \
  tests/kernels/test_sums.c \
  tests/kernels/sparse_model.c tests/kernels/sparse_model.h
if !SIMULATION
tests_kernels_sparse_suites_SOURCES += \
  tests/kernels/test_coarse.c tests/kernels/test_diffusion.c tests/kernels/test_record.c \
  tests/kernels/replay_reference.c tests/kernels/replay_reference.h \
  tests/kernels/test_sparse_file.c tests/kernels/test_sparse_products.c tests/kernels/test_splitting.c \
  tests/kernels/test_splitting_dense.c tests/kernels/test_stalled.c tests/kernels/test_sweeps.c $(tests_file_help)
endif
