# Floor 3. Public headers (installed) and sources (with the headers that stay private).
kernels_headers = \
  kernels/osla_gemm.h \
  kernels/osla_lu.h \
  kernels/osla_chol.h \
  kernels/osla_solve.h \
  kernels/osla_hessian.h

kernels_sources = \
  kernels/local_view.h kernels/local_view.c \
  kernels/panels.h kernels/panels.c \
  kernels/row_copy.h \
  kernels/gemm.h kernels/gemm_operand.c kernels/gemm_plan.c kernels/gemm_load.c \
  kernels/gemm_run.c kernels/gemm_triangle.c kernels/gemm_split.c kernels/gemm.c \
  kernels/lu_block.h kernels/lu_block.c \
  kernels/lu.h kernels/lu_column.c kernels/lu_publish.c kernels/lu_rows.c kernels/lu_panel.c \
  kernels/lu.c \
  kernels/chol_shape.h kernels/chol_shape.c \
  kernels/chol.c \
  kernels/rhs.h kernels/rhs.c \
  kernels/trsm.h kernels/trsm_operands.c kernels/trsm_run.c kernels/trsm.c \
  kernels/row_swap.h kernels/row_swap.c \
  kernels/solve.h kernels/solve.c \
  kernels/residual.h kernels/residual.c \
  kernels/refine.c \
  kernels/mixed.c \
  kernels/condition.c

kernels_hessian_sources = \
  kernels/hessian_split.h kernels/hessian_split.c \
  kernels/hessian_fixed.h kernels/hessian_combine.h kernels/hessian_combine.c \
  kernels/hessian.h kernels/hessian.c \
  kernels/hessian_workspace.c \
  kernels/hessian_exact.h kernels/hessian_exact.c kernels/hessian_strips.c \
  kernels/hessian_add.c \
  kernels/hessian_message.h kernels/hessian_message.c \
  kernels/hessian_outbox.c \
  kernels/hessian_inbox.c \
  kernels/hessian_node.c \
  kernels/hessian_deliver.c \
  kernels/hessian_update.c \
  kernels/hessian_ledger.h kernels/hessian_ledger.c \
  kernels/hessian_calls.c \
  kernels/hessian_checkpoint.c
