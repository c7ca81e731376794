/* Views: parts of a matrix as matrices in the same memory (internal).
 *
 * A part that begins with a block in both directions is itself a block-cyclic matrix, with the same
 * blocks and leading dimensions, on the process grid that begins with the owner of the part's first
 * element.
 */
#ifndef PART_VIEW_H
#define PART_VIEW_H

#include "osla_part.h"

#include <stdbool.h>

/* True if the part has a view: for rows, the part begins at the first row of a block, or ends in
 * the block in which it begins, or the grid has one process row, and likewise for columns. A part
 * of a triangular matrix has no view. Local. */
bool osli_part_has_view(const osla_part *part);

/* Makes the view of a part for which osli_part_has_view is true. The view borrows the part's
 * matrix, which must outlive the view, and uses the segment of this matrix (osli_matrix_start).
 * Local. Errors: MEM. */
osla_err osli_part_view(const osla_part *part, osla_matrix **out);

/* Bytes from the start of a rank's data area of the segment to element (0, 0) of its local array; 0
 * unless the matrix is a view. Local. */
size_t osli_matrix_start(const osla_matrix *matrix, int rank);

#endif
