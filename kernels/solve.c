/* Solves with factors, and the residual that judges them. */
#include "osla_gemm.h"
#include "osla_solve.h"

#include <float.h>

osla_err osla_potrs(osla_uplo uplo, osla_matrix *a, osla_matrix *b)
{
  bool lower = uplo == OSLA_LOWER;
  OSLA_CALL(osla_trsm_left(uplo, lower ? OSLA_NOTRANS : OSLA_TRANS, OSLA_NONUNIT, a, b));
  return osla_trsm_left(uplo, lower ? OSLA_TRANS : OSLA_NOTRANS, OSLA_NONUNIT, a, b);
}

osla_err osla_getrs_nopiv(osla_matrix *a, osla_matrix *b)
{
  OSLA_CALL(osla_trsm_left(OSLA_LOWER, OSLA_NOTRANS, OSLA_UNIT, a, b));
  return osla_trsm_left(OSLA_UPPER, OSLA_NOTRANS, OSLA_NONUNIT, a, b);
}

osla_err osla_residual(osla_matrix *a, osla_matrix *x, osla_matrix *b, double *value)
{
  osla_layout l = osla_matrix_layout(b);
  osla_matrix *r = NULL;
  double norm_a, norm_x, norm_b, norm_r;
  osla_err err;
  OSLA_CALL(
    osla_matrix_create(osla_matrix_grid(b), osla_matrix_dtype(b), l.m, l.n, l.mb, l.nb, &r));
  OSLA_TRY(osla_matrix_copy(b, r));
  OSLA_TRY(osla_gemm(OSLA_NOTRANS, OSLA_NOTRANS, -1.0, osla_whole(a), osla_whole(x), 1.0,
                     osla_whole(r), NULL));
  OSLA_TRY(osla_matrix_norm(a, OSLA_NORM_INF, &norm_a));
  OSLA_TRY(osla_matrix_norm(x, OSLA_NORM_INF, &norm_x));
  OSLA_TRY(osla_matrix_norm(b, OSLA_NORM_INF, &norm_b));
  OSLA_TRY(osla_matrix_norm(r, OSLA_NORM_INF, &norm_r));
  osla_dtype dtype = osla_matrix_dtype(b);
  double eps = dtype == OSLA_FLOAT || dtype == OSLA_COMPLEX_FLOAT ? FLT_EPSILON : DBL_EPSILON;
  double scale = (norm_a * norm_x + norm_b) * (double)(l.m > 1 ? l.m : 1) * eps;
  *value = norm_r == 0.0 ? 0.0 : norm_r / scale;
cleanup:
  osla_matrix_destroy(&r);
  return err;
}
