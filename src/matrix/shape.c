#include "osla_segment.h"
#include "osla_shape.h"
#include "src/matrix/triangle.h"

#include <inttypes.h>

/* Returns the index of the node of grid position (prow, pcol) in a grid of order OSLA_GRID_NODES. In
 * a grid of order OSLA_GRID_TILES positions have other nodes. However, if the shape of the grid
 * admits tiles, columns_near and rows_near are false in both orders, so find_near_lines needs no
 * formula for tiles. */
static int node_at(const osla_shape *s, int prow, int pcol)
{
  return (int)((prow + (int64_t)pcol * s->nprow) / s->per_node);
}

/* Sets columns_near and rows_near. */
static void find_near_lines(osla_shape *s)
{
  int p = s->nprow, q = s->npcol;
  s->columns_near = s->rows_near = true;
  for (int pcol = 0; pcol < q; pcol++)
    if (node_at(s, 0, pcol) != node_at(s, p - 1, pcol)) s->columns_near = false;
  for (int prow = 0; prow < p; prow++)
    if (node_at(s, prow, 0) != node_at(s, prow, q - 1)) s->rows_near = false;
}

osla_err osla_shape_make(int ranks, int per_node, int64_t n, int64_t nb, osla_dtype dtype,
                         osla_shape *out)
{
  OSLA_CHECK(ranks >= 1, OSLA_ERR_ARG, "%d ranks: there must be at least 1", ranks);
  OSLA_CHECK(per_node >= 1, OSLA_ERR_ARG, "%d ranks on a node: there must be at least 1", per_node);
  OSLA_CHECK(per_node <= ranks, OSLA_ERR_ARG, "%d ranks on a node, but %d in all", per_node, ranks);
  OSLA_CHECK(n >= 0, OSLA_ERR_ARG, "order %" PRId64 " is negative", n);
  OSLA_CHECK(nb >= 1, OSLA_ERR_ARG, "block size %" PRId64 " is below 1", nb);
  int64_t bytes;
  size_t e = osla_dtype_size(dtype);
  OSLA_CHECK(!__builtin_mul_overflow(n, n, &bytes) && bytes <= INT64_MAX / (int64_t)e,
             OSLA_ERR_RANGE, "a matrix of order %" PRId64 " has 2^63 bytes or more", n);
  *out = (osla_shape){.ranks = ranks,
                      .per_node = per_node,
                      .nodes = (ranks - 1) / per_node + 1,
                      .n = n,
                      .nb = nb < n  ? nb
                            : n > 1 ? n
                                    : 1,
                      .dtype = dtype,
                      .element = e};
  osla_grid_choose(ranks, out->nodes, &out->nprow, &out->npcol);
  out->rows = osla_index_count(n, out->nb, 0, out->nprow);
  out->cols = osla_index_count(n, out->nb, 0, out->npcol);
  find_near_lines(out);
  return OSLA_OK;
}

uint64_t osla_matrix_triangle_bytes(const osla_layout *l, osla_dtype dtype)
{
  uint64_t most = 0;
  /* In each process row, the process in process column 0 stores the most elements: its local block
   * column c begins at diagonal block c * npcol, and that of process column pcol at the later
   * diagonal block c * npcol + pcol. */
  for (int prow = 0; prow < l->nprow; prow++) {
    const triangle_share s = triangle_share_of(l->n, l->nb, l->nprow, l->npcol, prow, 0);
    const uint64_t bytes = triangle_bytes(&s, osla_dtype_size(dtype));
    if (bytes > most) most = bytes;
  }
  return most;
}

/* Returns the bytes of a matrix on one rank: its segment and its table of leading dimensions. The
 * largest local array of any rank has `local` bytes. */
static uint64_t with_tables(const osla_shape *s, uint64_t local)
{
  return osla_segment_footprint(local, 0, s->ranks) + (size_t)s->nprow * sizeof(int64_t);
}

uint64_t osla_shape_matrix(const osla_shape *s, int64_t cols, int64_t col_nb)
{
  const osla_layout l = {s->n, cols, s->nb, col_nb, s->nprow, s->npcol};
  return with_tables(s, osla_matrix_bytes(&l, s->dtype));
}

uint64_t osla_shape_triangle(const osla_shape *s)
{
  const osla_layout l = {s->n, s->n, s->nb, s->nb, s->nprow, s->npcol};
  return with_tables(s, osla_matrix_triangle_bytes(&l, s->dtype));
}
