# Layer 3: the kernels, each with a folder for its sources and private headers. A private header is
# included only in its folder, except the headers of common/, and chol/chol_shape.h, which inverse/
# includes, too.
EXTRA_DIST += kernels/common/README.md kernels/gemm/README.md kernels/lu/README.md kernels/chol/README.md \
  kernels/products/README.md kernels/inverse/README.md kernels/solve/README.md kernels/forest/README.md \
  kernels/hessian/README.md kernels/sparse/README.md kernels/iterate/README.md
kernels_sources = \
  kernels/common/local_view.h kernels/common/local_view.c \
  kernels/common/route.h kernels/common/route.c \
  kernels/common/panels.h kernels/common/panels_state.h \
  kernels/common/panels_send.c kernels/common/panels.c \
  kernels/common/pipeline.h kernels/common/pipeline.c \
  kernels/common/pieces.h kernels/common/pieces.c \
  kernels/common/interchange.h kernels/common/interchange.c \
  kernels/common/row_copy.h \
  kernels/common/diagonal_blocks.h kernels/common/diagonal_blocks.c \
  kernels/common/part_operand.h kernels/common/part_operand.c \
  kernels/gemm/gemm.h kernels/gemm/gemm_operand.c kernels/gemm/gemm_plan.c kernels/gemm/gemm_load.c \
  kernels/gemm/gemm_sharing.h kernels/gemm/gemm_sharing.c \
  kernels/gemm/gemm_layers.c kernels/gemm/gemm_run.c kernels/gemm/gemm_triangle.c kernels/gemm/gemm_split.c \
  kernels/gemm/gemm.c \
  kernels/products/product_check.h kernels/products/product_check.c \
  kernels/products/squares.h kernels/products/squares.c \
  kernels/products/symm.c kernels/products/trmm.c \
  kernels/products/columns.h kernels/products/columns.c kernels/products/vectors.c \
  kernels/lu/lu_block.c \
  kernels/lu/lu_state.h kernels/lu/lu_parts.h kernels/lu/lu_step.c \
  kernels/lu/lu_memory.h kernels/lu/lu_memory.c \
  kernels/lu/lu_column.h kernels/lu/lu_column.c \
  kernels/lu/lu_publish.h kernels/lu/lu_publish.c \
  kernels/lu/lu_node_group.h kernels/lu/lu_node_group.c \
  kernels/lu/lu_rows.h kernels/lu/lu_rows.c \
  kernels/lu/lu_update.c kernels/lu/lu_left.c \
  kernels/lu/lu_panel.h kernels/lu/lu_pivot.c kernels/lu/lu_panel.c \
  kernels/lu/lu.c kernels/lu/lu_part.c \
  kernels/chol/chol_shape.h kernels/chol/chol_memory.c kernels/chol/chol_shape.c \
  kernels/chol/chol.c kernels/chol/chol_part.c kernels/chol/chol_logdet.c \
  kernels/inverse/first_zero.h kernels/inverse/first_zero.c \
  kernels/inverse/potri.h kernels/inverse/potri_memory.c kernels/inverse/potri_blocks.c \
  kernels/inverse/potri_panels.c kernels/inverse/potri.c \
  kernels/inverse/getri.h kernels/inverse/getri_memory.c kernels/inverse/getri_panels.c kernels/inverse/getri.c \
  kernels/solve/rhs.h kernels/solve/rhs.c \
  kernels/solve/trsm.h kernels/solve/trsm_operands.c kernels/solve/trsm_run.c kernels/solve/trsm_deferred.c kernels/solve/trsm_stationary.c kernels/solve/trsm_stationary_trans.c kernels/solve/trsm.c \
  kernels/solve/solve.h kernels/solve/solve.c \
  kernels/solve/solve_part.c \
  kernels/solve/residual.c kernels/solve/refine.c kernels/solve/mixed.c kernels/solve/condition.c \
  kernels/common/lists.h kernels/common/lists.c kernels/common/exact_sum.h kernels/common/exact_sum.c \
  kernels/forest/forest_units.h kernels/forest/forest_units.c kernels/forest/forest_vertices.c kernels/forest/forest_device.c \
  kernels/forest/forest_pool.h kernels/forest/forest_pool.c \
  kernels/forest/forest_ring.h kernels/forest/forest_ring.c \
  kernels/forest/forest.h kernels/forest/forest_lists.c kernels/forest/forest_serve.h \
  kernels/forest/forest_check.c kernels/forest/forest_exact.c kernels/forest/forest_link.c \
  kernels/forest/forest_serve.c kernels/forest/forest_setup.c kernels/forest/forest_two_level.c \
  kernels/forest/forest_transfer.c kernels/forest/forest.c kernels/forest/forest_derive.c \
  kernels/forest/forest_pattern.c \
  kernels/sparse/csr.h kernels/sparse/csr.c kernels/sparse/csr_rows.c kernels/sparse/csr_device.c kernels/sparse/spmv_rows.h kernels/sparse/spmv.c \
  kernels/sparse/entries.h kernels/sparse/entries.c \
  kernels/sparse/sparse_file.h kernels/sparse/sparse_file.c \
  kernels/sparse/renumber.c kernels/sparse/fetched_rows.c \
  kernels/sparse/column_norms.c kernels/sparse/product.h kernels/sparse/row_copies.c kernels/sparse/local_product.c \
  kernels/sparse/multiply.c kernels/sparse/galerkin.c kernels/sparse/submatrix.c \
  kernels/sparse/matrix_market.c kernels/sparse/metis_graph.c \
  kernels/sparse/sums.c \
  kernels/sparse/krylov.h kernels/sparse/krylov.c kernels/sparse/krylov_range.c \
  kernels/sparse/jacobi.c kernels/sparse/cg.c kernels/sparse/cg_device.c kernels/sparse/device_sums.c kernels/sparse/lsqr.c \
  kernels/iterate/iterate.h kernels/iterate/halos.c \
  kernels/iterate/group.h kernels/iterate/group.c kernels/iterate/certificate.c \
  kernels/iterate/coarse.h kernels/iterate/coarse_matrix.c kernels/iterate/coarse.c \
  kernels/iterate/iterate.c kernels/iterate/bound.c \
  kernels/iterate/watch.c kernels/iterate/record.c \
  kernels/iterate/diffusion.c kernels/iterate/diffusion_coarse.c \
  kernels/iterate/splitting.h kernels/iterate/splitting_group.c kernels/iterate/splitting_halos.c \
  kernels/iterate/cholmod_block.h kernels/iterate/cholmod_block.c kernels/iterate/splitting_inner.c \
  kernels/iterate/splitting.c \
  kernels/iterate/splitting_sparse.c kernels/iterate/splitting_dense.c \
  kernels/iterate/splitting_coarse.c \
  kernels/iterate/sweeps.c

kernels_hessian_sources = \
  kernels/hessian/hessian_split.h kernels/hessian/hessian_split.c \
  kernels/hessian/hessian_combine.h kernels/hessian/hessian_combine.c \
  kernels/hessian/hessian_array.h kernels/hessian/hessian.h kernels/hessian/hessian.c \
  kernels/hessian/hessian_workspace.c \
  kernels/hessian/hessian_exact.h kernels/hessian/hessian_exact.c kernels/hessian/hessian_chunks.c \
  kernels/hessian/hessian_device.h kernels/hessian/hessian_device.c \
  kernels/hessian/hessian_add.c \
  kernels/hessian/hessian_target.h kernels/hessian/hessian_target.c \
  kernels/hessian/hessian_fill.c \
  kernels/hessian/hessian_message.h kernels/hessian/hessian_message.c \
  kernels/hessian/hessian_arrivals.h kernels/hessian/hessian_arrivals.c \
  kernels/hessian/hessian_wire.h kernels/hessian/hessian_wire.c \
  kernels/hessian/hessian_boxes.h kernels/hessian/hessian_outbox.c \
  kernels/hessian/hessian_inbox.c \
  kernels/hessian/hessian_node.h kernels/hessian/hessian_node.c \
  kernels/hessian/hessian_deliver.c \
  kernels/hessian/hessian_update.h kernels/hessian/hessian_update.c \
  kernels/hessian/hessian_ledger.h kernels/hessian/hessian_ledger.c \
  kernels/hessian/hessian_calls.c \
  kernels/hessian/hessian_checkpoint.c
