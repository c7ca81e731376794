/* Entries of a sparse matrix on any rank, and their distribution to the owners of their rows
 * (private). */
#ifndef ENTRIES_H
#define ENTRIES_H

#include "osla_sparse.h"

typedef struct csr_entries {
  int64_t *row, *column; /* [n] global indices */
  double *value;         /* [n] values of the entries */
  int64_t n, room;
} csr_entries;

/* Appends an entry. Local. Errors: MEM. */
osla_err osli_entries_add(csr_entries *entries, int64_t row, int64_t column, double value);
void osli_entries_free(csr_entries *entries);

/* Creates the matrix of all ranks' entries. Entries of a row are in the order of ranks, then of
 * each rank's list. Collective. Errors: those of osla_csr_create and osla_forest_create_global. */
osla_err osli_entries_to_csr(osla_transport *transport, const int64_t *row_start,
                             const int64_t *column_start, const csr_entries *entries,
                             osla_csr **out);

/* Checks that the entries of all ranks are symmetric: each entry i, j needs an entry j, i of equal
 * value. Collective. Errors, on all ranks together: IO (the text names the file and both indices,
 * from 1, as vertices of a graph), MPI, MEM.
 *   file [in] name of the file, for the text */
osla_err osli_entries_check_mirrored(osla_transport *transport, const char *file,
                                     const int64_t *row_start, const csr_entries *entries);

/* Creates the vector of all ranks' entries, one for each row; columns are ignored. Collective.
 *   part [out] this rank's values */
osla_err osli_entries_to_vector(osla_transport *transport, const int64_t *start,
                                const csr_entries *entries, double *part);

#endif
