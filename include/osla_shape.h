/* Shape of a job that need not exist, from which the memory of its kernels is computed (layer 2).
 *
 * Each kernel has a function osla_NAME_memory, which returns the bytes of the rank that needs most
 * memory. The function evaluates the formulas of the kernel's set-up and runs no kernel, so any
 * number of ranks is possible. The memory of stacks, of MPI and of the BLAS is not counted.
 *
 * Threads: any thread may call the functions of this header, at any time.
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

/* Shape of a job: a matrix of order n on the grid that osla_grid_create chooses. */
typedef struct osla_shape {
  /* numbers of ranks, of ranks per node, and of nodes; ranks fill the nodes one after another */
  int ranks, per_node, nodes;
  int nprow, npcol; /* numbers of process rows and of process columns */
  int64_t n, nb;    /* order of the matrix; block size, at most max(n, 1) */
  osla_dtype dtype;
  size_t element; /* bytes of an element */
  /* largest number of local rows, and of local columns, on any rank */
  int64_t rows, cols;
  bool columns_near, rows_near; /* true if each process column, or row, lies on one node */
  bool oversubscribed;          /* true if ranks share cores; osla_shape_make sets false */
} osla_shape;

/* Computes the shape for n x n elements in blocks of nb x nb. Local. Errors: ARG (ranks, per_node
 * or nb below 1, n negative, more ranks per node than ranks), RANGE (the matrix has 2^63 bytes or
 * more). */
OSLA_API osla_err osla_shape_make(int ranks, int per_node, int64_t n, int64_t nb, osla_dtype dtype,
                                  osla_shape *out);

/* True if the job has one node. */
static inline bool osla_shape_one_node(const osla_shape *s)
{
  return s->nodes == 1;
}

/* Bytes that an n x cols matrix in blocks of nb x col_nb takes on the rank that needs most. */
OSLA_API uint64_t osla_shape_matrix(const osla_shape *s, int64_t cols, int64_t col_nb);

/* Bytes that a triangular matrix (osla_matrix_create_triangle) of order n takes on the rank that
 * needs most. */
OSLA_API uint64_t osla_shape_triangle(const osla_shape *s);

#ifdef __cplusplus
}
#endif
#endif
