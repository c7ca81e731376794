/* Rows of the loops of Bethune et al. (2014), figures 1 and 2: the residual, the new values and the
 * copy back are separate passes over memory. See bench_jacobi.h. */
#include "bench/bench_jacobi.h"

/* Vectors have the width that OSLA's sweep uses, so that only the loops differ. */
#if defined __x86_64__ && defined __GLIBC__ && !defined __clang__ && !defined __SANITIZE_ADDRESS__
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

jacobi_grid jacobi_grid_of(const jacobi_problem *problem)
{
  jacobi_grid g;
  int64_t first[3];
  osla_diffusion_own(problem->diffusion, first, g.count);
  g.row = g.count[0] + 2;
  g.plane = g.row * (g.count[1] + 2);
  return g;
}

int64_t jacobi_row_offset(const jacobi_grid *g, int64_t j, int64_t k)
{
  return 1 + (j + 1) * g->row + (k + 1) * g->plane;
}

jacobi_row jacobi_row_at(const jacobi_grid *g, const double *x, int64_t j, int64_t k)
{
  const double *at = x + jacobi_row_offset(g, j, k);
  return (jacobi_row){at, at - g->row, at + g->row, at - g->plane, at + g->plane};
}

static inline double sum_of_six(const jacobi_row *r, int64_t i)
{
  return ((r->at[i - 1] + r->at[i + 1]) + (r->south[i] + r->north[i])) +
         (r->below[i] + r->above[i]);
}

WIDE double jacobi_row_residual2(int64_t n, const jacobi_row *row)
{
  const jacobi_row r = *row;
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; i++) {
    const double residual = sum_of_six(&r, i) - 6.0 * r.at[i];
    sum += residual * residual;
  }
  return sum;
}

WIDE void jacobi_row_new(int64_t n, const jacobi_row *row, double *restrict y)
{
  const jacobi_row r = *row;
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    y[i] = 1.0 / 6.0 * sum_of_six(&r, i);
}
