#include "kernels/forest/forest_names.h"
#include "kernels/forest/forest_serve.h"

#include <inttypes.h>
#include <stdlib.h>

static const osla_unit pair_unit = {OSLA_UNIT_INT64, 2, 0};
static const vertex_name nobody = {-1, -1};

osla_err osli_forest_make_names(const osla_forest *f, int64_t n, vertex_name **out)
{
  vertex_name *names = malloc((size_t)(n + 1) * sizeof *names);
  osla_err err = osla_agree(
    f->t, names ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "names of %" PRId64 " vertices", n));
  *out = names;
  if (err != OSLA_OK) {
    free(names);
    *out = NULL;
    return err;
  }
  for (int64_t i = 0; i < n; i++)
    names[i] = nobody;
  return OSLA_OK;
}

osla_err osli_forest_names_check(osla_forest *f)
{
  return osla_agree(f->t, osli_forest_check_place(f));
}

void osli_forest_name_roots(const osla_forest *f, vertex_name *names)
{
  for (int k = 0; k < f->to_roots.n; k++) {
    const forest_link *l = &f->to_roots.of[k];
    for (int64_t i = 0; i < l->edges; i++) {
      const osla_root root = osla_link_root(l, i);
      names[osla_link_vertex(l, i)] = (vertex_name){root.rank, root.index};
    }
  }
}

void osli_forest_name_mine(const osla_forest *f, vertex_name *names, int64_t n, int64_t first)
{
  for (int64_t i = 0; i < n; i++)
    names[i] = (vertex_name){osla_transport_rank(f->t), first + i};
}

osla_err osli_forest_join_names(osla_transport *t, int64_t n_roots, const vertex_name *names,
                                int64_t n, osla_forest **out)
{
  int64_t edges = 0;
  for (int64_t i = 0; i < n; i++)
    edges += names[i].rank >= 0;
  int64_t *leaf = malloc((size_t)(edges + 1) * sizeof *leaf);
  osla_root *root = malloc((size_t)(edges + 1) * sizeof *root);
  osla_err err = osla_agree(
    t, leaf && root ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "%" PRId64 " edges", edges));
  for (int64_t i = 0, e = 0; err == OSLA_OK && i < n; i++) {
    if (names[i].rank < 0) continue;
    leaf[e] = i;
    root[e++] = (osla_root){(int32_t)names[i].rank, names[i].index};
  }
  if (err == OSLA_OK) err = osla_forest_create(t, n_roots, edges, leaf, root, out);
  free(leaf);
  free(root);
  return err;
}

osla_err osli_forest_bring_names(osla_forest *f, bool back, const vertex_name *named,
                                 vertex_name *names)
{
  return back ? osla_forest_reduce(f, pair_unit, named, names, OSLA_REPLACE)
              : osla_forest_bcast(f, pair_unit, named, names, OSLA_REPLACE);
}
