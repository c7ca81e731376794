/* A mesh of prisms: the triangles between the knots, one level of depth below the other, with
 * values at its points; for ParaView and other programs that draw volumes.
 *
 * Points are in km from the Earth's centre, level by level, within a level in the knots' order;
 * latitudes are geocentric, as all of the model. A prism has six: the triangle of a level,
 * anticlockwise seen from outside, and the one below it (VTK's wedge). A single level has
 * triangles. Local.
 */
#ifndef TOMO_PRISMS_H
#define TOMO_PRISMS_H

#include <stdint.h>
#include <stdio.h>

#include "apps/tomography/earth/tomo_slices.h"
#include "apps/tomography/readers/tomo_store.h"

enum { TOMO_PRISMS_FIELDS_MAX = 8 };

typedef struct tomo_prisms_field {
  const char *name, *unit; /* of the data set: "mesh_" and the name */
  tomo_field field;
} tomo_prisms_field;

typedef struct tomo_prisms {
  int64_t points, cells;
  int corners;   /* of a cell: 6, or 3 */
  double *xyz;   /* [points][3] km */
  int32_t *cell; /* [cells][corners] */
  int n_fields;
  tomo_prisms_field field[TOMO_PRISMS_FIELDS_MAX];
  double *value[TOMO_PRISMS_FIELDS_MAX]; /* [points] */
} tomo_prisms;

/* Bytes of the arrays. */
uint64_t tomo_prisms_bytes(int frequency, int levels, int n_fields);

/* Errors: OSLA_ERR_MEM, OSLA_ERR_RANGE (points do not fit an integer). */
osla_err tomo_prisms_create(const tomo_slices *slices, int n_fields, const tomo_prisms_field *field,
                            tomo_prisms **prisms);
void tomo_prisms_destroy(tomo_prisms **prisms);

/* Adds the arrays to the result file: mesh_points, mesh_cells, mesh_NAME of each field. They must
 * live until it is written. */
osla_err tomo_prisms_store(const tomo_prisms *prisms, tomo_store *store);

/* Writes XDMF (www.xdmf.org, version 2, which ParaView's readers all take) that refers to those
 * data sets of `data`, which must be text for XML. Returns what ferror says. */
int tomo_prisms_describe(const tomo_prisms *prisms, const char *data, FILE *out);

#endif
