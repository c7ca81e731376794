/* Tells whether this process may make library calls: not in a forked child of a rank, and not
 * after MPI_Finalize. */
#include "python/core/core.h"

#include <pthread.h>
#include <stdatomic.h>

static const char in_child[] =
  "this process is a forked child of a rank, and MPI serves the parent alone: make the call there";
static const char after_end[] = "MPI has ended (MPI_Finalize), and no call can be made after it";
static _Atomic(const char *) unusable_reason;

const char *osla_py_unusable_reason(void)
{
  return atomic_load_explicit(&unusable_reason, memory_order_relaxed);
}

osla_py_mpi_state osla_py_mpi_state_now(void)
{
  int started = 0, ended = 0;
  if (osla_py_unusable_reason()) return OSLA_PY_MPI_ENDED;
  if (MPI_Initialized(&started) != MPI_SUCCESS || MPI_Finalized(&ended) != MPI_SUCCESS)
    return OSLA_PY_MPI_UNKNOWN;
  if (ended) atomic_store(&unusable_reason, after_end);
  return ended ? OSLA_PY_MPI_ENDED : started ? OSLA_PY_MPI_RUNNING : OSLA_PY_MPI_NOT_STARTED;
}

static void record_fork(void)
{
  int started = 0, ended = 0;
  if (MPI_Initialized(&started) == MPI_SUCCESS && MPI_Finalized(&ended) == MPI_SUCCESS && started &&
      !ended)
    atomic_store(&unusable_reason, in_child);
}

bool osla_py_watch_forks(void)
{
  static bool watched;
  if (!watched && pthread_atfork(NULL, NULL, record_fork) != 0) {
    PyErr_NoMemory();
    return false;
  }
  watched = true;
  return true;
}

/* MPI_Finalize deletes the attributes of MPI_COMM_SELF before it does anything else (MPI-3.1,
 * section 8.7.1). */
static int record_finalize(MPI_Comm self, int keyval, void *value, void *extra)
{
  (void)self, (void)keyval, (void)value, (void)extra;
  atomic_store(&unusable_reason, after_end);
  return MPI_SUCCESS;
}

osla_err osla_py_watch_finalize(void)
{
  static int keyval = MPI_KEYVAL_INVALID;
  if (keyval != MPI_KEYVAL_INVALID) return OSLA_OK;
  int code = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, record_finalize, &keyval, NULL);
  if (code == MPI_SUCCESS) code = MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
  return code == MPI_SUCCESS ? OSLA_OK : osla_error_set_mpi(code, "MPI_Comm_set_attr");
}
