/* Records the transport's MPI calls through MPI's profiling interface, to check rules that MPI
 * libraries do not enforce. Programs that call these functions are linked with this file. */
#ifndef OSLA_TEST_WATCH_H
#define OSLA_TEST_WATCH_H

#include <stdbool.h>

typedef struct osla_test_watch {
  int started; /* number of calls of MPI_Rput and MPI_Rget */
  /* largest number of MPI_Rput and MPI_Rget that were unfinished at one time */
  int most_outstanding;
  /* number of targets (of the first 64 ranks) with a put after the last MPI_Win_flush */
  int unflushed;
  /* number of times that the first word of a memory region was fetched by MPI_NO_OP */
  int on_bells;
  /* number of notifications (puts of 8 bytes) made while a larger put to the same target was not
   * flushed */
  int overtaking;
} osla_test_watch;

/* osla_test_watch_start sets all counts to zero, and osla_test_watch_read returns them. Local. */
void osla_test_watch_start(void);
osla_test_watch osla_test_watch_read(void);

/* While `hold` is true, MPI_Test reports no request as complete. Local. */
void osla_test_watch_hold(bool hold);

#endif
