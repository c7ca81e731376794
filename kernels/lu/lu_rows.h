/* Row interchanges, and the solve for rows of U (internal). */
#ifndef OSLA_LU_ROWS_H
#define OSLA_LU_ROWS_H

#include "kernels/lu/lu_state.h"

/* Interchanges rows in local columns [col, col + cols) by LAPACK's laswp, as the pivots of step s
 * say. The grid must have one process row. */
osla_err osli_lu_interchange(const lu *f, const lu_step *s, const int64_t *pivots, int64_t col,
                             int64_t cols);

/* Interchanges rows in local columns [col, col + cols) as the pivots of a panel say. Rows that move
 * into the top block are stored in the matrix if p = 1; otherwise they are not stored, because the
 * panel already contains the top block. All ranks of the process column must call it. */
osla_err osli_lu_exchange_rows(lu *f, const lu_step *s, const int64_t *pivots, int64_t col,
                               int64_t cols);

/* Three calls that interchange rows in local columns [col, col + cols) and solve for these columns
 * of U(k,:). osli_lu_rows_begin sends the rows of this rank that move. osli_lu_rows_advance
 * continues as far as possible without waiting. osli_lu_rows_finish waits until all of U is in x->u
 * and, on process row x->s.prow, in the matrix. x->u stays valid until the exchange after the next
 * one begins. `panel` must stay valid until osli_lu_rows_finish returns. */
osla_err osli_lu_rows_begin(lu *f, const lu_step *s, const lu_panel *panel, int64_t col,
                            int64_t cols, lu_exchange *x);
osla_err osli_lu_rows_advance(lu *f, lu_exchange *x);
osla_err osli_lu_rows_finish(lu *f, lu_exchange *x);

/* Process row that owns global row `row`, and the local index of the row there. */
static inline int row_owner(const lu *f, int64_t row)
{
  return osla_index_owner(row, f->v.mb, f->v.p);
}
static inline int64_t row_local(const lu *f, int64_t row)
{
  return osla_index_local(row, f->v.mb, f->v.p);
}

#endif
