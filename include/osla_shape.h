/* A job that need not exist: what the memory of its kernels follows from (floor 2).
 *
 * Each kernel says how many bytes it takes of the rank that takes most (osla_NAME_memory), from
 * the numbers that its own set-up uses; so nothing runs, and any number of ranks will do. Beyond
 * what is counted are the stacks, MPI and the BLAS.
 *
 * Threads: any thread may call these, at any time.
 * Part: stable (osla.h).
 */
#ifndef OSLA_SHAPE_H
#define OSLA_SHAPE_H

#include "osla_api.h"
#include "osla_index.h"
#include "osla_matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A matrix of order n on the grid that osla_grid_create chooses. */
typedef struct osla_shape {
  int ranks, per_node, nodes; /* nodes are filled one after another */
  int nprow, npcol;
  int64_t n, nb;
  osla_dtype dtype;
  size_t element;               /* bytes */
  int64_t rows, cols;           /* of the rank that has most */
  bool columns_near, rows_near; /* does each process column, each row, lie on one node? */
  bool oversubscribed;          /* do ranks share cores? osla_shape_make says no */
} osla_shape;

/* Local. Errors: ARG (ranks, per_node, nb below 1, n negative, more ranks on a node than there
 * are), RANGE (the matrix has 2^63 bytes or more). */
OSLA_API osla_err osla_shape_make(int ranks, int per_node, int64_t n, int64_t nb, osla_dtype dtype,
                                  osla_shape *out);

static inline bool osla_shape_one_node(const osla_shape *s)
{
  return s->nodes == 1;
}

/* An n x cols matrix in blocks of nb x col_nb. */
OSLA_API uint64_t osla_shape_matrix(const osla_shape *s, int64_t cols, int64_t col_nb);

#ifdef __cplusplus
}
#endif
#endif
