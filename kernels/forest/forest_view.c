/* A forest as a text. */
#include "kernels/forest/forest_share.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* `length`: of the whole text, also where it has no room. */
typedef struct view_text {
  char *text;
  size_t size, length;
} view_text;

__attribute__((format(printf, 2, 3))) static void add(view_text *v, const char *format, ...)
{
  const bool fits = v->length < v->size;
  va_list values;
  va_start(values, format);
  const int n =
    vsnprintf(fits ? v->text + v->length : NULL, fits ? v->size - v->length : 0, format, values);
  va_end(values);
  v->length += n > 0 ? (size_t)n : 0;
}

static void add_indices(view_text *v, const char *what, const uint32_t *list, const vertex_block *b,
                        int64_t first, int64_t n)
{
  if (list)
    add(v, "%s by a list", what);
  else if (b)
    add(v, "%s in a block of %" PRId64 " x %" PRId64 " x %" PRId64 " from %" PRId64, what, b->n[0],
        b->n[1], b->n[2], b->first);
  else
    add(v, "%s %" PRId64 " to %" PRId64, what, first, first + n - 1);
}

static const char *where(const forest_link *l)
{
  return l->self ? "this rank" : l->near ? "this node" : "another node";
}

static void add_to_roots(view_text *v, const forest_link *l, bool edges)
{
  add(v, "  %" PRId64 " to roots of rank %d (%s): ", l->edges, l->rank, where(l));
  add_indices(v, "leaves", l->mine, l->mine_block, l->mine_first, l->edges);
  add_indices(v, ", roots", l->theirs, l->theirs_block, l->theirs_first, l->edges);
  add(v, "\n");
  for (int64_t i = 0; edges && i < l->edges; i++)
    add(v, "    leaf %" PRId64 ", root %" PRId64 "\n", osla_link_vertex(l, i),
        osla_link_root(l, i).index);
}

static void add_to_leaves(view_text *v, const forest_link *l)
{
  add(v, "  %" PRId64 " to leaves of rank %d (%s): ", l->edges, l->rank, where(l));
  add_indices(v, "roots", l->mine, l->mine_block, l->mine_first, l->edges);
  add(v, "\n");
}

size_t osla_forest_view(const osla_forest *f, bool edges, char *text, size_t size)
{
  view_text v = {text, size, 0};
  if (size > 0) text[0] = '\0';
  add(&v,
      "forest %d, rank %d of %d: %" PRId64 " roots, %" PRId64 " edges, leaves below %" PRId64 "\n",
      f->made, osla_transport_rank(f->t), osla_transport_size(f->t), f->n_roots, f->n_edges,
      f->leaf_space);
  for (int i = 0; i < f->to_roots.n; i++)
    add_to_roots(&v, &f->to_roots.of[i], edges);
  for (int i = 0; i < f->to_leaves.n; i++)
    add_to_leaves(&v, &f->to_leaves.of[i]);
  if (f->share)
    add(&v, "  broadcasts cross between nodes once: %" PRId64 " proxies here\n",
        f->share->n_proxies);
  return v.length;
}
