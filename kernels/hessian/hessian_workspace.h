/* Scratch memory of updating threads, within the memory cap (internal). */
#ifndef OSLA_HESSIAN_WORKSPACE_H
#define OSLA_HESSIAN_WORKSPACE_H

#include "kernels/hessian/hessian_split.h"
#include "osla_hessian.h"

/* Scratch memory of one thread during an update, cached in a list for reuse. */
typedef struct workspace {
  struct workspace *next;
  index_split rows, cols;
  index_split sorted;      /* order-independent mode: sorted list of all indices of an update */
  unsigned char *products; /* order-independent mode: products of one group of columns */
  size_t products_bytes;
  int64_t *begin, *end; /* [n_range] range of the triangle in each column of a part */
  int64_t n_range;
  unsigned char *row_panel, *col_panel; /* columns of G in the order of the sorted index lists */
  size_t row_panel_bytes, col_panel_bytes;
  unsigned char *values; /* values of one piece */
  size_t values_bytes;
  size_t reserved; /* number of bytes of this workspace that count against the memory cap */
  uint64_t draws; /* number of random numbers drawn so far, each of which selects the first owner to
                     visit */
  osla_hessian_stats stats;
} workspace;

/* Sizes that determine the scratch memory of an update. osli_workspace_acquire may wait until other
 * threads release their workspaces. Errors of osli_workspace_acquire: MEM, also if the cap is too
 * small for the update. */
typedef struct workspace_need {
  int64_t rows, cols;
  int64_t k;   /* number of rows of G if its columns are copied into sorted order; otherwise 0 */
  bool chunks; /* true if products are computed in chunks (hessian_exact.h) */
} workspace_need;
osla_err osli_workspace_acquire(osla_hessian *h, const workspace_need *need, workspace **out);
void osli_workspace_release(osla_hessian *h, workspace *w);
void osli_workspace_free_all(osla_hessian *h);
osla_err osli_reserve(unsigned char **buffer, size_t *have, size_t bytes);
/* number of bytes of values that a workspace may hold */
size_t osli_piece_bytes(const osla_hessian *h);

#endif
