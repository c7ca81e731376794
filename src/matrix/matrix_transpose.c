/* Transposition, pulled one-sided by the owner of the destination, in tiles that are contiguous in
 * it. Memory: one tile. */
#include "osla_index.h"
#include "osla_matrix.h"

#include <complex.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TILE = 128 }; /* longest side */

/* Indices from local index `at` on that are contiguous globally, too, at most TILE. */
static int64_t run_of(int64_t at, int64_t count, int64_t nb, int nprocs)
{
  int64_t left = nprocs == 1 ? count - at : osla_index_run(at, count, nb);
  return left < TILE ? left : TILE;
}

/* The same of at most `most` indices of the source from `i` on. Between nodes a tile is of one
 * rank: then it is got with no memory but its own. */
static int64_t run_there(const osla_transport *t, int64_t i, int64_t most, int64_t nb, int nprocs)
{
  bool any = osla_transport_n_nodes(t) == 1 || nprocs == 1;
  return any ? most : osla_index_run(i, i + most, nb);
}

/* The m x n piece `to` := transpose of the dense n x m tile. */
static void turn(osla_dtype dtype, bool conjugate, int64_t m, int64_t n, const unsigned char *tile,
                 unsigned char *to, int64_t lld)
{
  size_t e = osla_dtype_size(dtype);
  for (int64_t c = 0; c < n; c++)
    for (int64_t r = 0; r < m; r++) {
      unsigned char *element = to + (size_t)(r + c * lld) * e;
      memcpy(element, tile + (size_t)(c + r * n) * e, e);
      if (conjugate && dtype == OSLA_COMPLEX_FLOAT) ((float *)element)[1] *= -1;
      if (conjugate && dtype == OSLA_COMPLEX_DOUBLE) ((double *)element)[1] *= -1;
    }
}

static osla_err check(osla_trans trans, const osla_matrix *source, const osla_matrix *dest)
{
  osla_layout ls = osla_matrix_layout(source), ld = osla_matrix_layout(dest);
  OSLA_CHECK(trans == OSLA_TRANS || trans == OSLA_CONJTRANS, OSLA_ERR_ARG,
             "transpose: trans = %d is neither TRANS nor CONJTRANS", (int)trans);
  OSLA_CHECK(ls.m == ld.n && ls.n == ld.m, OSLA_ERR_ARG,
             "transpose: source is %" PRId64 " x %" PRId64 ", destination %" PRId64 " x %" PRId64,
             ls.m, ls.n, ld.m, ld.n);
  OSLA_CHECK(osla_matrix_dtype(source) == osla_matrix_dtype(dest), OSLA_ERR_ARG,
             "transpose: source has type '%c', destination '%c'",
             osla_dtype_letter(osla_matrix_dtype(source)),
             osla_dtype_letter(osla_matrix_dtype(dest)));
  OSLA_CHECK(osla_grid_transport(osla_matrix_grid(source)) ==
               osla_grid_transport(osla_matrix_grid(dest)),
             OSLA_ERR_ARG, "transpose: source and destination belong to different transports");
  OSLA_CHECK(source != dest, OSLA_ERR_ARG, "transpose: source and destination are one matrix");
  return OSLA_OK;
}

static osla_err pull_tiles(osla_trans trans, const osla_matrix *source, osla_matrix *dest)
{
  osla_layout l = osla_matrix_layout(dest);
  osla_grid *grid = osla_matrix_grid(dest);
  osla_dtype dtype = osla_matrix_dtype(dest);
  size_t e = osla_dtype_size(dtype);
  osla_transport *t = osla_grid_transport(grid);
  int64_t lld = osla_matrix_lld(dest, osla_transport_rank(t));
  int64_t rows = osla_matrix_local_rows(dest), cols = osla_matrix_local_cols(dest);
  osla_layout ls = osla_matrix_layout(source);
  unsigned char *tile = malloc((size_t)(TILE * TILE) * e);
  osla_err err = check(trans, source, dest);
  if (err == OSLA_OK && !tile)
    err = osla_error_set(OSLA_ERR_MEM, "tile of %d x %d elements", TILE, TILE);
  err = osla_agree(t, err); /* the source is complete */
  for (int64_t c = 0, n; c < cols && err == OSLA_OK; c += n) {
    int64_t j = osla_index_global(c, l.nb, osla_grid_pcol(grid), l.npcol);
    n = run_there(t, j, run_of(c, cols, l.nb, l.npcol), ls.mb, ls.nprow);
    for (int64_t r = 0, m; r < rows && err == OSLA_OK; r += m) {
      int64_t i = osla_index_global(r, l.mb, osla_grid_prow(grid), l.nprow);
      m = run_there(t, i, run_of(r, rows, l.mb, l.nprow), ls.nb, ls.npcol);
      err = osla_matrix_get_block(source, j, i, n, m, tile, n);
      if (err != OSLA_OK) break;
      turn(dtype, trans == OSLA_CONJTRANS, m, n, tile,
           (unsigned char *)osla_matrix_local(dest) + (size_t)(r + c * lld) * e, lld);
    }
  }
  free(tile);
  return err;
}

osla_err osla_matrix_transpose(osla_trans trans, const osla_matrix *source, osla_matrix *dest)
{
  return osla_agree(osla_grid_transport(osla_matrix_grid(dest)), pull_tiles(trans, source, dest));
}
