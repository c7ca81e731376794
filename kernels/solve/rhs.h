/* Right-hand sides in the distribution that a solve needs (internal).
 *
 * A solve with A works on n x nrhs matrices whose rows are distributed like the rows of A: over the
 * same processes, in the same block rows. Right-hand sides with another distribution, and those of
 * solves X A = B, are copied to such a matrix and back. */
#ifndef OSLA_RHS_H
#define OSLA_RHS_H

#include "osla_matrix.h"

typedef struct osla_rhs {
  osla_matrix *given; /* matrix of the caller */
  osla_matrix *b;     /* n x nrhs matrix on which the solve works: the caller's matrix or a copy */
  /* operation by which the copy is made; the copy holds B (NOTRANS), B^T (TRANS) or B^H
   * (CONJTRANS) */
  osla_trans turn;
} osla_rhs;

/* Checks that A is square, has square blocks and can be reached by other ranks. Local. Errors:
 * ARG. */
osla_err osli_rhs_check_matrix(const osla_matrix *a);

/* Checks that B has the size and the type that a solve with A needs, from the left or from the
 * right. Local. Errors: ARG, RANGE, MEM, UNSUPPORTED. */
osla_err osli_rhs_check(osla_side side, const osla_matrix *a, const osla_matrix *b);

/* True if a solve with A can work on B in place. Local. */
bool osli_rhs_fits(const osla_matrix *a, const osla_matrix *b);

/* Returns the block width of a matrix of nrhs right-hand sides on npcol process columns. `nodes`:
 * number of nodes of A's ranks. Pure. */
int64_t osli_rhs_width(int64_t nrhs, int npcol, int nodes);

/* Creates an n x nrhs matrix for right-hand sides of A, filled with zero. Collective. */
osla_err osli_rhs_create(const osla_matrix *a, osla_dtype dtype, int64_t nrhs, osla_matrix **out);

/* _open sets r->b to the caller's matrix or to a copy; `turn` is described in osla_rhs. _close
 * copies r->b back if err is OK, frees the copy, and returns err or the error of the copy. Both are
 * collective. */
osla_err osli_rhs_open(osla_rhs *r, const osla_matrix *a, osla_matrix *b, osla_trans turn);
osla_err osli_rhs_close(osla_rhs *r, osla_err err);

#endif
