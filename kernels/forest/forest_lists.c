#include "kernels/forest/forest_lists.h"

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
  else if (far && osli_block_find(*list, n, room))
    *block = room;
  else
    return;
  *list = NULL;
}

/* ---- what they hold ---- */

static void find_ends(const uint32_t *list, int64_t n, int64_t *low, int64_t *high)
{
  uint32_t least = list[0], largest = list[0];
#pragma omp simd reduction(min : least) reduction(max : largest)
  for (int64_t i = 0; i < n; i++) {
    least = list[i] < least ? list[i] : least;
    largest = list[i] > largest ? list[i] : largest;
  }
  *low = least;
  *high = largest;
}

/* Are there less than two of these vertices, of 8 bytes each, in a line of memory? */
static osla_err look_if_thin(const uint32_t *list, int64_t n, int64_t low, int64_t high, bool *thin)
{
  enum { FEW = 16, IN_LINE = LINE / 8, SPREAD = 64 };
  low /= IN_LINE;
  const int64_t range = high / IN_LINE - low + 1;
  int64_t lines = 0;
  *thin = n > FEW && range > SPREAD * n; /* almost each has a line of its own */
  if (n <= FEW || *thin || n >= 2 * range) return OSLA_OK;
  unsigned char *met = calloc((size_t)range, 1);
  OSLA_CHECK(met, OSLA_ERR_MEM, "%" PRId64 " marks of lines", range);
  for (int64_t i = 0; i < n; i++) {
    lines += !met[list[i] / IN_LINE - low];
    met[list[i] / IN_LINE - low] = 1;
  }
  free(met);
  *thin = n < 2 * lines;
  return OSLA_OK;
}

/* Of a link to roots, so that their owner need not read the lists for that. */
static osla_err look_at_lists(forest_link *l)
{
  int64_t low, high;
  const bool lends = l->near && !l->self;
  l->low_root = l->theirs_first;
  l->high_root = l->theirs_first + l->edges - 1;
  if (l->theirs_block) {
    l->low_root = osli_block_low(l->theirs_block);
    l->high_root = osli_block_high(l->theirs_block);
  }
  if (l->theirs) {
    find_ends(l->theirs, l->edges, &l->low_root, &l->high_root);
    if (lends)
      OSLA_CALL(look_if_thin(l->theirs, l->edges, l->low_root, l->high_root, &l->thin_theirs));
  }
  if (!lends || !l->mine) return OSLA_OK;
  find_ends(l->mine, l->edges, &low, &high);
  return look_if_thin(l->mine, l->edges, low, high, &l->thin_mine);
}

osla_err osli_forest_lists_make(osla_forest *f, const forest_edges *e, forest_lists *out)
{
  const size_t n = (size_t)e->n + 1;
  uint32_t *memory = osli_pool_scratch(f->pool, 2 * n * sizeof *memory);
  OSLA_CHECK(memory, OSLA_ERR_MEM, "lists of %" PRId64 " edges", e->n);
  *out = (forest_lists){memory, memory + n};
  osli_forest_sort(osla_transport_size(f->t), e, out->leaf, out->root);
  for (int i = 0; i < f->to_roots.n; i++) {
    forest_link *l = &f->to_roots.of[i];
    l->mine = out->leaf + e->start[l->rank];
    l->theirs = out->root + e->start[l->rank];
    simplify(l->edges, !l->near, &l->mine, &l->mine_first, &l->block[0], &l->mine_block);
    simplify(l->edges, !l->near, &l->theirs, &l->theirs_first, &l->block[1], &l->theirs_block);
    OSLA_CALL(look_at_lists(l));
  }
  return OSLA_OK;
}

size_t osli_forest_lists_bytes(const osla_forest *f)
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

void osli_forest_lists_keep(osla_forest *f, uint32_t *memory)
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

list_form osli_forest_form_of_roots(const osla_forest *f, const forest_link *l)
{
  return form_of(f, l->theirs, l->theirs_first, l->theirs_block);
}

list_form osli_forest_form_of_leaves(const osla_forest *f, const forest_link *l)
{
  return form_of(f, l->mine, l->mine_first, l->mine_block);
}

static const uint32_t *at_neighbour(const osla_forest *f, int rank, const list_form *form)
{
  const unsigned char *memory = osla_segment_peer(f->piece.segment, rank);
  return form->list < 0 ? NULL : (const uint32_t *)(const void *)(memory + form->list);
}

void osli_forest_take_forms(const osla_forest *f, forest_link *l, const list_form *roots,
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
