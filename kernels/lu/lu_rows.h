/* Row interchanges (internal). */
#ifndef OSLA_LU_ROWS_H
#define OSLA_LU_ROWS_H

#include "kernels/lu/lu_state.h"

/* Exchanges rows as a panel says on local columns [col, col + cols); those that come on top are in
 * the matrix if p = 1, else in nobody's. Together with the process column. */
osla_err osli_lu_exchange_rows(lu *f, const lu_step *s, const int64_t *pivots, int64_t col,
                               int64_t cols);

/* The same on the way to U(k, these columns), where all want it. Begin: sends my rows. Advance:
 * goes on as far as it can without waiting. Finish: U is complete, in x->u and where it belongs,
 * until the next but one begins. The panel stays until then. */
osla_err osli_lu_rows_begin(lu *f, const lu_step *s, const lu_panel *panel, int64_t col,
                            int64_t cols, lu_exchange *x);
osla_err osli_lu_rows_advance(lu *f, lu_exchange *x);
osla_err osli_lu_rows_finish(lu *f, lu_exchange *x);

/* The process row, and the local row there, of a global row. */
static inline int row_owner(const lu *f, int64_t row)
{
  return osla_index_owner(row, f->v.mb, f->v.p);
}
static inline int64_t row_local(const lu *f, int64_t row)
{
  return osla_index_local(row, f->v.mb, f->v.p);
}

#endif
