/* What an update adds: products of columns of G, or elements of U (internal). */
#ifndef OSLA_HESSIAN_FILL_H
#define OSLA_HESSIAN_FILL_H

#include "kernels/hessian/hessian_add.h"
#include "kernels/hessian/hessian_workspace.h"

/* What fills a piece: the products of columns of G, or the elements of U. */
typedef struct update {
  int64_t k;                 /* rows of G; < 0: a block update */
  const unsigned char *data; /* G or U */
  int64_t ld;
  const unsigned char *row_panel, *col_panel; /* G's columns in the splits' order, k x count */
} update;

/* values (rows x cols, ld = rows) := what the update adds to rows [r0, r0 + rows)
 * and columns [c0, c0 + cols) of the workspace's splits, at least where begin and end say. */
osla_err osli_update_fill(osla_hessian *h, workspace *w, const update *u, int64_t r0, int64_t c0,
                          const piece *p, unsigned char *values);

#endif
