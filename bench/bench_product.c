/* Matrices and check of the products. The check compares C x with op(A) (op(B) x) for a random
 * vector x. Source: Freivalds, "Probabilistic machines can use less running time" (IFIP 1977). */
#include "bench/bench_product.h"
#include "osla_index.h"
#include "src/blas/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool product_is_real(const product_data *d)
{
  const osla_dtype dtype = d->job->settings->dtype;
  return dtype == OSLA_FLOAT || dtype == OSLA_DOUBLE;
}

static osla_err create_set(product_set *set, int64_t nb)
{
  product_data *d = set->product;
  const bench_settings *s = d->job->settings;
  bench_job *job = d->job;
  bool at = s->transa != OSLA_NOTRANS, bt = s->transb != OSLA_NOTRANS;
  set->own = true;
  OSLA_CALL(
    bench_matrix_create(job, s->dtype, at ? d->k : d->m, at ? d->m : d->k, nb, nb, &set->a));
  OSLA_CALL(osla_matrix_fill(set->a, OSLA_FILL_UNIFORM, 1));
  if (!d->syrk) {
    OSLA_CALL(
      bench_matrix_create(job, s->dtype, bt ? d->n : d->k, bt ? d->k : d->n, nb, nb, &set->b));
    OSLA_CALL(osla_matrix_fill(set->b, OSLA_FILL_UNIFORM, 2));
  }
  return bench_matrix_create(job, s->dtype, d->m, d->n, nb, nb, &set->c);
}

static void destroy_set(product_set *set)
{
  if (!set->own) return;
  osla_matrix_destroy(&set->a);
  osla_matrix_destroy(&set->b);
  osla_matrix_destroy(&set->c);
  set->own = false;
}

osla_err product_create(product_data *d, bench_job *job, int64_t n, bool syrk)
{
  const bench_settings *s = job->settings;
  d->job = job;
  d->syrk = syrk;
  d->n = n;
  d->m = s->m && !syrk ? s->m : n;
  d->k = s->k ? s->k : n;
  d->trans[0] = "NTC"[s->transa];
  d->trans[1] = "NTC"[s->transb];
  d->osla = (product_set){.product = d, .context = -1};
  d->osla.options =
    (osla_gemm_options){.panel = s->panel, .memory = s->memory, .layers = s->layers};
  OSLA_CALL(create_set(&d->osla, s->nb));
  if (s->plan || osli_work_modelled) return OSLA_OK;
  void *vectors;
  OSLA_CALL(bench_alloc(job, (uint64_t)(n + 3 * d->m + d->k) * sizeof(osla_complex), &vectors));
  d->x = vectors;
  d->y = d->x + n;
  d->expected = d->y + d->m;
  d->turned = d->expected + d->m;
  osla_complex *bx = d->turned + d->m;
  bench_fill_vector(s->dtype, d->x, n, 3);
  if (syrk)
    OSLA_CALL(bench_apply(BENCH_WHOLE, OSLA_CONJTRANS, d->osla.a, d->x, bx));
  else
    OSLA_CALL(bench_apply(BENCH_WHOLE, s->transb, d->osla.b, d->x, bx));
  return bench_apply(BENCH_WHOLE, s->transa, d->osla.a, bx, d->expected);
}

void product_destroy(product_data *d)
{
  destroy_set(&d->osla);
  free(d->x);
}

/* --- the result C: syrk computes only the lower triangle; the upper one must stay zero --- */

typedef struct local_c {
  osla_layout l;
  int prow, pcol;
  int64_t rows, cols, lld;
} local_c;

static local_c local_of(const product_set *set)
{
  osla_grid *grid = osla_matrix_grid(set->c);
  return (local_c){
    osla_matrix_layout(set->c),     osla_grid_prow(grid),
    osla_grid_pcol(grid),           osla_matrix_local_rows(set->c),
    osla_matrix_local_cols(set->c), osla_matrix_lld(set->c, set->product->job->rank)};
}

/* Number of local rows of local column j that are above the diagonal. */
static int64_t rows_above(const local_c *c, int64_t j)
{
  return osla_index_count(osla_index_global(j, c->l.nb, c->pcol, c->l.npcol), c->l.mb, c->prow,
                          c->l.nprow);
}

osla_err product_fill_nan(void *data)
{
  product_set *set = data;
  if (osla_matrix_device(set->c)) return osla_matrix_scale(NAN, set->c);
  local_c c = local_of(set);
  size_t size = osla_dtype_size(osla_matrix_dtype(set->c));
  for (int64_t j = 0; j < c.cols && c.rows > 0; j++) {
    unsigned char *column = (unsigned char *)osla_matrix_local(set->c) + (size_t)(j * c.lld) * size;
    size_t above = set->product->syrk ? (size_t)rows_above(&c, j) : 0;
    memset(column, 0, above * size);
    /* these bits are NaN in every element type */
    memset(column + above * size, 0xff, ((size_t)c.rows - above) * size);
  }
  return OSLA_OK;
}

/* y := C x, C symmetric or Hermitian and stored in its lower triangle. y is NaN if an element above
 * the diagonal is not zero. Collective. */
static osla_err apply_lower(product_set *set, const osla_complex *x, osla_complex *y)
{
  const local_c c = local_of(set);
  const size_t size = osla_dtype_size(osla_matrix_dtype(set->c));
  double written = 0;
  OSLA_CALL(bench_apply_symmetric(OSLA_CONJTRANS, set->c, x, y, set->product->turned));
  for (int64_t j = 0; j < c.cols; j++) {
    const unsigned char *column =
      (const unsigned char *)osla_matrix_local(set->c) + (size_t)(j * c.lld) * size;
    for (size_t byte = 0; byte < (size_t)rows_above(&c, j) * size; byte++)
      if (column[byte]) written = 1; /* the function prepare has set the upper triangle to zero */
  }
  OSLA_CALL(osla_allreduce(set->product->job->transport, &written, 1, MPI_DOUBLE, MPI_MAX));
  for (int64_t i = 0; i < c.l.n && written > 0; i++)
    y[i] = NAN;
  return OSLA_OK;
}

osla_err product_check(void *data, double *residual)
{
  product_set *set = data;
  product_data *d = set->product;
  if (d->syrk)
    OSLA_CALL(apply_lower(set, d->x, d->y));
  else
    OSLA_CALL(bench_apply(BENCH_WHOLE, OSLA_NOTRANS, set->c, d->x, d->y));
  *residual = bench_residual(d->job->settings->dtype, d->y, d->expected, d->m, d->k);
  return OSLA_OK;
}

/* --- scalapack --- */

static osla_err setup_scalapack(void *data)
{
  product_set *set = data;
  OSLA_CALL(create_set(set, set->nb));
  return reference_scalapack_open(set->product->job->grid, &set->context);
}

static void teardown_scalapack(void *data)
{
  product_set *set = data;
  reference_scalapack_close(&set->context);
  destroy_set(set);
}

void product_add_scalapack(product_data *d, osla_err (*run)(void *set), bench_impl *impls, int *n)
{
  const bench_settings *s = d->job->settings;
  bench_impl impl = {.setup = setup_scalapack,
                     .prepare = product_fill_nan,
                     .run = run,
                     .check = product_check,
                     .teardown = teardown_scalapack};
  for (int i = 0; i < BENCH_MAX_REF_NB; i++) {
    d->scalapack[i] = d->osla;
    d->scalapack[i].own = false;
    d->scalapack[i].nb = i < s->n_ref_nb ? s->ref_nb[i] : 0;
  }
  int64_t order = d->m > d->n ? d->m : d->n;
  if (d->k > order) order = d->k;
  reference_scalapack_impls(s, order, &impl, d->scalapack, sizeof *d->scalapack, &d->names, impls,
                            n);
}

osla_err product_run(product_data *d, const char *kernel, double work, const bench_impl *impls,
                     int n_impls)
{
  const bench_settings *s = d->job->settings;
  const char precision[2] = {osla_dtype_letter(s->dtype), '\0'};
  bench_case c = {.kernel = kernel,
                  .precision = precision,
                  .n = d->n,
                  .nb = s->nb,
                  .m = d->m,
                  .k = d->k,
                  .trans = d->syrk ? NULL : d->trans,
                  .impls = impls,
                  .n_impls = n_impls,
                  .work = work,
                  .unit = BENCH_GFLOPS,
                  .operations = 1};
  return bench_run_case(d->job, &c);
}
