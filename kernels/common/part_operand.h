/* Parts of matrices as operands of kernels that need whole matrices (internal).
 *
 * If the part has the layout of a matrix of its own (part_view.h), the kernel works on it in place.
 * Otherwise the part is copied to a new matrix, and copied back. Elements outside the part stay
 * unchanged. A whole triangular matrix is used in place. Of its parts, one that begins and ends on
 * the diagonal is copied to a triangular matrix, and one below the diagonal, or without elements,
 * to a full matrix. */
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
 * part must satisfy osli_part_check_stored.
 *
 *   like [in] a copy is distributed like the rows of this matrix; NULL: on the processes and in
 *             the blocks of the part
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
