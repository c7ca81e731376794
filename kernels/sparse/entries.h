/* Entries of a sparse matrix on any rank, and their way to the ranks that own their rows. Not for
 * programs. */
#ifndef ENTRIES_H
#define ENTRIES_H

#include "osla_sparse.h"

typedef struct csr_entries {
  int64_t *row, *column; /* [n] global */
  double *value;         /* [n] */
  int64_t n, room;
} csr_entries;

/* One more. Local. Errors: MEM. */
osla_err osli_entries_add(csr_entries *entries, int64_t row, int64_t column, double value);
void osli_entries_free(csr_entries *entries);

/* The matrix of all ranks' entries; those of a row in the order of the ranks that have them and of
 * their lists. Collective. Errors: as osla_csr_create, osla_forest_create_global. */
osla_err osli_entries_to_csr(osla_transport *transport, const int64_t *row_start,
                             const int64_t *column_start, const csr_entries *entries,
                             osla_csr **out);

/* Checks that the entries of all ranks together are symmetric: each entry i, j needs an entry j, i
 * with an equal value. Collective. Errors, on all ranks together: IO, whose text names the file and
 * both indices, from 1 (as vertices of a graph), MPI, MEM.
 *   file [in] the file's name, for the text */
osla_err osli_entries_check_mirrored(osla_transport *transport, const char *file,
                                     const int64_t *row_start, const csr_entries *entries);

/* The vector of all ranks' entries, one for each row; columns do not matter. Collective.
 *   part [out] this rank's values */
osla_err osli_entries_to_vector(osla_transport *transport, const int64_t *start,
                                const csr_entries *entries, double *part);

#endif
