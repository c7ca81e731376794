/* The accumulator on NGA_Scatter_acc.
 *
 * The indices of an update are sorted, and duplicates are merged (their columns of G, or their rows
 * and columns of U, are summed). Then only one triangle of G^T G has to be computed, and no call
 * contains an element twice, which MPI forbids in the underlying accumulate. Columns are computed
 * 64 at a time, and at most 65536 elements are scattered in one call, because ARMCI-MPI 0.3.1 keeps
 * its address lists on the stack and crashes with a million elements. */
#include "ga_adapt/ga_internal.h"
#include "osla_blas.h"
#include "osla_ga.h"

#include <ga.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CALL_ELEMENTS = 1 << 16, STRIP_COLUMNS = 64 };

struct osla_ga_hessian {
  int array;
  osla_dtype dtype;
  int64_t n;
  osla_uplo uplo;
  osla_transport *transport;
  /* pending: [n] this rank's contributions to the gradient since the last commit. gradient: [n]
   * the sum over all ranks. */
  double *pending, *gradient;
  /* [CALL_ELEMENTS][2] indices of the elements collected for the next call of NGA_Scatter_acc */
  int64_t *index_pairs;
  /* [CALL_ELEMENTS] values of the elements collected for the next call of NGA_Scatter_acc */
  unsigned char *values;
  int64_t n_collected;
};

/* Distinct indices in ascending order. */
typedef struct index_set {
  int64_t count;
  int64_t *list;     /* [count] */
  int64_t *rank;     /* [number of given indices] position of each given index in the list */
  bool is_ascending; /* true if the given indices were already distinct and ascending */
} index_set;

typedef struct pair {
  int64_t index, position;
} pair;

static int compare(const void *x, const void *y)
{
  const pair *a = x, *b = y;
  return (a->index > b->index) - (a->index < b->index);
}

static void set_free(index_set *s)
{
  free(s->list);
  *s = (index_set){0};
}

static osla_err set_make(int64_t count, const int64_t *ix, index_set *s)
{
  *s = (index_set){.is_ascending = true};
  s->list = malloc((2 * (size_t)count + 1) * sizeof *s->list);
  pair *sorted = malloc(((size_t)count + 1) * sizeof *sorted);
  if (!s->list || !sorted) {
    set_free(s);
    free(sorted);
    return osla_error_set(OSLA_ERR_MEM, "lists of %" PRId64 " indices", count);
  }
  s->rank = s->list + count;
  for (int64_t a = 0; a < count; a++) {
    sorted[a] = (pair){ix[a], a};
    s->is_ascending = s->is_ascending && (a == 0 || ix[a - 1] < ix[a]);
  }
  if (!s->is_ascending) qsort(sorted, (size_t)count, sizeof *sorted, compare);
  for (int64_t a = 0; a < count; a++) {
    if (a == 0 || sorted[a].index != s->list[s->count - 1]) s->list[s->count++] = sorted[a].index;
    s->rank[sorted[a].position] = s->count - 1;
  }
  free(sorted);
  return OSLA_OK;
}

static osla_err allocate(int64_t n, osla_ga_hessian *h)
{
  h->pending = calloc(2 * (size_t)n, sizeof *h->pending);
  h->index_pairs = malloc(2 * CALL_ELEMENTS * sizeof *h->index_pairs);
  h->values = malloc(CALL_ELEMENTS * osla_dtype_size(h->dtype));
  OSLA_CHECK(h->pending && h->index_pairs && h->values, OSLA_ERR_MEM,
             "an accumulator of order %" PRId64 " and its lists", n);
  h->gradient = h->pending + n;
  return OSLA_OK;
}

osla_err osla_ga_hessian_create(int g_h, osla_uplo uplo, osla_ga_hessian **out)
{
  ga_array a;
  *out = NULL;
  OSLA_CALL(osli_ga_array_check(g_h, "g_h", &a));
  OSLA_CHECK(a.ndim == 2 && a.m == a.n, OSLA_ERR_ARG, "g_h is %" PRId64 " x %" PRId64, a.m, a.n);
  OSLA_CHECK(a.dtype == OSLA_FLOAT || a.dtype == OSLA_DOUBLE, OSLA_ERR_UNSUPPORTED,
             "g_h is complex (%c)", osla_dtype_letter(a.dtype));
  OSLA_CHECK(uplo == OSLA_LOWER || uplo == OSLA_UPPER || uplo == OSLA_GENERAL, OSLA_ERR_ARG,
             "uplo = %d is no osla_uplo", (int)uplo);
  const char *complaint = osli_ga_session_complaint();
  OSLA_CHECK(!complaint, OSLA_ERR_STATE, "%s", complaint);
  osla_transport *t;
  OSLA_CALL(osli_ga_session_transport(&t));
  osla_ga_hessian *h = calloc(1, sizeof *h);
  osla_err err = h ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "accumulator object");
  if (err == OSLA_OK) {
    *h = (osla_ga_hessian){.array = g_h, .dtype = a.dtype, .n = a.n, .uplo = uplo, .transport = t};
    err = allocate(a.n, h);
  }
  err = osla_agree(t, err);
  if (err != OSLA_OK) osla_ga_hessian_destroy(&h);
  GA_Sync(); /* completes the caller's earlier updates of the array */
  *out = h;
  return err;
}

void osla_ga_hessian_destroy(osla_ga_hessian **handle)
{
  osla_ga_hessian *h = handle ? *handle : NULL;
  if (!h) return;
  free(h->pending);
  free(h->index_pairs);
  free(h->values);
  free(h);
  *handle = NULL;
}

static void flush(osla_ga_hessian *h)
{
  float one_float = 1;
  double one = 1;
  void *factor = h->dtype == OSLA_FLOAT ? (void *)&one_float : (void *)&one;
  if (h->n_collected > 0)
    NGA_Scatter_acc_flat64(h->array, h->values, h->index_pairs, h->n_collected, factor);
  h->n_collected = 0;
}

static int64_t first_not_below(const index_set *s, int64_t index)
{
  int64_t low = 0, high = s->count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (s->list[middle] < index)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Adds values to the stored part of column `index` of H: element a of `values` to row
 * rows->list[a]. */
static void scatter_column(osla_ga_hessian *h, const index_set *rows, int64_t index,
                           const unsigned char *values)
{
  size_t size = osla_dtype_size(h->dtype);
  int64_t begin = h->uplo == OSLA_LOWER ? first_not_below(rows, index) : 0;
  int64_t end = h->uplo == OSLA_UPPER ? first_not_below(rows, index + 1) : rows->count;
  for (int64_t a = begin; a < end;) {
    int64_t room = CALL_ELEMENTS - h->n_collected, some = end - a < room ? end - a : room;
    memcpy(h->values + (size_t)h->n_collected * size, values + (size_t)a * size,
           (size_t)some * size);
    for (int64_t k = 0; k < some; k++) { /* indices in the order of GA's C interface */
      h->index_pairs[2 * (h->n_collected + k)] = index;
      h->index_pairs[2 * (h->n_collected + k) + 1] = rows->list[a + k];
    }
    h->n_collected += some;
    a += some;
    if (h->n_collected == CALL_ELEMENTS) flush(h);
  }
}

static void add_elements(osla_dtype dtype, int64_t count, void *to, const void *from)
{
  if (dtype == OSLA_FLOAT)
    for (int64_t i = 0; i < count; i++)
      ((float *)to)[i] += ((const float *)from)[i];
  else
    for (int64_t i = 0; i < count; i++)
      ((double *)to)[i] += ((const double *)from)[i];
}

/* H[list, list] += G^T G, where G has one column for each index of the list. */
static osla_err add_products(osla_ga_hessian *h, const index_set *s, int64_t k,
                             const unsigned char *g, int64_t ldg)
{
  size_t size = osla_dtype_size(h->dtype);
  unsigned char *strip = malloc((size_t)s->count * STRIP_COLUMNS * size);
  OSLA_CHECK(strip, OSLA_ERR_MEM, "%" PRId64 " x %d elements", s->count, (int)STRIP_COLUMNS);
  osla_err err = OSLA_OK;
  for (int64_t j = 0; j < s->count && err == OSLA_OK; j += STRIP_COLUMNS) {
    int64_t cols = s->count - j < STRIP_COLUMNS ? s->count - j : STRIP_COLUMNS;
    int64_t begin = h->uplo == OSLA_LOWER ? j : 0,
            end = h->uplo == OSLA_UPPER ? j + cols : s->count;
    err = osla_blas_gemm(h->dtype, OSLA_TRANS, OSLA_NOTRANS, end - begin, cols, k, 1,
                         g + (size_t)(begin * ldg) * size, ldg, g + (size_t)(j * ldg) * size, ldg,
                         0, strip + (size_t)begin * size, s->count);
    for (int64_t c = 0; c < cols && err == OSLA_OK; c++)
      scatter_column(h, s, s->list[j + c], strip + (size_t)(c * s->count) * size);
  }
  free(strip);
  return err;
}

static osla_err check_indices(int64_t n, const char *name, int64_t count, const int64_t *ix)
{
  OSLA_CHECK(count >= 0, OSLA_ERR_ARG, "%s of %" PRId64 " indices", name, count);
  OSLA_CHECK(ix || count == 0, OSLA_ERR_ARG, "%s is NULL", name);
  for (int64_t i = 0; i < count; i++)
    OSLA_CHECK(ix[i] >= 0 && ix[i] < n, OSLA_ERR_ARG,
               "%s[%" PRId64 "] = %" PRId64 " is outside 0 to %" PRId64, name, i, ix[i], n - 1);
  return OSLA_OK;
}

osla_err osla_ga_hessian_update(osla_ga_hessian *h, int64_t count, const int64_t *ix, int64_t k,
                                const void *g, int64_t ldg)
{
  OSLA_CALL(check_indices(h->n, "ix", count, ix));
  OSLA_CHECK(k >= 0, OSLA_ERR_ARG, "update with %" PRId64 " rows of G", k);
  OSLA_CHECK(ldg >= k && ldg >= 1, OSLA_ERR_ARG, "ldg = %" PRId64 " is below k = %" PRId64, ldg, k);
  OSLA_CHECK(g || k == 0 || count == 0, OSLA_ERR_ARG, "G is NULL");
  if (k == 0 || count == 0) return OSLA_OK;
  size_t size = osla_dtype_size(h->dtype);
  unsigned char *joined = NULL;
  index_set s;
  osla_err err = set_make(count, ix, &s);
  if (err == OSLA_OK && s.is_ascending) {
    err = add_products(h, &s, k, g, ldg);
  } else if (err == OSLA_OK) {
    joined = calloc((size_t)(k * s.count), size);
    if (!joined) err = osla_error_set(OSLA_ERR_MEM, "%" PRId64 " x %" PRId64 " elements", k, count);
    for (int64_t a = 0; a < count && joined; a++)
      add_elements(h->dtype, k, joined + (size_t)(s.rank[a] * k) * size,
                   (const unsigned char *)g + (size_t)(a * ldg) * size);
    if (joined) err = add_products(h, &s, k, joined, k);
  }
  flush(h);
  free(joined);
  set_free(&s);
  return err;
}

/* Adds column `b` of U, which has an element for each row index, to `column`, which has an element
 * for each distinct row index of the set. */
static void merge_rows(osla_dtype dtype, int64_t rows, const index_set *s, const unsigned char *u,
                       unsigned char *column)
{
  size_t size = osla_dtype_size(dtype);
  for (int64_t a = 0; a < rows; a++)
    add_elements(dtype, 1, column + (size_t)s->rank[a] * size, u + (size_t)a * size);
}

osla_err osla_ga_hessian_update_block(osla_ga_hessian *h, int64_t rows, const int64_t *ix,
                                      int64_t cols, const int64_t *jx, const void *u, int64_t ldu)
{
  OSLA_CALL(check_indices(h->n, "ix", rows, ix));
  OSLA_CALL(check_indices(h->n, "jx", cols, jx));
  OSLA_CHECK(ldu >= rows && ldu >= 1, OSLA_ERR_ARG,
             "ldu = %" PRId64 " is below the %" PRId64 " rows", ldu, rows);
  OSLA_CHECK(u || rows == 0 || cols == 0, OSLA_ERR_ARG, "U is NULL");
  size_t size = osla_dtype_size(h->dtype);
  const unsigned char *block = u;
  index_set r = {0}, c = {0};
  unsigned char *joined = NULL;
  osla_err err = set_make(rows, ix, &r);
  if (err == OSLA_OK) err = set_make(cols, jx, &c);
  if (err == OSLA_OK && !(r.is_ascending && c.is_ascending)) {
    joined = calloc((size_t)(r.count * c.count) + 1, size);
    if (!joined)
      err = osla_error_set(OSLA_ERR_MEM, "%" PRId64 " x %" PRId64 " elements", rows, cols);
    for (int64_t b = 0; b < cols && joined; b++)
      merge_rows(h->dtype, rows, &r, block + (size_t)(b * ldu) * size,
                 joined + (size_t)(c.rank[b] * r.count) * size);
    block = joined;
    ldu = r.count;
  }
  for (int64_t b = 0; b < c.count && err == OSLA_OK; b++)
    scatter_column(h, &r, c.list[b], block + (size_t)(b * ldu) * size);
  flush(h);
  free(joined);
  set_free(&r);
  set_free(&c);
  return err;
}

osla_err osla_ga_hessian_update_gradient(osla_ga_hessian *h, int64_t count, const int64_t *ix,
                                         const double *values)
{
  OSLA_CALL(check_indices(h->n, "ix", count, ix));
  OSLA_CHECK(values || count == 0, OSLA_ERR_ARG, "gradient values are NULL");
  for (int64_t i = 0; i < count; i++)
    h->pending[ix[i]] += values[i];
  return OSLA_OK;
}

osla_err osla_ga_hessian_commit(osla_ga_hessian *h)
{
  GA_Sync();
  OSLA_CALL(osla_allreduce(h->transport, h->pending, h->n, MPI_DOUBLE, MPI_SUM));
  for (int64_t i = 0; i < h->n; i++) {
    h->gradient[i] += h->pending[i];
    h->pending[i] = 0;
  }
  return OSLA_OK;
}

int osla_ga_hessian_array(const osla_ga_hessian *h)
{
  return h->array;
}

const double *osla_ga_hessian_gradient(const osla_ga_hessian *h)
{
  return h->gradient;
}
