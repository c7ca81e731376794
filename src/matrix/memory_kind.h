/* Checks of the memory and of the layout of the matrices of a call (internal). */
#ifndef MEMORY_KIND_H
#define MEMORY_KIND_H

#include "osla_device.h"
#include "osla_part.h"

/* Checks that none of `count` matrices lies on a device. NULL pointers in the list are skipped.
 * Local; all ranks get the same result. Errors: UNSUPPORTED, with the name of the call. */
osla_err osli_check_on_host(const char *call, int count, const osla_matrix *const *matrices);

/* Checks that none of `count` matrices was made by osla_matrix_create_triangle. NULL pointers in
 * the list are skipped. Local; all ranks get the same result. Errors: UNSUPPORTED, with the name of
 * the call. */
osla_err osli_check_full(const char *call, int count, const osla_matrix *const *matrices);

/* Checks that all of `count` matrices lie on one device, or all in host memory. Local. Errors: ARG,
 * with the name of the call. */
osla_err osli_check_one_memory(const char *call, int count, const osla_matrix *const *matrices);

/* Makes a zero matrix on the device on which `like` lies, or in host memory if `like` does. All
 * other arguments have the meaning that they have in osla_matrix_create. Collective. */
osla_err osli_matrix_create_like(const osla_matrix *like, osla_grid *grid, osla_dtype dtype,
                                 const osla_layout *layout, osla_matrix **out);

/* Waits until all ranks have called osli_matrix_barrier and their queued work on devices is
 * complete. If the matrix lies on a device, errors of queued work are returned on all ranks
 * together, which osla_barrier does not do. Collective. Errors: MPI, those of queued work. */
osla_err osli_matrix_barrier(const osla_matrix *matrix);

/* A call that works on host memory only begins with OSLA_NEEDS_HOST, before it changes anything. A
 * call that also works on devices, and has several matrices, begins with OSLA_NEEDS_ONE_MEMORY. A
 * call that does not serve triangular matrices begins with OSLA_NEEDS_FULL. A call that accepts
 * triangular matrices for some of its operands has OSLA_NEEDS_FULL in the check whose error it
 * passes to osla_agree_same, so that all ranks return together. The macros return the error of the
 * check from the enclosing function. */
#define OSLA_MATRIX_LIST(...)                                                                      \
  (const osla_matrix *const[])                                                                     \
  {                                                                                                \
    __VA_ARGS__                                                                                    \
  }
#define OSLA_MATRIX_COUNT(...) (int)(sizeof(OSLA_MATRIX_LIST(__VA_ARGS__)) / sizeof(osla_matrix *))
#define OSLA_NEEDS_HOST(call, ...)                                                                 \
  OSLA_CALL(osli_check_on_host(call, OSLA_MATRIX_COUNT(__VA_ARGS__), OSLA_MATRIX_LIST(__VA_ARGS__)))
#define OSLA_NEEDS_FULL(call, ...)                                                                 \
  OSLA_CALL(osli_check_full(call, OSLA_MATRIX_COUNT(__VA_ARGS__), OSLA_MATRIX_LIST(__VA_ARGS__)))
#define OSLA_NEEDS_ONE_MEMORY(call, ...)                                                           \
  OSLA_CALL(                                                                                       \
    osli_check_one_memory(call, OSLA_MATRIX_COUNT(__VA_ARGS__), OSLA_MATRIX_LIST(__VA_ARGS__)))

#endif
