/* Public update calls: they check arguments, pass the checkpoint gate and the ledger, and call
 * osli_update_run. */
#include "kernels/hessian/hessian.h"
#include "kernels/hessian/hessian_exact.h"
#include "kernels/hessian/hessian_ledger.h"
#include "kernels/hessian/hessian_update.h"

#include <inttypes.h>

/* Checks where the arguments of a call lie, while a device is open: lists of indices and gradients
 * must lie in host memory, and `matrix` in host memory or on the device of H. `name` is G or U. */
static osla_err check_with_devices(const osla_hessian *h, const void *ix, const void *jx,
                                   const double *gradient, const void *matrix, const char *name)
{
  const device_queue *q = osli_device_of(matrix);
  OSLA_CHECK(!osli_on_device(ix, jx, gradient), OSLA_ERR_ARG,
             "indices and gradients must lie in host memory, not on a device");
  OSLA_CHECK(!q || q == h->device, OSLA_ERR_ARG,
             "%s lies on %s: copy it to host memory or to the memory of H", name,
             h->device ? "another device than H" : "a device, and H lies in host memory");
  OSLA_CALL(osli_device_check_host(ix, "ix"));
  OSLA_CALL(osli_device_check_host(jx, "jx"));
  OSLA_CALL(osli_device_check_host(gradient, "the gradient"));
  return q ? OSLA_OK : osli_device_check_host(matrix, name);
}

static osla_err check_memory(const osla_hessian *h, const void *ix, const void *jx,
                             const double *gradient, const void *matrix, const char *name)
{
  return osli_device_any() ? check_with_devices(h, ix, jx, gradient, matrix, name) : OSLA_OK;
}

/* Checks that all of G or U, if it lies in device memory, lies in one piece of memory that this
 * rank has allocated or registered, on a device with kernels. */
static osla_err check_extent(const osla_hessian *h, int64_t rows, int64_t cols, const void *matrix,
                             int64_t ld, const char *name)
{
  if (rows <= 0 || cols <= 0) return OSLA_OK;
  OSLA_CALL(osli_device_check_kernels(matrix, name));
  return osli_device_check_own(matrix, (size_t)((cols - 1) * ld + rows) * h->element, name);
}

static osla_err check_panel(const osla_hessian *h, int64_t count, int64_t k, const void *g,
                            int64_t ldg)
{
  OSLA_CHECK(k >= 0, OSLA_ERR_ARG, "k = %" PRId64 " rows of G is negative", k);
  OSLA_CHECK(ldg >= k && ldg >= 1, OSLA_ERR_ARG, "ldg = %" PRId64 " is below k = %" PRId64, ldg, k);
  OSLA_CHECK(g || k == 0 || count == 0, OSLA_ERR_ARG, "G is NULL");
  return check_extent(h, k, count, g, ldg, "G");
}

static osla_err check_block(const osla_hessian *h, int64_t rows, int64_t cols, const void *u,
                            int64_t ldu)
{
  OSLA_CHECK(ldu >= rows && ldu >= 1, OSLA_ERR_ARG,
             "ldu = %" PRId64 " is below the %" PRId64 " rows", ldu, rows);
  OSLA_CHECK(u || rows == 0 || cols == 0, OSLA_ERR_ARG, "U is NULL");
  return check_extent(h, rows, cols, u, ldu, "U");
}

static osla_err check_gradient(const osla_hessian *h, int64_t count, const double *values)
{
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
  OSLA_CALL(check_memory(h, ix, NULL, NULL, g, "G"));
  OSLA_CALL(osli_split_check(h->n, "ix", count, ix));
  OSLA_CALL(check_panel(h, count, k, g, ldg));
  osli_gate_enter(h);
  return osli_gate_leave(h, add_panel(h, count, ix, k, g, ldg));
}

osla_err osla_hessian_update_block(osla_hessian *h, int64_t rows, const int64_t *ix, int64_t cols,
                                   const int64_t *jx, const void *u, int64_t ldu)
{
  OSLA_CALL(check_memory(h, ix, jx, NULL, u, "U"));
  OSLA_CALL(osli_split_check(h->n, "ix", rows, ix));
  OSLA_CALL(osli_split_check(h->n, "jx", cols, jx));
  OSLA_CALL(check_block(h, rows, cols, u, ldu));
  osli_gate_enter(h);
  return osli_gate_leave(h, add_block(h, rows, ix, cols, jx, u, ldu));
}

osla_err osla_hessian_update_gradient(osla_hessian *h, int64_t count, const int64_t *ix,
                                      const double *values)
{
  OSLA_CALL(check_memory(h, ix, NULL, values, NULL, "G"));
  OSLA_CALL(osli_split_check(h->n, "ix", count, ix));
  OSLA_CALL(check_gradient(h, count, values));
  osli_gate_enter(h);
  add_gradient(h, count, ix, values);
  return osli_gate_leave(h, OSLA_OK);
}

/* ---- updates with an id ---- */

static osla_err check_datum(const osla_hessian *h, const osla_hessian_datum *d)
{
  OSLA_CALL(check_memory(h, d->ix, d->jx, d->gradient, d->g, "G"));
  OSLA_CALL(check_memory(h, NULL, NULL, NULL, d->u, "U"));
  OSLA_CALL(osli_split_check(h->n, "ix", d->count, d->ix));
  if (d->g || d->k != 0) OSLA_CALL(check_panel(h, d->count, d->k, d->g, d->ldg));
  if (d->gradient) OSLA_CALL(check_gradient(h, d->count, d->gradient));
  if (!d->u && d->cols == 0) return OSLA_OK;
  OSLA_CALL(osli_split_check(h->n, "jx", d->cols, d->jx));
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
