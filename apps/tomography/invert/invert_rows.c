/* Rows of the resolution matrix R and of the posterior covariance C at the points of --spread. With
 * the factor, row i of C = (H + P)^-1 is the solution c of (H + P) c = e_i, and row i of R = I - C
 * P is e_i - P c, because C and P are symmetric.
 *
 * The spread of row i is the root of the mean squared distance of the unknowns j from unknown i,
 * weighted by the squared elements of the row: sqrt(sum_j R_ij^2 x_ij^2 / sum_j R_ij^2), where x_ij
 * is the lateral distance or the difference of depth. The spread is 0 if only R_ii is nonzero.
 * Source: the deltaness criterion of Backus and Gilbert, "The resolving power of gross Earth data",
 * Geophys. J. R. astr. Soc. 16 (1968) 169-205, on knots of equal areas; called "spread function" in
 * Michelini and McEvilly, Bull. Seismol. Soc. Am. 81 (1991) 524-552. Memory: 2 n doubles for each
 * point. */
#include "apps/tomography/invert/invert.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static void set_position(invert_job *job, int point)
{
  invert_posterior *p = &job->posterior;
  const int64_t unknown = p->unknown[point], n_radial = job->options->n_radial;
  tomo_lat_lon(tomo_mesh_knot(job->mesh, unknown / n_radial), &p->latitude[point],
               &p->longitude[point]);
  p->depth_km[point] = tomo_radial_greville(job->radial, (int)(unknown % n_radial));
}

/* Computes the lateral and the vertical spread of one row of the resolution matrix; NaN for a row
 * of zeros. */
static void measure_row(invert_job *job, int point)
{
  invert_posterior *p = &job->posterior;
  const int n_radial = job->options->n_radial;
  const int64_t here = p->unknown[point];
  const double *row = p->row + point * job->n, *place = tomo_mesh_knot(job->mesh, here / n_radial);
  const double depth = tomo_radial_greville(job->radial, (int)(here % n_radial));
  double lateral = 0.0, vertical = 0.0, squares = 0.0;
  for (int64_t l = 0; l < job->knots; l++) {
    const double x = TOMO_EARTH_RADIUS_KM * tomo_distance(place, tomo_mesh_knot(job->mesh, l));
    for (int r = 0; r < n_radial; r++) {
      const double weight = row[l * n_radial + r] * row[l * n_radial + r];
      const double z = tomo_radial_greville(job->radial, r) - depth;
      lateral += weight * x * x;
      vertical += weight * z * z;
      squares += weight;
    }
  }
  p->spread_km[point] = sqrt(lateral / squares);
  p->spread_depth_km[point] = sqrt(vertical / squares);
}

static osla_err allocate(invert_job *job)
{
  invert_posterior *p = &job->posterior;
  const size_t points = (size_t)job->options->points, elements = points * (size_t)job->n;
  p->unknown = malloc(points * sizeof *p->unknown);
  p->row = calloc(elements, sizeof *p->row);
  p->covariance = calloc(elements, sizeof *p->covariance);
  p->spread_km = malloc(points * sizeof *p->spread_km);
  p->spread_depth_km = malloc(points * sizeof *p->spread_depth_km);
  p->latitude = malloc(points * sizeof *p->latitude);
  p->longitude = malloc(points * sizeof *p->longitude);
  p->depth_km = malloc(points * sizeof *p->depth_km);
  OSLA_CHECK(p->unknown && p->row && p->covariance && p->spread_km && p->spread_depth_km &&
               p->latitude && p->longitude && p->depth_km,
             OSLA_ERR_MEM, "no memory for %zu rows of %" PRId64 " unknowns", points, job->n);
  p->points = job->options->points;
  return OSLA_OK;
}

osla_err invert_find_rows(invert_job *job)
{
  const invert_options *o = job->options;
  invert_posterior *p = &job->posterior;
  if (o->points == 0) return OSLA_OK;
  OSLA_CALL(osla_agree(job->t, allocate(job)));
  for (int k = 0; k < p->points; k++) {
    p->unknown[k] = tomo_nearest_coefficient(job->mesh, job->radial, &o->point[k]);
    set_position(job, k);
    p->covariance[k * job->n + p->unknown[k]] = 1.0;
  }
  OSLA_CALL(invert_solve_columns(job, o->factor, p->points, p->covariance));
  for (int k = 0; k < p->points; k++) {
    double *row = p->row + k * job->n;
    tomo_prior_multiply(&job->prior, job->mesh, o->n_radial, p->covariance + k * job->n, row);
    for (int64_t i = 0; i < job->n; i++)
      row[i] = (i == p->unknown[k] ? 1.0 : 0.0) - row[i];
    measure_row(job, k);
  }
  return OSLA_OK;
}

void invert_release_rows(invert_posterior *p)
{
  free(p->unknown);
  free(p->row);
  free(p->covariance);
  free(p->spread_km);
  free(p->spread_depth_km);
  free(p->latitude);
  free(p->longitude);
  free(p->depth_km);
}
