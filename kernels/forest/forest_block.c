#include "kernels/forest/forest_block.h"

/* ---- is it one? ---- */

/* How many of `n` steps of `stride` in the list are alike, from the first on. */
static int64_t alike(const uint32_t *list, int64_t n, int64_t stride)
{
  if (n < 2) return n;
  const int64_t step = (int64_t)list[stride] - list[0];
  int64_t i = 2;
  while (i < n && (int64_t)list[i * stride] - list[0] == i * step)
    i++;
  return i;
}

static int64_t step_of(const uint32_t *list, int64_t n, int64_t stride)
{
  return n > 1 ? (int64_t)list[stride] - list[0] : 0;
}

bool osli_block_find(const uint32_t *list, int64_t n, vertex_block *out)
{
  enum { LEAST_ROW = 8 };
  if (n < LEAST_ROW) return false;
  vertex_block b = {.first = list[0]};
  b.n[0] = alike(list, n, 1);
  if (b.n[0] < LEAST_ROW || n % b.n[0] != 0) return false;
  const int64_t rows = n / b.n[0];
  b.n[1] = alike(list, rows, b.n[0]);
  if (rows % b.n[1] != 0) return false;
  b.n[2] = rows / b.n[1];
  b.step[0] = step_of(list, b.n[0], 1);
  b.step[1] = step_of(list, b.n[1], b.n[0]);
  b.step[2] = step_of(list, b.n[2], b.n[0] * b.n[1]);
  for (int64_t k = 0, at = 0; k < b.n[2]; k++)
    for (int64_t j = 0; j < b.n[1]; j++)
      for (int64_t i = 0; i < b.n[0]; i++, at++)
        if (list[at] != b.first + i * b.step[0] + j * b.step[1] + k * b.step[2]) return false;
  *out = b;
  return true;
}

int64_t osli_block_low(const vertex_block *b)
{
  int64_t low = b->first;
  for (int d = 0; d < 3; d++)
    if (b->step[d] < 0) low += (b->n[d] - 1) * b->step[d];
  return low;
}

int64_t osli_block_high(const vertex_block *b)
{
  int64_t high = b->first;
  for (int d = 0; d < 3; d++)
    if (b->step[d] > 0) high += (b->n[d] - 1) * b->step[d];
  return high;
}

/* ---- rows ---- */

/* Where it stands in a list; one without a block is a single row. */
typedef struct row_cursor {
  vertex_list v;
  int64_t i, j, k;
} row_cursor;

static row_cursor start(vertex_list v)
{
  const vertex_block *b = v.block;
  if (!b) return (row_cursor){v, 0, 0, 0};
  const int64_t row = v.first / b->n[0];
  return (row_cursor){v, v.first % b->n[0], row % b->n[1], row / b->n[1]};
}

static int64_t left(const row_cursor *at)
{
  return at->v.block ? at->v.block->n[0] - at->i : INT64_MAX;
}

static vertex_list rest_of_row(const row_cursor *at)
{
  const vertex_block *b = at->v.block;
  if (!b) return at->v;
  const int64_t index = b->first + at->i * b->step[0] + at->j * b->step[1] + at->k * b->step[2];
  return (vertex_list){.base = at->v.base + at->v.stride * index,
                       .stride = at->v.stride * b->step[0]};
}

static void advance(row_cursor *at, int64_t n)
{
  const vertex_block *b = at->v.block;
  at->i += n;
  if (!b) {
    at->v = osla_vertices_from(at->v, n);
  } else if (at->i == b->n[0]) {
    at->i = 0;
    if (++at->j < b->n[1]) return;
    at->j = 0;
    at->k++;
  }
}

static int64_t least(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

static void do_row(const vertex_work *w, vertex_list to, vertex_list from,
                   const vertex_list *before, int64_t n)
{
  if (!before)
    osli_vertices_combine(w->type, w->combine, w->count, to, from, n);
  else
    osli_vertices_fetch(w->type, w->combine, w->count, to, from, *before, n);
}

void osli_vertices_by_rows(const vertex_work *work, vertex_list to, vertex_list from,
                           const vertex_list *before, int64_t n)
{
  row_cursor at_to = start(to), at_from = start(from), at_before = start(before ? *before : from);
  while (n > 0) {
    const int64_t m = least(least(n, left(&at_before)), least(left(&at_to), left(&at_from)));
    const vertex_list kept = rest_of_row(&at_before);
    do_row(work, rest_of_row(&at_to), rest_of_row(&at_from), before ? &kept : NULL, m);
    advance(&at_to, m);
    advance(&at_from, m);
    advance(&at_before, m);
    n -= m;
  }
}
