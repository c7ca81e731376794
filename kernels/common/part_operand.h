/* Parts of matrices as operands of kernels that need whole matrices (internal).
 *
 * If the part is a whole matrix or has a view (part_view.h), the kernel works on it in place.
 * Otherwise the part is copied to a new matrix, and copied back if the kernel has changed it. A
 * part that begins and ends on the diagonal of a triangular matrix is copied to a triangular
 * matrix, any other part to a full matrix. Elements outside the part stay unchanged. */
#ifndef PART_OPERAND_H
#define PART_OPERAND_H

#include "osla_part.h"

#include <stdbool.h>

typedef struct part_operand {
  osla_part part;
  osla_matrix *at; /* matrix on which the kernel works: the part's own matrix, `view` or `copy` */
  osla_matrix *view, *copy;
  /* grid of the copy, in which the owner of the part's first element owns the first block */
  osla_grid *grid;
} part_operand;

/* Sets x->at to a matrix on which a kernel can work: the part itself or a copy. Collective. The
 * part must have passed osli_part_check_stored.
 *
 *   like [in] NULL, or a matrix whose grid a copy gets; the block rows of the copy are then as
 *             high as the block columns of `like` are wide. With NULL, a copy gets the processes
 *             and the blocks of the part's matrix
 *
 * Memory: none if the kernel works on the part itself; otherwise the copy, and 64 columns of the
 * part while they are copied. Errors, on all ranks together: MEM, MPI; after an error nothing needs
 * to be closed. */
osla_err osli_part_open(const osla_part *part, const osla_matrix *like, part_operand *x);

/* Copies the part back if it was written and err is OK, and frees all memory. Collective. Returns
 * err, or the error of the copy: MEM (the part is unchanged) or MPI. */
osla_err osli_part_close(part_operand *x, bool written, osla_err err);

/* Number of this rank's rows of the whole matrix that lie before row `row` of the part. Local. */
int64_t osli_part_rows_below(const osla_part *part, int64_t row);

/* Numbers attached to the first `count` rows of a part. `whole` has one element for each local row
 * of the matrix; it may be NULL on ranks without rows of the part. _gather collects the numbers of
 * all rows in numbers[count] on every rank; collective. _scatter stores from[count] in the elements
 * of the local rows; local. */
osla_err osli_part_numbers_gather(const osla_part *part, int64_t count, const int64_t *whole,
                                  int64_t *numbers);
void osli_part_numbers_scatter(const osla_part *part, int64_t count, const int64_t *from,
                               int64_t *whole);

#endif
