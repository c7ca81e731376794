/* Entries of a sparse matrix, each on any rank, and their distribution to the owners of their rows
 * (private). */
#ifndef ENTRIES_H
#define ENTRIES_H

#include "osla_sparse.h"

typedef struct csr_entries {
  int64_t *row;    /* [n] global row index of each entry */
  int64_t *column; /* [n] global column index of each entry */
  double *value;   /* [n] value of each entry */
  int64_t n, room;
} csr_entries;

/* Appends an entry. Local. Errors: MEM. */
osla_err osli_entries_add(csr_entries *entries, int64_t row, int64_t column, double value);
void osli_entries_free(csr_entries *entries);

/* Creates the matrix from the entries of all ranks. The entries of a row are ordered by rank, then
 * by their order on the rank. Collective. Errors: the errors of osla_csr_create and
 * osla_forest_create_global. */
osla_err osli_entries_to_csr(osla_transport *transport, const int64_t *row_start,
                             const int64_t *column_start, const csr_entries *entries,
                             osla_csr **out);

/* Checks that the entries of all ranks are symmetric: for each entry (i, j) there must be an entry
 * (j, i) of equal value. Collective. Errors, on all ranks together: IO (the text names the file and
 * both indices, counted from 1, as vertices of a graph), MPI, MEM.
 *
 *   file [in] name of the file, for the text of the error */
osla_err osli_entries_check_mirrored(osla_transport *transport, const char *file,
                                     const int64_t *row_start, const csr_entries *entries);

/* Creates the vector from the entries of all ranks, one entry for each row; the columns of the
 * entries are ignored. Collective.
 *
 *   part [out] this rank's values */
osla_err osli_entries_to_vector(osla_transport *transport, const int64_t *start,
                                const csr_entries *entries, double *part);

#endif
