/* Order-independent mode (see hessian_exact.h; hessian_fixed.h defines the numbers).
 *
 * Fixed-point numbers are added modulo 2^64, so the order of the additions does not matter if the
 * final sum is within the bound. An offence is a value or a sum that is beyond the bound or NaN.
 * The rank that finds an offence records it, and the next commit reports it on all ranks. */
#include "kernels/hessian/hessian_exact.h"
#include "kernels/hessian/hessian.h"
#include "kernels/hessian/hessian_device.h"
#include "kernels/hessian/hessian_split.h"
#include "src/base/fixed_point.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum offence_kind { NONE, VALUE, SUM, HELD, GRADIENT_VALUE, GRADIENT_SUM } offence_kind;

typedef struct offence {
  int kind;
  int64_t i, j;
  double value;
} offence;

struct exact_state {
  fixed_point h;     /* format of the numbers of H */
  fixed_point g;     /* format of the numbers of the gradient; g.bound = 0 if there is none */
  int64_t *gradient; /* [n] this rank's gradient updates since the last commit, summed */
  /* segment with one word for each rank: mask of the stripes of its part of H that are in fixed
   * point */
  osla_segment *segment;
  pthread_mutex_t mutex; /* protects the member `first` */
  offence first;
  bool failed; /* true if the offence `first` was reported on all ranks */
};

osla_err osli_exact_check_options(const osla_hessian_options *o)
{
  fixed_point f;
  OSLA_CHECK(!o->single, OSLA_ERR_UNSUPPORTED,
             "order-independent mode needs H in double precision");
  OSLA_CHECK(o->combine == OSLA_COMBINE_SUM, OSLA_ERR_UNSUPPORTED,
             "order-independent mode needs combine = OSLA_COMBINE_SUM");
  OSLA_CHECK(fixed_make(o->bound, &f), OSLA_ERR_ARG,
             "order-independent mode needs bound from 1e-250 to 1e250, not %g", o->bound);
  OSLA_CHECK(o->gradient_bound == 0.0 || fixed_make(o->gradient_bound, &f), OSLA_ERR_ARG,
             "gradient_bound = %g is neither 0 nor from 1e-250 to 1e250", o->gradient_bound);
  return OSLA_OK;
}

static osla_err new_state(osla_hessian *h)
{
  exact_state *x = h->exact = calloc(1, sizeof *x);
  OSLA_CHECK(x, OSLA_ERR_MEM, "no memory for order-independent mode");
  (void)pthread_mutex_init(&x->mutex, NULL);
  (void)fixed_make(h->options.bound, &x->h);
  (void)fixed_make(h->options.gradient_bound, &x->g);
  x->gradient = calloc((size_t)h->n + 1, sizeof *x->gradient);
  OSLA_CHECK(x->gradient, OSLA_ERR_MEM, "no memory for a gradient of order %" PRId64, h->n);
  h->combine.fixed = x->h;
  return OSLA_OK;
}

/* Returns the mask of fixed-point stripes of a rank. The bit of a stripe changes only while the
 * stripe is locked; the bits of other stripes may change at any time. */
static _Atomic uint64_t *fixed_stripes(const osla_hessian *h, int rank)
{
  return osla_segment_peer(h->exact->segment, rank);
}

static _Atomic uint64_t *own_fixed_stripes(const osla_hessian *h)
{
  return fixed_stripes(h, osla_transport_rank(h->v.t));
}

/* Sets the mask of this rank. A matrix of zeros counts as fixed point, because zero has the same
 * bits in both formats. */
static void mark_initial(osla_hessian *h)
{
  if (h->v.prow < 0) return;
  bool zero = osli_combiner_initial(&h->options) == 0.0;
  atomic_store(own_fixed_stripes(h), zero ? UINT64_MAX : 0);
}

osla_err osli_exact_create(osla_hessian *h)
{
  OSLA_CALL(osla_agree(h->v.t, new_state(h)));
  OSLA_CALL(osla_segment_create(h->v.t, sizeof(uint64_t), 0, &h->exact->segment));
  mark_initial(h);
  return osla_barrier(h->v.t);
}

void osli_exact_destroy(osla_hessian *h)
{
  exact_state *x = h->exact;
  if (!x) return;
  osla_segment_destroy(&x->segment);
  (void)pthread_mutex_destroy(&x->mutex);
  free(x->gradient);
  free(x);
  h->exact = NULL;
}

static void record_offence(exact_state *x, offence what)
{
  (void)pthread_mutex_lock(&x->mutex);
  if (x->first.kind == NONE) x->first = what;
  (void)pthread_mutex_unlock(&x->mutex);
}

static int64_t global_row(const osla_hessian *h, int owner, int64_t local_row)
{
  return osla_index_global(local_row, h->options.nb, osla_grid_prow_of(h->v.grid, owner), h->v.p);
}

static int64_t global_col(const osla_hessian *h, int owner, int64_t local_col)
{
  return osla_index_global(local_col, h->options.nb, osla_grid_pcol_of(h->v.grid, owner), h->v.q);
}

/* ---- conversion between doubles and fixed point ---- */

static void record_element(const osla_hessian *h, int kind, int owner, int64_t row, int64_t col,
                           double value)
{
  record_offence(h->exact,
                 (offence){kind, global_row(h, owner, row), global_col(h, owner, col), value});
}

/* Converts elements [from, past) of a column to fixed point. An element beyond the bound is
 * recorded as an offence and becomes a number beyond the limit. */
static void column_to_fixed(const osla_hessian *h, int owner, int64_t col, int64_t from,
                            int64_t past, double *column)
{
  const fixed_point f = h->exact->h;
  for (int64_t r = from; r < past; r++) {
    if (!fixed_holds(&f, column[r])) record_element(h, HELD, owner, r, col, column[r]);
    int64_t number = fixed_of(column[r], f.scale);
    memcpy(&column[r], &number, sizeof number);
  }
}

/* Records the elements [from, past) of a column that are beyond the bound. */
static void check_column(const osla_hessian *h, int owner, int64_t col, int64_t from, int64_t past,
                         double *column)
{
  for (int64_t r = from; r < past; r++)
    if (!fixed_holds(&h->exact->h, column[r])) record_element(h, HELD, owner, r, col, column[r]);
}

/* Returns the fixed-point number that is stored in the memory of a double. */
static inline int64_t number_in(const double *at)
{
  int64_t number;
  memcpy(&number, at, sizeof number);
  return number;
}

static void column_to_double(const osla_hessian *h, int owner, int64_t col, int64_t from,
                             int64_t past, double *column)
{
  const fixed_point f = h->exact->h;
  uint64_t outside = 0;
#pragma omp simd reduction(| : outside)
  for (int64_t r = from; r < past; r++)
    outside |= fixed_outside(number_in(&column[r]), f.limit);
  for (int64_t r = from; outside >> 63 && r < past; r++) {
    const int64_t number = number_in(&column[r]);
    if (fixed_outside(number, f.limit) >> 63)
      record_element(h, SUM, owner, r, col, (double)number * f.unit);
  }
#pragma omp simd
  for (int64_t r = from; r < past; r++)
    column[r] = fixed_value(number_in(&column[r]), f.unit);
}

typedef void convert_column(const osla_hessian *h, int owner, int64_t col, int64_t from,
                            int64_t past, double *column);

/* How stripes are converted. On the host, `column` converts a column. On a device, `check` finds
 * out if there are elements to record, and then `change` runs, if it is another operation. */
typedef struct conversion {
  convert_column *column;
  combine_operation check, change;
} conversion;

static const conversion checking = {check_column, COMBINE_CHECK_DOUBLES, COMBINE_CHECK_DOUBLES};
static const conversion to_fixed = {column_to_fixed, COMBINE_CHECK_DOUBLES, COMBINE_TO_FIXED};
static const conversion to_doubles = {column_to_double, COMBINE_CHECK_NUMBERS, COMBINE_TO_DOUBLES};

/* Converts all columns of some stripes of an array, within the stored triangle. If elements on a
 * device must be recorded, copies of the columns in host memory are converted as well, which
 * records the elements. */
static osla_err convert(const osla_hessian *h, uint64_t stripes, const owner_array *a,
                        const conversion *how)
{
  const bool on_device = osli_is_on_device(h, a->at);
  const int prow = osla_grid_prow_of(h->v.grid, a->owner);
  const int pcol = osla_grid_pcol_of(h->v.grid, a->owner);
  const int64_t nb = h->options.nb, cols = osla_index_count(h->n, nb, pcol, h->v.q);
  stored_columns run = {0};
  int64_t refused = 1;
  osla_err err = OSLA_OK;
  double *copy = NULL;
  if (on_device) OSLA_CALL(osli_queue_stripes(h, how->check, 0, stripes, a, &refused));
  if (on_device && refused > 0) {
    const int64_t rows = osla_index_count(h->n, nb, prow, h->v.p);
    copy = malloc((size_t)(rows + 1) * sizeof *copy);
    OSLA_CHECK(copy, OSLA_ERR_MEM, "no memory for a column of %" PRId64 " elements", rows);
  }
  for (int64_t c = 0; c < cols && refused > 0 && err == OSLA_OK; c++) {
    if (!(column_stripe(c, nb) & stripes)) continue;
    const row_range r = stored_rows(h, prow, osla_index_global(c, nb, pcol, h->v.q));
    unsigned char *column = array_at(a, array_column(a, &run, c), sizeof(double));
    if (copy) err = osli_queue_copy((size_t)r.past * sizeof *copy, column, copy);
    how->column(h, a->owner, c, r.from, r.past, copy ? copy : (double *)(void *)column);
  }
  free(copy);
  if (!on_device || how->change == how->check || err != OSLA_OK) return err;
  return osli_queue_stripes(h, how->change, 0, stripes, a, NULL);
}

/* Converts some stripes of this rank's part. */
static osla_err convert_own(const osla_hessian *h, uint64_t stripes, const conversion *how)
{
  const owner_array own = owner_part(h, osla_transport_rank(h->v.t));
  return convert(h, stripes, &own, how);
}

osla_err osli_exact_prepare(const osla_hessian *h, const piece *p, const owner_array *a)
{
  _Atomic uint64_t *fixed = fixed_stripes(h, a->owner);
  uint64_t fresh = osli_piece_stripes(p, h->options.nb) & ~atomic_load(fixed);
  if (fresh == 0) return OSLA_OK;
  OSLA_CALL(convert(h, fresh, a, &to_fixed));
  atomic_fetch_or(fixed, fresh);
  return OSLA_OK;
}

void osli_exact_record_refused(const osla_hessian *h, const piece *p, int64_t c, int64_t begin,
                               int64_t end, const unsigned char *values, int64_t column, int owner,
                               const int64_t *sums)
{
  for (int64_t r = begin; r < end; r++) {
    const unsigned char *at =
      values + (size_t)(column + (p->row_position ? p->row_position[r] : r)) * h->element;
    double value = h->combine.update_dtype == OSLA_FLOAT ? (double)*(const float *)(const void *)at
                                                         : *(const double *)(const void *)at;
    int64_t sum = sums[p->row[r]];
    if (!fixed_holds(&h->exact->h, value))
      record_element(h, VALUE, owner, p->row[r], p->col[c], value);
    else if (fixed_danger(sum) >> 63)
      record_element(h, SUM, owner, p->row[r], p->col[c], (double)sum * h->exact->h.unit);
  }
}

/* ---- the gradient ---- */

void osli_exact_add_gradient(osla_hessian *h, int64_t count, const int64_t *ix,
                             const double *values)
{
  exact_state *x = h->exact;
  for (int64_t i = 0; i < count; i++) {
    if (!fixed_holds(&x->g, values[i])) {
      record_offence(x, (offence){GRADIENT_VALUE, ix[i], 0, values[i]});
      continue;
    }
    int64_t *sum = &x->gradient[ix[i]];
    *sum = fixed_sum(*sum, fixed_of(values[i], x->g.scale));
    if (fixed_danger(*sum) >> 63)
      record_offence(x, (offence){GRADIENT_SUM, ix[i], 0, (double)*sum * x->g.unit});
  }
}

/* half [2 n] becomes the gradient updates since the last commit, summed over all ranks. The lower
 * and upper 32 bits of each number are summed separately, so that no sum overflows. */
static osla_err sum_ranks(osla_hessian *h, int64_t **half)
{
  int64_t n = h->n;
  int64_t *sum = *half = malloc((2 * (size_t)n + 1) * sizeof *sum);
  OSLA_CALL(osla_agree(
    h->v.t, sum
              ? OSLA_OK
              : osla_error_set(OSLA_ERR_MEM, "no memory to sum a gradient of order %" PRId64, n)));
  for (int64_t i = 0; i < n; i++) {
    sum[i] = h->exact->gradient[i] & INT64_C(0xffffffff);
    sum[n + i] = h->exact->gradient[i] >> 32;
  }
  return osla_allreduce(h->v.t, sum, 2 * n, MPI_INT64_T, MPI_SUM);
}

__extension__ typedef __int128 wide;

/* Returns, in fixed point, element i of the sum of updates plus the committed gradient. */
static wide total(const osla_hessian *h, const int64_t *half, int64_t i)
{
  wide sum = (wide)half[h->n + i] * ((wide)1 << 32) + half[i];
  return sum + fixed_of(h->gradient[i], h->exact->g.scale);
}

static osla_err commit_gradient(osla_hessian *h)
{
  exact_state *x = h->exact;
  int64_t *half = NULL;
  if (!(x->g.bound > 0.0)) return OSLA_OK;
  osla_err err = sum_ranks(h, &half);
  for (int64_t i = 0; err == OSLA_OK && i < h->n; i++) {
    wide sum = total(h, half, i);
    double value = (double)sum * x->g.unit;
    if (sum > x->g.limit || sum < -x->g.limit)
      /* all ranks record this offence, because all compute the same sum */
      record_offence(x, (offence){GRADIENT_SUM, i, 0, value});
    else
      h->gradient[i] = value;
  }
  if (err == OSLA_OK) memset(x->gradient, 0, (size_t)h->n * sizeof *x->gradient);
  free(half);
  return err;
}

/* ---- commit ---- */

/* Gives all ranks the offence that the lowest rank has recorded. */
static osla_err agree_offence(osla_hessian *h)
{
  osla_transport *t = h->v.t;
  int rank = h->exact->first.kind != NONE ? osla_transport_rank(t) : INT_MAX;
  OSLA_CALL(osla_allreduce(t, &rank, 1, MPI_INT, MPI_MIN));
  if (rank == INT_MAX) return OSLA_OK;
  h->exact->failed = true;
  return osla_bcast(t, &h->exact->first, (int64_t)sizeof h->exact->first, MPI_BYTE, rank);
}

osla_err osli_exact_commit(osla_hessian *h)
{
  osla_err err = OSLA_OK;
  if (h->v.prow >= 0) err = convert_own(h, atomic_exchange(own_fixed_stripes(h), 0), &to_doubles);
  if (h->device) OSLA_CALL(osla_agree(h->v.t, err));
  OSLA_CALL(commit_gradient(h));
  return osli_exact_agree_error(h);
}

osla_err osli_exact_error(const osla_hessian *h)
{
  const offence *o = &h->exact->first;
  if (!h->exact->failed) return OSLA_OK;
  const bool is_update = o->kind == VALUE || o->kind == GRADIENT_VALUE;
  const bool of_gradient = o->kind == GRADIENT_VALUE || o->kind == GRADIENT_SUM;
  char element[64];
  if (of_gradient)
    (void)snprintf(element, sizeof element, "gradient[%" PRId64 "]", o->i);
  else
    (void)snprintf(element, sizeof element, "H[%" PRId64 ", %" PRId64 "]", o->i, o->j);
  return osla_error_set(OSLA_ERR_RANGE, "%s%s %s %.17g%s not within the bound %g",
                        is_update ? "an update of " : "", element,
                        is_update         ? "by"
                        : o->kind == HELD ? "was"
                                          : "=",
                        o->value, o->kind == HELD ? " before an update," : " is",
                        of_gradient ? h->exact->g.bound : h->exact->h.bound);
}

osla_err osli_exact_begin(osla_hessian *h)
{
  osla_err err = OSLA_OK;
  if (h->v.prow >= 0) err = convert_own(h, UINT64_MAX, &checking);
  OSLA_CALL(osla_agree(h->v.t, err));
  OSLA_CALL(osli_exact_agree_error(h));
  if (h->v.prow >= 0) {
    err = convert_own(h, UINT64_MAX, &to_fixed);
    atomic_store(own_fixed_stripes(h), UINT64_MAX);
  }
  return osla_agree(h->v.t, err);
}

void osli_exact_reset(osla_hessian *h)
{
  exact_state *x = h->exact;
  x->failed = false;
  x->first = (offence){0};
  if (x->g.bound > 0.0) memset(x->gradient, 0, (size_t)h->n * sizeof *x->gradient);
  mark_initial(h);
}

/* ---- checkpoint ---- */

osla_err osli_exact_agree_error(osla_hessian *h)
{
  OSLA_CALL(agree_offence(h));
  return osli_exact_error(h);
}

uint64_t osli_exact_doubles(const osla_hessian *h)
{
  if (h->v.prow < 0) return 0;
  return ~atomic_load(own_fixed_stripes(h));
}

osla_err osli_exact_convert(const osla_hessian *h, uint64_t stripes, bool fixed,
                            const owner_array *a)
{
  if (h->v.prow < 0 || stripes == 0) return OSLA_OK;
  return convert(h, stripes, a, fixed ? &to_fixed : &to_doubles);
}

osla_err osli_exact_sum_gradient(osla_hessian *h, int64_t *sum)
{
  const wide most = (wide)FIXED_DANGER;
  const exact_state *x = h->exact;
  int64_t *half = NULL;
  memset(sum, 0, (size_t)h->n * sizeof *sum);
  if (!(x->g.bound > 0.0)) return OSLA_OK;
  osla_err err = sum_ranks(h, &half);
  for (int64_t i = 0; err == OSLA_OK && i < h->n; i++) {
    wide all = total(h, half, i);
    sum[i] = (int64_t)all;
    /* all ranks return this error, because all compute the same sum */
    if (all >= most || all < -most)
      err =
        osla_error_set(OSLA_ERR_RANGE, "gradient[%" PRId64 "] = %.17g is far beyond the bound %g",
                       i, (double)all * x->g.unit, x->g.bound);
  }
  free(half);
  return err;
}

osla_err osli_exact_restored(osla_hessian *h, const int64_t *gradient)
{
  if (osla_transport_rank(h->v.t) == 0)
    memcpy(h->exact->gradient, gradient, (size_t)h->n * sizeof *gradient);
  if (h->v.prow >= 0) atomic_store(own_fixed_stripes(h), UINT64_MAX);
  return osla_barrier(h->v.t);
}
