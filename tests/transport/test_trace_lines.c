/* Tests the trace of messages on lines (src/memory/segment.h), whose completions the library sees
 * only as a count. */
#include "osla_channel.h"
#include "osla_forest.h"
#include "osla_trace.h"
#include "tests/osla_test_help.h"

#include <stdlib.h>
#include <string.h>

static osla_trace_summary summary_of(osla_transport *t)
{
  osla_trace_summary s;
  OSLA_ASSERT_OK(osla_trace_summarise(t, &s));
  return s;
}

/* Tests that each message on a channel to another node counts once, as a put with a duration. */
static void test_channel(void)
{
  enum { MESSAGES = 20, BYTES = 8000, HEAD = 16 };
  (void)setenv("OSLA_MESSAGES", "on", 1);
  osla_transport *t = osla_test_transport();
  (void)unsetenv("OSLA_MESSAGES");
  const int rank = osla_test_rank(), last = osla_test_size() - 1;
  const bool far = osla_transport_n_nodes(t) > 1, talks = far && (rank == 0 || rank == last);
  const osla_channel_end end = {.peer = rank == 0 ? last : 0,
                                .kind = OSLA_CHANNEL_EVERY,
                                .in_flight = 2,
                                .send_bytes = BYTES,
                                .recv_bytes = BYTES};
  osla_channels *set = NULL;
  OSLA_ASSERT_OK(osla_channels_create(t, talks, &end, &set));
  OSLA_ASSERT_OK(osla_trace_start(t));
  for (uint64_t s = 1; s <= MESSAGES && talks; s++) {
    const void *message;
    memset(osla_channel_buffer(set, 0), (int)s, BYTES);
    OSLA_ASSERT_OK(osla_channel_send(set, 0, s));
    OSLA_ASSERT_OK(osla_channel_recv(set, 0, &message, NULL));
  }
  osla_channels_destroy(&set); /* the channels are destroyed after all messages have left */
  osla_trace_summary s = summary_of(t);
  const double expected = far && !osla_test_on_offered(t) ? 2 * MESSAGES : 0;
  for (int kind = OSLA_TRACE_PUT; kind <= OSLA_TRACE_ISSUE; kind++)
    CU_ASSERT(s.kind[kind].amount == expected * (BYTES + HEAD));
  if (!osla_test_on_offered(t)) CU_ASSERT((s.in_flight > 0) == far);
  osla_transport_destroy(&t);
}

/* Tests that the parts of a star forest between nodes count as puts, including their heads.
 * Broadcast and reduction alternate, so each head acknowledges earlier parts and no separate words
 * are put. */
static void test_forest(void)
{
  enum { ROUNDS = 20, EDGES = 100, BYTES = 8 * EDGES, HEAD = 16 };
  (void)setenv("OSLA_MESSAGES", "on", 1);
  osla_transport *t = osla_test_transport();
  (void)unsetenv("OSLA_MESSAGES");
  const int last = osla_test_size() - 1;
  const bool far = osla_transport_n_nodes(t) > 1 && !osla_test_on_offered(t);
  const int64_t edges = osla_test_rank() == 0 ? EDGES : 0;
  double roots[EDGES], leaves[EDGES];
  osla_root root[EDGES];
  osla_forest *forest = NULL;
  for (int i = 0; i < EDGES; i++) {
    root[i] = (osla_root){last, i};
    roots[i] = leaves[i] = i;
  }
  OSLA_ASSERT_OK(osla_forest_create(t, EDGES, edges, NULL, root, &forest));
  OSLA_ASSERT_OK(osla_trace_start(t));
  for (int i = 0; i < ROUNDS; i++) {
    OSLA_ASSERT_OK(osla_forest_bcast(forest, OSLA_ONE_DOUBLE, roots, leaves, OSLA_REPLACE));
    OSLA_ASSERT_OK(osla_forest_reduce(forest, OSLA_ONE_DOUBLE, leaves, roots, OSLA_REPLACE));
  }
  osla_trace_summary s = summary_of(t);
  const int64_t expected = far ? 2 * ROUNDS : 0;
  for (int kind = OSLA_TRACE_PUT; kind <= OSLA_TRACE_ISSUE; kind++) {
    OSLA_ASSERT_MSG(s.kind[kind].events == expected, "%d events, not %d", (int)s.kind[kind].events,
                    (int)expected);
    CU_ASSERT(s.kind[kind].amount == (double)(expected * (BYTES + HEAD)));
  }
  if (!osla_test_on_offered(t)) CU_ASSERT((s.in_flight > 0) == far);
  OSLA_ASSERT_OK(osla_forest_destroy(&forest));
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"channel", test_channel},
  {"forest", test_forest},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_trace_lines, cases);
