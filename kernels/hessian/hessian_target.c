#include "kernels/hessian/hessian_target.h"
#include "kernels/hessian/hessian.h"
#include "kernels/hessian/hessian_device.h"
#include "osla_device.h"
#include "src/base/writable.h"
#include "src/blas/work.h"
#include "src/matrix/part_checks.h"

#include <inttypes.h>
#include <string.h>

/* List of the accumulators of this process that have a registered target. */
static osla_hessian *targets;
static pthread_mutex_t targets_mutex = PTHREAD_MUTEX_INITIALIZER;

osla_err osli_target_create(const osla_hessian *h, osla_grid *grid, osla_matrix **out)
{
  const osla_hessian_options *o = &h->options;
  const osla_dtype dtype = osli_hessian_dtype(o);
  return o->triangle ? osla_matrix_create_triangle(grid, dtype, h->n, o->nb, out)
                     : osla_matrix_create(grid, dtype, h->n, h->n, o->nb, o->nb, out);
}

static osla_err check_shape(const osla_layout *l)
{
  OSLA_CHECK(l->m == l->n, OSLA_ERR_ARG,
             "the matrix has %" PRId64 " x %" PRId64 " elements: an accumulator needs a square one",
             l->m, l->n);
  OSLA_CHECK(l->mb == l->nb, OSLA_ERR_ARG,
             "the matrix has blocks of %" PRId64 " x %" PRId64
             ": an accumulator needs square blocks",
             l->mb, l->nb);
  return OSLA_OK;
}

static osla_err check_options(const osla_hessian_options *o, osla_dtype dtype, int64_t nb)
{
  OSLA_CHECK(o->nb == 0 || o->nb == nb, OSLA_ERR_ARG,
             "options.nb = %" PRId64 ", but the matrix has blocks of %" PRId64 ": set nb to 0",
             o->nb, nb);
  OSLA_CHECK(!o->single || dtype == OSLA_FLOAT, OSLA_ERR_ARG,
             "options.single is set, but the matrix has double precision");
  OSLA_CHECK(o->clear || (o->initial == 0.0 && !o->from_zero), OSLA_ERR_ARG,
             "initial = %g and from_zero = %d need options.clear, because otherwise the contents "
             "of the matrix are the first values",
             o->initial, (int)o->from_zero);
  return OSLA_OK;
}

static osla_err check_writable(const osla_matrix *a)
{
  if (osli_work_modelled || osla_matrix_device(a) || osla_matrix_is_triangle(a)) return OSLA_OK;
  const int rank = osla_transport_rank(osla_grid_transport(osla_matrix_grid(a)));
  const int64_t rows = osla_matrix_local_rows(a), cols = osla_matrix_local_cols(a);
  if (rows == 0 || cols == 0) return OSLA_OK;
  const int64_t elements = (cols - 1) * osla_matrix_lld(a, rank) + rows;
  OSLA_CHECK(osli_is_writable(osla_matrix_local(a),
                              (size_t)elements * osla_dtype_size(osla_matrix_dtype(a))),
             OSLA_ERR_ARG, "the part of rank %d of the matrix is in read-only memory", rank);
  return OSLA_OK;
}

osla_err osli_target_check(const osla_matrix *a, osla_hessian_options *o)
{
  OSLA_CHECK(a, OSLA_ERR_ARG, "the matrix is NULL");
  const osla_layout l = osla_matrix_layout(a);
  const osla_dtype dtype = osla_matrix_dtype(a);
  OSLA_CHECK(dtype == OSLA_FLOAT || dtype == OSLA_DOUBLE, OSLA_ERR_UNSUPPORTED,
             "the matrix has type '%c': an accumulator needs real elements",
             osla_dtype_letter(dtype));
  OSLA_CALL(check_shape(&l));
  OSLA_CALL(check_options(o, dtype, l.nb));
  OSLA_CHECK(o->triangle == 0 || osla_matrix_is_triangle(a), OSLA_ERR_ARG,
             "options.triangle is set, but the matrix is a full one: set it to 0");
  o->nb = l.nb;
  o->triangle = osla_matrix_is_triangle(a);
  o->single = dtype == OSLA_FLOAT;
  if (osla_matrix_device(a)) return osli_target_check_device(a, o);
  return check_writable(a);
}

osla_err osli_target_claim(osla_hessian *h)
{
  if (osli_work_modelled) return OSLA_OK; /* modelled matrices have no memory of their own */
  const osla_part own = osla_whole(h->matrix);
  osla_err err = OSLA_OK;
  (void)pthread_mutex_lock(&targets_mutex);
  for (const osla_hessian *other = targets; other && err == OSLA_OK; other = other->next_target) {
    const osla_part part = osla_whole(other->matrix);
    if (osli_parts_overlap(&own, &part))
      err = osla_error_set(OSLA_ERR_STATE,
                           "another accumulator adds to the memory of this matrix: destroy it "
                           "first");
  }
  if (err == OSLA_OK) {
    h->next_target = targets;
    targets = h;
  }
  (void)pthread_mutex_unlock(&targets_mutex);
  return err;
}

void osli_target_release(osla_hessian *h)
{
  (void)pthread_mutex_lock(&targets_mutex);
  for (osla_hessian **at = &targets; *at; at = &(*at)->next_target)
    if (*at == h) {
      *at = h->next_target;
      break;
    }
  (void)pthread_mutex_unlock(&targets_mutex);
}

osla_err osli_target_is_hidden(const osla_hessian *h, bool *hidden)
{
  const local_view *v = &h->v;
  int any = 0;
  for (int prow = 0; prow < v->p; prow++)
    for (int pcol = 0; pcol < v->q; pcol++) {
      const int owner = rank_at(v, prow, pcol);
      const bool owns = osla_index_count(v->m, v->mb, prow, v->p) > 0 &&
                        osla_index_count(v->n, v->nb, pcol, v->q) > 0;
      if (owns && osla_transport_same_node(v->t, owner) && !in_place(v, owner)) any = 1;
    }
  OSLA_CALL(osla_allreduce(v->t, &any, 1, MPI_INT, MPI_MAX));
  *hidden = any != 0;
  return OSLA_OK;
}

void osli_fill_column(osla_dtype dtype, int64_t count, void *column, double value)
{
  if (value == 0.0 && count > 0)
    memset(column, 0, (size_t)count * osla_dtype_size(dtype));
  else if (dtype == OSLA_DOUBLE)
    for (int64_t i = 0; i < count; i++)
      ((double *)column)[i] = value;
  else
    for (int64_t i = 0; i < count; i++)
      ((float *)column)[i] = (float)value;
}

osla_err osli_target_fill(osla_hessian *h)
{
  const local_view *v = &h->v;
  const double value = osli_combiner_initial(&h->options);
  const owner_array own = owner_part(h, osla_transport_rank(v->t));
  stored_columns run = {0};
  if (h->device) {
    osla_err err = OSLA_OK;
    if (v->prow >= 0) err = osli_queue_stripes(h, COMBINE_SET, value, UINT64_MAX, &own, NULL);
    return osla_agree(v->t, err);
  }
  for (int64_t c = 0; c < v->cols && !osli_work_modelled; c++) {
    const int64_t j = osla_index_global(c, v->nb, v->pcol, v->q);
    const int64_t column = array_column(&own, &run, c);
    const row_range r =
      h->owns_matrix ? (row_range){run.first_row, v->rows} : stored_rows(h, v->prow, j);
    osli_fill_column(v->dtype, r.past - r.from, array_at(&own, column + r.from, v->element), value);
  }
  return osla_barrier(v->t);
}
