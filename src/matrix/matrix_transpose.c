/* Transposition. The owner of the destination fetches its data one-sided, in tiles that are
 * contiguous in the destination. A rank needs memory for one tile, and for a second tile if the
 * destination lies on a device, because the host transposes the elements of a tile before they are
 * copied to the device. */
#include "src/blas/move.h"
#include "src/matrix/local_transpose.h"
#include "src/matrix/part_checks.h"
#include "src/matrix/part_local.h"

#include <complex.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TILE = 128 }; /* largest side of a tile */

/* Number of local indices from `at` on, at most TILE, whose global indices are also contiguous. */
static int64_t local_run(int64_t at, int64_t count, int64_t nb, int nprocs)
{
  int64_t left = nprocs == 1 ? count - at : osla_index_run(at, count, nb);
  return left < TILE ? left : TILE;
}

/* Number of source indices from `i` on that one tile may hold, at most `most`. Between nodes a tile
 * lies on one rank, since it is then fetched without further memory. */
static int64_t source_run(const osla_transport *t, int64_t i, int64_t most, int64_t nb, int nprocs)
{
  bool any = osla_transport_n_nodes(t) == 1 || nprocs == 1;
  return any ? most : osla_index_run(i, i + most, nb);
}

static osla_err check(osla_trans trans, const osla_part *source, const osla_part *dest)
{
  osla_dtype ts = osla_matrix_dtype(source->matrix), td = osla_matrix_dtype(dest->matrix);
  OSLA_CHECK(trans == OSLA_TRANS || trans == OSLA_CONJTRANS, OSLA_ERR_ARG,
             "transpose: trans = %d is neither TRANS nor CONJTRANS", (int)trans);
  OSLA_CALL(osli_part_check("transpose", source, "source"));
  OSLA_CALL(osli_part_check("transpose", dest, "destination"));
  OSLA_CHECK(source->m == dest->n && source->n == dest->m, OSLA_ERR_ARG,
             "transpose: source is %" PRId64 " x %" PRId64 ", destination %" PRId64 " x %" PRId64,
             source->m, source->n, dest->m, dest->n);
  OSLA_CHECK(ts == td, OSLA_ERR_ARG, "transpose: source has type '%c', destination '%c'",
             osla_dtype_letter(ts), osla_dtype_letter(td));
  OSLA_CHECK(osla_grid_transport(osla_matrix_grid(source->matrix)) ==
               osla_grid_transport(osla_matrix_grid(dest->matrix)),
             OSLA_ERR_ARG, "transpose: source and destination belong to different transports");
  OSLA_CHECK(!osli_parts_overlap(source, dest), OSLA_ERR_ARG,
             "transpose: source and destination overlap%s",
             source->matrix == dest->matrix ? " in one matrix" : "");
  return OSLA_OK;
}

/* Fetches all tiles of `to`, this rank's part of dest. */
static osla_err fetch_tiles(osla_trans trans, const osla_part *source, const part_local *to,
                            osla_transport *t, osla_dtype dtype, unsigned char *tile)
{
  unsigned char *turned = tile + (size_t)(TILE * TILE) * to->element;
  const osla_layout *l = &to->layout, ls = osla_matrix_layout(source->matrix);
  for (int64_t c = 0, n; c < to->cols; c += n) {
    int64_t j = source->i + part_col(to, c);
    n = local_run(to->col + c, to->col + to->cols, l->nb, l->npcol);
    n = source_run(t, j, n, ls.mb, ls.nprow);
    for (int64_t r = 0, m; r < to->rows; r += m) {
      int64_t i = source->j + part_row(to, r);
      m = local_run(to->row + r, to->row + to->rows, l->mb, l->nprow);
      m = source_run(t, i, m, ls.nb, ls.npcol);
      OSLA_CALL(osla_matrix_get_block(source->matrix, j, i, n, m, tile, n));
      unsigned char *there = part_at(to, r, c);
      const bool on_device = osli_device_of(there);
      unsigned char *turn = on_device ? turned : there;
      const int64_t ld = on_device ? m : to->lld;
      local_transpose(to->element, m, n, tile, n, turn, ld);
      if (trans == OSLA_CONJTRANS) local_conjugate(dtype, m, n, turn, ld);
      if (on_device) osli_move_columns(to->element, m, n, turned, m, there, to->lld);
    }
  }
  return OSLA_OK;
}

static osla_err agree(const char *call, osla_trans trans, const osla_part *source,
                      const osla_part *dest, osla_err local)
{
  const osla_argument same[] = {{"trans", (int)trans},
                                OSLA_PART_ARGUMENTS("source", *source),
                                OSLA_PART_ARGUMENTS("dest", *dest)};
  return osla_agree_same(osla_grid_transport(osla_matrix_grid(dest->matrix)), local, call, same,
                         (int)(sizeof same / sizeof *same));
}

static osla_err transpose(const char *call, osla_trans trans, osla_part source, osla_part dest)
{
  osla_transport *t = osla_grid_transport(osla_matrix_grid(dest.matrix));
  const osla_dtype dtype = osla_matrix_dtype(dest.matrix);
  unsigned char *tile = malloc((size_t)(2 * TILE * TILE) * osla_dtype_size(dtype));
  osla_err err = check(trans, &source, &dest);
  if (err == OSLA_OK && !tile)
    err = osla_error_set(OSLA_ERR_MEM, "two tiles of %d x %d elements", TILE, TILE);
  /* this call is also a barrier: after it the source is complete on all ranks */
  OSLA_TRY(agree(call, trans, &source, &dest, err));
  const part_local to = part_local_of(&dest);
  err = osla_agree(t, fetch_tiles(trans, &source, &to, t, dtype, tile));
cleanup:
  free(tile);
  return err;
}

osla_err osla_matrix_transpose_part(osla_trans trans, osla_part source, osla_part dest)
{
  return transpose("osla_matrix_transpose_part", trans, source, dest);
}

osla_err osla_matrix_transpose(osla_trans trans, const osla_matrix *source, osla_matrix *dest)
{
  return transpose("osla_matrix_transpose", trans, osla_whole((osla_matrix *)source),
                   osla_whole(dest));
}
