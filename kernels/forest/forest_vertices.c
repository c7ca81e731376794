/* Lists of vertices: blocks of indices, and the loops that replace, combine and fetch the vertices
 * of two lists. Vertices of 8 bytes have loops of their own, which are as fast as loops over plain
 * arrays. */
#include "kernels/forest/forest_units.h"
#include "src/blas/move.h"

#include <string.h>

/* ---- blocks ---- */

/* Returns the length of the longest sequence list[0], list[stride], list[2 * stride], ... of at
 * most n entries in which neighbours differ by one step. The step may be negative. */
static int64_t count_equal_steps(const uint32_t *list, int64_t n, int64_t stride)
{
  if (n < 2) return n;
  const int64_t step = (int64_t)list[stride] - list[0];
  int64_t i = 2;
  while (i < n && (int64_t)list[i * stride] - list[0] == i * step)
    i++;
  return i;
}

/* Returns list[stride] - list[0], or 0 if n is 1. */
static int64_t step_of(const uint32_t *list, int64_t n, int64_t stride)
{
  return n > 1 ? (int64_t)list[stride] - list[0] : 0;
}

bool osli_block_find(const uint32_t *list, int64_t n, vertex_block *out)
{
  /* The loops handle a block row by row, so a block with shorter rows would take too many calls. */
  enum { LEAST_ROW = 8 };
  if (n < LEAST_ROW) return false;
  vertex_block b = {.first = list[0]};
  b.n[0] = count_equal_steps(list, n, 1);
  if (b.n[0] < LEAST_ROW || n % b.n[0] != 0) return false;
  const int64_t rows = n / b.n[0];
  b.n[1] = count_equal_steps(list, rows, b.n[0]);
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

void osli_block_range(const vertex_block *b, int64_t *low, int64_t *high)
{
  *low = *high = b->first;
  for (int d = 0; d < 3; d++)
    *(b->step[d] < 0 ? low : high) += (b->n[d] - 1) * b->step[d];
}

/* ---- words: adjacent values of 8 bytes ---- */

static bool are_words(const vertex_list *v, size_t bytes)
{
  return bytes == sizeof(uint64_t) && v->stride == (int64_t)bytes &&
         (uintptr_t)v->base % sizeof(uint64_t) == 0;
}

/* Address of the word (8 bytes) that has index 0 in a list of words. Without an index list: address
 * of the first word. */
static void *first_word(const vertex_list *v)
{
  return v->base + (v->at ? 0 : v->first * v->stride);
}

/* Copies n words. to_at and from_at are index lists or NULL, known at compile time. */
static inline __attribute__((always_inline)) void copy_words(uint64_t *restrict to,
                                                             const uint32_t *to_at,
                                                             const uint64_t *restrict from,
                                                             const uint32_t *from_at, int64_t n)
{
#pragma GCC unroll 4
  for (int64_t i = 0; i < n; i++)
    to[to_at ? to_at[i] : i] = from[from_at ? from_at[i] : i];
}

static void replace_words(const vertex_list *to_list, const vertex_list *from_list, int64_t n)
{
  const uint32_t *to_at = to_list->at, *from_at = from_list->at;
  uint64_t *to = first_word(to_list);
  const uint64_t *from = first_word(from_list);
  if (!from_at)
    copy_words(to, to_at, from, NULL, n);
  else if (!to_at)
    copy_words(to, NULL, from, from_at, n);
  else
    copy_words(to, to_at, from, from_at, n);
}

/* Sums of words: to[i] := to[i] + from[i], in ascending order, where `to` has an index list. The
 * old to[i] is copied to `before`, unless that is NULL. Words of `to` are prefetched AHEAD
 * iterations ahead. Signed integers are summed as unsigned ones, which gives the same bits. */
enum { AHEAD = 16 };
#define SUMS(name, type)                                                                           \
  static inline __attribute__((always_inline)) void name##_step(                                   \
    type *to, const type *restrict from, const uint32_t *from_at, type *restrict before,           \
    const uint32_t *before_at, int64_t i)                                                          \
  {                                                                                                \
    if (before) before[before_at ? before_at[i] : i] = *to;                                        \
    *to += from[from_at ? from_at[i] : i];                                                         \
  }                                                                                                \
  static inline __attribute__((always_inline)) void name##_loop(                                   \
    type *restrict to, const uint32_t *to_at, const type *restrict from, const uint32_t *from_at,  \
    type *restrict before, const uint32_t *before_at, int64_t n)                                   \
  {                                                                                                \
    int64_t i = 0;                                                                                 \
    for (; i < n - AHEAD; i++) {                                                                   \
      __builtin_prefetch(&to[to_at[i + AHEAD]], 1);                                                \
      name##_step(&to[to_at[i]], from, from_at, before, before_at, i);                             \
    }                                                                                              \
    for (; i < n; i++)                                                                             \
      name##_step(&to[to_at[i]], from, from_at, before, before_at, i);                             \
  }                                                                                                \
  static void name(const vertex_list *to_list, const vertex_list *from_list,                       \
                   const vertex_list *before_list, int64_t n)                                      \
  {                                                                                                \
    const uint32_t *from_at = from_list->at, *before_at = before_list ? before_list->at : NULL;    \
    type *to = (type *)(void *)to_list->base;                                                      \
    const type *from = (const type *)first_word(from_list);                                        \
    type *before = before_list ? (type *)first_word(before_list) : NULL;                           \
    if (!before && from_at)                                                                        \
      name##_loop(to, to_list->at, from, from_at, NULL, NULL, n);                                  \
    else if (!before)                                                                              \
      name##_loop(to, to_list->at, from, NULL, NULL, NULL, n);                                     \
    else if (from_at && before_at)                                                                 \
      name##_loop(to, to_list->at, from, from_at, before, before_at, n);                           \
    else if (from_at)                                                                              \
      name##_loop(to, to_list->at, from, from_at, before, NULL, n);                                \
    else if (before_at)                                                                            \
      name##_loop(to, to_list->at, from, NULL, before, before_at, n);                              \
    else                                                                                           \
      name##_loop(to, to_list->at, from, NULL, before, NULL, n);                                   \
  }

SUMS(sum_doubles, double)
SUMS(sum_integers, uint64_t)

static void sum_words(osla_unit_type type, const vertex_list *to, const vertex_list *from,
                      const vertex_list *before, int64_t n)
{
  if (type == OSLA_UNIT_DOUBLE)
    sum_doubles(to, from, before, n);
  else
    sum_integers(to, from, before, n);
}

/* ---- replacing vertices by others ---- */

static void replace_vertices(size_t bytes, const vertex_list *to, const vertex_list *from,
                             int64_t n)
{
  bool dense = to->stride == (int64_t)bytes && from->stride == (int64_t)bytes;
  bool words = are_words(to, bytes) && are_words(from, bytes);
  if (dense && !to->at && !from->at)
    memcpy(osli_vertex(to, 0), osli_vertex(from, 0), bytes * (size_t)n);
  else if (words)
    replace_words(to, from, n);
  else if (bytes == sizeof(uint64_t))
    /* With a constant size, the compiler makes memcpy one load and one store. */
    for (int64_t i = 0; i < n; i++)
      memcpy(osli_vertex(to, i), osli_vertex(from, i), sizeof(uint64_t));
  else
    for (int64_t i = 0; i < n; i++)
      memcpy(osli_vertex(to, i), osli_vertex(from, i), bytes);
}

/* An operation on two lists of vertices. */
typedef struct vertex_work {
  osla_unit_type type;
  osla_forest_combine combine;
  int64_t count; /* number of numbers in a vertex */
} vertex_work;

/* Adds the modelled time of the work on n vertices to the simulated clock. */
static void charge_clock(const vertex_work *w, osla_forest_combine combine, int64_t n)
{
  if (combine == OSLA_REPLACE)
    osli_move_charge(osli_unit_element(w->type) * (size_t)w->count, n);
  else
    work_charge(OSLA_WORK_ADD, OSLA_DOUBLE, 1, n * w->count, 1);
}

/* True if sum_words can do this operation. */
static bool is_sum_of_words(const vertex_work *w, const vertex_list *to, const vertex_list *from)
{
  const size_t bytes = osli_unit_element(w->type);
  return w->combine == OSLA_SUM && w->count == 1 && to->at && are_words(to, bytes) &&
         are_words(from, bytes) &&
         (w->type == OSLA_UNIT_DOUBLE || w->type == OSLA_UNIT_INT64 || w->type == OSLA_UNIT_UINT64);
}

/* ---- lists that are blocks, row by row ---- */

/* Position in a list of vertices: indices (i, j, k) in its block. A list without a block counts as
 * a block with a single row. */
typedef struct row_cursor {
  vertex_list v;
  int64_t i, j, k;
} row_cursor;

static row_cursor start_rows(vertex_list v)
{
  const vertex_block *b = v.block;
  if (!b) return (row_cursor){v, 0, 0, 0};
  const int64_t row = v.first / b->n[0];
  return (row_cursor){v, v.first % b->n[0], row % b->n[1], row / b->n[1]};
}

static int64_t vertices_left(const row_cursor *at)
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
    at->v = osli_vertices_from(at->v, n);
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

static void apply_work(const vertex_work *w, const vertex_list *to, const vertex_list *from,
                       const vertex_list *before, int64_t n);

static void apply_rows(const vertex_work *w, const vertex_list *to, const vertex_list *from,
                       const vertex_list *before, int64_t n)
{
  row_cursor at_to = start_rows(*to), at_from = start_rows(*from),
             at_before = start_rows(before ? *before : *from);
  while (n > 0) {
    const int64_t m = least(least(n, vertices_left(&at_before)),
                            least(vertices_left(&at_to), vertices_left(&at_from)));
    const vertex_list row_to = rest_of_row(&at_to), row_from = rest_of_row(&at_from),
                      row_before = rest_of_row(&at_before);
    apply_work(w, &row_to, &row_from, before ? &row_before : NULL, m);
    advance(&at_to, m);
    advance(&at_from, m);
    advance(&at_before, m);
    n -= m;
  }
}

/* ---- combining and fetching ---- */

static void apply_work(const vertex_work *w, const vertex_list *to, const vertex_list *from,
                       const vertex_list *before, int64_t n)
{
  const size_t element = osli_unit_element(w->type);
  if (n == 0) return;
  if (to->block || from->block || (before && before->block)) {
    apply_rows(w, to, from, before, n);
    return;
  }
  if (osli_work_charge_function) charge_clock(w, before ? OSLA_SUM : w->combine, n);
  if (w->combine == OSLA_REPLACE && !before)
    replace_vertices(element * (size_t)w->count, to, from, n);
  else if (is_sum_of_words(w, to, from) && (!before || are_words(before, element)))
    sum_words(w->type, to, from, before, n);
  else
    osli_unit_facts[w->type].loops(w->combine, w->count, to, from, before, n);
}

void osli_vertices_combine_on_host(osla_unit_type type, osla_forest_combine combine, int64_t count,
                                   const vertex_list *to, const vertex_list *from,
                                   const vertex_list *before, int64_t n)
{
  apply_work(&(vertex_work){type, combine, count}, to, from, before, n);
}
