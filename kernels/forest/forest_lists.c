#include "forest_lists.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- forms ---- */

static bool ascends(const uint32_t *list, int64_t n)
{
  for (int64_t i = 1; i < n; i++)
    if ((int64_t)list[i] != (int64_t)list[0] + i) return false;
  return true;
}

/* A list becomes what says the same. */
static void simplify(int64_t n, bool far, const uint32_t **list, int64_t *first, vertex_block *room,
                     const vertex_block **block)
{
  if (ascends(*list, n))
    *first = (*list)[0];
  else if (far && osla_block_find(*list, n, room))
    *block = room;
  else
    return;
  *list = NULL;
}

osla_err osla_forest_lists_make(osla_forest *f, const forest_edges *e, forest_lists *out)
{
  const size_t n = (size_t)e->n + 1;
  uint32_t *memory = osla_pool_scratch(f->pool, 2 * n * sizeof *memory);
  OSLA_CHECK(memory, OSLA_ERR_MEM, "lists of %" PRId64 " edges", e->n);
  *out = (forest_lists){memory, memory + n};
  osla_forest_sort(osla_transport_size(f->t), e, out->leaf, out->root);
  for (int i = 0; i < f->to_roots.n; i++) {
    forest_link *l = &f->to_roots.of[i];
    l->mine = out->leaf + e->start[l->rank];
    l->theirs = out->root + e->start[l->rank];
    simplify(l->edges, !l->near, &l->mine, &l->mine_first, &l->block[0], &l->mine_block);
    simplify(l->edges, !l->near, &l->theirs, &l->theirs_first, &l->block[1], &l->theirs_block);
  }
  return OSLA_OK;
}

size_t osla_forest_lists_bytes(const osla_forest *f)
{
  size_t n = 0;
  for (int i = 0; i < f->to_roots.n; i++) {
    const forest_link *l = &f->to_roots.of[i];
    n += l->mine ? (size_t)l->edges : 0;
    n += l->theirs ? (size_t)l->edges : 0;
  }
  return n * sizeof(uint32_t);
}

static void keep(const uint32_t **list, int64_t n, uint32_t **memory)
{
  if (!*list) return;
  memcpy(*memory, *list, (size_t)n * sizeof **memory);
  *list = *memory;
  *memory += n;
}

void osla_forest_lists_keep(osla_forest *f, uint32_t *memory)
{
  for (int i = 0; i < f->to_roots.n; i++) {
    forest_link *l = &f->to_roots.of[i];
    keep(&l->mine, l->edges, &memory);
    keep(&l->theirs, l->edges, &memory);
  }
}

/* ---- what the other end of a link is told ---- */

static list_form form_of(const osla_forest *f, const uint32_t *list, int64_t first,
                         const vertex_block *block)
{
  list_form form = {.list = -1, .first = first};
  if (block) form.block = *block;
  if (list)
    form.list = (const unsigned char *)list - (const unsigned char *)f->piece.memory +
                (int64_t)f->piece.offset;
  return form;
}

list_form osla_forest_form_of_roots(const osla_forest *f, const forest_link *l)
{
  return form_of(f, l->theirs, l->theirs_first, l->theirs_block);
}

list_form osla_forest_form_of_leaves(const osla_forest *f, const forest_link *l)
{
  return form_of(f, l->mine, l->mine_first, l->mine_block);
}

static const uint32_t *at_neighbour(const osla_forest *f, int rank, const list_form *form)
{
  const unsigned char *memory = osla_segment_peer(f->piece.segment, rank);
  return form->list < 0 ? NULL : (const uint32_t *)(const void *)(memory + form->list);
}

void osla_forest_take_forms(const osla_forest *f, forest_link *l, const list_form *roots,
                            const list_form *leaves)
{
  l->mine_first = roots->first;
  if (l->near) {
    l->mine = at_neighbour(f, l->rank, roots);
    l->theirs = at_neighbour(f, l->rank, leaves);
    l->theirs_first = leaves->first;
  } else if (roots->block.n[0] > 0) {
    l->block[0] = roots->block;
    l->mine_block = &l->block[0];
  }
}

/* ---- what lists hold ---- */

static void widen(osla_forest *f, int64_t low, int64_t high)
{
  if (low < f->low_root) f->low_root = low;
  if (high > f->high_root) f->high_root = high;
}

/* The roots that have edges. */
static void find_roots(osla_forest *f)
{
  f->low_root = f->to_leaves.n > 0 ? INT64_MAX : 0;
  f->high_root = -1;
  for (int i = 0; i < f->to_leaves.n; i++) {
    const forest_link *l = &f->to_leaves.of[i];
    if (l->mine)
      for (int64_t k = 0; k < l->edges; k++)
        widen(f, l->mine[k], l->mine[k]);
    else if (l->mine_block)
      widen(f, osla_block_low(l->mine_block), osla_block_high(l->mine_block));
    else
      widen(f, l->mine_first, l->mine_first + l->edges - 1);
  }
}

/* Are there less than two of these vertices, of 8 bytes each, in a line of memory? */
static osla_err look_if_thin(const uint32_t *list, int64_t n, bool *thin)
{
  enum { FEW = 16, IN_LINE = LINE / 8, SPREAD = 64 };
  uint32_t low = UINT32_MAX, high = 0;
  int64_t lines = 0;
  *thin = false;
  if (!list || n <= FEW) return OSLA_OK;
  for (int64_t i = 0; i < n; i++) {
    if (list[i] < low) low = list[i];
    if (list[i] > high) high = list[i];
  }
  low /= IN_LINE;
  const size_t range = (size_t)(high / IN_LINE - low) + 1;
  *thin = range > SPREAD * (size_t)n; /* almost each has a line of its own */
  if (*thin) return OSLA_OK;
  unsigned char *met = calloc(range, 1);
  OSLA_CHECK(met, OSLA_ERR_MEM, "%zu marks of lines", range);
  for (int64_t i = 0; i < n; i++) {
    lines += !met[list[i] / IN_LINE - low];
    met[list[i] / IN_LINE - low] = 1;
  }
  free(met);
  *thin = n < 2 * lines;
  return OSLA_OK;
}

static osla_err find_thin(forest_links *links)
{
  for (int i = 0; i < links->n; i++) {
    forest_link *l = &links->of[i];
    if (!l->near || l->self) continue;
    OSLA_CALL(look_if_thin(l->mine, l->edges, &l->thin_mine));
    OSLA_CALL(look_if_thin(l->theirs, l->edges, &l->thin_theirs));
  }
  return OSLA_OK;
}

osla_err osla_forest_look_at_lists(osla_forest *f)
{
  find_roots(f);
  OSLA_CALL(find_thin(&f->to_roots));
  return find_thin(&f->to_leaves);
}
