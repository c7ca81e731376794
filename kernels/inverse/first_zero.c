#include "kernels/inverse/first_zero.h"
#include "src/blas/work.h"

#include <complex.h>

static bool is_zero(osla_dtype dtype, const void *x)
{
  switch (dtype) {
    case OSLA_FLOAT: return *(const float *)x == 0;
    case OSLA_DOUBLE: return *(const double *)x == 0;
    case OSLA_COMPLEX_FLOAT: return *(const float complex *)x == 0;
    case OSLA_COMPLEX_DOUBLE: return *(const double complex *)x == 0;
  }
  return false;
}

osla_err osli_first_zero(const local_view *v, int64_t *first)
{
  int64_t found = INT64_MAX;
  for (int64_t i = 0; i < v->n && v->prow >= 0 && !osli_work_modelled && found > i; i++) {
    if (osla_index_owner(i, v->nb, v->p) != v->prow || osla_index_owner(i, v->nb, v->q) != v->pcol)
      continue;
    if (is_zero(v->dtype, local_operand(v, rows_below(v, i), cols_below(v, i)).at)) found = i + 1;
  }
  OSLA_CALL(osla_allreduce(v->t, &found, 1, MPI_INT64_T, MPI_MIN));
  *first = found == INT64_MAX ? 0 : found;
  return OSLA_OK;
}
