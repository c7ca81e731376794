/* Matrices and calls of factorisations and solves. See bench_factor.h. */
#include "bench/bench_factor.h"
#include "osla_blas.h"
#include "osla_chol.h"
#include "osla_index.h"
#include "osla_solve.h"

#include <stdlib.h>
#include <string.h>

enum { SEED_MATRIX = 1 };

double factor_each(const factor_data *d)
{
  osla_dtype dtype = d->job->settings->dtype;
  return dtype == OSLA_FLOAT || dtype == OSLA_DOUBLE ? 2 : 8;
}

const char *factor_pivoting_name(osla_pivoting pivoting)
{
  static const char *const name[] = {"partial", "tournament", "none"};
  return name[pivoting];
}

/* --- matrices --- */

int64_t factor_rhs_block(const factor_data *d)
{
  int64_t npcol = osla_grid_npcol(d->job->grid), share = (d->nrhs + npcol - 1) / npcol;
  return share < d->job->settings->nb ? share : d->job->settings->nb;
}

static osla_err create_rhs(factor_set *set, int64_t nb)
{
  const factor_data *d = set->factor;
  if (d->nrhs == 0) return OSLA_OK;
  return bench_matrix_create(d->job, d->job->settings->dtype, d->n, d->nrhs, nb,
                             factor_rhs_block(d), &set->x);
}

static osla_err create_set(factor_set *set, int64_t nb)
{
  factor_data *d = set->factor;
  osla_dtype dtype = d->job->settings->dtype;
  set->own = true;
  set->a = set->x = NULL;
  OSLA_CALL(bench_matrix_create(d->job, dtype, d->n, d->n, nb, nb, &set->a));
  return create_rhs(set, nb);
}

static void destroy_set(factor_set *set)
{
  if (!set->own) return;
  osla_matrix_destroy(&set->a);
  osla_matrix_destroy(&set->x);
  set->own = false;
}

osla_err factor_create(factor_data *d)
{
  void *pivots;
  bool pivoted = d->kind == &factor_lu && d->pivoting != OSLA_PIVOT_NONE;
  d->fill = pivoted                 ? OSLA_FILL_UNIFORM
            : d->kind == &factor_lu ? OSLA_FILL_DOMINANT
                                    : OSLA_FILL_SPD;
  d->osla = (factor_set){.factor = d, .context = -1};
  OSLA_CALL(create_set(&d->osla, d->job->settings->nb));
  if (!pivoted) return OSLA_OK;
  uint64_t rows = (uint64_t)osla_matrix_local_rows(d->osla.a);
  OSLA_CALL(bench_alloc(d->job, rows * sizeof *d->osla.pivots, &pivots));
  d->osla.pivots = pivots;
  return OSLA_OK;
}

void factor_destroy(factor_data *d)
{
  destroy_set(&d->osla);
  osla_matrix_destroy(&d->original);
  osla_matrix_destroy(&d->full);
  free(d->osla.pivots);
  d->osla.pivots = NULL;
}

osla_err factor_restore(void *data)
{
  factor_set *set = data;
  factor_data *d = set->factor;
  if (d->original) return osla_matrix_copy(d->original, set->a);
  OSLA_CALL(osla_matrix_fill(set->a, d->fill, SEED_MATRIX));
  if (!d->job->device || d->nrhs > 0) return OSLA_OK;
  osla_layout l = osla_matrix_layout(set->a);
  OSLA_CALL(
    bench_matrix_create(d->job, osla_matrix_dtype(set->a), l.m, l.n, l.mb, l.nb, &d->original));
  return osla_matrix_copy(set->a, d->original);
}

osla_err factor_full(const factor_set *set, osla_matrix **full)
{
  factor_data *d = set->factor;
  osla_layout l = osla_matrix_layout(set->a);
  *full = set->a;
  if (!osla_matrix_is_triangle(set->a)) return OSLA_OK;
  if (!d->full)
    OSLA_CALL(
      osla_matrix_create(d->job->grid, osla_matrix_dtype(set->a), l.n, l.n, l.nb, l.nb, &d->full));
  *full = d->full;
  return osla_matrix_copy(set->a, d->full);
}

/* --- pivots --- */

osla_err factor_pivots(const factor_set *set, int64_t *all)
{
  factor_data *d = set->factor;
  osla_layout l = osla_matrix_layout(set->a);
  bool pivoted = set->ipiv || d->osla.pivots; /* the value is the same on all ranks */
  for (int64_t i = 0; i < l.m; i++)
    all[i] = pivoted ? 0 : i;
  if (!pivoted) return OSLA_OK;
  int prow = osla_grid_prow(d->job->grid);
  int64_t rows = osla_grid_pcol(d->job->grid) == 0 ? osla_matrix_local_rows(set->a) : 0;
  for (int64_t i = 0; i < rows; i++)
    all[osla_index_global(i, l.mb, prow, l.nprow)] =
      (set->ipiv ? set->ipiv[i] : set->pivots[i]) - 1;
  return osla_allreduce(d->job->transport, all, l.m, MPI_INT64_T, MPI_SUM);
}

osla_err factor_usable(const factor_set *set, bool *usable)
{
  int64_t info = set->info != 0; /* ScaLAPACK sets info only on ranks of the process grid */
  OSLA_CALL(osla_allreduce(set->factor->job->transport, &info, 1, MPI_INT64_T, MPI_MAX));
  *usable = info == 0;
  return OSLA_OK;
}

/* --- osla --- */

static osla_err run_lu(void *data)
{
  factor_set *set = data;
  osla_lu_options options = {.pivoting = set->factor->pivoting,
                             .look_ahead = set->factor->job->settings->look_ahead,
                             .forward = set->factor->job->settings->forward};
  osla_lu_result result;
  OSLA_CALL(osla_getrf(set->a, set->pivots, &options, &result));
  set->info = result.trusted ? 0 : 1;
  return OSLA_OK;
}

static osla_err solve_lu(void *data)
{
  factor_set *set = data;
  return osla_getrs(OSLA_NOTRANS, set->a, set->pivots, set->x);
}

static osla_err run_chol(void *data)
{
  factor_set *set = data;
  const bench_settings *settings = set->factor->job->settings;
  osla_chol_options options = {.look_ahead = settings->look_ahead, .forward = settings->forward};
  return osla_potrf(OSLA_LOWER, set->a, &options, &set->info);
}

static osla_err solve_chol(void *data)
{
  factor_set *set = data;
  return osla_potrs(OSLA_LOWER, set->a, set->x);
}

/* --- triangle: OSLA on a triangular matrix --- */

static osla_err setup_triangle(void *data)
{
  factor_set *set = data;
  factor_data *d = set->factor;
  const bench_settings *s = d->job->settings;
  set->own = true;
  set->a = set->x = NULL;
  OSLA_CALL(osla_matrix_create_triangle(d->job->grid, s->dtype, d->n, s->nb, &set->a));
  OSLA_CALL(create_rhs(set, s->nb));
  return osla_matrix_copy(d->osla.a, set->a);
}

static void teardown_triangle(void *data)
{
  destroy_set(data);
}

/* --- lapack: the device's LAPACK factors the whole matrix of a single rank in one call --- */

static osla_err setup_lapack(void *data)
{
  factor_set *set = data;
  void *pivots;
  OSLA_CALL(create_set(set, set->factor->job->settings->nb));
  OSLA_CALL(bench_alloc(set->factor->job, (uint64_t)set->factor->n * sizeof *set->pivots, &pivots));
  set->pivots = pivots;
  return OSLA_OK;
}

static void teardown_lapack(void *data)
{
  factor_set *set = data;
  destroy_set(set);
  free(set->pivots);
  set->pivots = NULL;
}

static osla_err run_lapack(void *data)
{
  factor_set *set = data;
  const osla_dtype dtype = osla_matrix_dtype(set->a);
  const int64_t n = set->factor->n, ld = osla_matrix_lld(set->a, 0);
  void *a = osla_matrix_local(set->a);
  if (set->factor->kind == &factor_chol)
    OSLA_CALL(osla_lapack_potrf(dtype, OSLA_LOWER, n, a, ld, &set->info));
  else
    OSLA_CALL(osla_lapack_getrf(dtype, n, n, a, ld, set->pivots, &set->info));
  for (int64_t i = 0; i < n && set->factor->kind == &factor_lu; i++)
    set->pivots[i]++; /* the pivots of osla_getrf count from 1 */
  return osla_barrier(set->factor->job->transport);
}

/* --- scalapack --- */

osla_err factor_setup_scalapack(void *data)
{
  factor_set *set = data;
  void *ipiv;
  OSLA_CALL(create_set(set, set->nb));
  if (set->factor->kind != &factor_lu)
    return reference_scalapack_open(set->factor->job->grid, &set->context);
  uint64_t count = (uint64_t)(osla_matrix_local_rows(set->a) + osla_matrix_layout(set->a).mb);
  OSLA_CALL(bench_alloc(set->factor->job, count * sizeof(int), &ipiv));
  set->ipiv = ipiv;
  return reference_scalapack_open(set->factor->job->grid, &set->context);
}

void factor_teardown_scalapack(void *data)
{
  factor_set *set = data;
  reference_scalapack_close(&set->context);
  destroy_set(set);
  free(set->ipiv);
  set->ipiv = NULL;
}

static osla_err run_scalapack_lu(void *data)
{
  factor_set *set = data;
  return reference_scalapack_getrf(set->context, set->a, set->ipiv, &set->info);
}

static osla_err solve_scalapack_lu(void *data)
{
  factor_set *set = data;
  return reference_scalapack_getrs(set->context, set->a, set->ipiv, set->x);
}

static osla_err run_scalapack_chol(void *data)
{
  factor_set *set = data;
  return reference_scalapack_potrf(set->context, set->a, &set->info);
}

static osla_err solve_scalapack_chol(void *data)
{
  factor_set *set = data;
  return reference_scalapack_potrs(set->context, set->a, set->x);
}

/* --- LU and Cholesky --- */

const factor_kind factor_lu = {.name = "lu",
                               .part = 3,
                               .run = run_lu,
                               .run_scalapack = run_scalapack_lu,
                               .solve = solve_lu,
                               .solve_scalapack = solve_scalapack_lu,
                               .left = BENCH_UNIT_LOWER,
                               .right = BENCH_UPPER,
                               .right_trans = OSLA_NOTRANS};

const factor_kind factor_chol = {.name = "chol",
                                 .part = 6,
                                 .run = run_chol,
                                 .run_scalapack = run_scalapack_chol,
                                 .solve = solve_chol,
                                 .solve_scalapack = solve_scalapack_chol,
                                 .left = BENCH_LOWER,
                                 .right = BENCH_LOWER,
                                 .right_trans = OSLA_CONJTRANS};

int factor_impls(factor_data *d, const bench_impl *osla, const bench_impl *scalapack,
                 bench_impl *impls)
{
  const bench_settings *s = d->job->settings;
  int n = 0;
  impls[n] = *osla;
  impls[n].name = "osla";
  impls[n++].data = &d->osla;
  d->triangle = d->osla;
  d->triangle.own = false;
  if (d->kind == &factor_chol && !d->job->device)
    impls[n++] = (bench_impl){.name = "osla-triangle",
                              .ref = "triangle",
                              .setup = setup_triangle,
                              .prepare = osla->prepare,
                              .run = osla->run,
                              .check = osla->check,
                              .teardown = teardown_triangle,
                              .data = &d->triangle};
  if (d->local.job) impls[n++] = reference_gemm_impl(&d->local);
  d->lapack = d->osla;
  d->lapack.own = false;
  d->lapack.pivots = NULL;
  if (d->job->device && d->job->size == 1 && d->nrhs == 0)
    impls[n++] = (bench_impl){.name = "lapack",
                              .setup = setup_lapack,
                              .prepare = osla->prepare,
                              .run = run_lapack,
                              .check = osla->check,
                              .teardown = teardown_lapack,
                              .data = &d->lapack,
                              .nb = BENCH_NO_NB};
  for (int i = 0; i < BENCH_MAX_REF_NB; i++) {
    d->scalapack[i] = d->osla;
    d->scalapack[i].own = false;
    d->scalapack[i].nb = i < s->n_ref_nb ? s->ref_nb[i] : 0;
  }
  reference_scalapack_impls(s, d->n, scalapack, d->scalapack, sizeof *d->scalapack, &d->names,
                            impls, &n);
  return n;
}
