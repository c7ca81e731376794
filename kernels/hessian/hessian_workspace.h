/* Scratch memory of updating threads, within the memory cap (internal). */
#ifndef OSLA_HESSIAN_WORKSPACE_H
#define OSLA_HESSIAN_WORKSPACE_H

#include "kernels/hessian/hessian_split.h"
#include "osla_hessian.h"

/* Scratch memory of one thread during an update; kept in a list for reuse. */
typedef struct workspace {
  struct workspace *next;
  index_split rows, cols;
  index_split sorted;      /* order-independent mode: all indices of an update */
  unsigned char *products; /* order-independent mode: products of one group */
  size_t products_bytes;
  int64_t *begin, *end; /* [n_range] triangle of a part */
  int64_t n_range;
  unsigned char *row_panel, *col_panel; /* columns of G in the order of the splits */
  size_t row_panel_bytes, col_panel_bytes;
  unsigned char *values; /* values of a piece */
  size_t values_bytes;
  size_t reserved; /* bytes of this workspace that count against the cap */
  uint64_t draws;  /* random numbers drawn so far, for the first owner */
  osla_hessian_stats stats;
} workspace;

/* Scratch memory that an update needs. Acquiring may wait until other threads release theirs.
 * Errors of osli_workspace_acquire: MEM, also if the cap is too small for the update. */
typedef struct workspace_need {
  int64_t rows, cols;
  int64_t k;   /* rows of G if its columns are gathered, else 0 */
  bool chunks; /* products are computed in chunks (hessian_exact.h) */
} workspace_need;
osla_err osli_workspace_acquire(osla_hessian *h, const workspace_need *need, workspace **out);
void osli_workspace_release(osla_hessian *h, workspace *w);
void osli_workspace_free_all(osla_hessian *h);
osla_err osli_reserve(unsigned char **buffer, size_t *have, size_t bytes);
size_t osli_piece_bytes(const osla_hessian *h); /* bytes of values that a workspace may hold */

#endif
