/* Forests from forests (section 3.2 and 3.3 of the paper). What a rank must know of others'
 * vertices comes to it by transfers of the forests themselves: pairs (rank, index), as two int64.
 */
#include "kernels/forest/forest_names.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- degrees, and a root for each leaf ---- */

void osla_forest_degrees(const osla_forest *f, int64_t *degree)
{
  for (int64_t i = 0; i < f->n_roots; i++)
    degree[i] = 0;
  for (int l = 0; l < f->to_leaves.n; l++)
    for (int64_t i = 0; i < f->to_leaves.of[l].edges; i++)
      degree[osla_link_vertex(&f->to_leaves.of[l], i)]++;
}

/* slots[i] becomes the first root of the split forest that is root i's; returns how many there are.
 */
static int64_t start_slots(int64_t *slots, int64_t n)
{
  int64_t next = 0;
  for (int64_t i = 0; i < n; i++) {
    int64_t degree = slots[i];
    slots[i] = next;
    next += degree;
  }
  return next;
}

/* A fetch-and-add of 1 gives each leaf its own root. */
osla_err osla_forest_split(osla_forest *f, osla_forest **out)
{
  size_t roots = (size_t)f->n_roots, leaves = (size_t)f->leaf_space;
  int64_t *slots = malloc((roots + 1) * sizeof *slots), n_roots = 0;
  int64_t *ones = malloc((leaves + 1) * sizeof *ones), *mine = malloc((leaves + 1) * sizeof *mine);
  vertex_name *names = NULL;
  *out = NULL;
  bool have = slots && ones && mine;
  osla_err err =
    osla_agree(f->t, have ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "slots of %zu roots", roots));
  if (err == OSLA_OK) err = osli_forest_names_check(f);
  if (err == OSLA_OK) err = osli_forest_make_names(f, f->leaf_space, &names);
  if (err == OSLA_OK) {
    osla_forest_degrees(f, slots);
    n_roots = start_slots(slots, f->n_roots);
    for (size_t i = 0; i < leaves; i++)
      ones[i] = 1;
    err = osla_forest_fetch(f, OSLA_ONE_INT64, slots, ones, mine, OSLA_SUM);
  }
  if (err == OSLA_OK) osli_forest_name_roots(f, names);
  for (int64_t i = 0; err == OSLA_OK && i < f->leaf_space; i++)
    if (names[i].rank >= 0) names[i].index = mine[i];
  if (err == OSLA_OK) err = osli_forest_join_names(f->t, n_roots, names, f->leaf_space, out);
  free(slots);
  free(ones);
  free(mine);
  free(names);
  return err;
}

/* ---- compositions ---- */

/* A forest between n_roots roots of each rank and the leaves of f, or `back` its roots: joined to
 * what is named where f brings it from. */
static osla_err join_through(osla_forest *f, bool back, int64_t n_roots, const vertex_name *named,
                             osla_forest **out)
{
  vertex_name *names;
  int64_t n = back ? f->n_roots : f->leaf_space;
  osla_err err = osli_forest_make_names(f, n, &names);
  if (err == OSLA_OK) err = osli_forest_bring_names(f, back, named, names);
  if (err == OSLA_OK) err = osli_forest_join_names(f->t, n_roots, names, n, out);
  free(names);
  return err;
}

/* The leaves of `a` are the roots of `b`, or `back` its leaves. */
static osla_err compose(osla_forest *a, osla_forest *b, bool back, osla_forest **out)
{
  vertex_name *named;
  int64_t n = back ? b->leaf_space : b->n_roots;
  OSLA_CALL(osli_forest_make_names(a, n > a->leaf_space ? n : a->leaf_space, &named));
  osli_forest_name_roots(a, named);
  osla_err err = join_through(b, back, a->n_roots, named, out);
  free(named);
  return err;
}

static osla_err check_both(const osla_forest *a, osla_forest *b)
{
  OSLA_CHECK(a->t == b->t, OSLA_ERR_ARG, "forests of two transports");
  return osli_forest_names_check(b);
}

osla_err osla_forest_compose(osla_forest *a, osla_forest *b, osla_forest **out)
{
  *out = NULL;
  OSLA_CALL(check_both(a, b));
  return compose(a, b, false, out);
}

/* Each root has at most one leaf. Collective. */
static osla_err check_single(osla_forest *f, const char *what)
{
  int64_t *degree = malloc((size_t)(f->n_roots + 1) * sizeof *degree), crowded = -1;
  osla_err err = degree ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "degrees");
  if (degree) osla_forest_degrees(f, degree);
  for (int64_t i = 0; degree && i < f->n_roots && crowded < 0; i++)
    if (degree[i] > 1) crowded = i;
  if (crowded >= 0)
    err = osla_error_set(OSLA_ERR_ARG,
                         "%s: root %" PRId64 " of rank %d has %" PRId64 " leaves, more than one",
                         what, crowded, osla_transport_rank(f->t), degree[crowded]);
  free(degree);
  return osla_agree(f->t, err);
}

osla_err osla_forest_compose_inverse(osla_forest *a, osla_forest *b, osla_forest **out)
{
  *out = NULL;
  OSLA_CALL(check_both(a, b));
  OSLA_CALL(check_single(b, "compose with an inverse"));
  return compose(a, b, true, out);
}

osla_err osla_forest_inverse(osla_forest *f, osla_forest **out)
{
  vertex_name *named;
  *out = NULL;
  OSLA_CALL(osli_forest_names_check(f));
  OSLA_CALL(check_single(f, "inverse"));
  OSLA_CALL(osli_forest_make_names(f, f->leaf_space, &named));
  osli_forest_name_mine(f, named, f->leaf_space, 0);
  osla_err err = join_through(f, true, f->leaf_space, named, out);
  free(named);
  return err;
}

/* ---- parts ---- */

/* A rank that was given wrong indices makes all fail. */
static osla_err keep_chosen(const int64_t *chosen, int64_t n, int64_t space, const char *what,
                            const vertex_name *from, vertex_name *to)
{
  for (int64_t i = 0; i < n; i++) {
    OSLA_CHECK(chosen[i] >= 0 && chosen[i] < space, OSLA_ERR_ARG,
               "%s %" PRId64 " is not below %" PRId64, what, chosen[i], space);
    to[chosen[i]] = from[chosen[i]];
  }
  return OSLA_OK;
}

/* Of the names of all of them those of the chosen. On all ranks together. */
static osla_err choose(const osla_forest *f, const int64_t *chosen, int64_t n, int64_t space,
                       const char *what, const vertex_name *all, vertex_name **out)
{
  OSLA_CALL(osli_forest_make_names(f, space, out));
  return osla_agree(f->t, keep_chosen(chosen, n, space, what, all, *out));
}

osla_err osla_forest_embed_roots(osla_forest *f, int64_t n, const int64_t *chosen,
                                 osla_forest **out)
{
  vertex_name *all, *kept = NULL;
  *out = NULL;
  OSLA_CALL(osli_forest_names_check(f));
  OSLA_CALL(osli_forest_make_names(f, f->n_roots, &all));
  osli_forest_name_mine(f, all, f->n_roots, 0);
  osla_err err = choose(f, chosen, n, f->n_roots, "root", all, &kept);
  if (err == OSLA_OK) err = join_through(f, false, f->n_roots, kept, out);
  free(all);
  free(kept);
  return err;
}

osla_err osla_forest_embed_leaves(osla_forest *f, int64_t n, const int64_t *chosen,
                                  osla_forest **out)
{
  vertex_name *all, *kept = NULL;
  *out = NULL;
  OSLA_CALL(osli_forest_make_names(f, f->leaf_space, &all));
  osli_forest_name_roots(f, all);
  osla_err err = choose(f, chosen, n, f->leaf_space, "leaf", all, &kept);
  if (err == OSLA_OK) err = osli_forest_join_names(f->t, f->n_roots, kept, f->leaf_space, out);
  free(all);
  free(kept);
  return err;
}
