/* Symmetric band matrices, lower triangle: element (i, j), i >= j, is a[j * (width + 1) + i - j].
 * Local, thread-safe. */
#ifndef BAND_H
#define BAND_H

#include <stddef.h>

typedef struct band {
  int n, width; /* order of the matrix, and number of subdiagonals */
  double *a;    /* [n * (width + 1)] elements of the lower band, column by column */
} band;

static inline double *band_at(const band *m, int i, int j)
{
  return i >= j ? &m->a[(size_t)j * (size_t)(m->width + 1) + (size_t)(i - j)]
                : &m->a[(size_t)i * (size_t)(m->width + 1) + (size_t)(j - i)];
}

/* A := L D L^T in place (unit L below the diagonal, D on it), without pivoting; a pivot of 0 is
 * replaced by a tiny number. Returns the number of negative pivots, which by Sylvester's law of
 * inertia is the number of negative eigenvalues of A. */
int band_factor(band *m);

/* x := A^-1 x, with the factors from band_factor. */
void band_solve(const band *m, double *x);

/* band_multiply: y := A x. band_form: returns x^T A x. */
void band_multiply(const band *m, const double *x, double *y);
double band_form(const band *m, const double *x);

#endif
