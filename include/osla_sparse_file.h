/* Reads sparse matrices from text files (layer 3).
 *
 * Each rank reads a part of the lines, and entries are sent to the ranks that own their rows. All
 * calls are collective. Errors, on all ranks together unless stated otherwise: IO "FILE: reason" or
 * "FILE:LINE: what is wrong, with the value" (a truncated file, wrong counts, a word that is no
 * number, an index out of range), ARG (blocks that do not ascend or do not end with the file's
 * sizes), UNSUPPORTED (as stated), MEM, RANGE, MPI. Memory: twice this rank's part of the file, and
 * about 100 bytes for each of its entries.
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

/* Reads a Matrix Market file in coordinate format: real, integer or pattern (all values 1);
 * general, symmetric or skew-symmetric (the file lists the lower triangle, the other one is added).
 * Boisvert, Pozo, Remington, The Matrix Market Exchange Formats, NISTIR 5935, 1996. Repeated
 * entries are added. Numbers are decimal; those of an integer matrix have neither point nor
 * exponent. UNSUPPORTED: complex and dense (array) matrices. */
OSLA_API osla_err osla_csr_read_matrix_market(osla_transport *transport, const char *file,
                                              const int64_t *row_start, const int64_t *column_start,
                                              osla_csr **out);

/* Reads a vector from a Matrix Market file in array format: real or integer, general, n x 1.
 *   start [in]  [size + 1] blocks that end with n
 *   part  [out] this rank's values */
OSLA_API osla_err osla_vector_read_matrix_market(osla_transport *transport, const char *file,
                                                 const int64_t *start, double *part);

/* Reads a METIS graph (manual of version 5, section 4.1.1) as its adjacency matrix: the weights of
 * edges, or 1; weights and sizes of vertices are ignored. Each edge must be listed twice, for both
 * of its vertices and with equal weights, otherwise the error is IO, with both vertices in its
 * text. */
OSLA_API osla_err osla_csr_read_metis(osla_transport *transport, const char *file,
                                      const int64_t *row_start, osla_csr **out);

#ifdef __cplusplus
}
#endif
#endif
