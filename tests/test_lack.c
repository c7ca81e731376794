/* Floors 0 and 1: memory that one rank lacks, at each allocation of what makes and uses objects:
 * all ranks fail together, with its text, and none waits. */
#include "lacking_memory.h"
#include "osla_counter.h"
#include "osla_segment.h"
#include "osla_test_help.h"
#include "osla_trace.h"

/* Every kind of object of these floors. */
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
    failures += lacking_memory(number, make_all, &o, &hit) != OSLA_OK;
    destroy_all(&o);
  }
  CU_ASSERT(failures >= 15); /* else the functions there are not called */
}

int main(int argc, char **argv)
{
  static const osla_test_case cases[] = {
    {"each_allocation", test_each_allocation},
    {NULL, NULL},
  };
  return osla_test_main(argc, argv, cases);
}
