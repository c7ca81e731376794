/* Data structures and functions of the inverse from a Cholesky factor (internal). README.md lists
 * the files.
 *
 * The code is written for the lower triangle. chol_shape.h says what rows, columns and operands are
 * for the upper triangle. */
#ifndef POTRI_H
#define POTRI_H

#include "kernels/chol/chol_shape.h"
#include "osla_inverse.h"

/* Step k publishes three panels. The first panel, L(i,k) for i >= k, is sent within process rows.
 * The second panel, X(k,j) for j < k and L(k,k), is sent within process columns. The third panel,
 * the blocks X(k,i) for block rows i, is sent within process rows by the ranks that have received
 * the second panel. */
#define PANEL_L      PANEL_ROWS
#define PANEL_X      PANEL_COLS
#define PANEL_X_ROWS PANEL_DIAGONAL

typedef struct potri {
  /* orientation of the triangle, position in the grid, and panels; c.factored counts the block rows
   * of X that are complete */
  chol c;
  unsigned char *x_rows;   /* X(k,i) for this rank's block rows i < k, dense */
  unsigned char *negative; /* -L(k,k), dense */
  /* for each kind of panel the number of steps whose panel has been copied from A */
  _Atomic int64_t packed[PANEL_KINDS];
} potri;

static inline operand advance_cols(const chol *c, operand a, int64_t count)
{
  int64_t elements = c->uplo == OSLA_LOWER ? count * a.ld : count;
  a.at += elements * (int64_t)c->v.element;
  return a;
}

/* ---- potri_memory.c ---- */

/* osli_potri_x_rows_bytes returns the bytes of `x_rows`, and osli_potri_block_bytes returns the
 * bytes of `negative`. osli_potri_plan returns the plan of the panels without its function
 * pointers. Pure. */
size_t osli_potri_x_rows_bytes(const chol *c);
size_t osli_potri_block_bytes(const chol *c);
osla_panels_plan osli_potri_plan(const chol *c);

/* ---- potri_panels.c ---- */

/* Allocates all memory. Collective. Errors, on all ranks together: MEM, MPI. */
osla_err osli_potri_allocate(potri *f);
void osli_potri_free(potri *f); /* collective */

/* Block row k of X on this rank in step k: X(k,j) for this rank's block columns j < k, followed by
 * L(k,k) if this rank owns block column k. The blocks lie in this rank's matrix or in a dense
 * copy. */
typedef struct x_row {
  const chol_step *s; /* step k */
  const void *copy;   /* NULL if this rank owns the block row */
} x_row;

/* Operand that begins with local column `col` of a block row of X. It must not extend beyond the
 * columns that columns_from counts from `col` on. */
static inline operand x_at(const chol *c, x_row x, int64_t col)
{
  if (!x.copy) return element(c, x.s->row_on, col);
  return advance_cols(c, packed_operand(c, x.copy, x.s->size, x.s->col_after), col);
}

/* The next three functions wait for a panel if its data are not in this rank's matrix. The results
 * are valid until the step is finished, or the data in A change. Local. */

/* Returns L(i,k) for this rank's block rows i >= k. */
operand osli_potri_wait_l(potri *f, const chol_step *s);

/* Returns X(k,j) for this rank's block columns j < k. */
x_row osli_potri_wait_x(potri *f, const chol_step *s);

/* Returns X(k,i) for this rank's block rows i < k; `x` is the result of osli_potri_wait_x. */
operand osli_potri_wait_x_rows(potri *f, const chol_step *s, x_row x);

/* Waits until this rank's panel of the given kind has been copied from A in step k. Then A may
 * change there. Local. */
void osli_potri_wait_packed(potri *f, panel_kind kind, int64_t k);

/* ---- potri_blocks.c ---- */

/* First solve of step k with a block row: A(k,j) := L(k,k)^-1 A(k,j) for all block columns j < k
 * that this rank owns. Only ranks that own block row k call it. `diagonal` is the block L(k,k) of
 * the Cholesky factor. */
osla_err osli_potri_solve_row(const chol *c, const chol_step *s, operand diagonal);

/* Second solve of step k with a block row: A(k,j) := L(k,k)^-H A(k,j) for all block columns j < k
 * that this rank owns. Only ranks that own block row k call it. `diagonal` is the block L(k,k) of
 * the Cholesky factor. */
osla_err osli_potri_finish_row(const chol *c, const chol_step *s, operand diagonal);

/* Computes l := -l L(k,k)^-1 for an n x size block l. `diagonal` is the block L(k,k). */
osla_err osli_potri_solve_column(const potri *f, int64_t n, int64_t size, operand diagonal,
                                 operand l);

/* Sets the triangle of the diagonal block to that of (L(k,k) L(k,k)^H)^-1. */
osla_err osli_potri_finish_diagonal(const chol *c, int64_t size, operand diagonal);

/* C -= l x (subtract), or C += x_rows^H x (add), for an m x n block C; depth is the number of rows
 * of x. */
osla_err osli_potri_subtract(const chol *c, int64_t m, int64_t n, int64_t depth, operand l,
                             operand x, operand to);
osla_err osli_potri_add(const chol *c, int64_t m, int64_t n, int64_t depth, operand x_rows,
                        operand x, operand to);

/* Computes the triangle of an n x n block C := C + x^H x. */
osla_err osli_potri_add_diagonal(const chol *c, int64_t n, int64_t depth, operand x, operand to);

#endif
