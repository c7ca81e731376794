/* Work on a matrix H in device memory (internal). Each function queues work on the device of H. The
 * index lists lie in host memory and may be reused on return. */
#ifndef OSLA_HESSIAN_DEVICE_H
#define OSLA_HESSIAN_DEVICE_H

#include "kernels/hessian/hessian_split.h"
#include "osla_hessian.h"
#include "src/device/device.h"

#include <stdbool.h>

/* True if an address lies in the memory of a device. False for every address if H lies in host
 * memory. Local. */
bool osli_is_on_device(const osla_hessian *h, const void *address);

/* Checks that an accumulator can add to a device matrix with these options. Local. Errors:
 * UNSUPPORTED (a user function; a plug-in without kernels). */
osla_err osli_target_check_device(const osla_matrix *matrix, const osla_hessian_options *options);

/* Copies bytes between two arrays of which at least one lies on the device. A copy from or to host
 * memory is complete on return. */
osla_err osli_queue_copy(size_t bytes, const void *from, void *to);

/* Copies a k x count array with leading dimension ld to the device, as a dense array. */
osla_err osli_queue_panel(const osla_hessian *h, int64_t k, int64_t count, const void *from,
                          int64_t ld, void *to);

/* Adds a piece, whose values lie on the device, to an owner's local array there. *refused: number
 * of elements that were refused in order-independent mode, complete on return. */
osla_err osli_queue_piece(const osla_hessian *h, const piece *p, unsigned char *local, int64_t lld,
                          int64_t *refused);

/* Copies `count` columns of k elements: column position[i] of `from`, with leading dimension ld,
 * becomes column i of the dense array `to`. */
osla_err osli_queue_columns(const osla_hessian *h, int64_t k, int64_t count,
                            const int64_t *position, const unsigned char *from, int64_t ld,
                            unsigned char *to);

/* Copies a piece with position lists into values of leading dimension ld. */
osla_err osli_queue_gather(const osla_hessian *h, const piece *p, int64_t ld,
                           unsigned char *values);

/* Applies an operation without values, or COMBINE_SET with `constant`, to the stored triangle of
 * some stripes of one owner, whose grid position is given. *refused (NULL: not wanted): number of
 * refused elements, complete on return. */
osla_err osli_queue_stripes(const osla_hessian *h, combine_operation operation, double constant,
                            uint64_t stripes, int position, unsigned char *local, int64_t lld,
                            int64_t *refused);

#endif
