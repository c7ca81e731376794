/* Loops over rows of a sparse matrix, which osla-bench also uses in its reference programs
 * (private). */
#ifndef SPMV_ROWS_H
#define SPMV_ROWS_H

#include <stdint.h>

/* y[i] := (row i) x + beta y[i]. Two partial sums for each row hide the latency of additions. */
static inline void gather_rows(int64_t n, const int64_t *restrict first,
                               const int32_t *restrict column, const double *restrict value,
                               const double *restrict x, double beta, double *restrict y)
{
  for (int64_t i = 0; i < n; i++) {
    const int64_t end = first[i + 1];
    int64_t e = first[i];
    double even = 0.0, odd = 0.0;
    for (; e + 1 < end; e += 2) {
      even += value[e] * x[column[e]];
      odd += value[e + 1] * x[column[e + 1]];
    }
    if (e < end) even += value[e] * x[column[e]];
    y[i] = beta == 0.0 ? even + odd : even + odd + beta * y[i];
  }
}

/* y[row[i]] := y[row[i]] + (row i) x, for all rows i. */
static inline void add_rows(int64_t n, const int32_t *restrict row, const int64_t *restrict first,
                            const int32_t *restrict column, const double *restrict value,
                            const double *restrict x, double *restrict y)
{
  for (int64_t i = 0; i < n; i++) {
    double sum = 0.0;
    for (int64_t e = first[i]; e < first[i + 1]; e++)
      sum += value[e] * x[column[e]];
    y[row[i]] += sum;
  }
}

#endif
