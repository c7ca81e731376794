/* The elements of a part of a matrix that this rank owns (internal). */
#ifndef PART_LOCAL_H
#define PART_LOCAL_H

#include "osla_index.h"
#include "osla_part.h"
#include "src/matrix/stored.h"

#include <stdbool.h>

/* Returns how many of the indices i, i + 1, ... below n have the owner of i and adjacent local
 * indices. With one process these are all indices from i on, otherwise those in the block of i. */
static inline int64_t adjacent_indices(int64_t i, int64_t n, int64_t nb, int nprocs)
{
  return nprocs == 1 ? n - i : osla_index_run(i, n, nb);
}

/* True if the part has elements, and begins and ends on the diagonal of its matrix. */
static inline bool part_is_diagonal(const osla_part *part)
{
  return part->m > 0 && part->i == part->j && part->m == part->n;
}

/* The local rows and columns of a part have contiguous local indices, so that two offsets and two
 * counts describe them. */
typedef struct part_local {
  osla_layout layout; /* layout of the matrix */
  int prow, pcol;
  int64_t i,   /* global row index of the part's first element */
    j;         /* global column index of the part's first element */
  int64_t row, /* local index of the part's first row on this rank */
    col;       /* local index of the part's first column on this rank */
  /* numbers of the local rows and columns that belong to the part; both 0 if this rank owns no
   * element of it */
  int64_t rows, cols;
  /* true if the part begins and ends on the diagonal of a triangular matrix, so that only its
   * elements on and below the diagonal are stored */
  bool lower;
  int64_t lld;          /* leading dimension; 0 for a triangular matrix, see part_columns */
  size_t element;       /* bytes of an element */
  unsigned char *local; /* the matrix's local array */
} part_local;

static inline part_local part_local_of(const osla_part *part)
{
  const osla_matrix *a = part->matrix;
  osla_grid *grid = osla_matrix_grid(a);
  part_local p = {.layout = osla_matrix_layout(a),
                  .prow = osla_grid_prow(grid),
                  .pcol = osla_grid_pcol(grid),
                  .i = part->i,
                  .j = part->j,
                  .lower = osla_matrix_is_triangle(a) && part_is_diagonal(part),
                  .lld = osla_matrix_lld(a, osla_transport_rank(osla_grid_transport(grid))),
                  .element = osla_dtype_size(osla_matrix_dtype(a)),
                  .local = osla_matrix_local(a)};
  const osla_layout *l = &p.layout;
  p.row = osla_index_count(p.i, l->mb, p.prow, l->nprow);
  p.col = osla_index_count(p.j, l->nb, p.pcol, l->npcol);
  p.rows = osla_index_count(p.i + part->m, l->mb, p.prow, l->nprow) - p.row;
  p.cols = osla_index_count(p.j + part->n, l->nb, p.pcol, l->npcol) - p.col;
  if (p.rows == 0 || p.cols == 0) p.rows = p.cols = 0;
  return p;
}

/* Index in the part, from 0, of the part's local row `r`. */
static inline int64_t part_row(const part_local *p, int64_t r)
{
  return osla_index_global(p->row + r, p->layout.mb, p->prow, p->layout.nprow) - p->i;
}

/* Index in the part, from 0, of the part's local column `c`. */
static inline int64_t part_col(const part_local *p, int64_t c)
{
  return osla_index_global(p->col + c, p->layout.nb, p->pcol, p->layout.npcol) - p->j;
}

/* Returns the first local row of the part whose element in local column c is stored: the first row
 * on or below the diagonal if p->lower is true, otherwise row 0. */
static inline int64_t part_first_row(const part_local *p, int64_t c)
{
  if (!p->lower) return 0;
  return osla_index_count(p->i + part_col(p, c), p->layout.mb, p->prow, p->layout.nprow) - p->row;
}

/* Returns the run of columns that contains local column c of the part. The element in local row r
 * and local column c of the part has the index stored_index(&run, r, c) in the local array. */
static inline stored_columns part_columns(const osla_part *part, const part_local *p, int64_t c)
{
  const int rank = osla_transport_rank(osla_grid_transport(osla_matrix_grid(part->matrix)));
  return stored_shift(osli_stored_columns(part->matrix, rank, p->col + c), p->row, p->col);
}

/* Offset, in elements, of the part's local element (r, c) in the local array of a full matrix. */
static inline int64_t part_offset(const part_local *p, int64_t r, int64_t c)
{
  return p->row + r + (p->col + c) * p->lld;
}

/* Address of the part's local element (r, c) in a full matrix. */
static inline unsigned char *part_at(const part_local *p, int64_t r, int64_t c)
{
  return p->local + (size_t)part_offset(p, r, c) * p->element;
}

#endif
