/* Weights for the interpolation of a field on the knots, as a sparse matrix with one row for each
 * pixel. */
#include "apps/tomography/draw/tomo_raster.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES = 20 }; /* first guess of the number of knots in the interpolation of one pixel */

static osla_err create_raster(int width, int height, tomo_raster **raster)
{
  OSLA_CHECK(width >= 2 && width <= 4096 && height >= 1, OSLA_ERR_ARG, "a raster of %d x %d pixels",
             width, height);
  tomo_raster *made = calloc(1, sizeof *made);
  OSLA_CHECK(made, OSLA_ERR_MEM, "no memory for raster");
  made->width = width;
  made->height = height;
  made->first = calloc((size_t)width * (size_t)height + 1, sizeof *made->first);
  if (made->first) {
    *raster = made;
    return OSLA_OK;
  }
  free(made);
  return osla_error_set(OSLA_ERR_MEM, "no memory for raster of %d x %d pixels", width, height);
}

static osla_err make_room(tomo_raster *r, int64_t used, int64_t *room)
{
  if (used + TOMO_MESH_SUPPORT <= *room) return OSLA_OK;
  const int64_t more = *room ? 2 * *room : (int64_t)r->width * r->height * ENTRIES / 2 + 1024;
  int32_t *knot = realloc(r->knot, (size_t)more * sizeof *knot);
  if (knot) r->knot = knot;
  float *weight = realloc(r->weight, (size_t)more * sizeof *weight);
  if (weight) r->weight = weight;
  OSLA_CHECK(knot && weight, OSLA_ERR_MEM, "no memory for raster of %d x %d pixels", r->width,
             r->height);
  *room = more;
  return OSLA_OK;
}

/* Appends the knots and weights of the pixel at the unit vector v. */
static osla_err append_pixel(const tomo_mesh *mesh, const double v[3], tomo_raster *r,
                             int64_t *used, int64_t *room)
{
  double weight[TOMO_MESH_SUPPORT];
  OSLA_CALL(make_room(r, *used, room));
  const int count = tomo_mesh_basis(mesh, v, r->knot + *used, weight);
  for (int i = 0; i < count; i++)
    r->weight[*used + i] = (float)weight[i];
  *used += count;
  return OSLA_OK;
}

osla_err tomo_raster_of_map(const tomo_mesh *mesh, const tomo_frame *frame, int width,
                            tomo_raster **raster)
{
  int64_t used = 0, room = 0, pixel = 0;
  osla_err err = OSLA_OK;
  OSLA_CALL(
    create_raster(width, (int)lround(width * frame->half_height / frame->half_width), raster));
  tomo_raster *r = *raster;
  for (int row = 0; row < r->height; row++)
    for (int column = 0; column < width; column++, pixel++) {
      const double x = frame->half_width * (2.0 * (column + 0.5) / width - 1.0);
      const double y = frame->half_height * (2.0 * (row + 0.5) / r->height - 1.0);
      double latitude, longitude, v[3];
      if (tomo_frame_inverse(frame, x, y, &latitude, &longitude)) {
        tomo_unit_vector(latitude, longitude, v);
        OSLA_TRY(append_pixel(mesh, v, r, &used, &room));
      }
      r->first[pixel + 1] = used;
    }
cleanup:
  if (err != OSLA_OK) tomo_raster_destroy(raster);
  return err;
}

osla_err tomo_raster_of_arc(const tomo_mesh *mesh, const tomo_arc *arc, int width,
                            tomo_raster **raster)
{
  int64_t used = 0, room = 0;
  osla_err err = OSLA_OK;
  OSLA_CALL(create_raster(width, 1, raster));
  for (int column = 0; column < width; column++) {
    double v[3];
    tomo_arc_point(arc, arc->angle * (column + 0.5) / width, v);
    OSLA_TRY(append_pixel(mesh, v, *raster, &used, &room));
    (*raster)->first[column + 1] = used;
  }
cleanup:
  if (err != OSLA_OK) tomo_raster_destroy(raster);
  return err;
}

void tomo_raster_destroy(tomo_raster **raster)
{
  if (!*raster) return;
  free((*raster)->first);
  free((*raster)->knot);
  free((*raster)->weight);
  free(*raster);
  *raster = NULL;
}

void tomo_raster_fill(const tomo_raster *r, const double *field, float *value)
{
  const int64_t pixels = (int64_t)r->width * r->height;
  for (int64_t p = 0; p < pixels; p++) {
    double sum = 0.0;
    for (int64_t i = r->first[p]; i < r->first[p + 1]; i++)
      sum += (double)r->weight[i] * field[r->knot[i]];
    value[p] = r->first[p] == r->first[p + 1] ? NAN : (float)sum;
  }
}

void tomo_field_at_depth(const tomo_mesh *mesh, const tomo_radial *radial, const double *m,
                         double depth_km, double *field)
{
  const int64_t knots = tomo_mesh_knots(mesh);
  const int n_radial = tomo_radial_count(radial);
  double basis[TOMO_RADIAL_MAX];
  tomo_radial_basis(radial, depth_km, basis);
  for (int64_t l = 0; l < knots; l++) {
    field[l] = 0.0;
    for (int r = 0; r < n_radial; r++)
      field[l] += basis[r] * m[l * n_radial + r];
  }
}

double tomo_density_scale(const tomo_mesh *mesh)
{
  const double r2 = TOMO_EARTH_RADIUS_KM * TOMO_EARTH_RADIUS_KM;
  return 1000.0 * (double)tomo_mesh_knots(mesh) / (4.0 * M_PI * r2);
}
