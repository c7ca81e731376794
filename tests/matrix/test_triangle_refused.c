/* Tests of calls that do not serve triangular matrices. Each must return UNSUPPORTED with its name
 * in the message, whichever operand is a triangle, and leave the matrices unchanged. */
#include "osla.h"
#include "osla_unstable.h"
#include "tests/osla_test_help.h"

#include <stdlib.h>
#include <string.h>

enum { N = 12, NB = 3 };

/* Operands of a call, one of which is a triangle. All are N x N. */
typedef struct operands {
  osla_matrix *a, *b, *c;
  osla_part pa, pb, pc; /* the whole matrices a, b and c */
  osla_part x;          /* column 0 of b */
  osla_part v;          /* column 0 of c */
  int64_t *ipiv;
} operands;

#define CALL(name, call)                                                                           \
  static osla_err with_##name(const operands *s)                                                   \
  {                                                                                                \
    int64_t info = 0;                                                                              \
    double value = 0;                                                                              \
    (void)info, (void)value, (void)s;                                                              \
    return call;                                                                                   \
  }

CALL(matrix_transpose, osla_matrix_transpose(OSLA_TRANS, s->a, s->b))
CALL(matrix_transpose_part, osla_matrix_transpose_part(OSLA_TRANS, s->pa, s->pb))
CALL(matrix_mirror, osla_matrix_mirror(s->a, OSLA_LOWER))
CALL(gemm, osla_gemm(OSLA_NOTRANS, OSLA_NOTRANS, 1, s->pa, s->pb, 1, s->pc, NULL))
CALL(syrk, osla_syrk(OSLA_LOWER, OSLA_NOTRANS, 1, s->pa, 1, s->pb, NULL))
CALL(herk, osla_herk(OSLA_LOWER, OSLA_NOTRANS, 1, s->pa, 1, s->pb, NULL))
CALL(symm, osla_symm(OSLA_LEFT, OSLA_LOWER, 1, s->pa, s->pb, 1, s->pc, NULL))
CALL(hemm, osla_hemm(OSLA_LEFT, OSLA_LOWER, 1, s->pa, s->pb, 1, s->pc, NULL))
CALL(trmm, osla_trmm(OSLA_LEFT, OSLA_LOWER, OSLA_NOTRANS, OSLA_NONUNIT, 1, s->pa, s->pb, NULL))
CALL(gemv, osla_gemv(OSLA_NOTRANS, 1, s->pa, s->x, 1, s->v))
CALL(symv, osla_symv(OSLA_LOWER, 1, s->pa, s->x, 1, s->v))
CALL(hemv, osla_hemv(OSLA_LOWER, 1, s->pa, s->x, 1, s->v))
CALL(getrf, osla_getrf(s->a, s->ipiv, NULL, &(osla_lu_result){0}))
CALL(getrf_part, osla_getrf_part(s->pa, s->ipiv, NULL, &(osla_lu_result){0}))
CALL(getri, osla_getri(s->a, s->ipiv, NULL, &info))
CALL(trsm, osla_trsm(OSLA_LEFT, OSLA_LOWER, OSLA_NOTRANS, OSLA_NONUNIT, 1, s->a, s->b))
CALL(trsm_part, osla_trsm_part(OSLA_LEFT, OSLA_LOWER, OSLA_NOTRANS, OSLA_NONUNIT, 1, s->pa, s->pb))
CALL(potrs, osla_potrs(OSLA_LOWER, s->a, s->b))
CALL(potrs_part, osla_potrs_part(OSLA_LOWER, s->pa, s->pb))
CALL(getrs, osla_getrs(OSLA_NOTRANS, s->a, s->ipiv, s->b))
CALL(getrs_part, osla_getrs_part(OSLA_NOTRANS, s->pa, s->ipiv, s->pb))
CALL(getrs_replicated, osla_getrs_replicated(OSLA_NOTRANS, s->a, s->ipiv, 1, (double[N]){0}, N))
CALL(residual, osla_residual(s->a, s->b, s->c, (double[N]){0}))
CALL(gesv_mixed, osla_gesv_mixed(s->a, s->b, s->c, NULL, NULL))
CALL(posv_mixed, osla_posv_mixed(OSLA_LOWER, s->a, s->b, s->c, NULL, NULL))
CALL(gecon, osla_gecon(s->a, s->ipiv, 1, &value))

static osla_err with_gemm_predict(const operands *s)
{
  osla_gemm_plan plan;
  return osla_gemm_predict(OSLA_NOTRANS, OSLA_NOTRANS, s->pa, s->pb, s->pc, NULL, &plan);
}

static osla_err with_refine(const operands *s)
{
  const osla_factors f = osla_factors_cholesky(s->b, OSLA_LOWER);
  return osla_refine(s->a, &f, s->c, s->c, NULL, NULL);
}

static osla_err with_refine_lu(const operands *s)
{
  const osla_factors f = osla_factors_lu(s->b, s->ipiv);
  return osla_refine(s->a, &f, s->c, s->c, NULL, NULL);
}

static osla_err with_splitting_create_dense(const operands *s)
{
  osla_splitting *h = NULL;
  const double b[N] = {0};
  const osla_err err = osla_splitting_create_dense(OSLA_LOWER, s->a, b, NULL, &h);
  CU_ASSERT(h == NULL);
  return err;
}

/* LINE describes a call that must refuse a triangular matrix as each of its `count` operands a, b,
 * c. The message must contain `text`, followed by the advice to copy the triangular matrix. With
 * LINE_FROM only operands `first` to count - 1 are tested, counted from 0, because the call accepts
 * triangular matrices as earlier operands. With LINE_TEXT the message need not contain the
 * advice. */
#define LINE_TEXT(name, first, count, text)                                                        \
  {                                                                                                \
#name, first, count, text, with_##name                                                         \
  }
#define LINE_FROM(name, first, count, text)                                                        \
  LINE_TEXT(name, first, count,                                                                    \
            text ": does not take a matrix of osla_matrix_create_triangle: copy it to a full "     \
                 "matrix")
#define LINE(name, count, text) LINE_FROM(name, 0, count, text)
static const struct refused_call {
  const char *name; /* without osla_ */
  int first;
  int n_operands;
  const char *text;
  osla_err (*run)(const operands *s);
} calls[] = {
  LINE(matrix_transpose, 2, "transpose"),
  LINE(matrix_transpose_part, 2, "transpose"),
  LINE(matrix_mirror, 1, "osla_matrix_mirror"),
  LINE_TEXT(gemm, 0, 2, "of a triangular matrix, on its diagonal: call osla_symm or osla_hemm"),
  LINE_TEXT(gemm, 2, 3, "gemm: C lies in a triangular matrix: use a full matrix"),
  LINE_TEXT(syrk, 0, 1,
            "syrk: A is the 12 x 12 part at (0, 0) of a triangular matrix, on its diagonal"),
  LINE_TEXT(herk, 0, 1,
            "herk: A is the 12 x 12 part at (0, 0) of a triangular matrix, on its diagonal"),
  LINE(gemm_predict, 3, "gemm_predict"),
  LINE_FROM(symm, 1, 3, "osla_symm"),
  LINE_FROM(hemm, 1, 3, "osla_hemm"),
  LINE(trmm, 2, "osla_trmm"),
  LINE_TEXT(gemv, 0, 1, "of a triangular matrix, on its diagonal: call osla_symv or osla_hemv"),
  LINE_FROM(gemv, 1, 3, "osla_gemv"),
  LINE_FROM(symv, 1, 3, "osla_symv"),
  LINE_FROM(hemv, 1, 3, "osla_hemv"),
  LINE(getrf, 1, "osla_getrf"),
  LINE(getrf_part, 1, "getrf"),
  LINE(getri, 1, "osla_getri"),
  LINE_FROM(trsm, 1, 2, "solve"),
  LINE_TEXT(trsm_part, 1, 2,
            "trsm: B is the 12 x 12 part at (0, 0) of a triangular matrix, on its"),
  LINE_FROM(potrs, 1, 2, "solve"),
  LINE_TEXT(potrs_part, 1, 2,
            "potrs: B is the 12 x 12 part at (0, 0) of a triangular matrix, on its"),
  LINE(getrs, 1, "osla_getrs"),
  LINE_FROM(getrs, 1, 2, "solve"),
  LINE(getrs_part, 2, "getrs"),
  LINE(getrs_replicated, 1, "osla_getrs"),
  LINE_FROM(residual, 1, 3, "osla_residual"),
  LINE(gesv_mixed, 3, "osla_gesv_mixed"),
  LINE_FROM(posv_mixed, 1, 3, "osla_posv_mixed"),
  LINE(gecon, 1, "osla_gecon"),
  LINE_FROM(refine, 2, 3, "osla_refine"),
  LINE_FROM(refine_lu, 1, 2, "osla_refine"),
  LINE(splitting_create_dense, 1, "osla_splitting_create_dense"),
};

/* Sum over this rank's bytes that changes if the bytes change. */
static uint64_t digest(const osla_matrix *a)
{
  const unsigned char *bytes = osla_matrix_local(a);
  uint64_t sum = 0;
  for (size_t k = 0; k < osla_segment_bytes(osla_matrix_segment(a)); k++)
    sum = sum * 31 + bytes[k];
  return sum;
}

static void check_call(const struct refused_call *call, osla_matrix *const full[3],
                       osla_matrix *triangle, int64_t *ipiv)
{
  for (int which = call->first; which < call->n_operands; which++) {
    osla_matrix *m[3] = {full[0], full[1], full[2]};
    m[which] = triangle;
    const operands s = {.a = m[0],
                        .b = m[1],
                        .c = m[2],
                        .pa = osla_whole(m[0]),
                        .pb = osla_whole(m[1]),
                        .pc = osla_whole(m[2]),
                        .x = osla_part_at(m[1], 0, 0, N, 1),
                        .v = osla_part_at(m[2], 0, 0, N, 1),
                        .ipiv = ipiv};
    OSLA_ASSERT_MSG(call->run(&s) == OSLA_ERR_UNSUPPORTED, "%s, operand %d", call->name, which);
    OSLA_ASSERT_TEXT(call->text);
    OSLA_ASSERT_SAME_TEXT();
  }
}

static void test_calls(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = osla_test_square_grid(t);
  osla_matrix *m[4];
  uint64_t before[4];
  int64_t ipiv[N];
  for (int i = 0; i < N; i++)
    ipiv[i] = i + 1;
  for (int k = 0; k < 3; k++) {
    OSLA_ASSERT_OK(osla_matrix_create(grid, OSLA_DOUBLE, N, N, NB, NB, &m[k]));
    OSLA_ASSERT_OK(osla_matrix_fill(m[k], OSLA_FILL_SPD, (uint64_t)k));
  }
  OSLA_ASSERT_OK(osla_matrix_create_triangle(grid, OSLA_DOUBLE, N, NB, &m[3]));
  if (osla_matrix_local(m[3]))
    osla_test_write(osla_matrix_local(m[3]), 5, 0, osla_segment_bytes(osla_matrix_segment(m[3])));
  OSLA_ASSERT_OK(osla_barrier(t));
  for (int k = 0; k < 4; k++)
    before[k] = digest(m[k]);
  for (size_t k = 0; k < sizeof calls / sizeof *calls; k++)
    check_call(&calls[k], m, m[3], ipiv);
  for (int k = 0; k < 4; k++) {
    OSLA_ASSERT_MSG(digest(m[k]) == before[k], "matrix %d changed", k);
    osla_matrix_destroy(&m[k]);
  }
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* ---- some ranks pass arguments that the call refuses ---- */

/* The last rank passes `triangle` as a Cholesky factor, and all other ranks pass it as an LU
 * factor, which the calls refuse. All ranks must return an error, and no rank may wait for ever. */
static void check_other_factor(osla_matrix *triangle, osla_matrix *b, osla_matrix *x, int64_t *ipiv)
{
  const bool is_last = osla_test_rank() == osla_test_size() - 1;
  double rcond = 0;
  const osla_factors f =
    is_last ? osla_factors_cholesky(triangle, OSLA_LOWER) : osla_factors_lu(triangle, ipiv);
  OSLA_ASSERT_ERR(osla_refine(triangle, &f, b, x, NULL, NULL), OSLA_ERR_UNSUPPORTED);
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_ERR(is_last ? osla_pocon(OSLA_LOWER, triangle, 1, &rcond)
                          : osla_gecon(triangle, ipiv, 1, &rcond),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("estimate with Cholesky's factor is 0 on rank 0, but 1 on rank ");
  OSLA_ASSERT_ERR(is_last ? osla_posv_mixed(OSLA_LOWER, triangle, b, x, NULL, NULL)
                          : osla_gesv_mixed(triangle, b, x, NULL, NULL),
                  OSLA_ERR_UNSUPPORTED);
  OSLA_ASSERT_SAME_TEXT();
}

/* The last rank passes operands that the calls accept. The other ranks pass a part on the diagonal
 * as A of osla_gemv, or a part of a triangular matrix as B of osla_symm, which the calls refuse. */
static void check_other_part(osla_matrix *triangle, osla_matrix *b, osla_matrix *x)
{
  enum { HALF = N / 2 };
  const bool is_last = osla_test_rank() == osla_test_size() - 1;
  const osla_part below = osla_part_at(triangle, HALF, 0, HALF, HALF);
  const osla_part square = osla_part_at(triangle, 0, 0, HALF, HALF);
  const osla_part part = osla_part_at(b, 0, 0, HALF, HALF);
  OSLA_ASSERT_ERR(osla_gemv(OSLA_NOTRANS, 1, is_last ? below : square,
                            osla_part_at(b, 0, 0, HALF, 1), 1, osla_part_at(x, 0, 0, HALF, 1)),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("osla_gemv: a.i is 0 on rank 0, but 6 on rank ");
  OSLA_ASSERT_ERR(osla_symm(OSLA_LEFT, OSLA_LOWER, 1, square, is_last ? part : below, 1,
                            osla_part_at(x, 0, 0, HALF, HALF), NULL),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("osla_symm: b.i is 6 on rank 0, but 0 on rank ");
}

static void test_some_ranks(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = osla_test_square_grid(t);
  osla_matrix *triangle = NULL, *b = NULL, *x = NULL;
  int64_t ipiv[N] = {0};
  OSLA_ASSERT_OK(osla_matrix_create_triangle(grid, OSLA_DOUBLE, N, NB, &triangle));
  OSLA_ASSERT_OK(osla_matrix_fill(triangle, OSLA_FILL_SPD, 1));
  OSLA_ASSERT_OK(osla_matrix_create(grid, OSLA_DOUBLE, N, N, NB, NB, &b));
  OSLA_ASSERT_OK(osla_matrix_create(grid, OSLA_DOUBLE, N, N, NB, NB, &x));
  if (osla_test_size() > 1) {
    check_other_factor(triangle, b, x, ipiv);
    check_other_part(triangle, b, x);
  }
  osla_matrix_destroy(&triangle);
  osla_matrix_destroy(&b);
  osla_matrix_destroy(&x);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"calls", test_calls}, {"some ranks", test_some_ranks}, {NULL, NULL}};
OSLA_TEST_SUITE(test_triangle_refused, cases);
