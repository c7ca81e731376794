/* Public update calls: they check arguments, pass the checkpoint gate and the ledger, and call
 * osli_update_run. */
#include "kernels/hessian/hessian.h"
#include "kernels/hessian/hessian_exact.h"
#include "kernels/hessian/hessian_ledger.h"
#include "kernels/hessian/hessian_update.h"

#include <inttypes.h>

/* Checks that `list`, the indices or the gradient of an update, lies in host memory: the host reads
 * these arrays also if H is in device memory. `name` begins the error message. */
static osla_err check_list(const void *list, const char *name)
{
  device_queue *q;
  OSLA_CALL(osli_device_locate(list, 0, name, &q));
  OSLA_CHECK(!q, OSLA_ERR_ARG, "%s lies on device %d: copy it to host memory", name, q->ordinal);
  return OSLA_OK;
}

static osla_err check_indices(const osla_hessian *h, const char *name, int64_t n,
                              const int64_t *list)
{
  OSLA_CALL(check_list(list, name));
  return osli_split_check(h->n, name, n, list);
}

/* Checks that the matrix of an update (G, or the block U of an update by blocks) lies in host
 * memory, or in the memory of H's device. In device memory the whole matrix must lie in one
 * allocation or one registered range of this rank. `name` begins the error message. */
static osla_err check_matrix(const osla_hessian *h, int64_t rows, int64_t cols, const void *matrix,
                             int64_t ld, const char *name)
{
  device_queue *q;
  if (rows <= 0 || cols <= 0) return OSLA_OK;
  const size_t bytes = (size_t)((cols - 1) * ld + rows) * h->element;
  OSLA_CALL(osli_device_locate(matrix, bytes, name, &q));
  return q && q != h->device ? osli_device_differ(name, q, "H", h->device) : OSLA_OK;
}

static osla_err check_panel(const osla_hessian *h, int64_t count, int64_t k, const void *g,
                            int64_t ldg)
{
  OSLA_CHECK(k >= 0, OSLA_ERR_ARG, "k = %" PRId64 " rows of G is negative", k);
  OSLA_CHECK(ldg >= k && ldg >= 1, OSLA_ERR_ARG, "ldg = %" PRId64 " is below k = %" PRId64, ldg, k);
  OSLA_CHECK(g || k == 0 || count == 0, OSLA_ERR_ARG, "G is NULL");
  return check_matrix(h, k, count, g, ldg, "G");
}

static osla_err check_block(const osla_hessian *h, int64_t rows, int64_t cols, const void *u,
                            int64_t ldu)
{
  OSLA_CHECK(ldu >= rows && ldu >= 1, OSLA_ERR_ARG,
             "ldu = %" PRId64 " is below the %" PRId64 " rows", ldu, rows);
  OSLA_CHECK(u || rows == 0 || cols == 0, OSLA_ERR_ARG, "U is NULL");
  return check_matrix(h, rows, cols, u, ldu, "U");
}

static osla_err check_gradient(const osla_hessian *h, int64_t count, const double *values)
{
  OSLA_CALL(check_list(values, "the gradient"));
  OSLA_CHECK(values || count == 0, OSLA_ERR_ARG, "gradient values are NULL");
  OSLA_CHECK(count == 0 || !h->exact || h->options.gradient_bound > 0.0, OSLA_ERR_STATE,
             "a gradient in order-independent mode needs options.gradient_bound");
  return OSLA_OK;
}

static osla_err add_panel(osla_hessian *h, int64_t count, const int64_t *ix, int64_t k,
                          const void *g, int64_t ldg)
{
  update u = {.k = k, .data = g, .ld = ldg};
  return count == 0 || k == 0 ? OSLA_OK : osli_update_run(h, &u, count, ix, count, ix);
}

static osla_err add_block(osla_hessian *h, int64_t rows, const int64_t *ix, int64_t cols,
                          const int64_t *jx, const void *block, int64_t ldu)
{
  update u = {.k = -1, .data = block, .ld = ldu};
  return rows == 0 || cols == 0 ? OSLA_OK : osli_update_run(h, &u, rows, ix, cols, jx);
}

static void add_gradient(osla_hessian *h, int64_t count, const int64_t *ix, const double *values)
{
  if (count == 0) return;
  (void)pthread_mutex_lock(&h->mutex);
  if (h->exact)
    osli_exact_add_gradient(h, count, ix, values);
  else
    for (int64_t i = 0; i < count; i++)
      h->pending_gradient[ix[i]] += values[i];
  h->dirty = true;
  (void)pthread_mutex_unlock(&h->mutex);
}

osla_err osla_hessian_update(osla_hessian *h, int64_t count, const int64_t *ix, int64_t k,
                             const void *g, int64_t ldg)
{
  OSLA_CALL(check_indices(h, "ix", count, ix));
  OSLA_CALL(check_panel(h, count, k, g, ldg));
  osli_gate_enter(h);
  return osli_gate_leave(h, add_panel(h, count, ix, k, g, ldg));
}

osla_err osla_hessian_update_block(osla_hessian *h, int64_t rows, const int64_t *ix, int64_t cols,
                                   const int64_t *jx, const void *u, int64_t ldu)
{
  OSLA_CALL(check_indices(h, "ix", rows, ix));
  OSLA_CALL(check_indices(h, "jx", cols, jx));
  OSLA_CALL(check_block(h, rows, cols, u, ldu));
  osli_gate_enter(h);
  return osli_gate_leave(h, add_block(h, rows, ix, cols, jx, u, ldu));
}

osla_err osla_hessian_update_gradient(osla_hessian *h, int64_t count, const int64_t *ix,
                                      const double *values)
{
  OSLA_CALL(check_indices(h, "ix", count, ix));
  OSLA_CALL(check_gradient(h, count, values));
  osli_gate_enter(h);
  add_gradient(h, count, ix, values);
  return osli_gate_leave(h, OSLA_OK);
}

/* ---- updates with an id ---- */

static osla_err check_datum(const osla_hessian *h, const osla_hessian_datum *d)
{
  OSLA_CALL(check_indices(h, "ix", d->count, d->ix));
  if (d->g || d->k != 0) OSLA_CALL(check_panel(h, d->count, d->k, d->g, d->ldg));
  if (d->gradient) OSLA_CALL(check_gradient(h, d->count, d->gradient));
  if (!d->u && d->cols == 0) return OSLA_OK;
  OSLA_CALL(check_indices(h, "jx", d->cols, d->jx));
  return check_block(h, d->count, d->cols, d->u, d->ldu);
}

static osla_err add_datum(osla_hessian *h, const osla_hessian_datum *d)
{
  if (d->g) OSLA_CALL(add_panel(h, d->count, d->ix, d->k, d->g, d->ldg));
  if (d->u) OSLA_CALL(add_block(h, d->count, d->ix, d->cols, d->jx, d->u, d->ldu));
  if (d->gradient) add_gradient(h, d->count, d->ix, d->gradient);
  return OSLA_OK;
}

osla_err osla_hessian_update_once(osla_hessian *h, const osla_hessian_datum *datum, bool *skipped)
{
  bool claimed;
  if (skipped) *skipped = false;
  OSLA_CALL(check_datum(h, datum));
  osli_gate_enter(h);
  osla_err err = osli_ledger_claim(h, datum->id, &claimed);
  /* after this error the accumulator is still intact, because no part of the update was added */
  if (err != OSLA_OK) {
    (void)osli_gate_leave(h, OSLA_OK);
    return err;
  }
  if (skipped) *skipped = !claimed;
  return osli_gate_leave(h, claimed ? add_datum(h, datum) : OSLA_OK);
}
