/* The pass that finds the bounds of --reproducible.
 *
 * Panels: let s_i be the norm of the column of diag(w)^(1/2) G at index i, or the sum of the norms
 * if the index occurs several times. An update adds at most s_i s_j to H[i, j], so that no sum of
 * updates exceeds the largest sum of s_i^2. Blocks: an update with an index that occurs m times
 * adds at most m max_b |U[a, b]| to row ix[a]. The sum of both bounds is a bound for files with
 * panels and blocks.
 */
#include "tools/assemble/assemble_work.h"
#include "tools/common/order_free.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

typedef struct look {
  order_free_sums panels, blocks, gradient; /* [n] */
  double *at_index;                         /* [n] zero between updates */
} look;

static osla_err check_indices(const worker *w, int64_t n, const int64_t *ix)
{
  const long long unknowns = w->job->options->n;
  for (int64_t a = 0; a < n; a++)
    OSLA_CHECK(ix[a] >= 0 && ix[a] < unknowns, OSLA_ERR_ARG,
               "ix[%" PRId64 "] = %" PRId64 " is outside 0 to %lld", a, ix[a], unknowns - 1);
  return OSLA_OK;
}

/* Adds the contributions of a k x n panel. */
static void look_at_panel(look *l, int64_t k, int64_t n, const int64_t *ix, const double *g)
{
  for (int64_t a = 0; a < n; a++) {
    double sum = 0.0;
    for (int64_t d = 0; d < k; d++)
      sum += g[a * k + d] * g[a * k + d];
    l->at_index[ix[a]] += sqrt(sum);
  }
  for (int64_t a = 0; a < n; a++) {
    double norm = l->at_index[ix[a]];
    l->at_index[ix[a]] = 0.0; /* counts each index once */
    order_free_add(&l->panels, ix[a], norm * norm);
  }
}

static osla_err look_at_block(look *l, int64_t n, const int64_t *ix, const double *u)
{
  double often = 0.0, largest_of_all = 0.0;
  for (int64_t a = 0; a < n; a++)
    often = fmax(often, ++l->at_index[ix[a]]);
  for (int64_t a = 0; a < n; a++) {
    double largest = 0.0;
    for (int64_t b = 0; b < n; b++) {
      double size = fabs(u[a * n + b]);
      largest = size > largest ? size : largest;
    }
    l->at_index[ix[a]] = 0.0;
    order_free_add(&l->blocks, ix[a], often * largest);
    largest_of_all = fmax(largest_of_all, largest);
  }
  return update_check_symmetric(OSLA_DOUBLE, u, n, largest_of_all);
}

static osla_err look_at_update(worker *w, int64_t u, void *values)
{
  const updates_batch *b = &w->batch;
  look *l = w->with;
  int64_t at = b->offset[u] - b->offset[0], n = b->offset[u + 1] - b->offset[u];
  const int64_t *ix = b->ix + at;
  const double *gradient;
  OSLA_CALL(check_indices(w, n, ix));
  OSLA_CALL(update_prepare(w, u, values, &gradient));
  if (b->k > 0)
    look_at_panel(l, b->k, n, ix, values);
  else
    OSLA_CALL(look_at_block(l, n, ix, values));
  for (int64_t a = 0; gradient && a < n; a++)
    order_free_add(&l->gradient, ix[a], fabs(gradient[a]));
  return OSLA_OK;
}

static osla_err make(int64_t n, look *l)
{
  OSLA_CALL(order_free_make(n, &l->panels));
  OSLA_CALL(order_free_make(n, &l->blocks));
  OSLA_CALL(order_free_make(n, &l->gradient));
  l->at_index = calloc((size_t)n, sizeof *l->at_index);
  OSLA_CHECK(l->at_index, OSLA_ERR_MEM, "no memory for %" PRId64 " sums", n);
  return OSLA_OK;
}

static osla_err look_at_all(assemble_job *job, look *l)
{
  worker w = {.job = job, .use = look_at_update, .with = l};
  OSLA_CALL(osla_agree(job->t, make(job->options->n, l)));
  OSLA_CALL(assemble_deal(&w));
  job->symmetric = true;
  OSLA_CALL(order_free_reduce(job->t, &l->panels));
  OSLA_CALL(order_free_reduce(job->t, &l->blocks));
  OSLA_CALL(order_free_reduce(job->t, &l->gradient));
  reproducible_found(&job->reproducible,
                     order_free_largest(&l->panels) + order_free_largest(&l->blocks),
                     order_free_largest(&l->gradient));
  return OSLA_OK;
}

osla_err assemble_find_bounds(assemble_job *job)
{
  look l = {.at_index = NULL};
  bool pass;
  double start = osla_clock();
  OSLA_CALL(reproducible_begin(&job->reproducible, &job->checkpoint, &pass));
  if (!pass) return OSLA_OK;
  osla_err err = look_at_all(job, &l);
  order_free_free(&l.panels);
  order_free_free(&l.blocks);
  order_free_free(&l.gradient);
  free(l.at_index);
  job->reproducible.seconds = osla_clock() - start;
  return err;
}
