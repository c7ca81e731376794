/* Error codes and the macros that carry them (floor 0).
 *
 * Every fallible call of the library returns an osla_err. The text that belongs to the latest
 * failure of the calling thread is read with osla_error_text(); it names the offending value.
 * Numerical failure (a zero pivot, a matrix that is not positive definite) is an `info` output of
 * the kernel, never an osla_err.
 *
 * How the macros are used:
 *   OSLA_CHECK(n >= 0, OSLA_ERR_ARG, "n = %" PRId64 " is negative", n);   validate, return
 *   OSLA_CALL(osla_grid_create(...));                                     propagate, return
 *   OSLA_TRY(osla_grid_create(...));        propagate by `err = ...; goto cleanup`
 *   OSLA_MPI(MPI_Comm_dup(comm, &dup));                                   wrap an MPI call, return
 *
 * Threads: any thread may call these, at any time; each has a text of its own.
 * Part: stable (osla.h).
 */
#ifndef OSLA_ERROR_H
#define OSLA_ERROR_H

#include "osla_api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum osla_err {
  OSLA_OK = 0,
  OSLA_ERR_ARG,        /* an argument is outside its contract */
  OSLA_ERR_MEM,        /* memory, or shared memory, does not suffice */
  OSLA_ERR_RANGE,      /* a size does not fit the integer type of BLAS, LAPACK or MPI */
  OSLA_ERR_IO,         /* a file cannot be read or written, or its content is malformed */
  OSLA_ERR_MPI,        /* an MPI call failed */
  OSLA_ERR_STATE,      /* the object is not in a state that allows the call */
  OSLA_ERR_UNSUPPORTED /* a valid request that this build or version does not serve */
} osla_err;

/* A constant word for a code, such as "bad argument". Local; never NULL. */
OSLA_API const char *osla_err_name(osla_err err);

/* The text of the calling thread's latest failure; "" when there was none. Local. The string is
 * owned by the library and valid until the thread's next failure. */
OSLA_API const char *osla_error_text(void);

/* Records printf-style text for the calling thread and returns err, so that a failing function can
 * end with `return osla_error_set(...)`. It is one line: text beyond 511 bytes is cut, and control
 * characters (names and values come from files) become '?'. Local. */
OSLA_API osla_err osla_error_set(osla_err err, const char *format, ...)
  __attribute__((format(printf, 2, 3)));

/* Records the text of an MPI error code; `what` is the call's source text. Returns OSLA_ERR_MPI. */
OSLA_API osla_err osla_error_set_mpi(int mpi_code, const char *what);

#define OSLA_CHECK(condition, code, ...)                                                           \
  do {                                                                                             \
    if (!(condition)) return osla_error_set((code), __VA_ARGS__);                                  \
  } while (0)

#define OSLA_CALL(call)                                                                            \
  do {                                                                                             \
    osla_err osla_call_err_ = (call);                                                              \
    if (osla_call_err_ != OSLA_OK) return osla_call_err_;                                          \
  } while (0)

/* Needs `osla_err err` and a label `cleanup` in the function. */
#define OSLA_TRY(call)                                                                             \
  do {                                                                                             \
    err = (call);                                                                                  \
    if (err != OSLA_OK) goto cleanup;                                                              \
  } while (0)

#define OSLA_MPI(call)                                                                             \
  do {                                                                                             \
    int osla_mpi_code_ = (call);                                                                   \
    if (osla_mpi_code_ != 0) return osla_error_set_mpi(osla_mpi_code_, #call);                     \
  } while (0)

#ifdef __cplusplus
}
#endif
#endif
