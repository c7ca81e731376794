/* Reductions on a tree.
 *
 * Layout of a rank's data area: a box for the parent | a box for each child. A box holds the number
 * of the round, in a cache line of its own, and the values. One box for each neighbour is enough: a
 * child starts the next round only after it has the result of the present round, which its parent
 * sends after reading the child's values; and the next result cannot arrive before the child has
 * started again. */
#include "osla_reduction.h"
#include "osla_segment.h"
#include "src/device/device.h"
#include "src/transport/live_objects.h"

#include <math.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { FAN = 8, MOST_CHILDREN = 2 * FAN, LINE = 64, NONE = -1 };
_Static_assert(1 + MOST_CHILDREN <= OSLA_REDUCTION_NEIGHBOURS, "room for all neighbours");

typedef struct box {
  _Alignas(LINE) _Atomic uint64_t round;
  _Alignas(LINE) double values[];
} box;

struct osla_reduction {
  osla_transport *t;
  osla_segment *segment;
  int most;         /* largest number of values of a round */
  size_t box_bytes; /* size of a box with `most` values */
  /* boxes in this rank's memory: the box of the parent, then one for each child */
  unsigned char *boxes;
  int parent,    /* rank of the parent; NONE at the root */
    child_index; /* index of this rank among the parent's children */
  int n_children, children[MOST_CHILDREN];
  /* number of the latest round that this rank has started, from 1; 0 before the first */
  uint64_t round;
  uint64_t n_completed;
  int n_sums, n;
  bool is_sent_up; /* true once the values of this rank's subtree have been sent to the parent */
  osla_posted up_posted, down_posted[MOST_CHILDREN];
  double *my_values, *subtree_values, *result; /* [most] each */
  double memory[];                             /* memory of the three vectors */
};

/* ---- the tree of ranks ---- */

/* Lists of ranks of a set, from which the tree of the set is made. */
typedef struct lists {
  /* [n_leaders] the lowest rank of the set on each node that has ranks of the set, in the order of
   * nodes */
  int *leaders;
  int n_leaders;
  int *neighbours; /* [n_neighbours] the ranks of the set on this rank's node, in ascending order */
  int n_neighbours;
} lists;

/* Fills the lists of the set that consists of the n ranks in `ranks`, in ascending order. The
 * caller frees the lists, also after an error. Local. Errors: MEM. */
static osla_err list_ranks(const osla_transport *t, int n, const int *ranks, lists *out)
{
  const int n_nodes = osla_transport_n_nodes(t);
  out->leaders = malloc((size_t)n_nodes * sizeof *out->leaders);
  out->neighbours = malloc((size_t)osla_transport_node_size(t) * sizeof *out->neighbours);
  OSLA_CHECK(out->leaders && out->neighbours, OSLA_ERR_MEM, "tree of a reduction");
  for (int node = 0; node < n_nodes; node++)
    out->leaders[node] = NONE;
  for (int k = 0; k < n; k++) {
    int *leader = &out->leaders[osla_transport_node_of(t, ranks[k])];
    if (*leader == NONE) *leader = ranks[k];
    if (osla_transport_same_node(t, ranks[k])) out->neighbours[out->n_neighbours++] = ranks[k];
  }
  for (int node = 0; node < n_nodes; node++)
    if (out->leaders[node] != NONE) out->leaders[out->n_leaders++] = out->leaders[node];
  return OSLA_OK;
}

/* Returns the index of a rank in a list that contains it. */
static int index_of(const int *list, int rank)
{
  int k = 0;
  while (list[k] != rank)
    k++;
  return k;
}

/* Appends to r->children the children of members[me], in a tree of degree FAN over members[0 .. n -
 * 1]. */
static void add_children(osla_reduction *r, const int *members, int n, int me)
{
  for (int k = FAN * me + 1; k <= FAN * me + FAN && k < n; k++)
    r->children[r->n_children++] = members[k];
}

/* Returns how many children of leaders[leader] are leaders. In the list of children they precede
 * the children on the rank's own node. */
static int children_of_leader(int leader, int n_leaders)
{
  const int64_t left = (int64_t)n_leaders - 1 - (int64_t)FAN * leader;
  return left < 0 ? 0 : left > FAN ? FAN : (int)left;
}

/* Finds this rank's parent and children from the lists of its set. */
static void join_tree(osla_reduction *r, const lists *l)
{
  const int me = index_of(l->neighbours, osla_transport_rank(r->t));
  const int leader = index_of(l->leaders, l->neighbours[0]);
  if (me > 0) {
    const int above = (me - 1) / FAN;
    r->parent = l->neighbours[above];
    r->child_index = (me - 1) % FAN + (above == 0 ? children_of_leader(leader, l->n_leaders) : 0);
  } else {
    if (leader > 0) {
      r->parent = l->leaders[(leader - 1) / FAN];
      r->child_index = (leader - 1) % FAN;
    }
    add_children(r, l->leaders, l->n_leaders, leader);
  }
  add_children(r, l->neighbours, l->n_neighbours, me);
}

static osla_err find_tree(osla_reduction *r, int n, const int *ranks)
{
  lists l = {0};
  const osla_err err = list_ranks(r->t, n, ranks, &l);
  r->parent = NONE;
  if (err == OSLA_OK && n > 0) join_tree(r, &l);
  free(l.leaders);
  free(l.neighbours);
  return err;
}

static osla_reduction *allocate(osla_transport *t, int most)
{
  osla_reduction *r = calloc(1, sizeof *r + 3 * (size_t)most * sizeof *r->memory);
  if (!r) return NULL;
  r->t = t;
  r->most = most;
  r->box_bytes = sizeof(box) + ((size_t)most * sizeof(double) + LINE - 1) / LINE * LINE;
  r->my_values = r->memory;
  r->subtree_values = r->memory + most;
  r->result = r->memory + 2 * most;
  return r;
}

static osla_err check_create(const osla_transport *t, int n, const int *ranks, int most)
{
  const int size = osla_transport_size(t), rank = osla_transport_rank(t);
  bool is_mine = n == 0;
  OSLA_CHECK(most >= 1 && most <= OSLA_REDUCTION_WIDEST, OSLA_ERR_ARG,
             "reduction: %d values at most: not from 1 to %d", most, (int)OSLA_REDUCTION_WIDEST);
  OSLA_CHECK(n >= 0 && n <= size, OSLA_ERR_ARG, "reduction: a set of %d ranks, of %d", n, size);
  for (int k = 0; k < n; k++) {
    OSLA_CHECK(ranks[k] >= 0 && ranks[k] < size && (k == 0 || ranks[k] > ranks[k - 1]),
               OSLA_ERR_ARG, "reduction: ranks[%d] = %d is not a rank, or not in ascending order",
               k, ranks[k]);
    is_mine = is_mine || ranks[k] == rank;
  }
  OSLA_CHECK(is_mine, OSLA_ERR_ARG, "reduction: rank %d is not in its own set of ranks", rank);
  return OSLA_OK;
}

osla_err osla_reduction_create_among(osla_transport *t, int n, const int *ranks, int most,
                                     osla_reduction **out)
{
  OSLA_MAKES("osla_reduction_create", "osla_reduction_destroy");
  *out = NULL;
  osla_err err = check_create(t, n, ranks, most);
  osla_reduction *r = err == OSLA_OK ? allocate(t, most) : NULL;
  if (err == OSLA_OK)
    err = r ? find_tree(r, n, ranks) : osla_error_set(OSLA_ERR_MEM, "reduction object");
  const osla_argument same[] = {{"most", most}};
  err = osla_agree_same(t, err, "osla_reduction_create", same, 1);
  if (err == OSLA_OK)
    err = osla_segment_create(t, (1 + (size_t)r->n_children) * r->box_bytes, 0, &r->segment);
  if (err == OSLA_OK) {
    osla_segment_steers(r->segment);
    r->boxes = osla_segment_local(r->segment);
    err = osla_barrier(t);
  }
  if (err != OSLA_OK) {
    if (r) osla_segment_destroy(&r->segment);
    free(r);
    return err;
  }
  *out = r;
  return OSLA_OK;
}

osla_err osla_reduction_create_wide(osla_transport *t, int most, osla_reduction **out)
{
  const int size = osla_transport_size(t);
  int *ranks = malloc((size_t)size * sizeof *ranks);
  *out = NULL;
  osla_err err =
    osla_agree(t, ranks ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "reduction of %d ranks", size));
  if (err == OSLA_OK) {
    for (int rank = 0; rank < size; rank++)
      ranks[rank] = rank;
    err = osla_reduction_create_among(t, size, ranks, most, out);
  }
  free(ranks);
  return err;
}

osla_err osla_reduction_create(osla_transport *t, osla_reduction **out)
{
  return osla_reduction_create_wide(t, OSLA_REDUCTION_MOST, out);
}

static const box *box_at(const osla_reduction *r, int which)
{
  return (const box *)(r->boxes + (size_t)which * r->box_bytes);
}

/* Waits until all words that this rank has posted have left its memory. */
static osla_err wait_for_posts(osla_reduction *r)
{
  osla_err err = osla_posted_wait(r->segment, &r->up_posted);
  for (int i = 0; i < r->n_children; i++) {
    osla_err one = osla_posted_wait(r->segment, &r->down_posted[i]);
    if (err == OSLA_OK) err = one;
  }
  return err;
}

void osla_reduction_destroy(osla_reduction **reduction)
{
  osla_reduction *r = reduction ? *reduction : NULL;
  if (!r) return;
  if (wait_for_posts(r) != OSLA_OK) osla_transport_abort(r->t, OSLA_ERR_MPI);
  osla_segment_destroy(&r->segment);
  free(r);
  *reduction = NULL;
}

/* ---- a round of the reduction ---- */

static osla_err post(osla_reduction *r, int rank, int which, const double *values,
                     osla_posted *posted)
{
  const size_t at = (size_t)which * r->box_bytes;
  return osla_put_word_post(r->segment, rank, at + offsetof(box, values), values,
                            (size_t)r->n * sizeof *values, at + offsetof(box, round), r->round,
                            posted);
}

static bool has_arrived(const osla_reduction *r, int which)
{
  return atomic_load_explicit(&box_at(r, which)->round, memory_order_acquire) == r->round;
}

static bool children_arrived(const osla_reduction *r)
{
  for (int i = 0; i < r->n_children; i++)
    if (!has_arrived(r, 1 + i)) return false;
  return true;
}

static double maximum(double a, double b)
{
  return isnan(a) || a > b ? a : b;
}

static void combine_children(osla_reduction *r)
{
  memcpy(r->subtree_values, r->my_values, (size_t)r->n * sizeof *r->subtree_values);
  for (int i = 0; i < r->n_children; i++) {
    const double *theirs = box_at(r, 1 + i)->values;
    for (int k = 0; k < r->n; k++)
      r->subtree_values[k] =
        k < r->n_sums ? r->subtree_values[k] + theirs[k] : maximum(r->subtree_values[k], theirs[k]);
  }
}

static osla_err finish(osla_reduction *r, const double *result)
{
  memcpy(r->result, result, (size_t)r->n * sizeof *result);
  for (int i = 0; i < r->n_children; i++)
    OSLA_CALL(post(r, r->children[i], 0, r->result, &r->down_posted[i]));
  r->n_completed = r->round;
  return OSLA_OK;
}

static osla_err step(osla_reduction *r, const double **result)
{
  *result = NULL;
  if (r->round == 0) return OSLA_OK;
  if (r->n_completed < r->round && !r->is_sent_up && children_arrived(r)) {
    combine_children(r);
    r->is_sent_up = true;
    OSLA_CALL(r->parent == NONE
                ? finish(r, r->subtree_values)
                : post(r, r->parent, 1 + r->child_index, r->subtree_values, &r->up_posted));
  }
  if (r->n_completed < r->round && r->is_sent_up && has_arrived(r, 0))
    OSLA_CALL(finish(r, box_at(r, 0)->values));
  if (r->n_completed == r->round) *result = r->result;
  return OSLA_OK;
}

osla_err osla_reduction_start(osla_reduction *r, const double *values, int n_sums, int n_maxima)
{
  osli_device_settle_kept(SETTLE_NOTIFY);
  OSLA_CHECK(n_sums >= 0 && n_maxima >= 0 && n_sums <= r->most && n_maxima <= r->most - n_sums,
             OSLA_ERR_ARG, "%d sums and %d maxima: at most %d values together are possible", n_sums,
             n_maxima, r->most);
  OSLA_CHECK(r->n_completed == r->round, OSLA_ERR_STATE,
             "round %llu of the reduction is not complete: wait for it before the next start",
             (unsigned long long)r->round);
  OSLA_CALL(wait_for_posts(r));
  r->n_sums = n_sums;
  r->n = n_sums + n_maxima;
  memcpy(r->my_values, values, (size_t)r->n * sizeof *values);
  r->is_sent_up = false;
  r->round++;
  const double *result;
  return step(r, &result);
}

/* Makes a progress step if the job has several nodes, because a caller may poll in a loop. */
osla_err osla_reduction_test(osla_reduction *r, const double **result)
{
  if (r->n_completed < r->round && osla_transport_n_nodes(r->t) > 1) osla_progress(r->t);
  return step(r, result);
}

typedef struct awaited {
  osla_reduction *r;
  /* ends the wait early when it returns true; NULL if the wait never ends early */
  bool (*stop)(void *arg);
  void *arg;
  const double *result;
  osla_err err;
} awaited;

static bool is_over(void *arg)
{
  awaited *a = arg;
  a->err = step(a->r, &a->result);
  if (a->err != OSLA_OK || a->result || a->r->round == 0) return true;
  return a->stop && a->stop(a->arg);
}

osla_err osla_reduction_wait_or(osla_reduction *r, bool (*stop)(void *arg), void *arg,
                                const double **result)
{
  awaited a = {.r = r, .stop = stop, .arg = arg};
  osla_segment_wait(r->segment, is_over, &a);
  *result = a.result;
  if (a.err != OSLA_OK || !a.result) return a.err;
  /* the caller may make no progress for a long time, so its posts must leave now */
  return wait_for_posts(r);
}

osla_err osla_reduction_wait(osla_reduction *r, const double **result)
{
  return osla_reduction_wait_or(r, NULL, NULL, result);
}

int osla_reduction_neighbours(const osla_reduction *r, int *out)
{
  int n = 0;
  if (r->parent != NONE) out[n++] = r->parent;
  for (int k = 0; k < r->n_children; k++)
    out[n++] = r->children[k];
  return n;
}
