/* Redistribution and mirroring, both pulled one-sided by the owner of the destination.
 *
 * Copy: each rank walks its own columns; of a source column it takes the runs of rows that are
 * contiguous in both distributions. A node neighbour's column is read in place. Columns of other
 * nodes are fetched whole, a batch at a time, before they are taken apart.
 * Memory: one batch of source columns (at most 64). Messages: one get for each remote source
 * column and process row.
 */
#include "osla_index.h"
#include "osla_matrix.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 64 };

/* One rank's copy job: all the rows it owns in `dest` that process row `src_prow` of the source
 * holds, from one column of the source. */
static void take_rows(const osla_matrix *source, const osla_matrix *dest, int src_prow,
                      const unsigned char *src_column, unsigned char *dest_column)
{
  osla_layout ls = osla_matrix_layout(source), ld = osla_matrix_layout(dest);
  int prow = osla_grid_prow(osla_matrix_grid(dest));
  size_t e = osla_dtype_size(osla_matrix_dtype(dest));
  int64_t rows = osla_matrix_local_rows(dest);
  for (int64_t r = 0; r < rows;) {
    int64_t i = osla_index_global(r, ld.mb, prow, ld.nprow);
    int64_t run = osla_index_run(i, ld.m, ld.mb), src_run = osla_index_run(i, ls.m, ls.mb);
    if (src_run < run) run = src_run;
    if (osla_index_owner(i, ls.mb, ls.nprow) == src_prow)
      memcpy(dest_column + (size_t)r * e,
             src_column + (size_t)osla_index_local(i, ls.mb, ls.nprow) * e, (size_t)run * e);
    r += run;
  }
}

/* Local columns [first, first + count) of dest, from process row src_prow of the source. */
static osla_err take_columns(const osla_matrix *source, osla_matrix *dest, int src_prow,
                             int64_t first, int count, unsigned char *staging, int64_t stride)
{
  osla_layout ls = osla_matrix_layout(source), ld = osla_matrix_layout(dest);
  osla_grid *grid = osla_matrix_grid(dest);
  size_t e = osla_dtype_size(osla_matrix_dtype(dest));
  osla_segment *segment = osla_matrix_segment(source);
  const unsigned char *columns[BATCH];
  osla_transfer transfers[BATCH];
  int64_t src_rows = osla_index_count(ls.m, ls.mb, src_prow, ls.nprow);
  osla_err err = OSLA_OK;
  int started = 0;
  for (; started < count && err == OSLA_OK; started++) {
    int64_t j = osla_index_global(first + started, ld.nb, osla_grid_pcol(grid), ld.npcol);
    int src_pcol = osla_index_owner(j, ls.nb, ls.npcol);
    int rank = osla_grid_rank_at(osla_matrix_grid(source), src_prow, src_pcol);
    size_t at = (size_t)(osla_index_local(j, ls.nb, ls.npcol) * osla_matrix_lld(source, rank)) * e;
    unsigned char *peer = osla_matrix_peer(source, rank);
    transfers[started] = OSLA_TRANSFER_NONE;
    columns[started] = peer ? peer + at : staging + (size_t)(started * stride) * e;
    if (!peer && !segment)
      err = osla_error_set(OSLA_ERR_ARG,
                           "elements of rank %d are out of reach: the source was wrapped for its "
                           "owners alone",
                           rank);
    else if (!peer)
      err = osla_segment_get(segment, rank, at, staging + (size_t)(started * stride) * e,
                             (size_t)src_rows * e, &transfers[started]);
  }
  for (int k = 0; k < started && segment; k++) {
    osla_err waited = osla_transfer_wait(segment, &transfers[k]);
    if (err == OSLA_OK) err = waited;
  }
  OSLA_CALL(err);
  int64_t lld = osla_matrix_lld(dest, osla_transport_rank(osla_grid_transport(grid)));
  for (int k = 0; k < count; k++)
    take_rows(source, dest, src_prow, columns[k],
              (unsigned char *)osla_matrix_local(dest) + (size_t)((first + k) * lld) * e);
  return OSLA_OK;
}

static osla_err check_copy(const osla_matrix *source, const osla_matrix *dest)
{
  osla_layout ls = osla_matrix_layout(source), ld = osla_matrix_layout(dest);
  OSLA_CHECK(ls.m == ld.m && ls.n == ld.n, OSLA_ERR_ARG,
             "source is %" PRId64 " x %" PRId64 ", destination %" PRId64 " x %" PRId64, ls.m, ls.n,
             ld.m, ld.n);
  OSLA_CHECK(osla_matrix_dtype(source) == osla_matrix_dtype(dest), OSLA_ERR_ARG,
             "source has type '%c', destination '%c'", osla_dtype_letter(osla_matrix_dtype(source)),
             osla_dtype_letter(osla_matrix_dtype(dest)));
  OSLA_CHECK(osla_grid_transport(osla_matrix_grid(source)) ==
               osla_grid_transport(osla_matrix_grid(dest)),
             OSLA_ERR_ARG, "source and destination belong to different transports");
  OSLA_CHECK(source != dest, OSLA_ERR_ARG, "source and destination are one matrix");
  return OSLA_OK;
}

static osla_err pull_all(const osla_matrix *source, osla_matrix *dest)
{
  osla_layout ls = osla_matrix_layout(source);
  int64_t stride = osla_index_count(ls.m, ls.mb, 0, ls.nprow); /* the longest local column */
  size_t bytes = (size_t)(stride * BATCH) * osla_dtype_size(osla_matrix_dtype(dest));
  unsigned char *staging = malloc(bytes + 1);
  osla_err err = check_copy(source, dest);
  if (err == OSLA_OK && !staging) err = osla_error_set(OSLA_ERR_MEM, "%zu bytes of staging", bytes);
  err = osla_agree(osla_grid_transport(osla_matrix_grid(dest)), err); /* the source is complete */
  int64_t cols = osla_matrix_local_rows(dest) > 0 ? osla_matrix_local_cols(dest) : 0;
  for (int src_prow = 0; src_prow < ls.nprow && err == OSLA_OK; src_prow++)
    for (int64_t c = 0; c < cols && err == OSLA_OK; c += BATCH)
      err = take_columns(source, dest, src_prow, c, (int)(cols - c < BATCH ? cols - c : BATCH),
                         staging, stride);
  free(staging);
  return err;
}

osla_err osla_matrix_copy(const osla_matrix *source, osla_matrix *dest)
{
  return osla_agree(osla_grid_transport(osla_matrix_grid(dest)), pull_all(source, dest));
}

/* Block (bi, bj) here := transpose of block (bj, bi). */
static osla_err mirror_block(osla_matrix *a, int64_t i, int64_t j, int64_t m, int64_t n,
                             unsigned char *local, int64_t lld, unsigned char *buffer)
{
  size_t e = osla_dtype_size(osla_matrix_dtype(a));
  OSLA_CALL(osla_matrix_get_block(a, j, i, n, m, buffer, n));
  for (int64_t c = 0; c < n; c++)
    for (int64_t r = 0; r < m; r++)
      memcpy(local + (size_t)(r + c * lld) * e, buffer + (size_t)(c + r * n) * e, e);
  return OSLA_OK;
}

/* A diagonal block is its own source: only its wanted half is written. */
static void mirror_diagonal(unsigned char *local, int64_t lld, int64_t n, size_t e, osla_uplo from)
{
  for (int64_t c = 0; c < n; c++)
    for (int64_t r = c + 1; r < n; r++) {
      unsigned char *low = local + (size_t)(r + c * lld) * e;
      unsigned char *high = local + (size_t)(c + r * lld) * e;
      memcpy(from == OSLA_LOWER ? high : low, from == OSLA_LOWER ? low : high, e);
    }
}

static osla_err mirror_blocks(osla_matrix *a, osla_uplo from)
{
  osla_layout l = osla_matrix_layout(a);
  osla_grid *grid = osla_matrix_grid(a);
  size_t e = osla_dtype_size(osla_matrix_dtype(a));
  int64_t lld = osla_matrix_lld(a, osla_transport_rank(osla_grid_transport(grid)));
  int64_t largest = l.mb < l.m ? l.mb : l.m; /* side of the largest block */
  unsigned char *buffer = malloc((size_t)(largest * largest) * e + 1);
  OSLA_CHECK(buffer, OSLA_ERR_MEM, "block of %" PRId64 " x %" PRId64, largest, largest);
  osla_err err = OSLA_OK;
  for (int64_t c = 0; c < osla_matrix_local_cols(a); c += l.nb) {
    int64_t j = osla_index_global(c, l.nb, osla_grid_pcol(grid), l.npcol);
    int64_t n = osla_index_run(j, l.n, l.nb);
    for (int64_t r = 0; r < osla_matrix_local_rows(a) && err == OSLA_OK; r += l.mb) {
      int64_t i = osla_index_global(r, l.mb, osla_grid_prow(grid), l.nprow);
      unsigned char *local = (unsigned char *)osla_matrix_local(a) + (size_t)(r + c * lld) * e;
      if (i == j)
        mirror_diagonal(local, lld, n, e, from);
      else if ((i < j) == (from == OSLA_LOWER))
        err = mirror_block(a, i, j, osla_index_run(i, l.m, l.mb), n, local, lld, buffer);
    }
  }
  free(buffer);
  return err;
}

static osla_err check_mirror(const osla_matrix *a, osla_uplo from)
{
  osla_layout l = osla_matrix_layout(a);
  OSLA_CHECK(l.m == l.n && l.mb == l.nb, OSLA_ERR_ARG,
             "mirror needs a square matrix and square blocks: %" PRId64 " x %" PRId64
             " in blocks of %" PRId64 " x %" PRId64,
             l.m, l.n, l.mb, l.nb);
  OSLA_CHECK(from == OSLA_LOWER || from == OSLA_UPPER, OSLA_ERR_ARG, "mirror of uplo = %d",
             (int)from);
  return OSLA_OK;
}

osla_err osla_matrix_mirror(osla_matrix *a, osla_uplo from)
{
  osla_transport *t = osla_grid_transport(osla_matrix_grid(a));
  OSLA_CALL(osla_agree(t, check_mirror(a, from))); /* also: the triangle is complete everywhere */
  return osla_agree(t, mirror_blocks(a, from));
}
