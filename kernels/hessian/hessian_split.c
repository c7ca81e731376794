/* Divides the n indices of an update among the owners, as two short lists (rows and columns), in
 * O(n) operations. Sorting the n^2 elements of the update instead would take O(n^2) operations;
 * French et al. name this sorting as the cost that grows (section IV.A). */
#include "kernels/hessian/hessian_split.h"
#include "osla_index.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

osla_err osli_split_check(int64_t n, const char *name, int64_t count, const int64_t *ix)
{
  OSLA_CHECK(count >= 0, OSLA_ERR_ARG, "%s has %" PRId64 " indices, less than 0", name, count);
  OSLA_CHECK(ix || count == 0, OSLA_ERR_ARG, "%s is NULL", name);
  for (int64_t i = 0; i < count; i++)
    OSLA_CHECK(ix[i] >= 0 && ix[i] < n, OSLA_ERR_ARG,
               "%s[%" PRId64 "] = %" PRId64 " is outside 0 to %" PRId64, name, i, ix[i], n - 1);
  return OSLA_OK;
}

osla_err osli_split_reserve(index_split *s, int64_t count, int nprocs)
{
  if (s->start && count <= s->capacity && nprocs <= s->nprocs) return OSLA_OK;
  osli_split_free(s);
  size_t bytes = (size_t)(count + 1) * sizeof(int64_t);
  s->position = malloc(bytes);
  s->global = malloc(bytes);
  s->local = malloc(bytes);
  s->sorted = malloc(2 * bytes);
  s->start = malloc(((size_t)nprocs + 1) * sizeof(int64_t));
  s->used = malloc((size_t)nprocs * sizeof *s->used);
  if (!s->position || !s->global || !s->local || !s->sorted || !s->start || !s->used) {
    osli_split_free(s);
    return osla_error_set(OSLA_ERR_MEM, "no memory for lists of %" PRId64 " indices", count);
  }
  s->capacity = count;
  s->nprocs = nprocs;
  return OSLA_OK;
}

size_t osli_split_bytes(int64_t count, int nprocs)
{
  return 5 * (size_t)(count + 1) * sizeof(int64_t) + ((size_t)nprocs + 1) * sizeof(int64_t) +
         (size_t)nprocs * sizeof(int);
}

void osli_split_free(index_split *s)
{
  free(s->position);
  free(s->global);
  free(s->local);
  free(s->sorted);
  free(s->start);
  free(s->used);
  memset(s, 0, sizeof *s);
}

static int compare_pairs(const void *x, const void *y)
{
  const int64_t *a = x, *b = y; /* pairs (index, position) */
  if (a[0] != b[0]) return a[0] < b[0] ? -1 : 1;
  return a[1] < b[1] ? -1 : a[1] > b[1];
}

/* Makes pairs (index, position) in ascending order of the index; pairs with equal indices stay in
 * the caller's order. */
static void sort_pairs(int64_t count, const int64_t *ix, int64_t *pairs)
{
  bool ascending = true;
  for (int64_t i = 0; i < count; i++) {
    pairs[2 * i] = ix[i];
    pairs[2 * i + 1] = i;
    if (i > 0 && ix[i] < ix[i - 1]) ascending = false;
  }
  if (!ascending) qsort(pairs, (size_t)count, 2 * sizeof *pairs, compare_pairs);
}

void osli_split_indices(index_split *s, int64_t count, const int64_t *ix, int64_t nb, int nprocs)
{
  int64_t *pairs = s->sorted;
  sort_pairs(count, ix, pairs);

  memset(s->start, 0, ((size_t)nprocs + 1) * sizeof *s->start);
  for (int64_t i = 0; i < count; i++)
    s->start[osla_index_owner(ix[i], nb, nprocs) + 1]++;
  for (int p = 0; p < nprocs; p++)
    s->start[p + 1] += s->start[p];

  /* Fills the groups. While they are filled, start[p] is the next free entry of group p. At the end
   * start[p] is restored. */
  for (int64_t i = 0; i < count; i++) {
    int64_t index = pairs[2 * i];
    int64_t at = s->start[osla_index_owner(index, nb, nprocs)]++;
    s->position[at] = pairs[2 * i + 1];
    s->global[at] = index;
    s->local[at] = osla_index_local(index, nb, nprocs);
  }
  for (int p = nprocs; p > 0; p--)
    s->start[p] = s->start[p - 1];
  s->start[0] = 0;

  s->n_used = 0;
  for (int p = 0; p < nprocs; p++)
    if (s->start[p + 1] > s->start[p]) s->used[s->n_used++] = p;
}

void osli_split_triangle(osla_uplo uplo, int64_t rows, const int64_t *row_global, int64_t cols,
                         const int64_t *col_global, int64_t *begin, int64_t *end)
{
  int64_t r = 0;
  for (int64_t c = 0; c < cols; c++) {
    if (uplo == OSLA_GENERAL) {
      begin[c] = 0;
      end[c] = rows;
    } else if (uplo == OSLA_LOWER) { /* lower triangle: rows with index >= column index */
      while (r < rows && row_global[r] < col_global[c])
        r++;
      begin[c] = r;
      end[c] = rows;
    } else { /* upper triangle: rows with index <= column index */
      while (r < rows && row_global[r] <= col_global[c])
        r++;
      begin[c] = 0;
      end[c] = r;
    }
  }
}

/* ---- pieces ---- */

int64_t osli_piece_elements(const piece *p)
{
  int64_t count = 0;
  for (int64_t c = 0; c < p->cols; c++)
    count += p->end[c] - p->begin[c];
  return count;
}

uint64_t osli_piece_stripes(const piece *p, int64_t nb)
{
  uint64_t mask = 0;
  for (int64_t c = 0; c < p->cols; c++)
    mask |= column_stripe(p->col[c], nb);
  return mask;
}

piece osli_piece_columns(const piece *p, int64_t from, int64_t cols, size_t element)
{
  piece part = *p;
  part.cols = cols;
  part.col += from;
  part.begin += from;
  part.end += from;
  if (part.col_position)
    part.col_position += from;
  else if (part.values)
    part.values += (size_t)(from * p->ld) * element;
  return part;
}
