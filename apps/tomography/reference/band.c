/* Symmetric band matrices: factorisation L D L^T by columns (contract: radial.h). Source: Golub &
 * Van Loan, Matrix Computations, section 4.3. */
#include "apps/tomography/reference/radial.h"

#include <float.h>
#include <math.h>

static int row_end(const band *m, int j)
{
  return j + m->width < m->n ? j + m->width : m->n - 1;
}

int band_factor(band *m)
{
  const size_t ld = (size_t)(m->width + 1);
  int negative = 0;
  double largest = 0.0;
  for (size_t i = 0; i < (size_t)m->n * ld; i++)
    largest = fmax(largest, fabs(m->a[i]));
  for (int j = 0; j < m->n; j++) {
    double *column = m->a + (size_t)j * ld;
    if (fabs(column[0]) < DBL_MIN / DBL_EPSILON * largest) column[0] = DBL_EPSILON * largest;
    negative += column[0] < 0.0;
    const int below = row_end(m, j) - j;
    for (int k = 1; k <= below; k++) {
      const double factor = column[k] / column[0];
      double *next = column + (size_t)k * ld;
      for (int i = k; i <= below; i++)
        next[i - k] -= factor * column[i];
    }
    for (int k = 1; k <= below; k++)
      column[k] /= column[0];
  }
  return negative;
}

void band_solve(const band *m, double *x)
{
  const size_t ld = (size_t)(m->width + 1);
  for (int j = 0; j < m->n; j++)
    for (int i = j + 1; i <= row_end(m, j); i++)
      x[i] -= m->a[(size_t)j * ld + (size_t)(i - j)] * x[j];
  for (int j = m->n - 1; j >= 0; j--) {
    double sum = x[j] / m->a[(size_t)j * ld];
    for (int i = j + 1; i <= row_end(m, j); i++)
      sum -= m->a[(size_t)j * ld + (size_t)(i - j)] * x[i];
    x[j] = sum;
  }
}

void band_multiply(const band *m, const double *x, double *y)
{
  const size_t ld = (size_t)(m->width + 1);
  for (int i = 0; i < m->n; i++)
    y[i] = 0.0;
  for (int j = 0; j < m->n; j++) {
    const double *column = m->a + (size_t)j * ld;
    y[j] += column[0] * x[j];
    for (int i = j + 1; i <= row_end(m, j); i++) {
      y[i] += column[i - j] * x[j];
      y[j] += column[i - j] * x[i];
    }
  }
}

double band_form(const band *m, const double *x)
{
  const size_t ld = (size_t)(m->width + 1);
  double sum = 0.0;
  for (int j = 0; j < m->n; j++) {
    const double *column = m->a + (size_t)j * ld;
    double row = 0.5 * column[0] * x[j];
    for (int i = j + 1; i <= row_end(m, j); i++)
      row += column[i - j] * x[i];
    sum += 2.0 * x[j] * row;
  }
  return sum;
}
