/* OSLA, one-sided linear algebra: all headers of the stable part, from low-level to high-level.
 * Programs that use only these keep working with later versions as CONTRIBUTING.md describes under
 * "Versions". Headers that may change in any release are in osla_unstable.h. */
#ifndef OSLA_H
#define OSLA_H

#include "osla_api.h"
#include "osla_clock.h"
#include "osla_error.h"
#include "osla_log.h"
#include "osla_random.h"
#include "osla_types.h"
#include "osla_version.h"

#include "osla_armci.h"
#include "osla_segment.h"
#include "osla_shmem.h"
#include "osla_transport.h"

#include "osla_grid.h"
#include "osla_index.h"
#include "osla_matrix.h"
#include "osla_part.h"
#include "osla_shape.h"

#include "osla_file.h"

#include "osla_chol.h"
#include "osla_diffusion.h"
#include "osla_forest.h"
#include "osla_forward.h"
#include "osla_gemm.h"
#include "osla_hessian.h"
#include "osla_inverse.h"
#include "osla_iterate.h"
#include "osla_iterate_record.h"
#include "osla_krylov.h"
#include "osla_lu.h"
#include "osla_products.h"
#include "osla_solve.h"
#include "osla_sparse.h"
#include "osla_sparse_file.h"
#include "osla_splitting.h"
#include "osla_sweeps.h"

#endif
