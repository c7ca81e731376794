/* Right-hand sides where a solve can work on them (internal).
 *
 * A solve with A works on n x nrhs matrices whose rows lie like A's: on A's processes, in A's block
 * rows. What lies otherwise, or stands on the other side of A, is copied there and back.
 */
#ifndef OSLA_RHS_H
#define OSLA_RHS_H

#include "osla_matrix.h"

typedef struct osla_rhs {
  osla_matrix *given; /* the caller's */
  osla_matrix *b;     /* n x nrhs: the caller's, or a copy */
  osla_trans turn;    /* the copy is of B, B^T or B^H */
} osla_rhs;

/* Is A square, in square blocks? Local. Errors: ARG. */
osla_err osli_rhs_check_matrix(const osla_matrix *a);

/* Is it one of the two triangles? Local. Errors: ARG. */
osla_err osli_rhs_check_uplo(osla_uplo uplo);

/* Does B suit A (from that side)? Local. Errors: ARG. */
osla_err osli_rhs_check(osla_side side, const osla_matrix *a, const osla_matrix *b);

/* Does B lie where a solve with A can work on it? Local. */
bool osli_rhs_fits(const osla_matrix *a, const osla_matrix *b);

/* Columns of such a matrix on the process columns that have any, of an A on so many nodes. Pure. */
int64_t osli_rhs_width(int64_t nrhs, int npcol, int nodes);

/* Makes such a matrix, zero. Collective. */
osla_err osli_rhs_create(const osla_matrix *a, osla_dtype dtype, int64_t nrhs, osla_matrix **out);

/* Gets B there, and back; close also frees, and passes `err` on if it is not OK. Collective. */
osla_err osli_rhs_open(osla_rhs *r, const osla_matrix *a, osla_matrix *b, osla_trans turn);
osla_err osli_rhs_close(osla_rhs *r, osla_err err);

#endif
