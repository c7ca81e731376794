/* Operations of Cholesky for both triangles (internal).
 *
 * The code is written for the lower triangle. For the upper triangle it treats the transposed
 * matrix: a row, a process row and a block row of the code are then a column, a process column and
 * a block column of A, and the other way round. The functions below exchange rows and columns where
 * they access memory. The member `v` describes A itself. */
#ifndef OSLA_CHOL_SHAPE_H
#define OSLA_CHOL_SHAPE_H

#include "kernels/common/local_view.h"
#include "kernels/common/panels.h"
#include "osla_blas.h"
#include "osla_chol.h"

#include <stdatomic.h>

typedef struct chol {
  local_view v;
  osla_uplo uplo;
  int look_ahead;
  int n_prows;    /* number of process rows */
  int n_pcols;    /* number of process columns */
  int prow;       /* process row of this rank */
  int pcol;       /* process column of this rank */
  int64_t n_rows; /* number of this rank's local rows */
  int64_t n_cols; /* number of this rank's local columns */
  int64_t steps;
  int common; /* greatest common divisor of n_prows and n_pcols */
  int lcm;    /* least common multiple of n_prows and n_pcols */
  osla_forward forward;
  bool readable; /* true if node neighbours read the matrix in place */
  bool is_whole; /* true if the matrix lies on a device and this rank has all of it */
  /* node of all ranks that own the same block columns as this rank; -1 if they are on several
   * nodes */
  int column_node;
  /* [n_readers] ranks of this node that read this rank's panel blocks as L(j,k) */
  int *readers;
  int n_readers; /* number of ranks in `readers` */
  osla_panels *panels;
  unsigned char *columns;    /* L(j,k) for this rank's block columns, dense */
  _Atomic int64_t diagonals; /* number of steps whose diagonal block this rank has factored */
  _Atomic int64_t factored;  /* number of steps whose panel this rank has factored */
  int64_t info;
} chol;

/* Checks that all ranks pass the same arguments and that no rank has failed so far; `local` is the
 * error of this rank. After the call, earlier changes of A are complete. Collective. Errors, on all
 * ranks together: ARG, `local`. */
osla_err osli_chol_agree(osla_matrix *a, osla_err local, const char *call, osla_uplo uplo,
                         const osla_chol_options *options);

/* Sets the members of `f` that depend on the arguments, and checks the arguments. `call` begins the
 * error message. Local. Errors: ARG, and those of osli_view_check_blas. */
osla_err osli_chol_init(chol *f, const char *call, osla_matrix *a, osla_uplo uplo,
                        const osla_chol_options *options);
/* osli_chol_set_lcm sets `common` and `lcm`. osli_chol_columns_bytes returns the bytes of
 * `columns`. osli_chol_panels_plan returns the plan of the panels without its function pointers.
 * Pure (chol_memory.c). */
void osli_chol_set_lcm(chol *f);

/* True if updates copy the blocks L(j,k) of a panel to `columns`, so that they are adjacent. It is
 * false if this rank has the whole matrix, whose blocks are adjacent in place, and for a triangular
 * matrix, in which each product needs one block. Pure (chol_memory.c). */
bool osli_chol_copies_columns(const chol *f);
size_t osli_chol_columns_bytes(const chol *f);
osla_panels_plan osli_chol_panels_plan(const chol *f, bool several_nodes);

/* Allocates all memory. `bytes` and `ready` are functions of osla_panels_plan. Collective. */
osla_err osli_chol_allocate(chol *f,
                            size_t (*bytes)(const void *chol, panel_kind, int64_t step, int root),
                            bool (*ready)(void *chol, panel_kind, int64_t step, void *room));
/* Frees all memory of the factorisation. Collective. */
void osli_chol_free(chol *f);

static inline int rank_of(const chol *f, int prow, int pcol)
{
  return f->uplo == OSLA_LOWER ? rank_at(&f->v, prow, pcol) : rank_at(&f->v, pcol, prow);
}

/* Number of this rank's local rows, or columns, before global row, or column, i. */
static inline int64_t rows_before(const chol *f, int64_t i)
{
  return osla_index_count(i < f->v.n ? i : f->v.n, f->v.nb, f->prow, f->n_prows);
}

static inline int64_t cols_before(const chol *f, int64_t i)
{
  return osla_index_count(i < f->v.n ? i : f->v.n, f->v.nb, f->pcol, f->n_pcols);
}

static inline int64_t block_size(const chol *f, int64_t block)
{
  return osla_index_run(block * f->v.nb, f->v.n, f->v.nb);
}

/* Geometry of step k on this rank, in local indices. */
typedef struct chol_step {
  int64_t k, start, size;
  int prow;          /* process row of the owner of the diagonal block */
  int pcol;          /* process column of the owner of the diagonal block */
  int64_t row_on;    /* first local row in block row k */
  int64_t row_after; /* first local row behind block row k */
  int64_t col_on;    /* first local column in block column k */
  int64_t col_after; /* first local column behind block column k */
  int64_t rows_left; /* number of local rows behind block row k */
} chol_step;

static inline chol_step chol_step_make(const chol *f, int64_t k)
{
  chol_step s = {.k = k, .start = k * f->v.nb, .size = block_size(f, k)};
  s.prow = (int)(k % f->n_prows);
  s.pcol = (int)(k % f->n_pcols);
  s.row_on = rows_before(f, s.start);
  s.row_after = rows_before(f, s.start + s.size);
  s.rows_left = f->n_rows - s.row_after;
  s.col_on = cols_before(f, s.start);
  s.col_after = cols_before(f, s.start + s.size);
  return s;
}

static inline operand element(const chol *f, int64_t row, int64_t col)
{
  bool lower = f->uplo == OSLA_LOWER;
  return local_operand(&f->v, lower ? row : col, lower ? col : row);
}

static inline operand peer_element(const chol *f, int rank, int64_t row, int64_t col)
{
  bool lower = f->uplo == OSLA_LOWER;
  return peer_operand(&f->v, rank, lower ? row : col, lower ? col : row);
}

/* Returns the number of columns from local column `col` up to column `to` that one product can
 * update: all of them in a full matrix; in a triangular matrix, whose block columns have different
 * leading dimensions, those in the block column of `col`. */
static inline int64_t columns_from(const chol *f, int64_t col, int64_t to)
{
  if (!osla_matrix_is_triangle(f->v.matrix)) return to - col;
  const stored_columns s = osli_stored_columns(f->v.matrix, osla_transport_rank(f->v.t), col);
  return stored_rest(&s, col, to);
}

/* Describes a dense n_rows x n_cols array as an operand. */
static inline operand packed_operand(const chol *f, const void *at, int64_t n_rows, int64_t n_cols)
{
  return (operand){(unsigned char *)(uintptr_t)at, f->uplo == OSLA_LOWER ? n_rows : n_cols};
}

static inline operand advance_rows(const chol *f, operand a, int64_t count)
{
  int64_t elements = f->uplo == OSLA_LOWER ? count : count * a.ld;
  a.at += elements * (int64_t)f->v.element;
  return a;
}

/* Copies an n_rows x n_cols block to another operand, or to a dense array. */
void osli_chol_copy_block(const chol *f, int64_t n_rows, int64_t n_cols, operand from, operand to);
void osli_chol_pack_block(const chol *f, int64_t n_rows, int64_t n_cols, operand from, void *to);

/* Computes panel := panel L^-H (lower), or panel := U^-H panel (upper). */
osla_err osli_chol_solve_panel(const chol *f, int64_t n_rows, int64_t size, operand diagonal,
                               operand panel);

/* osli_chol_update_block computes C -= X_i X_j^H (lower) or C -= X_j^H X_i (upper) for an n_rows x
 * n_cols block C. osli_chol_update_diagonal computes the triangle of C -= X_j X_j^H. k is the
 * width of the panel. */
osla_err osli_chol_update_block(const chol *f, int64_t n_rows, int64_t n_cols, int64_t k,
                                operand x_i, operand x_j, operand c);
osla_err osli_chol_update_diagonal(const chol *f, int64_t n, int64_t k, operand x_j, operand c);

#endif
