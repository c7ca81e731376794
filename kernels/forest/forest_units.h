/* The values of vertices: what can be combined, and the loops that do it (private to forests). */
#ifndef FOREST_UNITS_H
#define FOREST_UNITS_H

#include "osla_forest.h"

/* Bytes of one number, what its address must be a multiple of, bytes of a vertex. Local, pure. */
size_t osli_unit_element(osla_unit_type type);
size_t osli_unit_alignment(osla_unit_type type);
size_t osli_unit_bytes(osla_unit unit);
const char *osli_unit_name(osla_unit_type type);
const char *osli_forest_combine_name(osla_forest_combine combine);

/* Errors: ARG: no such type, count or stride; a combination that the type has not. */
osla_err osli_unit_check(osla_unit unit, osla_forest_combine combine);

/* What a combination of integers leaves as it is, or a sum of any numbers: into `count` numbers of
 * n vertices. Local. */
void osli_unit_identity(osla_unit_type type, osla_forest_combine combine, int64_t count,
                        unsigned char *to, int64_t stride, int64_t n);

/* Vertices of an array: the i-th of a list lies at base + stride * (at ? at[i] : first + i); with a
 * block, which stands in no loop, at that of the block's (first + i)-th (forest_block.h). */
typedef struct vertex_list {
  unsigned char *base;
  int64_t stride;
  const uint32_t *at;
  int64_t first;
  const struct vertex_block *block; /* or NULL */
} vertex_list;

static inline unsigned char *osla_vertex(const vertex_list *v, int64_t i)
{
  return v->base + v->stride * (v->at ? (int64_t)v->at[i] : v->first + i);
}

/* From the lo-th of the list on. */
static inline vertex_list osla_vertices_from(vertex_list v, int64_t lo)
{
  if (v.at)
    v.at += lo;
  else
    v.first += lo;
  return v;
}

/* to[i] := to[i] (combine) from[i], i = 0 .. n - 1 in that order; `count` numbers of each. */
void osli_vertices_combine(osla_unit_type type, osla_forest_combine combine, int64_t count,
                           vertex_list to, vertex_list from, int64_t n);

/* The same, and before[i] := the value of to[i] until then. */
void osli_vertices_fetch(osla_unit_type type, osla_forest_combine combine, int64_t count,
                         vertex_list to, vertex_list from, vertex_list before, int64_t n);

#endif
