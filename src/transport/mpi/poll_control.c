#include "src/transport/mpi/poll_control.h"

#include <limits.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>

struct poll_control {
  MPI_T_cvar_handle variable; /* distance in requests between two polls */
  int default_value;
};

static bool find_variable(poll_control *p)
{
  int index, count;
  if (MPI_T_cvar_get_index("MPIR_CVAR_REQUEST_POLL_FREQ", &index) != MPI_SUCCESS ||
      MPI_T_cvar_handle_alloc(index, NULL, &p->variable, &count) != MPI_SUCCESS)
    return false;
  if (count == 1 && MPI_T_cvar_read(p->variable, &p->default_value) == MPI_SUCCESS) return true;
  (void)MPI_T_cvar_handle_free(&p->variable);
  return false;
}

/* Open MPI polls once in any case, and its tool interface takes milliseconds to start. */
#ifdef OPEN_MPI
enum { HAS_VARIABLE = 0 };
#else
enum { HAS_VARIABLE = 1 };
#endif

poll_control *osli_poll_control_open(int thread_level)
{
  int provided;
  poll_control *p = HAS_VARIABLE ? malloc(sizeof *p) : NULL;
  if (!p) return NULL;
  if (MPI_T_init_thread(thread_level, &provided) == MPI_SUCCESS) {
    if (find_variable(p)) return p;
    (void)MPI_T_finalize();
  }
  free(p);
  return NULL;
}

void osli_poll_control_close(poll_control **control)
{
  if (*control) {
    (void)MPI_T_cvar_handle_free(&(*control)->variable);
    (void)MPI_T_finalize();
  }
  free(*control);
  *control = NULL;
}

void osli_poll_control_single(const poll_control *control)
{
  const int never = INT_MAX;
  if (control) (void)MPI_T_cvar_write(control->variable, &never);
}

void osli_poll_control_restore(const poll_control *control)
{
  if (control) (void)MPI_T_cvar_write(control->variable, &control->default_value);
}
