/* Evaluates fields at many points and a few depths (contract: tomo_slices.h). */
#include "apps/tomography/earth/tomo_slices.h"

#include <stdlib.h>
#include <string.h>

osla_err tomo_slices_create(const tomo_mesh *mesh, const tomo_radial *radial, int n,
                            const double *depth_km, tomo_slices **slices)
{
  const int n_radial = tomo_radial_count(radial);
  if (!depth_km) n = n_radial;
  *slices = NULL;
  OSLA_CHECK(n >= 1, OSLA_ERR_ARG, "%d depths", n);
  tomo_slices *s = calloc(1, sizeof *s);
  if (s) {
    *s = (tomo_slices){.mesh = mesh, .n = n, .n_radial = n_radial};
    s->depth_km = malloc((size_t)n * sizeof *s->depth_km);
    s->basis = malloc((size_t)n * (size_t)n_radial * sizeof *s->basis);
  }
  if (!s || !s->depth_km || !s->basis) {
    tomo_slices_destroy(&s);
    return osla_error_set(OSLA_ERR_MEM, "no memory for %d depths", n);
  }
  for (int i = 0; i < n; i++) {
    s->depth_km[i] = depth_km ? depth_km[i] : tomo_radial_greville(radial, i);
    tomo_radial_basis(radial, s->depth_km[i], s->basis + (size_t)i * (size_t)n_radial);
  }
  *slices = s;
  return OSLA_OK;
}

void tomo_slices_destroy(tomo_slices **slices)
{
  if (!*slices) return;
  free((*slices)->depth_km);
  free((*slices)->basis);
  free(*slices);
  *slices = NULL;
}

void tomo_slices_at(const tomo_slices *s, const double v[3], int n_fields, const tomo_field *field,
                    double *const *value, int64_t stride)
{
  int32_t knot[TOMO_MESH_SUPPORT];
  double weight[TOMO_MESH_SUPPORT], column[TOMO_RADIAL_MAX];
  const int count = tomo_mesh_basis(s->mesh, v, knot, weight);
  for (int f = 0; f < n_fields; f++) {
    const int rows = field[f].flat ? 1 : s->n_radial;
    memset(column, 0, sizeof column);
    for (int i = 0; i < count; i++)
      for (int r = 0; r < rows; r++)
        column[r] += weight[i] * field[f].coefficient[(int64_t)knot[i] * rows + r];
    if (field[f].flat) *value[f] = column[0];
    for (int d = 0; d < s->n && !field[f].flat; d++) {
      double sum = 0.0;
      for (int r = 0; r < rows; r++)
        sum += s->basis[(int64_t)d * rows + r] * column[r];
      value[f][d * stride] = sum;
    }
  }
}
