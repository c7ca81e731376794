/* Finds the bounds of --reproducible by a pass over the paths.
 *
 * H is a sum of products G^T G, so that no partial sum of H[i, j] exceeds the largest diagonal
 * element. The diagonal element of knot l and radial function r is the sum of W[k, r]^2 A[l]^2 over
 * all paths and their data k (tomo_path.h), plus the diagonal element of the prior. The bound of H
 * is the largest sum over the paths of A[l]^2 max_r |W[:, r]|^2, plus the bound of the prior. The
 * bound of the gradient is the sum of the absolute contributions of the paths. The pass needs W and
 * A, but computes no panel of G. With --robust the bound also holds if the weights decrease,
 * because the contribution of each datum is bounded alone.
 */
#include "apps/tomography/invert/invert.h"

#include <math.h>

/* Relative bound of the rounding error in the sum that the assembly forms over the data of one
 * path. */
#define ROUNDING 1e-12

/* Sets size[r] to an upper bound of |sum over the data k of W[k, r] d[k]|. Returns max_r |W[:,
 * r]|^2. */
static double bound_response(const invert_worker *w, int radial, double *size)
{
  const int k = tomo_path_count(w->path);
  const double *response = tomo_path_response(w->path);
  double largest = 0.0;
  for (int64_t r = 0; r < radial; r++) {
    double sum = 0.0, sizes = 0.0, squares = 0.0;
    for (int i = 0; i < k; i++) {
      double term = response[i + r * k] * w->d[i];
      sum += term;
      sizes += fabs(term);
      squares += response[i + r * k] * response[i + r * k];
    }
    size[r] = w->job->options->robust ? (1.0 + ROUNDING) * sizes : fabs(sum) + ROUNDING * sizes;
    largest = fmax(largest, squares);
  }
  return largest;
}

static osla_err bound_path(invert_worker *w)
{
  const int radial = w->job->kernel->n_radial;
  const double *length;
  double size[TOMO_RADIAL_MAX];
  const int32_t *knot;
  const int64_t knots = tomo_path_knots(w->path, &knot, &length);
  const double largest = bound_response(w, radial, size);
  for (int64_t j = 0; j < knots; j++) {
    order_free_add(&w->sums[SUM_KNOTS], knot[j], length[j] * length[j] * largest);
    for (int r = 0; r < radial; r++)
      order_free_add(&w->sums[SUM_UNKNOWNS], (int64_t)knot[j] * radial + r, length[j] * size[r]);
  }
  return OSLA_OK;
}

osla_err invert_find_bounds(invert_job *job)
{
  const invert_pass pass = {.what = "finding bounds",
                            .work = bound_path,
                            .n_sums = {[SUM_KNOTS] = job->knots, [SUM_UNKNOWNS] = job->n}};
  reproducible *r = &job->reproducible;
  invert_worker total;
  bool needed;
  double busy, start = osla_clock();
  OSLA_CALL(reproducible_start(r, &job->checkpoint, &needed));
  if (!needed) return OSLA_OK;
  osla_err err = invert_for_all_paths(job, &pass, &total, &busy);
  if (err == OSLA_OK)
    reproducible_set_bounds(r,
                            order_free_largest(&total.sums[SUM_KNOTS]) +
                              tomo_prior_bound(&job->prior, job->knots, job->options->n_radial),
                            order_free_largest(&total.sums[SUM_UNKNOWNS]));
  invert_free_sums(&total);
  r->seconds = osla_clock() - start;
  return err;
}
