/* Tests of arguments of matrix calls and products that differ on the last rank. Arguments that
 * affect only their own rank may differ. */
#include "tests/kernels/same_call.h"

#include <complex.h>

/* ---- calls on matrices ---- */

static double number;

static osla_err norm(const same_call *c)
{
  return osla_matrix_norm(c->a.matrix, c->norm, &number);
}
static osla_err norm_part(const same_call *c)
{
  return osla_matrix_norm_part(c->a, c->norm, &number);
}
static osla_err fill(const same_call *c)
{
  return osla_matrix_fill(c->a.matrix, c->fill, c->seed);
}
static osla_err fill_part(const same_call *c)
{
  return osla_matrix_fill_part(c->a, c->fill, c->seed);
}
static osla_err copy(const same_call *c)
{
  return osla_matrix_copy(c->a.matrix, c->b.matrix);
}
static osla_err copy_part(const same_call *c)
{
  return osla_matrix_copy_part(c->a, c->b);
}
static osla_err transpose(const same_call *c)
{
  return osla_matrix_transpose(c->trans, c->a.matrix, c->b.matrix);
}
static osla_err transpose_part(const same_call *c)
{
  return osla_matrix_transpose_part(c->trans, c->a, c->b);
}
static osla_err mirror(const same_call *c)
{
  return osla_matrix_mirror(c->a.matrix, c->uplo);
}
static osla_err add(const same_call *c)
{
  return osla_matrix_add(creal(c->alpha), c->a.matrix, creal(c->beta), c->b.matrix);
}

static void check_matrices(const same_matrices *m)
{
  same_call base = same_parts(m->square);
  base.trans = OSLA_TRANS;
  base.norm = OSLA_NORM_ONE;
  base.fill = OSLA_FILL_UNIFORM;
  OTHER(norm, base, norm, OSLA_NORM_FRO, "osla_matrix_norm: norm is 1 on rank 0, but 3 on rank ");
  OTHER(norm, base, norm, OSLA_NORM_MAX, "osla_matrix_norm: norm is 1 on rank 0, but 0 on rank ");
  OTHER(norm_part, base, norm, OSLA_NORM_INF, "osla_matrix_norm_part: norm is ");
  OTHER_PART(norm_part, base, a, "osla_matrix_norm_part: part");
  OTHER(fill, base, fill, OSLA_FILL_SPD, "osla_matrix_fill: fill is ");
  OTHER(fill, base, seed, 6, "osla_matrix_fill: seed is 5 on rank 0, but 6 on rank ");
  OTHER(fill_part, base, seed, 6, "osla_matrix_fill_part: seed is ");
  OTHER_PART(fill_part, base, a, "osla_matrix_fill_part: part");
  OTHER(copy, base, b.matrix, m->narrow, "osla_matrix_copy: dest.m is 12 on rank 0, but 11 on ");
  OTHER_PART(copy_part, base, a, "osla_matrix_copy_part: source");
  OTHER_PART(copy_part, base, b, "osla_matrix_copy_part: dest");
  OTHER(transpose, base, trans, OSLA_CONJTRANS, "osla_matrix_transpose: trans is ");
  OTHER(transpose_part, base, trans, OSLA_CONJTRANS, "osla_matrix_transpose_part: trans is ");
  OTHER_PART(transpose_part, base, a, "osla_matrix_transpose_part: source");
  OTHER_PART(transpose_part, base, b, "osla_matrix_transpose_part: dest");
  OTHER(mirror, base, uplo, OSLA_UPPER, "osla_matrix_mirror: from is 0 on rank 0, but 1 on rank ");
  OTHER(add, base, alpha, 0.1, "osla_matrix_add: alpha is 1 on rank 0, but 0.10000000000000001 on");
  OTHER(add, base, beta, -0.5, "osla_matrix_add: beta is 0.5 on rank 0, but -0.5 on rank ");
  OTHER(add, base, b.matrix, m->narrow, "osla_matrix_add: m is ");
  base.fill = OSLA_FILL_ZERO; /* the seed may differ, because a fill with zeros does not use it */
  if (same_is_last_rank()) base.seed = 7;
  OSLA_ASSERT_OK(fill(&base));
}

/* ---- products ---- */

static osla_err gemm(const same_call *c)
{
  return osla_gemm(c->trans, c->transb, c->alpha, c->a, c->b, c->beta, c->c, &c->gemm);
}
static osla_err syrk(const same_call *c)
{
  return osla_syrk(c->uplo, c->trans, c->alpha, c->a, c->beta, c->c, &c->gemm);
}
static osla_err herk(const same_call *c)
{
  return osla_herk(c->uplo, c->trans, creal(c->alpha), c->a, creal(c->beta), c->c, &c->gemm);
}
static osla_err symm(const same_call *c)
{
  return osla_symm(c->side, c->uplo, c->alpha, c->a, c->b, c->beta, c->c, &c->gemm);
}
static osla_err hemm(const same_call *c)
{
  return osla_hemm(c->side, c->uplo, c->alpha, c->a, c->b, c->beta, c->c, &c->gemm);
}
static osla_err trmm(const same_call *c)
{
  return osla_trmm(c->side, c->uplo, c->trans, c->diag, c->alpha, c->a, c->b, &c->gemm);
}
static osla_err gemv(const same_call *c)
{
  return osla_gemv(c->trans, c->alpha, c->a, c->b, c->beta, c->c);
}
static osla_err symv(const same_call *c)
{
  return osla_symv(c->uplo, c->alpha, c->a, c->b, c->beta, c->c);
}
static osla_err hemv(const same_call *c)
{
  return osla_hemv(c->uplo, c->alpha, c->a, c->b, c->beta, c->c);
}
static osla_err one_other(const same_call *c)
{
  return same_is_last_rank() ? herk(c) : gemm(c);
}

static void check_gemm(const same_matrices *m)
{
  same_call base = same_parts(m->square), z = same_parts(m->complex_square);
  OTHER(gemm, base, trans, OSLA_TRANS, "osla_gemm: transa is 0 on rank 0, but 1 on rank ");
  OTHER(gemm, base, transb, OSLA_TRANS, "osla_gemm: transb is ");
  OTHER(gemm, base, alpha, 2.0, "osla_gemm: alpha is 1 on rank 0, but 2 on rank ");
  OTHER(gemm, base, alpha, 0.0, "osla_gemm: alpha is 1 on rank 0, but 0 on rank ");
  OTHER(gemm, base, beta, 0.0, "osla_gemm: beta is 0.5 on rank 0, but 0 on rank ");
  OTHER(gemm, z, alpha, CMPLX(1.0, 3.0),
        "osla_gemm: imaginary part of alpha is 0 on rank 0, but 3");
  OTHER(gemm, z, beta, CMPLX(0.5, 3.0), "osla_gemm: imaginary part of beta is ");
  OTHER(gemm, base, gemm.memory, 1 << 20, "osla_gemm: memory is 0 on rank 0, but 1048576 on rank ");
  OTHER_PART(gemm, base, a, "osla_gemm: a");
  OTHER_PART(gemm, base, b, "osla_gemm: b");
  OTHER_PART(gemm, base, c, "osla_gemm: c");
  OTHER(syrk, base, uplo, OSLA_UPPER, "osla_syrk: uplo is 0 on rank 0, but 1 on rank ");
  OTHER(syrk, base, trans, OSLA_TRANS, "osla_syrk: trans is ");
  OTHER(syrk, base, alpha, 2.0, "osla_syrk: alpha is ");
  OTHER_PART(syrk, base, a, "osla_syrk: a");
  OTHER_PART(syrk, base, c, "osla_syrk: c");
  OTHER(herk, z, uplo, OSLA_UPPER, "osla_herk: uplo is ");
  OTHER(herk, z, trans, OSLA_CONJTRANS, "osla_herk: trans is ");
  OTHER(herk, z, beta, 2.0, "osla_herk: beta is ");
  OTHER_PART(herk, z, c, "osla_herk: c");
  /* the last rank calls another routine than the other ranks */
  OSLA_ASSERT_ERR(one_other(&base), OSLA_ERR_ARG);
  base.gemm.panel = same_is_last_rank() ? 2 : 3; /* this option may differ between ranks */
  if (same_is_last_rank())
    /* the imaginary part of alpha may differ, because products of real matrices ignore it */
    base.alpha = CMPLX(1.0, 4.0);
  OSLA_ASSERT_OK(gemm(&base));
}

static void check_products(const same_matrices *m)
{
  same_call base = same_parts(m->square);
  OTHER(symm, base, side, OSLA_RIGHT, "osla_symm: side is 0 on rank 0, but 1 on rank ");
  OTHER(symm, base, uplo, OSLA_UPPER, "osla_symm: uplo is ");
  OTHER(symm, base, alpha, 2.0, "osla_symm: alpha is ");
  OTHER(symm, base, beta, 2.0, "osla_symm: beta is ");
  OTHER(symm, base, gemm.memory, 1 << 20, "osla_symm: memory is ");
  OTHER_PART(symm, base, a, "osla_symm: a");
  OTHER_PART(symm, base, b, "osla_symm: b");
  OTHER_PART(symm, base, c, "osla_symm: c");
  OTHER(hemm, base, side, OSLA_RIGHT, "osla_hemm: side is ");
  OTHER(trmm, base, side, OSLA_RIGHT, "osla_trmm: side is ");
  OTHER(trmm, base, uplo, OSLA_UPPER, "osla_trmm: uplo is ");
  OTHER(trmm, base, trans, OSLA_TRANS, "osla_trmm: trans is ");
  OTHER(trmm, base, diag, OSLA_UNIT, "osla_trmm: diag is ");
  OTHER(trmm, base, alpha, 2.0, "osla_trmm: alpha is ");
  OTHER_PART(trmm, base, a, "osla_trmm: a");
  OTHER_PART(trmm, base, b, "osla_trmm: b");
  base.b.n = base.c.n = 1;
  OTHER(gemv, base, trans, OSLA_TRANS, "osla_gemv: trans is ");
  OTHER(gemv, base, alpha, 2.0, "osla_gemv: alpha is ");
  OTHER(gemv, base, beta, 2.0, "osla_gemv: beta is ");
  OTHER_PART(gemv, base, a, "osla_gemv: a");
  OTHER_PART(gemv, base, b, "osla_gemv: x");
  OTHER_PART(gemv, base, c, "osla_gemv: y");
  OTHER(symv, base, uplo, OSLA_UPPER, "osla_symv: uplo is ");
  OTHER(hemv, base, uplo, OSLA_UPPER, "osla_hemv: uplo is ");
  OTHER(hemv, base, alpha, 2.0, "osla_hemv: alpha is ");
}

static void test_matrices(void)
{
  same_run(check_matrices);
}

static void test_gemm(void)
{
  same_run(check_gemm);
}

static void test_products(void)
{
  same_run(check_products);
}

static const osla_test_case cases[] = {
  {"matrices", test_matrices}, {"gemm", test_gemm}, {"products", test_products}, {NULL, NULL}};
OSLA_TEST_SUITE(test_same, cases);
