/* The steps of one update, bottom to top (internal): the values of a piece are computed
 * (hessian_fill.c), added to an array on the node (hessian_add.c) or sent; hessian_deliver.c does
 * so for each owner's part, hessian_update.c for the whole update. */
#ifndef OSLA_HESSIAN_UPDATE_H
#define OSLA_HESSIAN_UPDATE_H

#include "kernels/hessian/hessian_piece.h"
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

/* Adds a piece to an owner's local array; the caller holds the locks of the piece's stripes. */
void osli_piece_add(const osla_hessian *h, const piece *p, unsigned char *local, int64_t lld);

/* Delivers every owner's part, after the indices were split. */
osla_err osli_update_owners(osla_hessian *h, workspace *w, const update *u);

/* Performs one update, whose arguments have been checked. */
osla_err osli_update_run(osla_hessian *h, update *u, int64_t rows, const int64_t *ix, int64_t cols,
                         const int64_t *jx);

#endif
