/* Indices that form a block of a regular grid: three sizes in place of a list (private to forests).
 * Pure arithmetic, but for the rows. */
#ifndef FOREST_BLOCK_H
#define FOREST_BLOCK_H

#include "kernels/forest/forest_units.h"

/* The i-th, counted with the first dimension fastest. n[0] = 0: no block. */
typedef struct vertex_block {
  int64_t first, n[3], step[3];
} vertex_block;

/* Is this list [n] one, of rows that are long enough to be worth a call each? A list that ascends
 * by 1 is one, too. */
bool osli_block_find(const uint32_t *list, int64_t n, vertex_block *out);

static inline int64_t osla_block_index(const vertex_block *b, int64_t i)
{
  const int64_t row = i / b->n[0];
  return b->first + i % b->n[0] * b->step[0] + row % b->n[1] * b->step[1] +
         row / b->n[1] * b->step[2];
}

/* The lowest and the highest index. */
int64_t osli_block_low(const vertex_block *b);
int64_t osli_block_high(const vertex_block *b);

/* osli_vertices_combine and _fetch where lists are blocks, row by row. */
typedef struct vertex_work {
  osla_unit_type type;
  osla_forest_combine combine;
  int64_t count;
} vertex_work;
void osli_vertices_by_rows(const vertex_work *work, vertex_list to, vertex_list from,
                           const vertex_list *before, int64_t n);

#endif
