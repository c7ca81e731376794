/* Forests from forests (section 3.2 and 3.3 of the paper). What a rank must know of others'
 * vertices comes to it by transfers of the forests themselves: pairs (rank, index), as two int64.
 */
#include "forest_serve.h"

#include <inttypes.h>
#include <stdlib.h>

static const osla_unit pair_unit = {OSLA_UNIT_INT64, 2, 0}, int64_unit = {OSLA_UNIT_INT64, 1, 0};

/* A vertex of some rank; rank -1: none. */
typedef struct vertex_name {
  int64_t rank, index;
} vertex_name;
static const vertex_name nobody = {-1, -1};

/* n names, none yet; on all ranks together. */
static osla_err make_names(const osla_forest *f, int64_t n, vertex_name **out)
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

/* A transfer of its own may begin. Collective. */
static osla_err check_place(osla_forest *f)
{
  return osla_agree(f->t, osla_forest_check_place(f));
}

static int64_t vertex_of(const forest_link *l, int64_t i)
{
  return l->mine ? (int64_t)l->mine[i] : l->mine_first + i;
}

/* names[leaf] := the leaf's root. The lists of both lie here. */
static void name_roots(const osla_forest *f, vertex_name *names)
{
  for (int k = 0; k < f->to_roots.n; k++) {
    const forest_link *l = &f->to_roots.of[k];
    for (int64_t i = 0; i < l->edges; i++)
      names[vertex_of(l, i)] =
        (vertex_name){l->rank, l->theirs ? (int64_t)l->theirs[i] : l->theirs_first + i};
  }
}

/* A forest whose leaf i is joined to names[i], where that is somebody. */
static osla_err join_names(osla_transport *t, int64_t n_roots, const vertex_name *names, int64_t n,
                           osla_forest **out)
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

/* ---- degrees, and a root for each leaf ---- */

void osla_forest_degrees(const osla_forest *f, int64_t *degree)
{
  for (int64_t i = 0; i < f->n_roots; i++)
    degree[i] = 0;
  for (int l = 0; l < f->to_leaves.n; l++)
    for (int64_t i = 0; i < f->to_leaves.of[l].edges; i++)
      degree[vertex_of(&f->to_leaves.of[l], i)]++;
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
  if (err == OSLA_OK) err = check_place(f);
  if (err == OSLA_OK) err = make_names(f, f->leaf_space, &names);
  if (err == OSLA_OK) {
    osla_forest_degrees(f, slots);
    n_roots = start_slots(slots, f->n_roots);
    for (size_t i = 0; i < leaves; i++)
      ones[i] = 1;
    err = osla_forest_fetch(f, int64_unit, slots, ones, mine, OSLA_SUM);
  }
  if (err == OSLA_OK) name_roots(f, names);
  for (int64_t i = 0; err == OSLA_OK && i < f->leaf_space; i++)
    if (names[i].rank >= 0) names[i].index = mine[i];
  if (err == OSLA_OK) err = join_names(f->t, n_roots, names, f->leaf_space, out);
  free(slots);
  free(ones);
  free(mine);
  free(names);
  return err;
}

/* ---- compositions ---- */

/* names[i] := my own vertex i. */
static void name_mine(const osla_forest *f, vertex_name *names, int64_t n)
{
  for (int64_t i = 0; i < n; i++)
    names[i] = (vertex_name){osla_transport_rank(f->t), i};
}

/* A forest between n_roots roots of each rank and the leaves of f, or `back` its roots: joined to
 * what is named where f brings it from. */
static osla_err join_through(osla_forest *f, bool back, int64_t n_roots, const vertex_name *named,
                             osla_forest **out)
{
  vertex_name *names;
  int64_t n = back ? f->n_roots : f->leaf_space;
  osla_err err = make_names(f, n, &names);
  if (err == OSLA_OK)
    err = back ? osla_forest_reduce(f, pair_unit, named, names, OSLA_REPLACE)
               : osla_forest_bcast(f, pair_unit, named, names, OSLA_REPLACE);
  if (err == OSLA_OK) err = join_names(f->t, n_roots, names, n, out);
  free(names);
  return err;
}

/* The leaves of `a` are the roots of `b`, or `back` its leaves. */
static osla_err compose(osla_forest *a, osla_forest *b, bool back, osla_forest **out)
{
  vertex_name *named;
  int64_t n = back ? b->leaf_space : b->n_roots;
  OSLA_CALL(make_names(a, n > a->leaf_space ? n : a->leaf_space, &named));
  name_roots(a, named);
  osla_err err = join_through(b, back, a->n_roots, named, out);
  free(named);
  return err;
}

static osla_err check_both(const osla_forest *a, osla_forest *b)
{
  OSLA_CHECK(a->t == b->t, OSLA_ERR_ARG, "forests of two transports");
  return check_place(b);
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
  OSLA_CALL(check_place(f));
  OSLA_CALL(check_single(f, "inverse"));
  OSLA_CALL(make_names(f, f->leaf_space, &named));
  name_mine(f, named, f->leaf_space);
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
  OSLA_CALL(make_names(f, space, out));
  return osla_agree(f->t, keep_chosen(chosen, n, space, what, all, *out));
}

osla_err osla_forest_embed_roots(osla_forest *f, int64_t n, const int64_t *chosen,
                                 osla_forest **out)
{
  vertex_name *all, *kept = NULL;
  *out = NULL;
  OSLA_CALL(check_place(f));
  OSLA_CALL(make_names(f, f->n_roots, &all));
  name_mine(f, all, f->n_roots);
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
  OSLA_CALL(make_names(f, f->leaf_space, &all));
  name_roots(f, all);
  osla_err err = choose(f, chosen, n, f->leaf_space, "leaf", all, &kept);
  if (err == OSLA_OK) err = join_names(f->t, f->n_roots, kept, f->leaf_space, out);
  free(all);
  free(kept);
  return err;
}
