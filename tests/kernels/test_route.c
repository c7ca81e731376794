/* Tests of routes of a panel (kernels/common/route.h), simulated without MPI: every position of a
 * process row computes its own route, and together the routes must bring one copy to each node. */
#include "kernels/common/route.h"
#include "osla_random.h"
#include "tests/osla_test_help.h"

#include <stdlib.h>

enum { MOST = 40 };

static const osla_forward ways[] = {OSLA_FORWARD_CHOSEN, OSLA_FORWARD_FLAT, OSLA_FORWARD_RING,
                                    OSLA_FORWARD_TREE};

/* Makes, for each position, the osla_line object that describes the process row to this position.
 */
static bool make_all(osla_line *lines, int length, const int *nodes)
{
  int ranks[MOST];
  bool made = true;
  for (int i = 0; i < length; i++)
    /* ranks in descending order, so that a position differs from its rank */
    ranks[i] = length - 1 - i;
  for (int i = 0; i < length; i++)
    made = osli_line_make(&lines[i], length, i, ranks, nodes) && made;
  return made;
}

static int log2_up(int n)
{
  int log = 0;
  while ((1 << log) < n)
    log++;
  return log;
}

/* Returns the number of contradictions between the routes of all positions. */
static int count_contradictions(osla_line *lines, int length, osla_forward forward, int root,
                                size_t bytes)
{
  int wrong = 0, got[MOST] = {0}, hops[MOST], from[MOST], copies = 0, deepest = 0, most = 0;
  int nodes = lines[0].nodes;
  osla_route route[MOST];
  for (int i = 0; i < length; i++) {
    int targets[MOST];
    route[i] = osli_route_make(&lines[i], forward, root, bytes, targets);
    if (route[i].count > most) most = route[i].count;
    for (int t = 0; t < route[i].count; t++) {
      got[targets[t]]++;
      from[targets[t]] = i;
      copies++;
    }
  }
  for (int i = 0; i < length; i++) {
    const osla_route *r = &route[i];
    bool home = lines[i].node[i] == lines[i].node[root];
    /* each rank reads a copy on its own node */
    wrong += lines[i].node[r->reads] != lines[i].node[i];
    wrong += route[r->reads].reads != r->reads; /* the rank that has the copy reads the same copy */
    /* one put reaches each rank that has a copy, and no put reaches other ranks */
    wrong += got[i] != (!home && r->reads == i);
    /* the rank with a copy expects the put from the rank that sends it */
    wrong += home ? r->reads != root : from[r->reads] != r->writer;
    wrong += home && r->writer != root;
    hops[i] = 0;
    for (int at = r->reads; at != root && hops[i] <= length; at = route[at].writer)
      hops[i]++;
    if (hops[i] > deepest) deepest = hops[i];
  }
  wrong += copies != nodes - 1;
  if (forward == OSLA_FORWARD_FLAT) wrong += deepest > 1;
  if (forward == OSLA_FORWARD_RING && nodes > 2) wrong += most > 1;
  if (forward == OSLA_FORWARD_TREE) wrong += deepest > log2_up(nodes) || most > log2_up(nodes);
  return wrong;
}

/* Assigns positions to nodes: 0 in blocks, 1 cyclically, 2 at random. */
static int node_of(int how, int rank, int length, int nodes, uint64_t seed)
{
  if (how == 0) return rank * nodes / length;
  if (how == 1) return rank % nodes;
  return (int)(osla_random_bits(seed, (uint64_t)rank, 0) % (uint64_t)nodes);
}

static void test_every_way(void)
{
  for (int length = 1; length <= MOST; length += length < 9 ? 1 : 7)
    for (int count = 1; count <= length; count += count < 5 ? 1 : 4)
      for (int how = 0; how < 3; how++) {
        osla_line lines[MOST];
        int nodes[MOST], wrong = 0;
        for (int rank = 0; rank < length; rank++)
          nodes[rank] = 7 * node_of(how, rank, length, count, (uint64_t)(length + count));
        if (!OSLA_ASSERT_MSG(make_all(lines, length, nodes), "memory")) return;
        for (size_t way = 0; way < sizeof ways / sizeof *ways; way++)
          for (int root = 0; root < length; root++)
            wrong += count_contradictions(lines, length, ways[way], root, root % 2 ? 100 : 1 << 20);
        OSLA_ASSERT_MSG(wrong == 0, "%d for %d ranks on %d nodes, dealt in way %d", wrong, length,
                        count, how);
        for (int i = 0; i < length; i++)
          osli_line_free(&lines[i]);
      }
}

/* On 10 nodes, panels below 64 KiB use the tree and larger panels the ring; if the caller requests
 * a route, that one is used. */
static void test_choice(void)
{
  osla_line lines[MOST];
  int nodes[MOST], length = 10;
  for (int rank = 0; rank < length; rank++)
    nodes[rank] = rank;
  if (!OSLA_ASSERT_MSG(make_all(lines, length, nodes), "memory")) return;
  for (int large = 0; large < 2; large++) {
    const size_t bytes = ((size_t)64 << 10) - 1 + (size_t)large;
    const osla_forward expected = large ? OSLA_FORWARD_RING : OSLA_FORWARD_TREE;
    osla_route r = osli_route_make(lines, OSLA_FORWARD_CHOSEN, 0, bytes, NULL);
    OSLA_ASSERT_MSG(r.forward == expected, "route %d for %zu bytes", (int)r.forward, bytes);
    r = osli_route_make(lines, OSLA_FORWARD_FLAT, 0, bytes, NULL);
    OSLA_ASSERT_MSG(r.forward == OSLA_FORWARD_FLAT, "route %d, not the requested one",
                    (int)r.forward);
  }
  for (int i = 0; i < length; i++)
    osli_line_free(&lines[i]);
}

static const osla_test_case cases[] = {
  {"every_way", test_every_way}, {"choice", test_choice}, {NULL, NULL}};
OSLA_TEST_SUITE(test_route, cases);
