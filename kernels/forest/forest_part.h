/* Parts of rings as lists of vertices (private to forests). */
#ifndef FOREST_PART_H
#define FOREST_PART_H

#include "kernels/forest/forest.h"

static inline forest_head osla_head_of(uint64_t number, const forest_transfer *x)
{
  return (forest_head){.what = x->what, .number = (uint32_t)number};
}

/* The vertices of a part, their first number. */
static inline vertex_list osla_part_vertices(vertex_list v, const ring_part *part, size_t element)
{
  v = osla_vertices_from(v, part->first);
  v.base += (size_t)part->first_number * element;
  return v;
}

/* As a slot holds them. */
static inline vertex_list osla_part_packed(const unsigned char *slot, const ring_part *part,
                                           size_t element)
{
  return (vertex_list){(unsigned char *)(uintptr_t)slot, part->numbers * (int64_t)element, NULL, 0,
                       NULL};
}

static inline void osla_next_link(forest_cursor *at)
{
  at->link++;
  at->part = 0;
}

#endif
