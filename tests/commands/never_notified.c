/* Program of test_patience.sh: all ranks except the last wait for a notify that the last rank never
 * sends. With "end" rank 0 ends the job instead of waiting. With "create" rank 0 behaves as if it
 * were in a collective call that never ends, while it flushes from time to time. */
#include "osla_farewell.h"
#include "osla_segment.h"
#include "src/transport/time_limit.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NEVER = 600 };

/* Function that the transport calls when the job ends: prints a line. */
static void last_act(void *rank)
{
  fprintf(stderr, "last act of rank %d\n", *(const int *)rank);
}

/* Imitates two threads for the time limit: one is in a collective call, the other flushes. */
static void create_and_flush(osla_transport *t)
{
  osli_time_limit_blocked(&t->collective, "MPI_Win_create");
  for (int i = 0; i < NEVER * 100; i++) {
    osli_time_limit_blocked(&t->locked, "MPI_Win_flush");
    osli_time_limit_blocked(&t->locked, NULL);
    (void)usleep(10000);
  }
}

int main(int argc, char **argv)
{
  const char *act = argc > 1 ? argv[1] : "";
  int level;
  osla_transport *t;
  osla_segment *s;
  MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level);
  (void)osla_farewell_arrange(MPI_COMM_WORLD);
  if (osla_transport_create(MPI_COMM_WORLD, NULL, &t) != OSLA_OK ||
      osla_segment_create(t, 64, 1, &s) != OSLA_OK) {
    fprintf(stderr, "%s\n", osla_error_text());
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  const int rank = osla_transport_rank(t);
  osla_transport_at_end(t, last_act, (void *)(uintptr_t)&rank);
  int last = osla_transport_size(t) - 1;
  if (strcmp(act, "create") == 0 && rank == 0) create_and_flush(t);
  if (rank == last) (void)sleep(NEVER);
  if (strcmp(act, "end") == 0 && rank == 0)
    osla_transport_abort(t, osla_error_set(OSLA_ERR_STATE, "a test"));
  osla_at_step(t, "a test", 7);
  osla_notify_wait(s, last, 0, 1);
  return 0;
}
