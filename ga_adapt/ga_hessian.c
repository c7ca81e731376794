/* The accumulator on the memory of a Global Array: osla_hessian_create_on on the array as a matrix
 * in place, with a GA_Sync before and after. */
#include "ga_adapt/ga_internal.h"
#include "osla_ga.h"

#include <ga.h>
#include <inttypes.h>
#include <stdlib.h>

struct osla_ga_hessian {
  int array; /* GA's handle */
  osla_ga_matrix *matrix;
  osla_hessian *hessian;
};

static osla_err check_array(const ga_array *a)
{
  OSLA_CHECK(a->ndim == 2 && a->m == a->n, OSLA_ERR_ARG,
             "g_h is %" PRId64 " x %" PRId64 ": an accumulator needs a square array", a->m, a->n);
  OSLA_CHECK(a->dtype == OSLA_FLOAT || a->dtype == OSLA_DOUBLE, OSLA_ERR_UNSUPPORTED,
             "g_h has complex elements (%c): an accumulator needs C_FLOAT or C_DBL",
             osla_dtype_letter(a->dtype));
  return OSLA_OK;
}

static osla_err check_blocks(const osla_ga_hessian *h)
{
  const osla_layout l = osla_matrix_layout(osla_ga_matrix_get(h->matrix));
  OSLA_CHECK(l.mb == l.nb, OSLA_ERR_UNSUPPORTED,
             "array \"%s\" has blocks of %" PRId64 " x %" PRId64
             ", which are not square: create it with GA_Set_block_cyclic_proc_grid and square "
             "blocks",
             GA_Inquire_name(h->array), l.mb, l.nb);
  return OSLA_OK;
}

osla_err osla_ga_hessian_create(int g_h, const osla_hessian_options *options, osla_ga_hessian **out)
{
  ga_array a;
  osla_transport *t;
  *out = NULL;
  OSLA_CALL(osli_ga_array_check(g_h, "g_h", &a));
  OSLA_CALL(check_array(&a));
  OSLA_CALL(osli_ga_session_transport(&t));
  osla_ga_hessian *h = calloc(1, sizeof *h);
  osla_err err;
  OSLA_TRY(osla_agree(t, h ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "accumulator object")));
  h->array = g_h;
  OSLA_TRY(osli_ga_matrix_open(&a, (ga_making){.blocks = OSLA_GA_IN_PLACE}, &h->matrix));
  OSLA_TRY(check_blocks(h));
  OSLA_TRY(osla_hessian_create_on(osla_ga_matrix_get(h->matrix), options, &h->hessian));
  *out = h;
  return OSLA_OK;
cleanup:
  osla_ga_hessian_destroy(&h);
  return err;
}

void osla_ga_hessian_destroy(osla_ga_hessian **handle)
{
  osla_ga_hessian *h = handle ? *handle : NULL;
  if (!h) return;
  osla_hessian_destroy(&h->hessian);
  osla_ga_matrix_destroy(&h->matrix);
  free(h);
  *handle = NULL;
}

osla_hessian *osla_ga_hessian_get(osla_ga_hessian *h)
{
  return h->hessian;
}

int osla_ga_hessian_array(const osla_ga_hessian *h)
{
  return h->array;
}

osla_err osla_ga_hessian_commit(osla_ga_hessian *h)
{
  OSLA_CHECK(GA_Valid_handle(h->array), OSLA_ERR_STATE,
             "the array of the accumulator (handle %d) was destroyed before the commit", h->array);
  OSLA_CALL(osla_hessian_commit(h->hessian));
  GA_Sync(); /* makes the sums visible to later calls of GA */
  return OSLA_OK;
}
