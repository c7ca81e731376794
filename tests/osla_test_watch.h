/* Watches the transport's MPI calls through MPI's profiling interface, to check rules that the MPI
 * in use does not enforce. Linked into programs that call it. */
#ifndef OSLA_TEST_WATCH_H
#define OSLA_TEST_WATCH_H

#include <stdbool.h>

typedef struct osla_test_watch {
  int started;          /* MPI_Rput and MPI_Rget calls */
  int most_outstanding; /* largest number of unfinished MPI_Rput and MPI_Rget at one time */
  int unflushed;        /* targets (below 64) with a put after the last MPI_Win_flush */
  int on_bells;         /* fetches of the first word of a region by MPI_NO_OP */
  int overtaking; /* puts of 8 bytes (notifications) while a larger put to that target was unflushed
                   */
} osla_test_watch;

/* Restart the counts from zero; read the counts. Local. */
void osla_test_watch_start(void);
osla_test_watch osla_test_watch_read(void);

/* While `hold` is true, MPI_Test reports nothing as complete. Local. */
void osla_test_watch_hold(bool hold);

#endif
