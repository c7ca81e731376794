/* Values that are read soon are brought to this core's caches. */
#include "kernels/forest/forest_call.h"
#include "kernels/forest/forest_serve.h"
#include "kernels/forest/forest_share.h"

enum { NEARER_EDGES = 4096 }; /* more lines than a core's inner caches hold gain nothing */

/* In steps of a line where they are consecutive. */
static void fetch_lines(vertex_list from, int64_t n, size_t bytes)
{
  if (from.at || (size_t)from.stride != bytes) {
    for (int64_t i = 0; i < n; i++)
      __builtin_prefetch(osla_vertex(&from, i));
    return;
  }
  const unsigned char *begin = osla_vertex(&from, 0);
  for (size_t at = 0; at < (size_t)n * bytes; at += LINE)
    __builtin_prefetch(begin + at);
}

void osli_forest_fetch_nearer(osla_forest *f, uint64_t number)
{
  const forest_transfer *x = osla_forest_transfer(f, number);
  const forest_links *in = osla_forest_in(f, x->kind);
  const size_t bytes = osli_unit_element(x->type) * (size_t)x->count;
  if (x->shared) {
    osli_forest_fetch_nearer(f->share->near, x->shared->near);
    return;
  }
  if (f->read + 1 != number) return;
  for (int i = x->reading.link; i < in->n; i++) {
    const forest_link *l = &in->of[i];
    if (!l->near || l->self || l->edges > NEARER_EDGES) continue;
    const forest_call *call = osla_forest_call_of(l, number);
    const bool packs = osla_forest_packs(x, l, l->thin_theirs);
    if (packs || !call || call->values.array < 0) continue;
    fetch_lines(osla_forest_in_place(f, l, &call->values), l->edges, bytes);
  }
}
