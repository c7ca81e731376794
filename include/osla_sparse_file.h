/* Sparse matrices from text files (floor 3).
 *
 * Each rank reads its share of the lines, and the entries go to the ranks that own their rows. All
 * calls are collective. Errors, on all ranks together, if not said otherwise: IO "FILE: reason" or
 * "FILE:LINE: what is wrong, with the value" (a file that is cut off, counts that are not kept, a
 * number that is none, an index out of range), ARG (blocks that do not ascend or do not end with
 * the file's sizes), UNSUPPORTED (as said), MEM, RANGE, MPI. Memory: twice the share of the file,
 * and some 100 bytes for each of its entries.
 *
 *   row_start, column_start [in] [size + 1] as in osla_csr_create; NULL: osla_even_blocks of the
 *                                file's sizes
 *   out                     [out] owned by the caller
 *
 * Threads: as osla_transport.h says of collective and of local calls.
 * Part: stable (osla.h).
 */
#ifndef OSLA_SPARSE_FILE_H
#define OSLA_SPARSE_FILE_H

#include "osla_api.h"
#include "osla_sparse.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Matrix Market's coordinate format: real, integer or pattern (all values 1); general, symmetric or
 * skew-symmetric (which list the lower triangle, and get the other one here). Boisvert, Pozo,
 * Remington, The Matrix Market Exchange Formats, NISTIR 5935, 1996. An entry that comes again is
 * added. Numbers are decimal; those of an integer matrix have neither point nor exponent.
 * UNSUPPORTED: complex, and dense (array) matrices. */
OSLA_API osla_err osla_csr_read_matrix_market(osla_transport *transport, const char *file,
                                              const int64_t *row_start, const int64_t *column_start,
                                              osla_csr **out);

/* A vector: Matrix Market's array format, real or integer, general, n x 1.
 *   start [in]  [size + 1] blocks; they end with n
 *   part  [out] this rank's values */
OSLA_API osla_err osla_vector_read_matrix_market(osla_transport *transport, const char *file,
                                                 const int64_t *start, double *part);

/* A graph of METIS (manual of version 5, section 4.1.1) as its adjacency matrix: the edges'
 * weights, or 1; weights and sizes of vertices are passed over. Each edge is in the file twice, in
 * the lines of both its vertices with one weight; else IO, with both vertices. */
OSLA_API osla_err osla_csr_read_metis(osla_transport *transport, const char *file,
                                      const int64_t *row_start, osla_csr **out);

#ifdef __cplusplus
}
#endif
#endif
