/* See polls_mpi.h. */
#include "src/transport/mpi/poll_control.h"

#include <limits.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>

struct osla_polls {
  MPI_T_cvar_handle at; /* so many requests MPI polls again */
  int before;
};

static bool find(osla_polls *p)
{
  int index, count;
  if (MPI_T_cvar_get_index("MPIR_CVAR_REQUEST_POLL_FREQ", &index) != MPI_SUCCESS ||
      MPI_T_cvar_handle_alloc(index, NULL, &p->at, &count) != MPI_SUCCESS)
    return false;
  if (count == 1 && MPI_T_cvar_read(p->at, &p->before) == MPI_SUCCESS) return true;
  (void)MPI_T_cvar_handle_free(&p->at);
  return false;
}

/* Open MPI polls once in any case, and its tools take milliseconds to start. */
#ifdef OPEN_MPI
enum { MAY_BE_HERE = 0 };
#else
enum { MAY_BE_HERE = 1 };
#endif

osla_polls *osli_polls_open(int thread_level)
{
  int provided;
  osla_polls *p = MAY_BE_HERE ? malloc(sizeof *p) : NULL;
  if (!p) return NULL;
  if (MPI_T_init_thread(thread_level, &provided) == MPI_SUCCESS) {
    if (find(p)) return p;
    (void)MPI_T_finalize();
  }
  free(p);
  return NULL;
}

void osli_polls_close(osla_polls **polls)
{
  if (*polls) {
    (void)MPI_T_cvar_handle_free(&(*polls)->at);
    (void)MPI_T_finalize();
  }
  free(*polls);
  *polls = NULL;
}

void osli_polls_once(const osla_polls *polls)
{
  const int never = INT_MAX;
  if (polls) (void)MPI_T_cvar_write(polls->at, &never);
}

void osli_polls_as_before(const osla_polls *polls)
{
  if (polls) (void)MPI_T_cvar_write(polls->at, &polls->before);
}
