/* Traces one path, and computes its panel, data and residuals (contract: tomo_path.h).
 *
 * The basis is twice differentiable, so the error of A_l falls with the square of the step; the sum
 * over l is the exact length for any step. The integrals are accumulated in an array over all
 * knots; a list of the touched knots makes it cheap to gather, sort and clear them. Predictions
 * need only the N_r radial averages sum_l A_l m[l, r]. */
#include "apps/tomography/earth/tomo_path.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "osla_random.h"

struct tomo_path {
  const tomo_mesh *mesh;
  const tomo_kernel *kernel;
  /* allocated elements of the arrays `knot` and `length`; `index` has N_r times as many */
  int64_t knots_max;
  int64_t knots; /* number of knots touched by the latest arc */
  /* [knots of the mesh] length A_l (tomo_path.h) of each knot for the path being traced; all zero
   * after the trace */
  double *sum;
  int32_t *knot;
  double *length;
  int64_t *index;
  tomo_set set;     /* set of measures of the latest call of tomo_path_set_data */
  bool has_factors; /* true if the latest call of tomo_path_set_data passed factors */
  double *scale;    /* [k] factor of each datum divided by its deviation sigma */
  double *factor;   /* [k] factor of each datum; 1 if the caller gave no factors */
  double *response; /* [k * N_r] whitened response W of the path's measures */
};

/* An upper bound of the number of knots whose basis touches a full circle: the area of the strip
 * with a margin of one spacing on either side, divided by the smallest area per knot (0.7 of the
 * mean). */
static int64_t max_touched_knots(const tomo_mesh *mesh)
{
  const int64_t knots = tomo_mesh_knots(mesh);
  const double half_width = 3.0 * tomo_mesh_spacing(mesh);
  const double part = half_width >= 1.5 ? 1.0 : sin(half_width);
  const int64_t bound = (int64_t)(part / 0.7 * (double)knots) + TOMO_MESH_SUPPORT;
  return bound < knots ? bound : knots;
}

osla_err tomo_path_create(const tomo_mesh *mesh, const tomo_kernel *kernel, int max_data,
                          tomo_path **out)
{
  *out = NULL;
  OSLA_CHECK(mesh && kernel, OSLA_ERR_ARG, "a path needs a mesh and kernels");
  OSLA_CHECK(max_data >= 0, OSLA_ERR_ARG, "a path of %d data", max_data);
  tomo_path *path = calloc(1, sizeof *path);
  OSLA_CHECK(path, OSLA_ERR_MEM, "no memory for a path");
  path->mesh = mesh;
  path->kernel = kernel;
  path->knots_max = max_touched_knots(mesh);
  const size_t touched = (size_t)path->knots_max, radial = (size_t)kernel->n_radial;
  path->sum = calloc((size_t)tomo_mesh_knots(mesh), sizeof *path->sum);
  path->knot = calloc(touched, sizeof *path->knot);
  path->length = calloc(touched, sizeof *path->length);
  path->index = calloc(touched * radial, sizeof *path->index);
  path->scale = calloc((size_t)max_data + 1, sizeof *path->scale);
  path->factor = calloc((size_t)max_data + 1, sizeof *path->factor);
  path->response = calloc((size_t)max_data * radial + 1, sizeof *path->response);
  if (!path->sum || !path->knot || !path->length || !path->index || !path->scale || !path->factor ||
      !path->response) {
    tomo_path_destroy(&path);
    return osla_error_set(OSLA_ERR_MEM, "no memory for paths over %zu knots", touched);
  }
  *out = path;
  return OSLA_OK;
}

void tomo_path_destroy(tomo_path **path)
{
  if (!*path) return;
  free((*path)->sum);
  free((*path)->knot);
  free((*path)->length);
  free((*path)->index);
  free((*path)->scale);
  free((*path)->factor);
  free((*path)->response);
  free(*path);
  *path = NULL;
}

int64_t tomo_path_columns_max(const tomo_path *path)
{
  return path->knots_max * path->kernel->n_radial;
}

int64_t tomo_path_trace(tomo_path *path, const tomo_arc *arc)
{
  int32_t knot[TOMO_MESH_SUPPORT];
  double weight[TOMO_MESH_SUPPORT], point[3];
  const int64_t steps = (int64_t)ceil(8.0 * arc->angle / tomo_mesh_spacing(path->mesh)) + 1;
  const double step = arc->angle / (double)steps, step_km = step * TOMO_EARTH_RADIUS_KM;
  path->knots = 0;
  for (int64_t s = 0; s < steps; s++) {
    tomo_arc_point(arc, ((double)s + 0.5) * step, point);
    const int count = tomo_mesh_basis(path->mesh, point, knot, weight);
    for (int i = 0; i < count; i++) {
      double *sum = &path->sum[knot[i]];
      if (*sum <= 0.0) {
        if (path->knots == path->knots_max) continue;
        path->knot[path->knots++] = knot[i];
      }
      *sum += weight[i] * step_km;
    }
  }
  qsort(path->knot, (size_t)path->knots, sizeof *path->knot, tomo_compare_knots);
  const int radial = path->kernel->n_radial;
  for (int64_t j = 0; j < path->knots; j++) {
    const int32_t l = path->knot[j];
    path->length[j] = path->sum[l];
    path->sum[l] = 0.0;
    for (int r = 0; r < radial; r++)
      path->index[j * radial + r] = (int64_t)l * radial + r;
  }
  return path->knots * radial;
}

int64_t tomo_path_knots(const tomo_path *path, const int32_t **knot, const double **length_km)
{
  if (knot) *knot = path->knot;
  if (length_km) *length_km = path->length;
  return path->knots;
}

const int64_t *tomo_path_indices(const tomo_path *path)
{
  return path->index;
}

void tomo_path_set_data(tomo_path *path, const tomo_set *set, const double *factor)
{
  const bool same = set->measure == path->set.measure && set->sigma == path->set.sigma &&
                    set->count == path->set.count;
  if (same && !factor && !path->has_factors) return;
  const int64_t k = set->count, all = path->kernel->count;
  const int radial = path->kernel->n_radial;
  const double *response = path->kernel->response;
  path->set = *set;
  path->has_factors = factor != NULL;
  for (int64_t i = 0; i < k; i++) {
    path->factor[i] = factor ? factor[i] : 1.0;
    path->scale[i] = path->factor[i] / set->sigma[i];
  }
  for (int64_t r = 0; r < radial; r++)
    for (int64_t i = 0; i < k; i++)
      path->response[i + r * k] = response[set->measure[i] + r * all] * path->scale[i];
}

int tomo_path_count(const tomo_path *path)
{
  return path->set.count;
}

const double *tomo_path_response(const tomo_path *path)
{
  return path->response;
}

void tomo_path_whiten(const tomo_path *path, double *d)
{
  for (int i = 0; i < path->set.count; i++)
    d[i] *= path->scale[i];
}

osla_err tomo_path_panel(const tomo_path *path, osla_dtype dtype, void *g, int64_t ld)
{
  const int k = path->set.count, radial = path->kernel->n_radial;
  const double *response = path->response;
  OSLA_CHECK(dtype == OSLA_DOUBLE || dtype == OSLA_FLOAT, OSLA_ERR_ARG,
             "a panel of dtype %d is neither float nor double", (int)dtype);
  OSLA_CHECK(ld >= k, OSLA_ERR_ARG, "leading dimension %lld is less than k = %d", (long long)ld, k);
  for (int64_t column = 0; column < path->knots * radial; column++) {
    const double length = path->length[column / radial];
    const double *w = response + column % radial * k;
    if (dtype == OSLA_DOUBLE) {
      double *to = (double *)g + column * ld;
      for (int i = 0; i < k; i++)
        to[i] = w[i] * length;
    } else {
      float *to = (float *)g + column * ld;
      for (int i = 0; i < k; i++)
        to[i] = (float)(w[i] * length);
    }
  }
  return OSLA_OK;
}

/* Adds the sum of A_l m[l, r] over the touched knots l to average[r], for each radial function
 * r. */
static void average_model(const tomo_path *path, const double *m, double *average)
{
  const int radial = path->kernel->n_radial;
  for (int64_t j = 0; m && j < path->knots; j++)
    for (int r = 0; r < radial; r++)
      average[r] += path->length[j] * m[(int64_t)path->knot[j] * radial + r];
}

/* Computes the whitened predictions G m of the path's k data. */
static void predict(const tomo_path *path, const double *m, double *d)
{
  const int k = path->set.count, radial = path->kernel->n_radial;
  const double *response = path->response;
  double average[TOMO_RADIAL_MAX] = {0.0};
  average_model(path, m, average);
  for (int i = 0; i < k; i++)
    d[i] = 0.0;
  for (int64_t r = 0; r < radial; r++)
    for (int i = 0; i < k; i++)
      d[i] += response[i + r * k] * average[r];
}

void tomo_path_data(const tomo_path *path, const double *m_true, double noise, uint64_t seed,
                    int64_t id, double *d)
{
  predict(path, m_true, d);
  if (noise == 0.0) return;
  for (int i = 0; i < path->set.count; i++)
    d[i] += path->factor[i] * noise * osla_random_normal(seed, (uint64_t)id, (uint64_t)i);
}

/* Residual of datum i, with average[r] = sum_l A_l m[l, r]. */
static double residual_of(const tomo_path *path, const double *average, const double *d, int i)
{
  double residual = d[i];
  for (int64_t r = 0; r < path->kernel->n_radial; r++)
    residual -= path->response[i + r * path->set.count] * average[r];
  return residual;
}

void tomo_path_residuals(const tomo_path *path, const double *m, const double *d, double *residual)
{
  double average[TOMO_RADIAL_MAX] = {0.0};
  average_model(path, m, average);
  for (int i = 0; i < path->set.count; i++)
    residual[i] = residual_of(path, average, d, i);
}

double tomo_path_misfit(const tomo_path *path, const double *m, const double *d)
{
  double average[TOMO_RADIAL_MAX] = {0.0}, sum = 0.0;
  average_model(path, m, average);
  for (int i = 0; i < path->set.count; i++) {
    const double residual = residual_of(path, average, d, i);
    sum += residual * residual;
  }
  return sum;
}
