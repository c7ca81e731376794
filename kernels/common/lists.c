#include "kernels/common/lists.h"

#include <stdlib.h>

int osli_compare_int64(const void *left, const void *right)
{
  const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
  return a < b ? -1 : a > b;
}

int64_t osli_sort_distinct(int64_t *list, int64_t n)
{
  int64_t distinct = 0;
  if (n > 0) qsort(list, (size_t)n, sizeof *list, osli_compare_int64);
  for (int64_t i = 0; i < n; i++)
    if (distinct == 0 || list[i] != list[distinct - 1]) list[distinct++] = list[i];
  return distinct;
}

int64_t osli_sorted_index(const int64_t *list, int64_t n, int64_t value)
{
  const int64_t *at = bsearch(&value, list, (size_t)n, sizeof value, osli_compare_int64);
  return at - list;
}

osla_err osli_rank_starts(osla_transport *t, int64_t n, int64_t **out)
{
  const int size = osla_transport_size(t);
  int64_t *start = *out = calloc((size_t)size + 1, sizeof *start);
  OSLA_CALL(osla_agree(
    t, start ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "no memory for offsets of %d ranks", size)));
  for (int p = osla_transport_rank(t); p < size; p++)
    start[p + 1] = n;
  return osla_allreduce(t, start, size + 1, MPI_INT64_T, MPI_SUM);
}
