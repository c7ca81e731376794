/* A mesh of prisms (contract: tomo_prisms.h). */
#include "apps/tomography/earth/tomo_prisms.h"

#include <inttypes.h>
#include <stdlib.h>

#include "apps/tomography/earth/tomo_sphere.h"

enum { NAME_MAX_LENGTH = 64 };

uint64_t tomo_prisms_bytes(int frequency, int levels, int n_fields)
{
  const uint64_t knots = (uint64_t)tomo_mesh_knots_of(frequency), below = (uint64_t)levels;
  const uint64_t triangles = (uint64_t)tomo_mesh_count_triangles((int64_t)knots);
  const uint64_t cell = levels > 1 ? (below - 1) * 6 : 3;
  return knots * below * (3 + (uint64_t)n_fields) * sizeof(double) +
         triangles * cell * sizeof(int32_t);
}

/* --- creation --- */

static void set_points(const tomo_slices *slices, tomo_prisms *p)
{
  const tomo_mesh *mesh = slices->mesh;
  const int64_t knots = tomo_mesh_knots(mesh);
  for (int level = 0; level < slices->n; level++)
    for (int64_t l = 0; l < knots; l++)
      for (int axis = 0; axis < 3; axis++)
        p->xyz[3 * (level * knots + l) + axis] =
          (TOMO_EARTH_RADIUS_KM - slices->depth_km[level]) * tomo_mesh_knot(mesh, l)[axis];
}

static void join_points(const int32_t (*triangle)[3], int64_t triangles, int64_t knots,
                        tomo_prisms *p)
{
  for (int64_t cell = 0; cell < p->cells; cell++) {
    const int32_t above = (int32_t)(cell / triangles * knots);
    for (int corner = 0; corner < p->corners; corner++)
      p->cell[p->corners * cell + corner] =
        triangle[cell % triangles][corner % 3] + above + (corner < 3 ? 0 : (int32_t)knots);
  }
}

static void evaluate_fields(const tomo_slices *slices, tomo_prisms *p)
{
  const tomo_mesh *mesh = slices->mesh;
  const int64_t knots = tomo_mesh_knots(mesh);
  tomo_field field[TOMO_PRISMS_FIELDS_MAX];
  double *to[TOMO_PRISMS_FIELDS_MAX];
  for (int f = 0; f < p->n_fields; f++)
    field[f] = p->field[f].field;
  for (int64_t l = 0; l < knots; l++) {
    for (int f = 0; f < p->n_fields; f++)
      to[f] = p->value[f] + l;
    tomo_slices_at(slices, tomo_mesh_knot(mesh, l), p->n_fields, field, to, knots);
  }
  for (int f = 0; f < p->n_fields; f++)
    for (int64_t i = knots; field[f].flat && i < p->points; i++)
      p->value[f][i] = p->value[f][i - knots];
}

static bool allocate(tomo_prisms *p)
{
  p->xyz = malloc((size_t)p->points * 3 * sizeof *p->xyz);
  p->cell = malloc((size_t)p->cells * (size_t)p->corners * sizeof *p->cell);
  bool done = p->xyz && p->cell;
  for (int f = 0; f < p->n_fields; f++) {
    p->value[f] = malloc((size_t)p->points * sizeof *p->value[f]);
    done = done && p->value[f];
  }
  return done;
}

osla_err tomo_prisms_create(const tomo_slices *slices, int n_fields, const tomo_variable *field,
                            tomo_prisms **prisms)
{
  const int levels = slices->n;
  const int64_t knots = tomo_mesh_knots(slices->mesh);
  const int64_t triangles = tomo_mesh_count_triangles(knots);
  *prisms = NULL;
  OSLA_CHECK(knots * levels <= INT32_MAX, OSLA_ERR_RANGE, "%" PRId64 " points of a mesh",
             knots * levels);
  tomo_prisms *p = calloc(1, sizeof *p);
  int32_t(*triangle)[3] = malloc((size_t)triangles * sizeof *triangle);
  bool made = p && triangle;
  if (made) {
    *p = (tomo_prisms){.points = knots * levels,
                       .cells = triangles * (levels > 1 ? levels - 1 : 1),
                       .corners = levels > 1 ? 6 : 3,
                       .n_fields = n_fields};
    for (int f = 0; f < n_fields; f++)
      p->field[f] = field[f];
    made = allocate(p);
  }
  if (made) {
    tomo_mesh_triangles(slices->mesh, triangle);
    set_points(slices, p);
    join_points((const int32_t(*)[3])triangle, triangles, knots, p);
    evaluate_fields(slices, p);
  }
  free(triangle);
  if (!made) tomo_prisms_destroy(&p);
  OSLA_CHECK(made, OSLA_ERR_MEM, "no memory for a mesh of %" PRId64 " points", knots * levels);
  *prisms = p;
  return OSLA_OK;
}

void tomo_prisms_destroy(tomo_prisms **prisms)
{
  if (!*prisms) return;
  free((*prisms)->xyz);
  free((*prisms)->cell);
  for (int f = 0; f < (*prisms)->n_fields; f++)
    free((*prisms)->value[f]);
  free(*prisms);
  *prisms = NULL;
}

/* --- output --- */

osla_err tomo_prisms_store(const tomo_prisms *p, tomo_store *store)
{
  const int64_t points[2] = {p->points, 3}, cells[2] = {p->cells, p->corners};
  OSLA_CALL(tomo_store_add_array(store, "mesh_points", "km", 2, points, p->xyz));
  OSLA_CALL(tomo_store_add_integers(store, "mesh_cells", "1", 2, cells, p->cell));
  for (int f = 0; f < p->n_fields; f++) {
    char name[NAME_MAX_LENGTH];
    (void)snprintf(name, sizeof name, "mesh_%s", p->field[f].name);
    OSLA_CALL(tomo_store_add_array(store, name, p->field[f].units, 1, points, p->value[f]));
  }
  return OSLA_OK;
}

static void write_escaped(const char *text, FILE *out)
{
  for (; *text; text++)
    switch (*text) {
      case '&': (void)fputs("&amp;", out); break;
      case '<': (void)fputs("&lt;", out); break;
      case '>': (void)fputs("&gt;", out); break;
      default: (void)putc(*text, out);
    }
}

/* Writes the XDMF reference to a data set of n rows. */
static void write_item(FILE *out, const char *data, const char *name, int64_t n, int columns,
                       const char *type)
{
  (void)fprintf(out, "        <DataItem Dimensions=\"%" PRId64, n);
  if (columns > 1) (void)fprintf(out, " %d", columns);
  (void)fprintf(out, "\" %s Format=\"HDF\">", type);
  write_escaped(data, out);
  (void)fprintf(out, ":/mesh_%s</DataItem>\n", name);
}

int tomo_prisms_describe(const tomo_prisms *p, const char *data, FILE *out)
{
  static const char number[] = "NumberType=\"Float\" Precision=\"8\"";
  (void)fprintf(out,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Xdmf Version=\"2.0\">\n  <Domain>\n"
                "    <Grid Name=\"model\" GridType=\"Uniform\">\n"
                "      <Topology TopologyType=\"%s\" NumberOfElements=\"%" PRId64 "\">\n",
                p->corners == 6 ? "Wedge" : "Triangle", p->cells);
  write_item(out, data, "cells", p->cells, p->corners, "NumberType=\"Int\" Precision=\"4\"");
  (void)fprintf(out, "      </Topology>\n      <Geometry GeometryType=\"XYZ\">\n");
  write_item(out, data, "points", p->points, 3, number);
  (void)fprintf(out, "      </Geometry>\n");
  for (int f = 0; f < p->n_fields; f++) {
    (void)fprintf(out,
                  "      <Attribute Name=\"%s\" AttributeType=\"Scalar\" Center=\"Node\">\n"
                  "        <Information Name=\"unit\" Value=\"%s\"/>\n",
                  p->field[f].name, p->field[f].units);
    write_item(out, data, p->field[f].name, p->points, 1, number);
    (void)fprintf(out, "      </Attribute>\n");
  }
  (void)fprintf(out, "    </Grid>\n  </Domain>\n</Xdmf>\n");
  return ferror(out);
}
