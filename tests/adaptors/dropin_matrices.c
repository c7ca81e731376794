#include "tests/adaptors/dropin_lapack.h"

#include <stdlib.h>

static dense dense_make(int m, int n)
{
  dense d = {m, n, calloc((size_t)m * (size_t)n + 1, sizeof *d.at)};
  if (!d.at) MPI_Abort(MPI_COMM_WORLD, 3);
  return d;
}

void dense_free(dense *d)
{
  free(d->at);
  d->at = NULL;
}

static double _Complex *element(const dense *d, int i, int j)
{
  return &d->at[(size_t)i + (size_t)j * (size_t)d->m];
}

static double _Complex draw_whole(int most, int is_complex)
{
  double re = draw(-most, most);
  return is_complex ? re + (double)draw(-most, most) * I : re;
}

/* Random element: 0, or 1/2 or -1/2 in the real or in the imaginary part. |re| + |im| is at most
 * 1/2, because pivots are compared by |re| + |im|. */
static double _Complex draw_half(int is_complex)
{
  double half = 0.5 * draw(-1, 1);
  return is_complex && draw(0, 1) ? half * I : half;
}

/* Sum over the first `order` columns of L and rows of U of their contributions to element (i, j)
 * of the product L U. */
static double _Complex sum_of_steps(const dense *l, const dense *u, int i, int j, int order)
{
  double _Complex sum = 0;
  for (int k = 0; k < order && k <= i && k <= j; k++)
    sum += *element(l, i, k) * *element(u, k, j);
  return sum;
}

dense dense_make_lu(int m, int n, int is_complex, int zero)
{
  int order = m < n ? m : n;
  dense l = dense_make(m, order), u = dense_make(order, n), a = dense_make(m, n);
  for (int k = 0; k < order; k++) {
    for (int i = k + 1; i < m; i++)
      *element(&l, i, k) = k == zero ? 0 : draw_half(is_complex);
    for (int j = k + 1; j < n; j++)
      *element(&u, k, j) = draw_whole(2, is_complex);
    *element(&l, k, k) = 1;
    *element(&u, k, k) = k == zero ? 0.0 : draw(0, 1) ? (double)(2 << draw(0, 2)) : -2.0;
  }
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++)
      *element(&a, i, j) = sum_of_steps(&l, &u, i, j, order);
  for (int k = order - 1; k >= 0; k--) {
    int other = k == zero ? k : draw(k, m - 1);
    for (int j = 0; j < n; j++) {
      double _Complex x = *element(&a, k, j);
      *element(&a, k, j) = *element(&a, other, j);
      *element(&a, other, j) = x;
    }
  }
  dense_free(&l);
  dense_free(&u);
  return a;
}

dense dense_make_cholesky(int n, int is_complex, int bad)
{
  dense l = dense_make(n, n), a = dense_make(n, n);
  for (int k = 0; k < n; k++) {
    for (int i = k + 1; i < n; i++)
      *element(&l, i, k) = draw_whole(1, is_complex);
    *element(&l, k, k) = (double)(1 << draw(0, 2));
  }
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++)
      for (int k = 0; k <= i && k <= j; k++)
        *element(&a, i, j) += *element(&l, i, k) * conj(*element(&l, j, k));
  if (bad >= 0) *element(&a, bad, bad) -= 32;
  dense_free(&l);
  return a;
}

dense dense_make_whole(int n, int nrhs, int is_complex)
{
  dense x = dense_make(n, nrhs);
  for (int k = 0; k < n * nrhs; k++)
    x.at[k] = draw_whole(3, is_complex);
  return x;
}

dense dense_product(char trans, const dense *a, const dense *x)
{
  int m = trans == 'N' ? a->m : a->n, inner = trans == 'N' ? a->n : a->m;
  dense b = dense_make(m, x->n);
  for (int j = 0; j < x->n; j++)
    for (int k = 0; k < inner; k++)
      for (int i = 0; i < m; i++) {
        double _Complex f = trans == 'N' ? *element(a, i, k) : *element(a, k, i);
        *element(&b, i, j) += (trans == 'C' ? conj(f) : f) * *element(x, k, j);
      }
  return b;
}
