/* Finds the bounds of --reproducible by a pass over the updates.
 *
 * Updates by panels (matrix G with weights w): let s_i be the norm of the column of diag(w)^(1/2) G
 * at index i, or the sum of the norms if the index occurs several times. An update adds at most
 * s_i s_j to H[i, j], so that no sum of updates exceeds the largest sum of s_i^2.
 *
 * Updates by blocks (matrix U with the list ix of indices): if ix contains no index more than m
 * times, the update adds at most m max_b |U[a, b]| to each element of row ix[a] of H.
 *
 * If files hold panels and blocks, the bound is the sum of both bounds. */
#include "tools/assemble/assemble_pass.h"
#include "tools/common/order_free.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

typedef struct bound_sums {
  order_free_sums panels;   /* [n] for each index i: sum of s_i^2 over the panels */
  order_free_sums blocks;   /* [n] for each index i: sum of the bounds of row i over the blocks */
  order_free_sums gradient; /* [n] for each index i: sum of |g_i| over the updates' gradients g */
  /* [n] for each index i, in the current update: s_i of a panel, or the number of times that a
   * block's list of indices contains i; 0 between updates */
  double *at_index;
} bound_sums;

static osla_err check_indices(const assemble_worker *w, int64_t n, const int64_t *ix)
{
  const long long unknowns = w->job->options->n;
  for (int64_t a = 0; a < n; a++)
    OSLA_CHECK(ix[a] >= 0 && ix[a] < unknowns, OSLA_ERR_ARG,
               "ix[%" PRId64 "] = %" PRId64 " is outside 0 to %lld", a, ix[a], unknowns - 1);
  return OSLA_OK;
}

/* Adds the contributions of a k x n panel to the bounds. */
static void bound_panel(bound_sums *l, int64_t k, int64_t n, const int64_t *ix, const double *g)
{
  for (int64_t a = 0; a < n; a++) {
    double sum = 0.0;
    for (int64_t d = 0; d < k; d++)
      sum += g[a * k + d] * g[a * k + d];
    l->at_index[ix[a]] += sqrt(sum);
  }
  for (int64_t a = 0; a < n; a++) {
    double norm = l->at_index[ix[a]];
    l->at_index[ix[a]] = 0.0; /* an index that occurs again counts only once */
    order_free_add(&l->panels, ix[a], norm * norm);
  }
}

static osla_err bound_block(bound_sums *l, int64_t n, const int64_t *ix, const double *u)
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

static osla_err bound_update(assemble_worker *w, int64_t u, void *values)
{
  const updates_batch *b = &w->batch;
  bound_sums *l = w->arg;
  int64_t at = b->offset[u] - b->offset[0], n = b->offset[u + 1] - b->offset[u];
  const int64_t *ix = b->ix + at;
  const double *gradient;
  OSLA_CALL(check_indices(w, n, ix));
  OSLA_CALL(update_prepare(w, u, values, &gradient));
  if (b->k > 0)
    bound_panel(l, b->k, n, ix, values);
  else
    OSLA_CALL(bound_block(l, n, ix, values));
  for (int64_t a = 0; gradient && a < n; a++)
    order_free_add(&l->gradient, ix[a], fabs(gradient[a]));
  return OSLA_OK;
}

static osla_err create_sums(int64_t n, bound_sums *l)
{
  OSLA_CALL(order_free_create(n, &l->panels));
  OSLA_CALL(order_free_create(n, &l->blocks));
  OSLA_CALL(order_free_create(n, &l->gradient));
  l->at_index = calloc((size_t)n, sizeof *l->at_index);
  OSLA_CHECK(l->at_index, OSLA_ERR_MEM, "no memory for %" PRId64 " sums", n);
  return OSLA_OK;
}

static osla_err bound_all(assemble_job *job, bound_sums *l)
{
  assemble_worker w = {.job = job, .process = bound_update, .arg = l};
  OSLA_CALL(osla_agree(job->t, create_sums(job->options->n, l)));
  OSLA_CALL(assemble_for_all_updates(&w));
  job->symmetric = true;
  OSLA_CALL(order_free_reduce(job->t, &l->panels));
  OSLA_CALL(order_free_reduce(job->t, &l->blocks));
  OSLA_CALL(order_free_reduce(job->t, &l->gradient));
  reproducible_set_bounds(&job->reproducible,
                          order_free_largest(&l->panels) + order_free_largest(&l->blocks),
                          order_free_largest(&l->gradient));
  return OSLA_OK;
}

osla_err assemble_find_bounds(assemble_job *job)
{
  bound_sums l = {.at_index = NULL};
  bool pass;
  double start = osla_clock();
  OSLA_CALL(reproducible_start(&job->reproducible, &job->checkpoint, &pass));
  if (!pass) return OSLA_OK;
  osla_err err = bound_all(job, &l);
  order_free_destroy(&l.panels);
  order_free_destroy(&l.blocks);
  order_free_destroy(&l.gradient);
  free(l.at_index);
  job->reproducible.seconds = osla_clock() - start;
  return err;
}
