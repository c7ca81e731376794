/* Entries of a sparse matrix on any rank, and their way to the ranks that own their rows. Not for
 * programs. */
#ifndef ENTRIES_H
#define ENTRIES_H

#include "osla_sparse.h"

typedef struct csr_entry {
  int64_t row, column; /* global */
  double value;
} csr_entry;

typedef struct csr_entries {
  csr_entry *of;
  int64_t n, room;
} csr_entries;

/* One more. Local. Errors: MEM. */
osla_err osla_entries_add(csr_entries *entries, int64_t row, int64_t column, double value);
void osla_entries_free(csr_entries *entries);

/* Each to the rank with start[p] <= row < start[p + 1], in the order of the ranks that have them
 * and of their lists; the memory of those that were here is given back. Collective. */
osla_err osla_entries_deal(osla_transport *transport, const int64_t *start, csr_entries *entries);

/* The matrix of entries that are dealt, which are freed. Collective. */
osla_err osla_entries_to_csr(osla_transport *transport, const int64_t *row_start,
                             const int64_t *column_start, csr_entries *entries, osla_csr **out);

#endif
