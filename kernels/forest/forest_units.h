/* Units (what a vertex consists of) and lists of vertices: the combinations that a type has, and
 * the loops that replace, combine and fetch the vertices of two lists (private to forests). All
 * calls are local. */
#ifndef FOREST_UNITS_H
#define FOREST_UNITS_H

#include "osla_forest.h"
#include "src/device/device.h"

/* ---- units (forest_units.c) ---- */

struct vertex_list;

/* Combines the vertices of two lists. The old values of `to` are copied to `before`, unless it is
 * NULL. */
typedef void combine_loops(osla_forest_combine combine, int64_t count, const struct vertex_list *to,
                           const struct vertex_list *from, const struct vertex_list *before,
                           int64_t n);

typedef enum unit_kind {
  UNIT_BYTES,
  UNIT_INTEGER,
  UNIT_REAL,
  UNIT_COMPLEX,
  UNIT_POSITION /* a number together with a position */
} unit_kind;

typedef struct unit_facts {
  const char *name;
  size_t bytes;     /* size of one number in bytes */
  size_t alignment; /* alignment of one number in bytes */
  unit_kind kind;
  combine_loops *loops;
} unit_facts;
extern const unit_facts osli_unit_facts[OSLA_UNIT_TYPES];

static inline bool osli_unit_is_integer(osla_unit_type type)
{
  return osli_unit_facts[type].kind == UNIT_INTEGER;
}

/* osli_unit_element returns the bytes of a number, and osli_unit_bytes the bytes of a vertex. */
static inline size_t osli_unit_element(osla_unit_type type)
{
  return osli_unit_facts[type].bytes;
}
static inline size_t osli_unit_bytes(osla_unit unit)
{
  return osli_unit_facts[unit.type].bytes * (size_t)unit.count;
}
const char *osli_unit_name(osla_unit_type type);
const char *osli_forest_combine_name(osla_forest_combine combine);

/* Checks a unit and a combination. Errors: ARG (an unknown type or combination, a wrong count or
 * stride, or a combination that the type does not have). */
osla_err osli_unit_check(osla_unit unit, osla_forest_combine combine);

/* Fills n vertices with the identity of a combination of integers, or of a sum of any type. */
void osli_unit_identity(osla_unit_type type, osla_forest_combine combine, int64_t count,
                        unsigned char *to, int64_t stride, int64_t n);

/* ---- lists of vertices ---- */

/* Indices that form a block of a regular grid. Entry (i0, i1, i2) of the block, with i0 fastest,
 * has the index first + i0 * step[0] + i1 * step[1] + i2 * step[2]. n[0] = 0 means that there is no
 * block. */
typedef struct vertex_block {
  int64_t first, n[3], step[3];
} vertex_block;

static inline int64_t osli_block_index(const vertex_block *b, int64_t i)
{
  const int64_t row = i / b->n[0];
  return b->first + i % b->n[0] * b->step[0] + row % b->n[1] * b->step[1] +
         row / b->n[1] * b->step[2];
}

/* True if a list of n indices is a block with rows of at least 8 indices. *out is the block. */
bool osli_block_find(const uint32_t *list, int64_t n, vertex_block *out);

/* Return the lowest and the highest index of a block. */
void osli_block_range(const vertex_block *b, int64_t *low, int64_t *high);

/* Indices of vertices: a list, or a block, or the numbers first, first + 1, ... */
typedef struct vertex_index {
  const uint32_t *list;      /* list of indices; NULL if the indices are a block or ascend by 1 */
  const vertex_block *block; /* block of indices; NULL if the indices are a list or ascend by 1 */
  int64_t first;
  int64_t n; /* number of indices if they are a list or a block */
  /* copy of the list or block on a device; NULL if there is no copy */
  struct device_indices *on_device;
} vertex_index;

/* Frees the copy that a device has of a list or block of indices. Local. */
void osli_index_forget(vertex_index *index);

static inline int64_t osli_vertex_index(const vertex_index *index, int64_t i)
{
  if (index->list) return index->list[i];
  return index->block ? osli_block_index(index->block, i) : index->first + i;
}

/* Vertices of an array. Vertex i lies at base + stride * at[i] if there is a list, at base + stride
 * * osli_block_index(block, first + i) if there is a block, and otherwise at base + stride * (first
 * + i). */
typedef struct vertex_list {
  unsigned char *base;
  int64_t stride;     /* bytes from one vertex to the next */
  const uint32_t *at; /* list of indices, or NULL */
  int64_t first;
  /* Block of a regular grid, or NULL. A loop over the vertices handles one row of the block (the
   * n[0] vertices that differ only in i0) at a time. */
  const vertex_block *block;
  /* Index structure that contains all of `at` or `block`. It is needed if the vertices lie on a
   * device. */
  const vertex_index *index;
} vertex_list;

/* Address of vertex i of a list that has no block. */
static inline unsigned char *osli_vertex(const vertex_list *v, int64_t i)
{
  return v->base + v->stride * (v->at ? (int64_t)v->at[i] : v->first + i);
}

/* Returns the list without its first `lo` vertices. */
static inline vertex_list osli_vertices_from(vertex_list v, int64_t lo)
{
  if (v.at)
    v.at += lo;
  else
    v.first += lo;
  return v;
}

/* Returns true if the vertices, which have `bytes` bytes each, are adjacent in memory. */
static inline bool osli_is_packed(const vertex_list *v, int64_t bytes)
{
  return !v->at && !v->block && v->stride == bytes;
}

/* ---- combining and fetching (forest_vertices.c, forest_device.c) ---- */

/* osli_vertices_combine and osli_vertices_fetch for lists that all lie in host memory. `before` is
 * NULL for osli_vertices_combine. */
void osli_vertices_combine_on_host(osla_unit_type type, osla_forest_combine combine, int64_t count,
                                   const vertex_list *to, const vertex_list *from,
                                   const vertex_list *before, int64_t n);

/* osli_vertices_combine and osli_vertices_fetch for lists of which at least one lies on a device.
 * `before` is NULL for osli_vertices_combine. The next osli_device_settle reports errors. */
void osli_vertices_combine_on_devices(osla_unit_type type, osla_forest_combine combine,
                                      int64_t count, const vertex_list *to, const vertex_list *from,
                                      const vertex_list *before, int64_t n);

/* Combines from[i] into to[i], for i = 0 .. n - 1 in this order. A vertex has `count` numbers.
 * Lists may lie in host memory or on devices. If all lists lie on one device, the work is queued
 * when the call returns. Otherwise host memory has been read and written when the call returns. */
static inline void osli_vertices_combine(osla_unit_type type, osla_forest_combine combine,
                                         int64_t count, vertex_list to, vertex_list from, int64_t n)
{
  if (osli_on_device(to.base, from.base, NULL))
    osli_vertices_combine_on_devices(type, combine, count, &to, &from, NULL, n);
  else
    osli_vertices_combine_on_host(type, combine, count, &to, &from, NULL, n);
}

/* Copies to[i] to before[i], then combines from[i] into to[i], for i = 0 .. n - 1 in this order.
 * Lists may lie in host memory or on devices, and work may be queued, as osli_vertices_combine
 * describes. */
static inline void osli_vertices_fetch(osla_unit_type type, osla_forest_combine combine,
                                       int64_t count, vertex_list to, vertex_list from,
                                       vertex_list before, int64_t n)
{
  if (osli_on_device(to.base, from.base, before.base))
    osli_vertices_combine_on_devices(type, combine, count, &to, &from, &before, n);
  else
    osli_vertices_combine_on_host(type, combine, count, &to, &from, &before, n);
}

#endif
