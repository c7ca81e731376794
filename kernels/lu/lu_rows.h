/* Row interchanges (internal). */
#ifndef OSLA_LU_ROWS_H
#define OSLA_LU_ROWS_H

#include "lu.h"

/* Exchanges rows as a panel says on local columns [col, col + cols), and gives the rows that are
 * now on top, without U's solve: in place (p = 1), or in f->u. Together with the process column. */
osla_err osla_lu_exchange_rows(lu *f, const lu_step *s, const int64_t *pivots, int64_t col,
                               int64_t cols, lu_operand *top);
/* Stores such rows of f->u in the matrix, where they are mine. Local. */
void osla_lu_store_rows(const lu *f, const lu_step *s, int64_t col, int64_t cols);

/* Applies the later steps' interchanges to the columns left of them. Collective. */
osla_err osla_lu_permute_left(lu *f);

#endif
