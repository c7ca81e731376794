/* Error codes, and macros that return them to the caller (layer 0).
 *
 * Every library call that can fail returns an osla_err. osla_error_text() gives the text of the
 * calling thread's latest failure, which names the offending value. Numerical failure (a zero
 * pivot, a matrix that is not positive definite) is an `info` output of the kernel, never an
 * osla_err.
 *
 * Use of the macros:
 *   OSLA_CHECK(n >= 0, OSLA_ERR_ARG, "n = %" PRId64 " is negative", n);   validates, returns
 *   OSLA_CALL(osla_grid_create(...));                                     passes errors on, returns
 *   OSLA_TRY(osla_grid_create(...));        passes errors on by `err = ...; goto cleanup`
 *   OSLA_MPI(MPI_Comm_dup(comm, &dup));                                   wraps an MPI call,
 *   returns
 *
 * Threads: any thread may call these, at any time; each has an error text of its own.
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
  OSLA_ERR_MEM,        /* not enough memory, or not enough shared memory */
  OSLA_ERR_RANGE,      /* a size does not fit the integer type of BLAS, LAPACK or MPI */
  OSLA_ERR_IO,         /* a file cannot be read or written, or its content is malformed */
  OSLA_ERR_MPI,        /* an MPI call failed */
  OSLA_ERR_STATE,      /* the object's state does not allow the call */
  OSLA_ERR_UNSUPPORTED /* a valid request that this build or version does not implement */
} osla_err;

/* A constant description of a code, such as "bad argument". Local; never NULL. */
OSLA_API const char *osla_err_name(osla_err err);

/* Text of the calling thread's latest failure; "" if there was none. Local. The library owns the
 * string, which is valid until the thread's next failure. */
OSLA_API const char *osla_error_text(void);

/* Records printf-style text for the calling thread and returns err, so that a failing function can
 * end with `return osla_error_set(...)`. The text is one line: it is cut after 511 bytes, and
 * control characters become '?', since names and values may come from files. Local. */
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

/* Calls a function, and passes an error on by `goto cleanup`. The calling function must have a
 * variable `osla_err err` and a label `cleanup`. */
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
