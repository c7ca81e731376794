/* The prior of damping, lateral and radial smoothing (contract: tomo_model.h). Source: Tarantola
 * (2005), "Inverse Problem Theory", 3.2; Wang & Dahlen (1995) for smoothing on the spherical grid.
 */
#include <math.h>
#include <string.h>

#include "apps/tomography/earth/tomo_model.h"

tomo_prior_options tomo_prior_defaults(void)
{
  return (tomo_prior_options){.damping = 0.05, .lateral = 0.5, .radial = 0.1};
}

static double damping_at(const tomo_prior_options *o, int64_t unknown)
{
  return o->damping_of ? o->damping * o->damping_of[unknown] : o->damping;
}

static double lateral_at(const tomo_prior_options *o, int r)
{
  return o->lateral_of ? o->lateral * o->lateral_of[r] : o->lateral;
}

int tomo_prior_rows_max(int n_radial)
{
  return 3 * n_radial;
}

int tomo_prior_columns_max(int n_radial)
{
  return (TOMO_MESH_NEIGHBOURS + 1) * n_radial;
}

/* Number of rows of radial differences of a knot; *width is the number of coefficients in each
 * row. */
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

/* Lists a knot and its neighbours in ascending order. Returns their number; *self is the knot's
 * index in the list. */
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
    g[row + (self * n_radial + r) * m] = sqrt(damping_at(options, knot * n_radial + r));
  for (int r = 0; r < n_radial && options->lateral > 0.0; r++, row++)
    for (int j = 0; j < n; j++)
      g[row + (j * n_radial + r) * m] =
        sqrt(lateral_at(options, r)) * (j == self ? 1.0 : -1.0 / (n - 1));
  for (int r = 0; r < differences && options->radial > 0.0; r++, row++)
    for (int i = 0; i < width; i++)
      g[row + (self * n_radial + r + i) * m] = sqrt(options->radial) * radial_weight(width, i);
}

static double largest_factor(const double *factor, int64_t count)
{
  double most = 0.0;
  for (int64_t i = 0; i < count && factor; i++)
    most = fmax(most, factor[i]);
  return factor ? most : 1.0;
}

/* Bounds the elements of C_m^(-1) by its diagonal, which holds the largest one. A knot has at least
 * 5 neighbours and is a neighbour of at most 6 knots, with weight 1/5; a coefficient is part of up
 * to three second differences, with the factors 1, -2 and 1. */
double tomo_prior_bound(const tomo_prior_options *options, int64_t knots, int n_radial)
{
  return options->damping * largest_factor(options->damping_of, knots * n_radial) +
         (1.0 + 6.0 / 25.0) * options->lateral * largest_factor(options->lateral_of, n_radial) +
         6.0 * options->radial;
}

/* Coefficient of radial function r at a knot minus the mean of those at its neighbours. */
static double roughness(const double *m, int n_radial, int64_t knot, int r, int n,
                        const int32_t *neighbour)
{
  double mean = 0.0;
  for (int j = 0; j < n; j++)
    mean += m[(int64_t)neighbour[j] * n_radial + r] / n;
  return m[knot * n_radial + r] - mean;
}

static double radial_difference(const double *here, int width)
{
  double difference = 0.0;
  for (int i = 0; i < width; i++)
    difference += radial_weight(width, i) * here[i];
  return difference;
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
      const double rough = roughness(m, n_radial, l, r, n, neighbour);
      sum += damping_at(options, l * n_radial + r) * here[r] * here[r];
      sum += lateral_at(options, r) * rough * rough;
    }
    for (int r = 0; r < differences; r++) {
      const double difference = radial_difference(here + r, width);
      sum += options->radial * difference * difference;
    }
  }
  return sum;
}

void tomo_prior_multiply(const tomo_prior_options *options, const tomo_mesh *mesh, int n_radial,
                         const double *x, double *y)
{
  const int64_t knots = tomo_mesh_knots(mesh);
  int width;
  const int differences = radial_rows(n_radial, &width);
  for (int64_t i = 0; i < knots * n_radial; i++)
    y[i] = damping_at(options, i) * x[i];
  for (int64_t l = 0; l < knots; l++) {
    const int32_t *neighbour;
    const int n = tomo_mesh_neighbours(mesh, l, &neighbour);
    for (int r = 0; r < n_radial; r++) {
      const double rough = lateral_at(options, r) * roughness(x, n_radial, l, r, n, neighbour);
      y[l * n_radial + r] += rough;
      for (int j = 0; j < n; j++)
        y[(int64_t)neighbour[j] * n_radial + r] -= rough / n;
    }
    for (int r = 0; r < differences; r++) {
      const double difference = options->radial * radial_difference(x + l * n_radial + r, width);
      for (int i = 0; i < width; i++)
        y[l * n_radial + r + i] += radial_weight(width, i) * difference;
    }
  }
}
