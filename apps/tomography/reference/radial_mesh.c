/* Elements along the radius, their unknowns and their polynomials (contract: radial.h). */
#include "apps/tomography/reference/radial.h"

#include <math.h>
#include <stdlib.h>

static const double growth = 0.05; /* growth of the elements' size with depth, km per km */

void radial_gauss(int n, double *x, double *weight)
{
  for (int i = 0; i < n; i++) {
    double z = cos(M_PI * (i + 0.75) / (n + 0.5)), slope = 1.0;
    for (int step = 0; step < 100; step++) {
      double p = 1.0, before = 0.0;
      for (int k = 0; k < n; k++) {
        double next = ((2 * k + 1) * z * p - k * before) / (k + 1);
        before = p;
        p = next;
      }
      slope = n * (z * p - before) / (z * z - 1.0);
      z -= p / slope;
      if (fabs(p / slope) < 1e-15) break;
    }
    x[n - 1 - i] = z;
    weight[n - 1 - i] = 2.0 / ((1.0 - z * z) * slope * slope);
  }
}

int radial_points(const radial_element *element, double xi[RADIAL_POINTS],
                  double weight[RADIAL_POINTS])
{
  const int n = element->fluid ? RADIAL_DEGREE : RADIAL_POINTS;
  radial_gauss(n, xi, weight);
  return n;
}

/* Values and derivatives at xi of the Lagrange polynomials of n nodes. */
static void lagrange(int n, const double *node, double xi, double *value, double *slope)
{
  for (int i = 0; i < n; i++) {
    value[i] = 1.0;
    slope[i] = 0.0;
    for (int j = 0; j < n; j++) {
      if (j == i) continue;
      const double scale = 1.0 / (node[i] - node[j]);
      slope[i] = slope[i] * (xi - node[j]) * scale + value[i] * scale;
      value[i] *= (xi - node[j]) * scale;
    }
  }
}

/* Gauss-Lobatto nodes of degree 4, and Gauss nodes of degree 3 for V in a fluid. */
static const double lobatto[RADIAL_NODES] = {-1.0, -0.654653670707977144, 0.0, 0.654653670707977144,
                                             1.0};
static const double inner[RADIAL_DEGREE] = {-0.861136311594052575, -0.339981043584856265,
                                            0.339981043584856265, 0.861136311594052575};
/* The unknown for the potential P is P / potential_scale, so that it is about as large as a
 * displacement of equal energy. */
static const double potential_scale = 0.01;

void radial_parts(const radial_mesh *mesh, int element, double xi,
                  double parts[RADIAL_QUANTITIES][RADIAL_LOCAL])
{
  const radial_element *e = &mesh->element[element];
  const double stretch = 2.0 / (e->top - e->bottom);
  double value[RADIAL_NODES], slope[RADIAL_NODES];
  for (int i = 0; i < RADIAL_QUANTITIES; i++)
    for (int j = 0; j < RADIAL_LOCAL; j++)
      parts[i][j] = 0.0;
  lagrange(RADIAL_NODES, lobatto, xi, value, slope);
  for (int f = 0; f < RADIAL_FUNCTIONS; f++) {
    const double scale = f == 2 ? potential_scale : 1.0;
    int count = RADIAL_NODES;
    if (f == 1 && e->fluid) {
      count = RADIAL_DEGREE;
      lagrange(RADIAL_DEGREE, inner, xi, value, slope);
    }
    for (int i = 0; i < count; i++) {
      parts[2 * f][f * RADIAL_NODES + i] = scale * value[i];
      parts[2 * f + 1][f * RADIAL_NODES + i] = scale * stretch * slope[i];
    }
    if (count < RADIAL_NODES) lagrange(RADIAL_NODES, lobatto, xi, value, slope);
  }
}

void radial_quantities(const radial_mesh *mesh, int element, double xi, const double *x,
                       double q[RADIAL_QUANTITIES])
{
  double parts[RADIAL_QUANTITIES][RADIAL_LOCAL];
  radial_parts(mesh, element, xi, parts);
  for (int i = 0; i < RADIAL_QUANTITIES; i++) {
    q[i] = 0.0;
    for (int j = 0; j < RADIAL_LOCAL; j++)
      if (mesh->element[element].dof[j] >= 0)
        q[i] += parts[i][j] * x[mesh->element[element].dof[j]];
  }
}

/* Range [first, end) of the shells of the uppermost solid. */
static void uppermost_solid(const earth_model *model, int *first, int *end)
{
  *end = model->n_shells;
  while (*end > 0 && earth_is_fluid(&model->shell[*end - 1]))
    --*end;
  *first = *end;
  while (*first > 0 && !earth_is_fluid(&model->shell[*first - 1]))
    --*first;
}

/* Number of elements of a shell. */
static int count_elements(const earth_model *model, const earth_shell *s, double size)
{
  const double below = size + growth * (model->radius - s->bottom);
  const double above = size + growth * (model->radius - s->top);
  const double count = log(below / above) / growth;
  return (int)ceil(fmax(count, 1.0) - 1e-9);
}

static void set_elements(radial_mesh *mesh, int first, int end, double size)
{
  int n = 0;
  for (int i = first; i < end; i++) {
    const earth_shell *s = &mesh->model->shell[i];
    const int count = count_elements(mesh->model, s, size);
    const double below = size + growth * (mesh->model->radius - s->bottom);
    const double above = size + growth * (mesh->model->radius - s->top);
    double bottom = s->bottom;
    for (int j = 1; j <= count; j++) { /* element sizes grow by a constant factor */
      const double here = below * pow(above / below, (double)j / count);
      const double top = j == count ? s->top : mesh->model->radius - (here - size) / growth;
      mesh->element[n++] =
        (radial_element){.bottom = bottom, .top = top, .shell = i, .fluid = earth_is_fluid(s)};
      bottom = top;
    }
  }
}

/* Numbers the unknowns node by node upwards, so that the matrices' band is narrow. */
static void number_unknowns(radial_mesh *mesh)
{
  const int functions = mesh->kind == RADIAL_TOROIDAL   ? 1
                        : mesh->options.without_gravity ? 2
                                                        : RADIAL_FUNCTIONS;
  int n = 0;
  mesh->width = 0;
  for (int i = 0; i < mesh->n_elements; i++) {
    radial_element *e = &mesh->element[i];
    const radial_element *below = i > 0 ? e - 1 : NULL;
    int low = n, high = 0;
    for (int node = 0; node < RADIAL_NODES; node++)
      for (int f = 0; f < RADIAL_FUNCTIONS; f++) {
        int *dof = &e->dof[f * RADIAL_NODES + node];
        const bool jumps = f == 1 && (e->fluid || (below && below->fluid));
        *dof = -1;
        if (f >= functions || (f == 1 && e->fluid && node == RADIAL_DEGREE)) continue;
        if (node == 0 && below && !jumps)
          *dof = below->dof[f * RADIAL_NODES + RADIAL_DEGREE];
        else
          *dof = n++;
        if (*dof < low) low = *dof;
        if (*dof > high) high = *dof;
      }
    if (high - low > mesh->width) mesh->width = high - low;
  }
  mesh->n_dofs = n;
}

osla_err radial_mesh_create(const earth_model *model, radial_kind kind,
                            const radial_options *options, radial_mesh **out)
{
  const double size = options->size;
  int first = 0, end = model->n_shells;
  *out = NULL;
  OSLA_CHECK(size >= 1.0 && size <= 1000.0, OSLA_ERR_ARG, "elements of %g km are outside 1 to 1000",
             size);
  if (kind == RADIAL_TOROIDAL) uppermost_solid(model, &first, &end);
  OSLA_CHECK(first < end, OSLA_ERR_ARG, "the model has no solid");
  radial_mesh *mesh = calloc(1, sizeof *mesh);
  OSLA_CHECK(mesh, OSLA_ERR_MEM, "no memory for a mesh");
  *mesh = (radial_mesh){.kind = kind, .model = model, .options = *options};
  for (int i = first; i < end; i++)
    mesh->n_elements += count_elements(model, &model->shell[i], size);
  mesh->element = calloc((size_t)mesh->n_elements, sizeof *mesh->element);
  if (!mesh->element) {
    radial_mesh_destroy(&mesh);
    return osla_error_set(OSLA_ERR_MEM, "no memory for a mesh");
  }
  set_elements(mesh, first, end, size);
  number_unknowns(mesh);
  *out = mesh;
  return OSLA_OK;
}

void radial_mesh_destroy(radial_mesh **mesh)
{
  if (!*mesh) return;
  free((*mesh)->element);
  free(*mesh);
  *mesh = NULL;
}
