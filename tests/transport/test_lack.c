/* Tests a lack of memory on one rank, at each allocation in the calls that make and use objects:
 * all ranks fail together, with the text of that rank, and none hangs. */
#include "osla_counter.h"
#include "osla_segment.h"
#include "osla_trace.h"
#include "tests/failing_allocation.h"
#include "tests/osla_test_help.h"

#include <stdlib.h>

/* Objects of every kind in layers 0 and 1. */
typedef struct objects {
  osla_transport *t;
  osla_segment *segment, *attached;
  osla_counter *counter;
  unsigned char own[4096];
} objects;

static osla_err make_all(void *arg)
{
  objects *o = arg;
  osla_trace_summary summary;
  OSLA_CALL(osla_transport_create(MPI_COMM_WORLD, NULL, &o->t));
  OSLA_CALL(osla_memory_check(o->t, 4096));
  OSLA_CALL(osla_segment_create(o->t, 10000, 2, &o->segment));
  OSLA_CALL(osla_segment_attach(o->t, o->own, sizeof o->own, &o->attached));
  OSLA_CALL(osla_counter_create(o->t, &o->counter));
  OSLA_CALL(osla_trace_start(o->t));
  osla_trace_stop(o->t);
  return osla_trace_summarise(o->t, &summary);
}

static void destroy_all(objects *o)
{
  osla_counter_destroy(&o->counter);
  osla_segment_destroy(&o->attached);
  osla_segment_destroy(&o->segment);
  osla_transport_destroy(&o->t);
}

static void test_each_allocation(void)
{
  int failures = 0, hit = 1;
  for (int number = 0; hit; number++) {
    objects o = {.t = NULL};
    failures += call_with_failing_allocation(number, make_all, &o, &hit) != OSLA_OK;
    destroy_all(&o);
  }
  CU_ASSERT(failures >= 15); /* a smaller number shows that the test reached too few allocations */
}

/* ---- tests of puts with notify ---- */

enum { LARGE = 300000 };

/* A put of the last rank to rank 0. */
typedef struct put {
  osla_segment *segment;
  unsigned char *source; /* [LARGE] data of the put */
  size_t bytes;
  bool posts;
  uint64_t value; /* value of the latest notify, which grows with each put */
  int64_t wrong;
} put;

static osla_err put_it(const put *p)
{
  osla_posted posted;
  if (!p->posts) return osla_put_notify(p->segment, 0, 8, p->source, p->bytes, 0, p->value);
  OSLA_CALL(osla_put_notify_post(p->segment, 0, 8, p->source, p->bytes, 0, p->value, &posted));
  return osla_posted_wait(p->segment, &posted);
}

/* Makes one put with notify. If it fails, the target sees no new value; otherwise the target sees
 * the data and the value. */
static osla_err put_once(void *arg)
{
  put *p = arg;
  const int rank = osla_test_rank(), last = osla_test_size() - 1;
  osla_err err = OSLA_OK;
  p->value++;
  if (rank == last) {
    osla_test_write(p->source, (int64_t)p->value, 0, p->bytes);
    err = put_it(p);
  }
  err = osla_agree(osla_segment_transport(p->segment), err);
  if (rank != 0) return err;
  if (err == OSLA_OK) {
    osla_notify_wait(p->segment, last, 0, p->value);
    const unsigned char *data = osla_segment_local(p->segment);
    p->wrong += osla_test_differ(data + 8, (int64_t)p->value, 0, p->bytes);
  }
  p->wrong += err != OSLA_OK && osla_notify_read(p->segment, last, 0) == p->value;
  return err;
}

/* Repeats a put while each allocation fails in turn. Returns the number of failed allocations. */
static int put_with_lacks(osla_transport *t, size_t bytes, bool posts)
{
  put p = {.source = osla_test_allocate(LARGE, 1), .bytes = bytes, .posts = posts};
  int met = 0, hit = 1;
  for (int number = 0; hit && number < 100; number++) {
    /* a new segment, on which nothing has been sent yet */
    OSLA_ASSERT_OK(osla_segment_create(t, LARGE + 8, 1, &p.segment));
    p.value = 0;
    (void)call_with_failing_allocation(number, put_once, &p, &hit);
    met += hit;
    OSLA_ASSERT_OK(put_once(&p)); /* the put works after the failure */
    osla_segment_destroy(&p.segment);
  }
  OSLA_ASSERT_MSG(p.wrong == 0, "%zu bytes: %d wrong", bytes, (int)p.wrong);
  CU_ASSERT(!hit);
  free(p.source);
  return met;
}

/* Tests puts with notify that travel as messages, and puts by MPI's one-sided operations. */
static void test_put_notify(void)
{
  static const char *const ways[] = {"on", "off"};
  static const size_t bytes[] = {0, 100, LARGE};
  for (int i = 0; i < 2; i++) {
    int met = 0;
    osla_transport *t;
    (void)setenv("OSLA_MESSAGES", ways[i], 1);
    OSLA_ASSERT_OK(osla_transport_create(MPI_COMM_WORLD, NULL, &t));
    for (int k = 0; k < 3; k++)
      for (int posts = 0; posts < 2; posts++)
        met += put_with_lacks(t, bytes[k], posts);
    OSLA_ASSERT_MSG(met > 0 || osla_transport_n_nodes(t) == 1, "messages %s: no allocation",
                    ways[i]);
    osla_transport_destroy(&t);
  }
  (void)unsetenv("OSLA_MESSAGES");
}

static const osla_test_case cases[] = {
  {"each_allocation", test_each_allocation},
  {"put_notify", test_put_notify},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_lack, cases);
