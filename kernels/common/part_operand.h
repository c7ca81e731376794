/* Parts as operands of kernels that take whole matrices (internal).
 *
 * A part that lies as a matrix of its own (part_view.h) is worked on where it is. Any other one is
 * copied to a matrix of its own, and back. What there is outside of the part stays as it is.
 */
#ifndef PART_OPERAND_H
#define PART_OPERAND_H

#include "osla_part.h"

#include <stdbool.h>

typedef struct part_operand {
  osla_part part;
  osla_matrix *at; /* what the kernel works on: the part's matrix, or one of the two */
  osla_matrix *view, *copy;
  osla_grid *grid; /* of the copy: the process of the part's first element has the first block */
} part_operand;

/* Makes x->at. Collective; the part is inside its matrix.
 *   like [in] a copy lies as rows of this matrix, in its blocks; NULL: on the part's own processes,
 *             in its blocks
 * Memory: none, or the part once more, and 64 columns of it while it is copied.
 * Errors, on all ranks together: MEM, MPI; then there is nothing to close. */
osla_err osli_part_open(const osla_part *part, const osla_matrix *like, part_operand *x);

/* Copies back if the part was written and err is OK, and frees. Collective. Returns err, or why
 * the copy failed: MEM (the part is as before), MPI. */
osla_err osli_part_close(part_operand *x, bool written, osla_err err);

/* How many of the matrix' local rows lie before row `row` of the part. Local. */
int64_t osli_part_rows_below(const osla_part *part, int64_t row);

/* The first `count` of the part's rows each have a number. _gather: numbers[] of all, of those that
 * lie with the rows of the matrix, an element for each local row (whole; NULL where there are no
 * rows of the part); collective. _scatter: from[] for all of them to such elements; local. */
osla_err osli_part_numbers_gather(const osla_part *part, int64_t count, const int64_t *whole,
                                  int64_t *numbers);
void osli_part_numbers_scatter(const osla_part *part, int64_t count, const int64_t *from,
                               int64_t *whole);

#endif
