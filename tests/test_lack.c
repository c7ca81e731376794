/* Floors 0 and 1: memory that one rank lacks, at each allocation of what makes and uses objects:
 * all ranks fail together, with its text, and none waits. The linker puts the functions below
 * before the library's allocations. */
#include "osla_counter.h"
#include "osla_segment.h"
#include "osla_test_help.h"
#include "osla_trace.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Allocations that still succeed on this rank; then one fails. */
static int left = INT_MAX;

static bool fails(void)
{
  return left != INT_MAX && left-- == 0;
}

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);

void *__wrap_malloc(size_t bytes)
{
  return fails() ? NULL : __real_malloc(bytes);
}
void *__wrap_calloc(size_t count, size_t bytes)
{
  return fails() ? NULL : __real_calloc(count, bytes);
}
void *__wrap_realloc(void *old, size_t bytes)
{
  return fails() ? NULL : __real_realloc(old, bytes);
}

/* Every kind of object of these floors. */
typedef struct objects {
  osla_transport *t;
  osla_segment *segment, *attached;
  osla_counter *counter;
  unsigned char own[4096];
} objects;

static osla_err make_all(objects *o)
{
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
  int victim = osla_test_size() - 1, failures = 0, hit = 1;
  for (int number = 0; hit; number++) {
    objects o = {.t = NULL};
    if (osla_test_rank() == victim) left = number;
    osla_err err = make_all(&o);
    hit = left < 0; /* it came to the allocation that fails */
    left = INT_MAX;
    MPI_Bcast(&hit, 1, MPI_INT, victim, MPI_COMM_WORLD);
    int worst[2] = {(int)err, -(int)err};
    MPI_Allreduce(MPI_IN_PLACE, worst, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    OSLA_ASSERT_MSG(worst[0] == -worst[1], "allocation %d: %s here", number, osla_err_name(err));
    OSLA_ASSERT_MSG(err == OSLA_OK || err == OSLA_ERR_MEM, "allocation %d: %s", number,
                    osla_error_text());
    if (err != OSLA_OK) OSLA_ASSERT_SAME_TEXT();
    failures += err != OSLA_OK;
    destroy_all(&o);
  }
  CU_ASSERT(failures >= 15); /* else the functions above are not called */
}

int main(int argc, char **argv)
{
  static const osla_test_case cases[] = {
    {"each_allocation", test_each_allocation},
    {NULL, NULL},
  };
  return osla_test_main(argc, argv, cases);
}
