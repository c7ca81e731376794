/* Scratch of updating threads, within the memory cap (internal). */
#ifndef OSLA_HESSIAN_WORKSPACE_H
#define OSLA_HESSIAN_WORKSPACE_H

#include "kernels/hessian/hessian_split.h"
#include "osla_hessian.h"

/* What one thread needs during an update. Kept in a list for reuse. */
typedef struct workspace {
  struct workspace *next;
  index_split rows, cols;
  index_split sorted;      /* order-independent mode: all indices of an update, */
  unsigned char *products; /* and some of its products */
  size_t products_bytes;
  int64_t *begin, *end; /* [n_range] triangle of a part */
  int64_t n_range;
  unsigned char *row_panel, *col_panel; /* columns of G in the order of the splits */
  size_t row_panel_bytes, col_panel_bytes;
  unsigned char *values; /* of a piece */
  size_t values_bytes;
  size_t reserved; /* bytes of all these that count against the cap */
  uint64_t draws;  /* random starts drawn so far */
  osla_hessian_stats stats;
} workspace;

/* Scratch of an update, within the memory cap: taking may wait for others to
 * give. Errors of take: MEM, also when the cap is too small for such an update. */
typedef struct workspace_need {
  int64_t rows, cols;
  int64_t k;   /* columns of G are gathered; 0: none */
  bool chunks; /* products are made in chunks first, see hessian_exact.h */
} workspace_need;
osla_err osli_workspace_acquire(osla_hessian *h, const workspace_need *need, workspace **out);
void osli_workspace_release(osla_hessian *h, workspace *w);
void osli_workspace_free_all(osla_hessian *h);
osla_err osli_reserve(unsigned char **buffer, size_t *have, size_t bytes);
size_t osli_piece_bytes(const osla_hessian *h); /* values that a workspace may hold */

#endif
