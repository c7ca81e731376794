/* The prior C_m^(-1) = L^T L of damping, lateral and radial smoothing; contract in tomo_model.h.
 *
 * One panel per knot l over the columns of l and its neighbours: N_r damping rows, N_r rows of the
 * graph Laplacian divided by the number of neighbours, and the radial differences (second, or first
 * for N_r = 2). Because every row of L stands in one knot's panel, the accumulated sum of G^T G
 * over the knots is C_m^(-1) itself. Source: Tarantola (2005), "Inverse Problem Theory", 3.2; Wang
 * & Dahlen (1995) for smoothing on the spherical grid. */
#include <math.h>
#include <string.h>

#include "tomo_model.h"

tomo_prior_options tomo_prior_defaults(void)
{
  return (tomo_prior_options){.damping = 0.05, .lateral = 0.5, .radial = 0.1};
}

static osla_err check_one(const char *name, double value)
{
  OSLA_CHECK(isfinite(value), OSLA_ERR_ARG, "%s %g is not finite", name, value);
  OSLA_CHECK(value >= 0.0, OSLA_ERR_ARG, "%s %g is negative", name, value);
  return OSLA_OK;
}

osla_err tomo_prior_check(const tomo_prior_options *options)
{
  OSLA_CALL(check_one("damping", options->damping));
  OSLA_CALL(check_one("lateral smoothing", options->lateral));
  return check_one("radial smoothing", options->radial);
}

int tomo_prior_rows_max(int n_radial)
{
  return 3 * n_radial;
}

int tomo_prior_columns_max(int n_radial)
{
  return (TOMO_MESH_NEIGHBOURS + 1) * n_radial;
}

/* Rows of radial differences; *width is the number of coefficients in each. */
static int radial_rows(int n_radial, int *width)
{
  *width = n_radial < 3 ? n_radial : 3;
  return n_radial < 2 ? 0 : n_radial - *width + 1;
}

static double radial_weight(int width, int i)
{
  static const double first[2] = {-1.0, 1.0}, second[3] = {1.0, -2.0, 1.0};
  return width == 2 ? first[i] : second[i];
}

/* The knot and its neighbours, ascending; returns their number, *self is the knot's place. */
static int sorted_star(const tomo_mesh *mesh, int64_t knot, int64_t star[TOMO_MESH_NEIGHBOURS + 1],
                       int *self)
{
  const int32_t *neighbour;
  const int n = tomo_mesh_neighbours(mesh, knot, &neighbour);
  int count = 0;
  *self = -1;
  for (int i = 0; i < n; i++) {
    if (*self < 0 && neighbour[i] > knot) {
      *self = count;
      star[count++] = knot;
    }
    star[count++] = neighbour[i];
  }
  if (*self < 0) {
    *self = count;
    star[count++] = knot;
  }
  return count;
}

void tomo_prior_panel(const tomo_prior_options *options, const tomo_mesh *mesh, int n_radial,
                      int64_t knot, int *rows, int *columns, int64_t *ix, double *g)
{
  int64_t star[TOMO_MESH_NEIGHBOURS + 1];
  int self, width, row = 0;
  const int n = sorted_star(mesh, knot, star, &self), differences = radial_rows(n_radial, &width);
  const int m = (options->damping > 0.0 ? n_radial : 0) + (options->lateral > 0.0 ? n_radial : 0) +
                (options->radial > 0.0 ? differences : 0);
  *rows = m;
  *columns = n * n_radial;
  for (int j = 0; j < n; j++)
    for (int r = 0; r < n_radial; r++)
      ix[j * n_radial + r] = star[j] * n_radial + r;
  memset(g, 0, sizeof *g * (size_t)m * (size_t)*columns);
  for (int r = 0; r < n_radial && options->damping > 0.0; r++, row++)
    g[row + (self * n_radial + r) * m] = sqrt(options->damping);
  for (int r = 0; r < n_radial && options->lateral > 0.0; r++, row++)
    for (int j = 0; j < n; j++)
      g[row + (j * n_radial + r) * m] = sqrt(options->lateral) * (j == self ? 1.0 : -1.0 / (n - 1));
  for (int r = 0; r < differences && options->radial > 0.0; r++, row++)
    for (int i = 0; i < width; i++)
      g[row + (self * n_radial + r + i) * m] = sqrt(options->radial) * radial_weight(width, i);
}

/* On the diagonal: a knot is one of the 5 or more neighbours of 6 others at most; and in second
 * differences a coefficient takes part with 1, -2 and 1. */
double tomo_prior_most(const tomo_prior_options *options)
{
  return options->damping + (1.0 + 6.0 / 25.0) * options->lateral + 6.0 * options->radial;
}

double tomo_prior_norm(const tomo_prior_options *options, const tomo_mesh *mesh, int n_radial,
                       const double *m)
{
  double sum = 0.0;
  int width;
  const int differences = radial_rows(n_radial, &width);
  for (int64_t l = 0; l < tomo_mesh_knots(mesh); l++) {
    const int32_t *neighbour;
    const int n = tomo_mesh_neighbours(mesh, l, &neighbour);
    const double *here = m + l * n_radial;
    for (int r = 0; r < n_radial; r++) {
      double mean = 0.0;
      for (int j = 0; j < n; j++)
        mean += m[(int64_t)neighbour[j] * n_radial + r] / n;
      sum += options->damping * here[r] * here[r];
      sum += options->lateral * (here[r] - mean) * (here[r] - mean);
    }
    for (int r = 0; r < differences; r++) {
      double difference = 0.0;
      for (int i = 0; i < width; i++)
        difference += radial_weight(width, i) * here[r + i];
      sum += options->radial * difference * difference;
    }
  }
  return sum;
}
