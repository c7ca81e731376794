/* What factoring a panel shares between its two files (internal): lu_panel.c the ways, lu_pivot.c
 * partial pivoting in step with the process column. */
#ifndef OSLA_LU_PANEL_H
#define OSLA_LU_PANEL_H

#include "kernels/lu/lu_publish.h"

/* The panel's part of the store, writable. */
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

/* Factors the panel of a step with the other ranks of its process column, of which I am one. */
osla_err osli_lu_factor_panel(lu *f, const lu_step *s);

/* Columns [j, j + width) of the panel, column by column with the other ranks of the process column.
 */
osla_err osli_lu_factor_columns(lu *f, const lu_step *s, int64_t j, int64_t width);

#endif
