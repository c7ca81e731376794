/* Tests of arguments of factorisations, solves and the accumulator that differ on the last rank. */
#include "osla_inverse.h"
#include "tests/kernels/same_call.h"

#include <math.h>

/* ---- factors and inverses ---- */

static int64_t info, ipiv[SAME_N];
static double array[3 * SAME_N];

static osla_err getrf(const same_call *c)
{
  osla_lu_result result;
  return osla_getrf(c->a.matrix, ipiv, &c->lu, &result);
}
static osla_err getrf_part(const same_call *c)
{
  osla_lu_result result;
  return osla_getrf_part(c->a, ipiv, &c->lu, &result);
}
static osla_err getri(const same_call *c)
{
  return osla_getri(c->a.matrix, ipiv, &c->lu, &info);
}
static osla_err potrf(const same_call *c)
{
  return osla_potrf(c->uplo, c->a.matrix, &c->chol, &info);
}
static osla_err potrf_part(const same_call *c)
{
  return osla_potrf_part(c->uplo, c->a, &c->chol, &info);
}
static osla_err potri(const same_call *c)
{
  return osla_potri(c->uplo, c->a.matrix, &c->chol, &info);
}

static void check_factors(const same_matrices *m)
{
  const same_call base = same_parts(m->square);
  OTHER(getrf, base, lu.pivoting, OSLA_PIVOT_NONE, "osla_getrf: pivoting is 0 on rank 0, but 2 on");
  OTHER(getrf, base, lu.look_ahead, -1, "osla_getrf: look_ahead is ");
  OTHER(getrf, base, lu.forward, OSLA_FORWARD_TREE, "osla_getrf: forward is ");
  OTHER(getrf, base, a.matrix, m->tall[0], "osla_getrf: n is 12 on rank 0, but 2 on rank ");
  OTHER(getrf_part, base, lu.pivoting, OSLA_PIVOT_TOURNAMENT, "osla_getrf_part: pivoting is ");
  OTHER(getrf_part, base, lu.look_ahead, 2, "osla_getrf_part: look_ahead is ");
  OTHER(getrf_part, base, lu.forward, OSLA_FORWARD_TREE, "osla_getrf_part: forward is ");
  OTHER_PART(getrf_part, base, a, "osla_getrf_part: a");
  OTHER(getri, base, lu.look_ahead, 2, "osla_getri: look_ahead is ");
  OTHER(getri, base, lu.forward, OSLA_FORWARD_TREE, "osla_getri: forward is ");
  OTHER(getri, base, a.matrix, m->narrow, "osla_getri: m is ");
  OTHER(potrf, base, uplo, OSLA_UPPER, "osla_potrf: uplo is 0 on rank 0, but 1 on rank ");
  OTHER(potrf, base, chol.look_ahead, 2, "osla_potrf: look_ahead is ");
  OTHER(potrf, base, chol.forward, OSLA_FORWARD_TREE, "osla_potrf: forward is ");
  OTHER(potrf, base, a.matrix, m->narrow, "osla_potrf: m is 12 on rank 0, but 11 on rank ");
  OTHER(potrf_part, base, uplo, OSLA_UPPER, "osla_potrf_part: uplo is ");
  OTHER(potrf_part, base, chol.look_ahead, 2, "osla_potrf_part: look_ahead is ");
  OTHER(potrf_part, base, chol.forward, OSLA_FORWARD_TREE, "osla_potrf_part: forward is ");
  OTHER_PART(potrf_part, base, a, "osla_potrf_part: a");
  OTHER(potri, base, uplo, OSLA_UPPER, "osla_potri: uplo is ");
  OTHER(potri, base, chol.look_ahead, 2, "osla_potri: look_ahead is ");
  OTHER(potri, base, chol.forward, OSLA_FORWARD_TREE, "osla_potri: forward is ");
}

/* ---- solves ---- */

static osla_err trsm(const same_call *c)
{
  return osla_trsm(c->side, c->uplo, c->trans, c->diag, c->alpha, c->a.matrix, c->b.matrix);
}
static osla_err trsm_part(const same_call *c)
{
  return osla_trsm_part(c->side, c->uplo, c->trans, c->diag, c->alpha, c->a, c->b);
}
static osla_err potrs(const same_call *c)
{
  return osla_potrs(c->uplo, c->a.matrix, c->b.matrix);
}
static osla_err getrs(const same_call *c)
{
  return osla_getrs(c->trans, c->a.matrix, NULL, c->b.matrix);
}
static osla_err one_other(const same_call *c)
{
  return same_is_last_rank() ? potrs(c) : getrs(c);
}
static osla_err potrs_part(const same_call *c)
{
  return osla_potrs_part(c->uplo, c->a, c->b);
}
static osla_err getrs_part(const same_call *c)
{
  return osla_getrs_part(c->trans, c->a, NULL, c->b);
}
static osla_err potrs_replicated(const same_call *c)
{
  return osla_potrs_replicated(c->uplo, c->a.matrix, c->n, array, SAME_N);
}
static osla_err getrs_replicated(const same_call *c)
{
  return osla_getrs_replicated(c->trans, c->a.matrix, NULL, c->n, array, SAME_N);
}
static osla_err gecon(const same_call *c)
{
  double rcond;
  return osla_gecon(c->a.matrix, NULL, c->anorm, &rcond);
}
static osla_err pocon(const same_call *c)
{
  double rcond;
  return osla_pocon(c->uplo, c->a.matrix, c->anorm, &rcond);
}
static osla_err chol_logdet(const same_call *c)
{
  double value;
  return osla_chol_logdet(c->uplo, c->a.matrix, &value);
}
static osla_err posv_mixed(const same_call *c)
{
  return osla_posv_mixed(c->uplo, c->a.matrix, c->b.matrix, c->c.matrix, NULL, NULL);
}
static osla_err refine(const same_call *c)
{
  const osla_factors f = osla_factors_cholesky(c->a.matrix, c->uplo);
  return osla_refine(c->a.matrix, &f, c->b.matrix, c->c.matrix, NULL, NULL);
}

static void check_solves(const same_matrices *m)
{
  same_call base = same_wholes(m->square[0], m->tall[0]), part = same_parts(m->square);
  OTHER(trsm, base, side, OSLA_RIGHT, "osla_trsm: side is 0 on rank 0, but 1 on rank ");
  OTHER(trsm, base, uplo, OSLA_UPPER, "osla_trsm: uplo is ");
  OTHER(trsm, base, trans, OSLA_TRANS, "osla_trsm: trans is ");
  OTHER(trsm, base, diag, OSLA_UNIT, "osla_trsm: diag is ");
  OTHER(trsm, base, alpha, 0.0, "osla_trsm: alpha is 1 on rank 0, but 0 on rank ");
  OTHER(trsm, base, b.matrix, m->square[1], "osla_trsm: columns of B is 2 on rank 0, but 12 on ");
  OTHER(trsm_part, part, side, OSLA_RIGHT, "osla_trsm_part: side is ");
  OTHER(trsm_part, part, uplo, OSLA_UPPER, "osla_trsm_part: uplo is ");
  OTHER(trsm_part, part, trans, OSLA_TRANS, "osla_trsm_part: trans is ");
  OTHER(trsm_part, part, diag, OSLA_UNIT, "osla_trsm_part: diag is ");
  OTHER(trsm_part, part, alpha, 2.0, "osla_trsm_part: alpha is ");
  OTHER_PART(trsm_part, part, a, "osla_trsm_part: a");
  OTHER_PART(trsm_part, part, b, "osla_trsm_part: b");
  OTHER(potrs, base, uplo, OSLA_UPPER, "osla_potrs: uplo is 0 on rank 0, but 1 on rank ");
  OTHER(potrs, base, b.matrix, m->square[1], "osla_potrs: nrhs is 2 on rank 0, but 12 on rank ");
  OTHER(getrs, base, trans, OSLA_TRANS, "osla_getrs: trans is ");
  /* the last rank calls another routine than the other ranks */
  OSLA_ASSERT_ERR(one_other(&base), OSLA_ERR_ARG);
  OTHER(potrs_part, part, uplo, OSLA_UPPER, "osla_potrs_part: uplo is ");
  OTHER_PART(potrs_part, part, b, "osla_potrs_part: b");
  OTHER(getrs_part, part, trans, OSLA_TRANS, "osla_getrs_part: trans is ");
  OTHER_PART(getrs_part, part, a, "osla_getrs_part: a");
  OTHER(potrs_replicated, base, uplo, OSLA_UPPER, "osla_potrs_replicated: uplo is ");
  OTHER(potrs_replicated, base, n, 3, "osla_potrs_replicated: nrhs is 2 on rank 0, but 3 on rank ");
  OTHER(getrs_replicated, base, trans, OSLA_TRANS, "osla_getrs_replicated: trans is ");
  OTHER(getrs_replicated, base, n, 1, "osla_getrs_replicated: nrhs is ");
  OTHER(gecon, base, anorm, 0.0, "osla_gecon: anorm is 1 on rank 0, but 0 on rank ");
  OTHER(pocon, base, anorm, 0.1, "osla_pocon: anorm is 1 on rank 0, but 0.10000000000000001 on ");
  OTHER(pocon, base, anorm, (double)NAN, "osla_pocon: anorm is 1 on rank 0, but ");
  OTHER(pocon, base, uplo, OSLA_UPPER, "osla_pocon: uplo is ");
  OTHER(chol_logdet, base, uplo, OSLA_UPPER, "osla_chol_logdet: uplo is ");
  base.c.matrix = m->tall[1];
  OTHER(posv_mixed, base, uplo, OSLA_UPPER, "osla_posv_mixed: uplo is ");
  OTHER(refine, base, uplo, OSLA_UPPER, "osla_refine: uplo is ");
}

/* ---- calls on the accumulator ---- */

static osla_grid *grid;
static osla_hessian *accumulator;

static osla_err create(const same_call *c)
{
  osla_hessian *h;
  osla_err err = osla_hessian_create(grid, c->n, &c->hessian, &h);
  osla_hessian_destroy(&h);
  return err;
}
static osla_err checkpoint(const same_call *c)
{
  return osla_hessian_checkpoint(accumulator, c->text, "job");
}
static osla_err checkpoint_of(const same_call *c)
{
  return osla_hessian_checkpoint(accumulator, "of_a_job.h5", c->text);
}
static osla_err restore(const same_call *c)
{
  return osla_hessian_restore(accumulator, c->text, "job");
}
static osla_err restore_of(const same_call *c)
{
  return osla_hessian_restore(accumulator, "of_a_job.h5", c->text);
}

static void check_words(const same_call *base)
{
  OTHER(checkpoint, *base, text, "that",
        "osla_hessian_checkpoint: path is 'this' on rank 0, but "
        "'that' on rank ");
  OTHER(checkpoint, *base, text, "thi", "osla_hessian_checkpoint: path is ");
  OTHER(checkpoint_of, *base, text, "that", "osla_hessian_checkpoint: job is 'this' on rank 0, ");
  OTHER(checkpoint_of, *base, text, NULL, "osla_hessian_checkpoint: job is ");
  OTHER(restore, *base, text, "that", "osla_hessian_restore: path is ");
  OTHER(restore_of, *base, text, "that", "osla_hessian_restore: job is ");
}

static void check_hessian(const same_matrices *m)
{
  same_call base = {.n = 5, .text = "this"}, exact = {.n = 5};
  exact.hessian = (osla_hessian_options){.order_independent = true, .bound = 1.0};
  grid = m->grid;
  OTHER(create, base, n, 6, "osla_hessian_create: n is 5 on rank 0, but 6 on rank ");
  OTHER(create, base, hessian.uplo, OSLA_UPPER, "osla_hessian_create: uplo is ");
  OTHER(create, base, hessian.single, true, "osla_hessian_create: single is ");
  OTHER(create, base, hessian.single_updates, true, "osla_hessian_create: single_updates is ");
  OTHER(create, base, hessian.nb, 3, "osla_hessian_create: nb is 96 on rank 0, but 3 on rank ");
  OTHER(create, base, hessian.ring_bytes, 1 << 20, "osla_hessian_create: ring_bytes is ");
  OTHER(create, base, hessian.combine, OSLA_COMBINE_MIN, "osla_hessian_create: combine is ");
  OTHER(create, base, hessian.initial, 2.0,
        "osla_hessian_create: initial is 0 on rank 0, but 2 on");
  OTHER(create, base, hessian.from_zero, true, "osla_hessian_create: from_zero is ");
  OTHER(create, exact, hessian.order_independent, false,
        "osla_hessian_create: order_independent is ");
  OTHER(create, exact, hessian.bound, 2.0, "osla_hessian_create: bound is 1 on rank 0, but 2 on ");
  OTHER(create, exact, hessian.gradient_bound, 2.0, "osla_hessian_create: gradient_bound is ");
  OTHER(create, base, hessian.memory_cap, 1 << 30, "osla_hessian_create: memory_cap is ");
  OTHER(create, base, hessian.isolation, OSLA_ISOLATE_ELEMENT,
        "osla_hessian_create: isolation is ");
  OTHER(create, base, hessian.shipping, OSLA_SHIP_VALUES, "osla_hessian_create: shipping is ");
  OTHER(create, base, hessian.node_sums, true, "osla_hessian_create: node_sums is ");
  OTHER(create, base, hessian.checkpoint_holds, true, "osla_hessian_create: checkpoint_holds is ");
  /* piece_bytes may differ between ranks, because it affects only its own rank */
  base.hessian.piece_bytes = same_is_last_rank() ? 8192 : 4096;
  OSLA_ASSERT_OK(create(&base));
  OSLA_ASSERT_OK(osla_hessian_create(grid, 5, NULL, &accumulator));
  check_words(&base);
  osla_hessian_destroy(&accumulator);
}

static void test_factors(void)
{
  same_run(check_factors);
}

static void test_solves(void)
{
  same_run(check_solves);
}

static void test_hessian(void)
{
  same_run(check_hessian);
}

static const osla_test_case cases[] = {
  {"factors", test_factors}, {"solves", test_solves}, {"hessian", test_hessian}, {NULL, NULL}};
OSLA_TEST_SUITE(test_same_solves, cases);
