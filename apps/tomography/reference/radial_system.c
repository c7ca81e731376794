/* The matrices of a mesh at a frequency (contract: radial.h). */
#include "apps/tomography/reference/radial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static osla_err allocate_band(const radial_mesh *mesh, band *m)
{
  *m = (band){.n = mesh->n_dofs, .width = mesh->width};
  m->a = calloc((size_t)m->n * (size_t)(m->width + 1), sizeof *m->a);
  OSLA_CHECK(m->a, OSLA_ERR_MEM, "no memory for matrices of order %d", m->n);
  return OSLA_OK;
}

static osla_err allocate_bands(const radial_mesh *mesh, radial_system *s)
{
  for (int i = 0; i < 3; i++)
    OSLA_CALL(allocate_band(mesh, &s->k[i]));
  OSLA_CALL(allocate_band(mesh, &s->mass));
  return allocate_band(mesh, &s->work);
}

osla_err radial_system_create(const radial_mesh *mesh, radial_system **out)
{
  *out = NULL;
  radial_system *s = calloc(1, sizeof *s);
  OSLA_CHECK(s, OSLA_ERR_MEM, "no memory for matrices");
  s->mesh = mesh;
  osla_err err = allocate_bands(mesh, s);
  if (err != OSLA_OK) radial_system_destroy(&s);
  *out = s;
  return err;
}

void radial_system_destroy(radial_system **system)
{
  if (!*system) return;
  for (int i = 0; i < 3; i++)
    free((*system)->k[i].a);
  free((*system)->mass.a);
  free((*system)->work.a);
  free(*system);
  *system = NULL;
}

static void clear_band(band *m)
{
  memset(m->a, 0, (size_t)m->n * (size_t)(m->width + 1) * sizeof *m->a);
}

/* m += weight B^T D B, the contribution of one quadrature point of an element. */
static void add_point(band *m, const radial_element *e, const radial_form d, double weight,
                      double parts[RADIAL_QUANTITIES][RADIAL_LOCAL])
{
  double half[RADIAL_QUANTITIES][RADIAL_LOCAL]; /* the product weight D B */
  for (int i = 0; i < RADIAL_QUANTITIES; i++)
    for (int j = 0; j < RADIAL_LOCAL; j++) {
      half[i][j] = 0.0;
      for (int k = 0; k < RADIAL_QUANTITIES; k++)
        half[i][j] += weight * d[i][k] * parts[k][j];
    }
  for (int i = 0; i < RADIAL_LOCAL; i++)
    for (int j = 0; j < RADIAL_LOCAL; j++) {
      if (e->dof[i] < 0 || e->dof[j] < 0 || e->dof[i] < e->dof[j]) continue;
      double sum = 0.0;
      for (int k = 0; k < RADIAL_QUANTITIES; k++)
        sum += parts[k][i] * half[k][j];
      *band_at(m, e->dof[i], e->dof[j]) += sum;
    }
}

static bool has_gravity(const radial_mesh *mesh)
{
  return mesh->kind == RADIAL_SPHEROIDAL && !mesh->options.without_gravity;
}

/* Computes the coefficients of D, a polynomial of second degree in k, from D(0), D(1) and D(-1). */
static void form_coefficients(const radial_mesh *mesh, const earth_point *point, double r,
                              radial_form d[3])
{
  static const double k[3] = {0.0, 1.0, -1.0};
  radial_form at[3];
  memset(at, 0, sizeof at);
  for (int i = 0; i < 3; i++) {
    radial_elastic(mesh->kind, &point->moduli, k[i], r, at[i]);
    if (has_gravity(mesh)) radial_gravity(point, k[i], r, at[i]);
  }
  for (int i = 0; i < RADIAL_QUANTITIES; i++)
    for (int j = 0; j < RADIAL_QUANTITIES; j++) {
      d[0][i][j] = at[0][i][j];
      d[1][i][j] = 0.5 * (at[1][i][j] - at[2][i][j]);
      d[2][i][j] = 0.5 * (at[1][i][j] + at[2][i][j]) - at[0][i][j];
    }
}

static void add_element(radial_system *s, int element)
{
  const radial_mesh *mesh = s->mesh;
  const radial_element *e = &mesh->element[element];
  double xi[RADIAL_POINTS], weight[RADIAL_POINTS];
  const int points = radial_points(e, xi, weight);
  for (int i = 0; i < points; i++) {
    const double half = 0.5 * (e->top - e->bottom), r = e->bottom + half * (1.0 + xi[i]);
    double parts[RADIAL_QUANTITIES][RADIAL_LOCAL];
    radial_form d[3], kinetic = {{0}};
    earth_point point;
    earth_evaluate(mesh->model, e->shell, r, s->omega, mesh->options.vp_ratio, &point);
    radial_parts(mesh, element, xi[i], parts);
    form_coefficients(mesh, &point, r, d);
    radial_kinetic(mesh->kind, point.rho, kinetic);
    for (int k = 0; k < 3; k++)
      add_point(&s->k[k], e, d[k], weight[i] * half * r * r, parts);
    add_point(&s->mass, e, kinetic, weight[i] * half * r * r, parts);
  }
}

void radial_system_set(radial_system *s, double omega)
{
  const radial_mesh *mesh = s->mesh;
  s->omega = omega;
  for (int i = 0; i < 3; i++)
    clear_band(&s->k[i]);
  clear_band(&s->mass);
  for (int i = 0; i < mesh->n_elements; i++)
    add_element(s, i);
  s->surface = 0.0;
  s->surface_dof = -1;
  if (!has_gravity(mesh)) return;
  /* The gravitational field outside the Earth has the energy (l + 1) a P(a)^2 / (4 pi G). */
  double parts[RADIAL_QUANTITIES][RADIAL_LOCAL];
  const int last = mesh->n_elements - 1, local = 2 * RADIAL_NODES + RADIAL_DEGREE;
  radial_parts(mesh, last, 1.0, parts);
  s->surface = mesh->model->radius * parts[4][local] * parts[4][local] / earth_four_pi_g();
  s->surface_dof = mesh->element[last].dof[local];
}

void radial_system_sum(radial_system *s, double lambda, double omega)
{
  const double k = sqrt(lambda * lambda - 0.25);
  const size_t count = (size_t)s->work.n * (size_t)(s->work.width + 1);
  for (size_t i = 0; i < count; i++)
    s->work.a[i] =
      s->k[0].a[i] + k * (s->k[1].a[i] + k * s->k[2].a[i]) - omega * omega * s->mass.a[i];
  if (s->surface_dof >= 0)
    *band_at(&s->work, s->surface_dof, s->surface_dof) += (lambda + 0.5) * s->surface;
}

void radial_system_slope(const radial_system *s, double lambda, const double *x, double *y,
                         double *room)
{
  const double k = sqrt(lambda * lambda - 0.25);
  band_multiply(&s->k[1], x, y);
  band_multiply(&s->k[2], x, room);
  for (int i = 0; i < s->work.n; i++)
    y[i] = lambda / k * (y[i] + 2.0 * k * room[i]);
  if (s->surface_dof >= 0) y[s->surface_dof] += s->surface * x[s->surface_dof];
}
