/* The steps of an update, from the lowest to the highest (internal). hessian_fill.c computes the
 * values of a piece, hessian_add.c adds a piece to an array on this node, hessian_deliver.c adds or
 * sends the part of each owner, and hessian_update.c runs the whole update. */
#ifndef OSLA_HESSIAN_UPDATE_H
#define OSLA_HESSIAN_UPDATE_H

#include "kernels/hessian/hessian_array.h"
#include "kernels/hessian/hessian_split.h"
#include "osla_hessian.h"
#include "osla_stripes.h"

/* ---- hessian_workspace.c ---- */

/* Scratch memory of one thread during an update, cached in a list for reuse. */
typedef struct workspace {
  struct workspace *next;
  index_split rows, cols;
  index_split sorted; /* order-independent mode: sorted list of all indices of an update */
  /* order-independent mode: products of one group of columns, in the kind of memory in which H
   * lies */
  unsigned char *products;
  size_t products_bytes;
  /* [n_range] column c of a part has the rows begin[c] to end[c] - 1 of the triangle */
  int64_t *begin, *end;
  int64_t n_range;
  /* columns of G in the order of the sorted row indices; on the device of H if there is one */
  unsigned char *row_panel;
  /* columns of G in the order of the sorted column indices; on the device of H if there is one */
  unsigned char *col_panel;
  size_t row_panel_bytes, col_panel_bytes;
  unsigned char *values; /* values of one piece, in host memory */
  size_t values_bytes;
  /* values of one piece in device memory; NULL if H lies in host memory */
  unsigned char *device_values;
  /* copy in device memory of a matrix G that lies in host memory; NULL if H lies in host memory */
  unsigned char *device_g;
  size_t device_values_bytes, device_g_bytes;
  size_t reserved; /* number of bytes of this workspace that count against the memory cap */
  /* number of random numbers drawn so far; each of them selects the first owner that an update
   * visits */
  uint64_t draws;
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
/* Makes *buffer at least `bytes` bytes of host memory. The former contents are lost. */
osla_err osli_reserve(unsigned char **buffer, size_t *have, size_t bytes);
/* Makes *buffer at least `bytes` bytes of the kind of memory in which H lies. The former contents
 * are lost. */
osla_err osli_reserve_like(const osla_hessian *h, unsigned char **buffer, size_t *have,
                           size_t bytes);
/* Returns the largest number of bytes of values that a workspace may hold. */
size_t osli_piece_bytes(const osla_hessian *h);

/* ---- steps of an update ---- */

/* The data of an update: G for H[ix, ix] += G^T G, or a ready block U for H[ix, ix] += U. */
typedef struct update {
  int64_t k;                 /* number of rows of G; negative if there is a ready block U */
  const unsigned char *data; /* the matrix G or U that the caller gave, column-major */
  int64_t ld;                /* leading dimension of `data`, in elements */
  /* columns of G with k elements each, in the order of the sorted row indices */
  const unsigned char *row_panel;
  /* columns of G with k elements each, in the order of the sorted column indices */
  const unsigned char *col_panel;
} update;

/* Sets values (rows x cols, leading dimension rows) for a piece whose first row and column are at
 * positions r0 and c0 of the sorted index lists. The values are products of columns of G, or
 * elements of U. At least the elements between `begin` and `end` are set. */
osla_err osli_update_fill(osla_hessian *h, workspace *w, const update *u, int64_t r0, int64_t c0,
                          const piece *p, unsigned char *values);

/* Adds a piece to an array. The values and the array both lie on the device of H, or both lie in
 * host memory. The caller holds the locks of the piece's stripes. */
osla_err osli_piece_add(const osla_hessian *h, const piece *p, const owner_array *array);

/* Waits until the additions of this thread are complete, and then releases the stripes, also after
 * an error. Errors: those of work on the device of H. */
osla_err osli_piece_unlock(const osla_hessian *h, osla_stripes *lock, uint64_t stripes);

/* Delivers the part of every owner. The workspace must hold the grouped indices of the update. */
osla_err osli_update_owners(osla_hessian *h, workspace *w, const update *u);

/* Runs one update, whose arguments have been checked. */
osla_err osli_update_run(osla_hessian *h, update *u, int64_t rows, const int64_t *ix, int64_t cols,
                         const int64_t *jx);

#endif
