/* Solves with the factors of LU and Cholesky: two triangular solves, and interchanges of rows for
 * LU. Right-hand sides that are not distributed like A are copied once for the whole solve. */
#include "kernels/solve/solve.h"

#include "kernels/common/interchange.h"
#include "kernels/common/local_view.h"
#include "kernels/solve/rhs.h"
#include "kernels/solve/trsm.h"
#include "src/matrix/memory_kind.h"

#include <inttypes.h>
#include <stdlib.h>

/* Steps of a solve, in the order of their execution. All memory is allocated before B changes. */
typedef struct solver {
  osla_interchange *before, *after;
  trsm first, second;
} solver;

/* Opens the two triangular solves for A = L L^H or A = U^H U. */
static osla_err open_cholesky(solver *s, const osla_factors *f, osla_matrix *b)
{
  bool lower = f->uplo == OSLA_LOWER;
  trsm_op first = {f->uplo, lower ? OSLA_NOTRANS : OSLA_CONJTRANS, OSLA_NONUNIT};
  trsm_op second = {f->uplo, lower ? OSLA_CONJTRANS : OSLA_NOTRANS, OSLA_NONUNIT};
  return osli_trsm_open_two(&s->first, first, &s->second, second, f->matrix, b);
}

/* Opens the interchanges and the two triangular solves for P A = L U, where A^-1 = U^-1 L^-1 P and
 * A^-T = P^T L^-T U^-T. */
static osla_err open_lu(solver *s, const osla_factors *f, osla_trans trans, const int64_t *pivots,
                        osla_matrix *b)
{
  bool plain = trans == OSLA_NOTRANS;
  trsm_op lower = {OSLA_LOWER, trans, OSLA_UNIT}, upper = {OSLA_UPPER, trans, OSLA_NONUNIT};
  OSLA_CALL(osli_trsm_open_two(&s->first, plain ? lower : upper, &s->second, plain ? upper : lower,
                               f->matrix, b));
  if (!pivots) return OSLA_OK;
  return osli_interchange_open(b, OSLA_ROWS, pivots, !plain, plain ? &s->before : &s->after);
}

static osla_err run_parts(solver *s)
{
  if (s->before) OSLA_CALL(osli_interchange_run(s->before));
  OSLA_CALL(osli_trsm_run(&s->first));
  OSLA_CALL(osli_trsm_run(&s->second));
  return s->after ? osli_interchange_run(s->after) : OSLA_OK;
}

static void close_all(solver *s)
{
  osli_interchange_close(s->before);
  osli_trsm_close(&s->first);
  osli_trsm_close(&s->second);
  osli_interchange_close(s->after);
}

static osla_err check(const osla_factors *f, osla_trans trans, const osla_matrix *b)
{
  OSLA_CALL(osli_check_trans("solve", trans));
  OSLA_CALL(osli_rhs_check(OSLA_LEFT, f->matrix, b));
  if (f->cholesky) return osli_check_uplo("solve", f->uplo, f->matrix);
  OSLA_NEEDS_FULL("osla_getrs", f->matrix);
  return OSLA_OK;
}

/* Checks that all ranks pass equal arguments. `rows` and `nrhs` are the size of B, or of replicated
 * right-hand sides. Collective. */
static osla_err agree(const osla_factors *f, const char *call, osla_trans trans, int64_t rows,
                      int64_t nrhs, osla_err local)
{
  const osla_argument same[] = {{"solve with Cholesky's factor", f->cholesky},
                                {"uplo", f->cholesky ? (int)f->uplo : OSLA_LOWER},
                                {"trans", (int)trans},
                                {"order of A", osla_matrix_layout(f->matrix).n},
                                {"rows of B", rows},
                                {"nrhs", nrhs}};
  return osla_agree_same(osla_grid_transport(osla_matrix_grid(f->matrix)), local, call, same,
                         (int)(sizeof same / sizeof *same));
}

osla_err osli_factors_solve(const osla_factors *f, osla_trans trans, osla_matrix *b)
{
  const osla_layout l = osla_matrix_layout(b);
  int64_t *pivots = NULL;
  osla_rhs r;
  osla_err err;
  OSLA_CALL(
    agree(f, f->cholesky ? "osla_potrs" : "osla_getrs", trans, l.m, l.n, check(f, trans, b)));
  if (!f->cholesky) OSLA_CALL(osli_pivots_gather(f->matrix, f->ipiv, &pivots));
  OSLA_TRY(osli_rhs_open(&r, f->matrix, b, OSLA_NOTRANS));
  solver s = {0};
  err = f->cholesky ? open_cholesky(&s, f, r.b) : open_lu(&s, f, trans, pivots, r.b);
  if (err == OSLA_OK) err = run_parts(&s);
  close_all(&s);
  err = osli_rhs_close(&r, err);
cleanup:
  free(pivots);
  return err;
}

osla_err osla_potrs(osla_uplo uplo, const osla_matrix *a, osla_matrix *b)
{
  osla_factors f = osla_factors_cholesky(a, uplo);
  return osli_factors_solve(&f, OSLA_NOTRANS, b);
}

osla_err osla_getrs(osla_trans trans, const osla_matrix *a, const int64_t *ipiv, osla_matrix *b)
{
  osla_factors f = osla_factors_lu(a, ipiv);
  return osli_factors_solve(&f, trans, b);
}

/* ---- replicated right-hand sides ---- */

/* Copies x, which every rank has completely, to this rank's part of B. */
static void copy_my_part(const local_view *b, const unsigned char *x, int64_t ldx)
{
  for (int64_t c = 0; c < b->cols; c++) {
    int64_t j = osla_index_global(c, b->nb, b->pcol, b->q);
    for (int64_t r = 0, run_parts; r < b->rows; r += run_parts) {
      int64_t i = osla_index_global(r, b->mb, b->prow, b->p);
      run_parts = osla_index_run(i, b->m, b->mb);
      osli_pack(b->element, run_parts, 1, x + (size_t)(i + j * ldx) * b->element, run_parts,
                local_at(b, r, c));
    }
  }
}

static osla_err check_replicated(const osla_matrix *a, int64_t nrhs, const void *x, int64_t ldx)
{
  int64_t n = osla_matrix_layout(a).n;
  OSLA_CALL(osli_rhs_check_matrix(a));
  OSLA_CHECK(nrhs >= 0, OSLA_ERR_ARG, "solve: nrhs = %" PRId64 " is negative", nrhs);
  OSLA_CHECK(ldx >= n && ldx >= 1, OSLA_ERR_ARG,
             "solve: ldx = %" PRId64 " is below n = %" PRId64 " or below 1", ldx, n);
  OSLA_CHECK(x || n * nrhs == 0, OSLA_ERR_ARG, "solve: x is NULL");
  return OSLA_OK;
}

static osla_err solve_replicated(const osla_factors *f, osla_trans trans, int64_t nrhs, void *x,
                                 int64_t ldx)
{
  osla_transport *t = osla_grid_transport(osla_matrix_grid(f->matrix));
  osla_matrix *b = NULL;
  osla_err err;
  OSLA_CALL(agree(f, f->cholesky ? "osla_potrs_replicated" : "osla_getrs_replicated", trans,
                  osla_matrix_layout(f->matrix).n, nrhs,
                  check_replicated(f->matrix, nrhs, x, ldx)));
  OSLA_CALL(osli_rhs_create(f->matrix, osla_matrix_dtype(f->matrix), nrhs, &b));
  local_view v = view_of(b);
  trim_blocks(&v);
  copy_my_part(&v, x, ldx);
  OSLA_TRY(osli_factors_solve(f, trans, b));
  err =
    /* after the call, no rank reads B */
    osla_agree(t, osla_matrix_get_block(b, 0, 0, v.m, nrhs, x, ldx));
cleanup:
  osla_matrix_destroy(&b);
  return err;
}

osla_err osla_potrs_replicated(osla_uplo uplo, const osla_matrix *a, int64_t nrhs, void *x,
                               int64_t ldx)
{
  osla_factors f = osla_factors_cholesky(a, uplo);
  return solve_replicated(&f, OSLA_NOTRANS, nrhs, x, ldx);
}

osla_err osla_getrs_replicated(osla_trans trans, const osla_matrix *a, const int64_t *ipiv,
                               int64_t nrhs, void *x, int64_t ldx)
{
  osla_factors f = osla_factors_lu(a, ipiv);
  return solve_replicated(&f, trans, nrhs, x, ldx);
}

/* ---- memory, computed from sizes alone ---- */

static uint64_t larger(uint64_t x, uint64_t y)
{
  return x > y ? x : y;
}

/* Returns the bytes of one triangular solve: the larger of two numbers, for a transposed solve,
 * which sends sums, and for a solve without transposition, which sends solved rows. */
static uint64_t triangular(const osla_shape *s, int64_t widest)
{
  size_t nb = (size_t)s->nb, row = nb * (size_t)widest * s->element;
  size_t column = s->nodes > 1 ? (size_t)(s->rows > 1 ? s->rows : 1) * nb * s->element : 0;
  osla_panels_plan plan = {.look_ahead = 1, .readable = true};
  plan.kind[PANEL_ROWS] = (osla_panels_kind){.used = true, .in_column = true, .room = row};
  int64_t strip = s->nprow > 1 ? osli_trsm_strip(s->nb, widest, s->nprow, s->element) : 0;
  size_t piece = nb * (size_t)strip * s->element;
  uint64_t sums =
    osli_pieces_memory((size_t)s->nprow * piece, 1, s) + (uint64_t)osli_pieces_depth_for(1) * piece;
  return 2 * column + larger(sums, osli_panels_memory(&plan, s));
}

/* Both triangular solves and the interchanges hold memory at the same time. */
uint64_t osla_getrs_memory(const osla_shape *s, int64_t nrhs)
{
  int64_t widest = osli_rhs_width(nrhs, s->npcol, s->nodes);
  bool fans = s->nodes > 1 && s->npcol > 1 && osli_trsm_is_stationary(s->n, nrhs);
  uint64_t moving = 2 * triangular(s, widest), fan = 0;
  if (fans)
    fan = osli_trsm_stationary_memory(s, nrhs, false) + osli_trsm_stationary_memory(s, nrhs, true);
  return larger(moving, fan) + osli_interchange_memory(s, OSLA_ROWS, widest) +
         (uint64_t)s->n * sizeof(int64_t);
}
