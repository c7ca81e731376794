/* Parts as matrices, in the memory of theirs (internal).
 *
 * On processes that are counted from the one with its first element on, a part that begins at block
 * corners is a block-cyclic matrix of the same blocks and the same leading dimensions.
 */
#ifndef PART_VIEW_H
#define PART_VIEW_H

#include "osla_part.h"

#include <stdbool.h>

/* Is there such a matrix? Where the part begins within a block it needs one process in that
 * direction, or to end in the same block. Local. */
bool osli_part_has_view(const osla_part *part);

/* Makes it. The part's matrix is borrowed and must outlive the view; what it holds is the part's
 * elements. Its segment is the other's (osli_matrix_start). Local. Errors: MEM. */
osla_err osli_part_view(const osla_part *part, osla_matrix **out);

/* Bytes before element (0,0) of that rank's local array in its data area of the matrix' segment: 0
 * but for views. Local. */
size_t osli_matrix_start(const osla_matrix *matrix, int rank);

#endif
