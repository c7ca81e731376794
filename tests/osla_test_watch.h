/* Watches the MPI calls of the transport, by MPI's profiling interface: rules that this MPI
 * forgives and another one does not. Linked into the programs that call it. */
#ifndef OSLA_TEST_WATCH_H
#define OSLA_TEST_WATCH_H

#include <stdbool.h>

typedef struct osla_test_watch {
  int started;          /* MPI_Rput and MPI_Rget calls */
  int most_outstanding; /* the largest number of them that were unfinished at one time */
  int unflushed;        /* targets (below 64) with a put after the last MPI_Win_flush */
  int on_bells;         /* fetches without effect from the first word of a region */
  int overtaking;       /* puts of 8 bytes (a notify word) while a larger put there was unflushed */
} osla_test_watch;

/* Starts to count from zero; what happened since. Local. */
void osla_test_watch_start(void);
osla_test_watch osla_test_watch_read(void);

/* From now on, or no longer: MPI_Test finds nothing complete. Local. */
void osla_test_watch_hold(bool hold);

#endif
