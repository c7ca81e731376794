/* Factorisation of a panel (internal). lu_panel.c contains the algorithms except partial pivoting
 * column by column, which is in lu_pivot.c. */
#ifndef OSLA_LU_PANEL_H
#define OSLA_LU_PANEL_H

#include "kernels/lu/lu_publish.h"

/* Addresses of the parts of a panel's head in this rank's store, for writing. */
typedef struct lu_panel_memory {
  lu_head *head;
  int64_t *pivots;
  unsigned char *top;
} lu_panel_memory;

static inline lu_panel_memory lu_panel_memory_of(const lu *f, const lu_step *s)
{
  lu_panel p = osli_lu_my_panel(f, s);
  return (lu_panel_memory){(lu_head *)(uintptr_t)p.head, (int64_t *)(uintptr_t)p.pivots, p.top.at};
}

static inline bool has_top(const lu *f, const lu_step *s)
{
  return f->v.prow == s->prow;
}

/* Factors the panel of step `s`. This rank and all other ranks of its process column must call
 * it. */
osla_err osli_lu_factor_panel(lu *f, const lu_step *s);

/* Factors columns [j, j + width) of the panel with partial pivoting. All ranks of the process
 * column must call it; they exchange records for every column. */
osla_err osli_lu_factor_columns(lu *f, const lu_step *s, int64_t j, int64_t width);

#endif
