# The public headers, which are all installed.
public_headers = \
  include/osla.h \
  include/osla_unstable.h \
  include/osla_api.h \
  include/osla_types.h \
  include/osla_error.h \
  include/osla_clock.h \
  include/osla_log.h \
  include/osla_random.h \
  include/osla_version.h \
  include/osla_host.h \
  include/osla_transport.h \
  include/osla_backend.h \
  include/osla_trace.h \
  include/osla_armci.h \
  include/osla_shmem.h \
  include/osla_farewell.h \
  include/osla_meet.h \
  include/osla_segment.h \
  include/osla_counter.h \
  include/osla_stripes.h \
  include/osla_channel.h \
  include/osla_reduction.h \
  include/osla_device.h \
  include/osla_blas.h \
  include/osla_index.h \
  include/osla_grid.h \
  include/osla_matrix.h \
  include/osla_part.h \
  include/osla_shape.h \
  include/osla_file.h \
  include/osla_forward.h \
  include/osla_gemm.h \
  include/osla_gemm_ablation.h \
  include/osla_products.h \
  include/osla_lu.h \
  include/osla_chol.h \
  include/osla_inverse.h \
  include/osla_solve.h \
  include/osla_hessian.h \
  include/osla_forest.h \
  include/osla_sparse_device.h \
  include/osla_sparse.h \
  include/osla_krylov.h \
  include/osla_sparse_file.h \
  include/osla_iterate.h \
  include/osla_iterate_record.h \
  include/osla_diffusion.h \
  include/osla_splitting.h \
  include/osla_sweeps.h \
  include/osla_coarse.h
ga_headers = include/osla_ga.h # installed only if the build has Global Arrays
EXTRA_DIST += $(ga_headers) include/README.md
