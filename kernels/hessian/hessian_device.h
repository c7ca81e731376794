/* Work on a matrix H in device memory (internal). The functions osli_queue_... queue work on the
 * device of H. The index lists that they get lie in host memory, and the caller may overwrite them
 * when the call returns. */
#ifndef OSLA_HESSIAN_DEVICE_H
#define OSLA_HESSIAN_DEVICE_H

#include "kernels/hessian/hessian_array.h"
#include "kernels/hessian/hessian_split.h"
#include "osla_hessian.h"
#include "src/device/device.h"

#include <stdbool.h>

/* Returns true if H lies on a device and `address` is an address in device memory. Local. */
bool osli_is_on_device(const osla_hessian *h, const void *address);

/* Checks that an accumulator can add to a matrix in device memory with these options. Local.
 * Errors: UNSUPPORTED (a combination by a function of the user; a plug-in without kernels). */
osla_err osli_target_check_device(const osla_matrix *matrix, const osla_hessian_options *options);

/* Copies bytes between two arrays of which at least one lies on the device. If the other one lies
 * in host memory, the copy is complete when the call returns. */
osla_err osli_queue_copy(size_t bytes, const void *from, void *to);

/* Copies an array of `count` columns with k elements each, with leading dimension ld, to the
 * device. The copy has leading dimension k. */
osla_err osli_queue_panel(const osla_hessian *h, int64_t k, int64_t count, const void *from,
                          int64_t ld, void *to);

/* Adds a piece, whose values lie on the device, to an array there. *refused: number
 * of elements that were refused in order-independent mode, complete on return. */
osla_err osli_queue_piece(const osla_hessian *h, const piece *p, const owner_array *array,
                          int64_t *refused);

/* Copies `count` columns of k elements: column position[i] of `from`, with leading dimension ld,
 * becomes column i of the dense array `to`. */
osla_err osli_queue_columns(const osla_hessian *h, int64_t k, int64_t count,
                            const int64_t *position, const unsigned char *from, int64_t ld,
                            unsigned char *to);

/* Copies a piece with position lists into values of leading dimension ld. */
osla_err osli_queue_gather(const osla_hessian *h, const piece *p, int64_t ld,
                           unsigned char *values);

/* Applies an operation to the stored triangle of some stripes of an array. The operation has no
 * values, or is COMBINE_SET, which uses `constant`. If `refused` is not NULL, *refused becomes the
 * number of refused elements, and the work is complete when the call returns. */
osla_err osli_queue_stripes(const osla_hessian *h, combine_operation operation, double constant,
                            uint64_t stripes, const owner_array *array, int64_t *refused);

#endif
