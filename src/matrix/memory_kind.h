/* Checks of the memory in which the matrices of a call lie (internal). */
#ifndef MEMORY_KIND_H
#define MEMORY_KIND_H

#include "osla_device.h"
#include "osla_part.h"

/* Checks that no matrix of the list lies on a device. NULL matrices are skipped. Local; the result
 * is the same on all ranks. Errors: UNSUPPORTED, with the name of the call. */
osla_err osli_check_on_host(const char *call, int count, const osla_matrix *const *matrices);

/* Checks that all matrices of the list lie on one device, or all in host memory. Local. Errors:
 * ARG. */
osla_err osli_check_one_memory(const char *call, int count, const osla_matrix *const *matrices);

/* Makes a zero matrix in the kind of memory of `like`; otherwise as osla_matrix_create. Collective.
 */
osla_err osli_matrix_create_like(const osla_matrix *like, osla_grid *grid, osla_dtype dtype,
                                 const osla_layout *layout, osla_matrix **out);

/* Waits until all ranks have called it, and until work on devices is complete. Unlike osla_barrier
 * it returns errors of work on the matrix's device on all ranks together. Collective. Errors: MPI,
 * those of queued work. */
osla_err osli_matrix_barrier(const osla_matrix *matrix);

/* A call that works on host memory only begins with OSLA_NEEDS_HOST, before it changes anything. A
 * call that works on a device, too, uses OSLA_NEEDS_ONE_MEMORY if it has several matrices. Both
 * return from the enclosing function on an error. */
#define OSLA_MATRIX_LIST(...)                                                                      \
  (const osla_matrix *const[])                                                                     \
  {                                                                                                \
    __VA_ARGS__                                                                                    \
  }
#define OSLA_MATRIX_COUNT(...) (int)(sizeof(OSLA_MATRIX_LIST(__VA_ARGS__)) / sizeof(osla_matrix *))
#define OSLA_NEEDS_HOST(call, ...)                                                                 \
  OSLA_CALL(osli_check_on_host(call, OSLA_MATRIX_COUNT(__VA_ARGS__), OSLA_MATRIX_LIST(__VA_ARGS__)))
#define OSLA_NEEDS_ONE_MEMORY(call, ...)                                                           \
  OSLA_CALL(                                                                                       \
    osli_check_one_memory(call, OSLA_MATRIX_COUNT(__VA_ARGS__), OSLA_MATRIX_LIST(__VA_ARGS__)))

#endif
