/* What the inverse's files share (internal).
 *
 *   potri.c         contract, the sweep (with the algorithm)
 *   potri_panels.c  what passes between the ranks
 *   potri_blocks.c  products and triangular solves with blocks, for both triangles
 *   potri_memory.c  what it takes of a rank
 *
 * Written for the lower triangle; "along", "across" and operands are those of chol_shape.h.
 */
#ifndef POTRI_H
#define POTRI_H

#include "kernels/chol/chol_shape.h"
#include "osla_inverse.h"

/* Step k publishes: L(i,k) for i >= k across; X(k,j) for j < k, and L(k,k), along; and across, from
 * whoever has received it, the blocks of X(k,i) for the block rows i. */
#define PANEL_L      PANEL_ROWS
#define PANEL_X      PANEL_COLS
#define PANEL_X_ROWS PANEL_DIAGONAL

typedef struct potri {
  chol c;                  /* orientation, position in the grid, panels, c.factored: rows of X */
  unsigned char *x_rows;   /* X(k,i) for my block rows i < k, dense */
  unsigned char *negative; /* -L(k,k), dense */
  _Atomic int64_t packed[PANEL_KINDS]; /* steps; what I publish in the next one still lies in A */
} potri;

/* Local indices. */
typedef struct potri_step {
  int64_t k, start, size;
  int along, across;               /* process coordinates of the diagonal block */
  int64_t along_on, along_after;   /* my first index along in block k, and behind it */
  int64_t across_on, across_after; /* the same across */
} potri_step;

static inline potri_step potri_make_step(const chol *c, int64_t k)
{
  potri_step s = {.k = k, .start = k * c->v.nb, .size = block_size(c, k)};
  s.along = (int)(k % c->n_along);
  s.across = (int)(k % c->n_across);
  s.along_on = along_below(c, s.start);
  s.along_after = along_below(c, s.start + s.size);
  s.across_on = across_below(c, s.start);
  s.across_after = across_below(c, s.start + s.size);
  return s;
}

static inline operand advance_across(const chol *c, operand a, int64_t count)
{
  int64_t elements = c->uplo == OSLA_LOWER ? count * a.ld : count;
  a.at += elements * (int64_t)c->v.element;
  return a;
}

/* ---- potri_memory.c ---- */

/* Bytes of `turned`, of `negative`; and the panels, but for the functions. Pure. */
size_t osli_potri_x_rows_bytes(const chol *c);
size_t osli_potri_block_bytes(const chol *c);
osla_panels_plan osli_potri_plan(const chol *c);

/* ---- potri_panels.c ---- */

/* Takes all memory. Collective. Errors, on all ranks together: MEM, MPI. */
osla_err osli_potri_allocate(potri *f);
void osli_potri_free(potri *f); /* collective */

/* L(i,k) for my block rows from along_on on; X(k,j) for my block columns j < k, with L(k,k) behind
 * it where that is in my columns; and X(k,i) for my block rows i < k: in place, or waited for.
 * Valid until the step is finished, or A changes there. Local. */
operand osli_potri_wait_l(potri *f, const potri_step *s);
operand osli_potri_wait_x(potri *f, const potri_step *s);
operand osli_potri_wait_x_rows(potri *f, const potri_step *s, operand x);

/* Waits until what I publish of this kind in this step has been taken from A, which may then
 * change. Local. */
void osli_potri_wait_packed(potri *f, panel_kind kind, int64_t k);

/* ---- potri_blocks.c; sizes are along, across ---- */

/* x (size x n) := L(k,k)^-1 x, and L(k,k)^-H x. */
osla_err osli_potri_solve_row(const chol *c, int64_t size, int64_t n, operand diagonal, operand x);
osla_err osli_potri_finish_row(const chol *c, int64_t size, int64_t n, operand diagonal, operand x);

/* l (n x size) := -l L(k,k)^-1. */
osla_err osli_potri_solve_column(const potri *f, int64_t n, int64_t size, operand diagonal,
                                 operand l);

/* The triangle of L(k,k) := that of (L(k,k) L(k,k)^H)^-1. */
osla_err osli_potri_finish_diagonal(const chol *c, int64_t size, operand diagonal);

/* C (m x n) -= l x, and C += turned^H x; depth: rows of x. */
osla_err osli_potri_subtract(const chol *c, int64_t m, int64_t n, int64_t depth, operand l,
                             operand x, operand to);
osla_err osli_potri_add(const chol *c, int64_t m, int64_t n, int64_t depth, operand x_rows,
                        operand x, operand to);

/* The triangle of C (n x n) += x^H x. */
osla_err osli_potri_add_diagonal(const chol *c, int64_t n, int64_t depth, operand x, operand to);

#endif
