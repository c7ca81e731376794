/* A mesh of prisms with values at its points, for ParaView and other programs that draw volumes.
 * Prisms connect the triangles between the mesh's knots on successive levels of depth.
 *
 * Points are in km from the Earth's centre, level by level, within a level in the order of knots;
 * latitudes are geocentric, as in the whole model. A prism has six points: the triangle of a level,
 * anticlockwise seen from outside, and the triangle below it (VTK's wedge). With a single level the
 * cells are triangles. Local.
 */
#ifndef TOMO_PRISMS_H
#define TOMO_PRISMS_H

#include <stdint.h>
#include <stdio.h>

#include "apps/tomography/earth/tomo_slices.h"
#include "apps/tomography/readers/tomo_store.h"

enum { TOMO_PRISMS_FIELDS_MAX = 8 };

typedef struct tomo_prisms {
  int64_t points, cells;
  int corners;   /* points of a cell: 6 (prism) or 3 (triangle) */
  double *xyz;   /* [points][3] coordinates in km */
  int32_t *cell; /* [cells][corners] indices of points */
  int n_fields;
  tomo_variable field[TOMO_PRISMS_FIELDS_MAX];
  double *value[TOMO_PRISMS_FIELDS_MAX]; /* [n_fields][points] */
} tomo_prisms;

/* Number of bytes of all arrays of a mesh of prisms. */
uint64_t tomo_prisms_bytes(int frequency, int levels, int n_fields);

/* Builds the prisms between the levels of `slices` and evaluates the fields at their points.
 * Errors: OSLA_ERR_MEM, OSLA_ERR_RANGE (the number of points exceeds INT32_MAX). */
osla_err tomo_prisms_create(const tomo_slices *slices, int n_fields, const tomo_variable *field,
                            tomo_prisms **prisms);
void tomo_prisms_destroy(tomo_prisms **prisms);

/* Adds the arrays to the result file: mesh_points, mesh_cells, and mesh_NAME for each field. The
 * arrays must exist until the file is written. */
osla_err tomo_prisms_store(const tomo_prisms *prisms, tomo_store *store);

/* Writes XDMF (www.xdmf.org, version 2, which all of ParaView's readers accept) that refers to the
 * data sets of tomo_prisms_store in the file `data`. The name `data` is escaped for XML but must be
 * valid text. Returns ferror(out). */
int tomo_prisms_describe(const tomo_prisms *prisms, const char *data, FILE *out);

#endif
