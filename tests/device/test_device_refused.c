/* Tests of calls that do not serve device memory. Each must return UNSUPPORTED, name itself in the
 * message and leave the matrices unchanged. Calls with operands in host memory and on a device must
 * be refused, too. */
#include "osla.h"
#include "osla_unstable.h"
#include "tests/device/device_help.h"

#include <stdio.h>

enum { N = 12, NB = 3 };

/* Operands of the calls. */
typedef struct operands {
  osla_transport *t;
  osla_matrix *a, *b, *c; /* matrices on the device */
  osla_matrix *y;         /* matrix in host memory */
  osla_part pa, pb, pc;   /* the whole matrices a, b and c */
  osla_part x;            /* column 0 of b */
  osla_part v;            /* column 0 of c */
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

CALL(osla_matrix_add, osla_matrix_add(1, s->a, 1, s->c))
CALL(osla_matrix_mirror, osla_matrix_mirror(s->a, OSLA_LOWER))
CALL(osla_matrix_save, osla_matrix_save(s->a, "refused.osla", NULL))
CALL(osla_getri, osla_getri(s->a, s->ipiv, NULL, &info))
CALL(osla_potri, osla_potri(OSLA_LOWER, s->a, NULL, &info))
CALL(osla_symm, osla_symm(OSLA_LEFT, OSLA_LOWER, 1, s->pa, s->pb, 1, s->pc, NULL))
CALL(osla_hemm, osla_hemm(OSLA_LEFT, OSLA_LOWER, 1, s->pa, s->pb, 1, s->pc, NULL))
CALL(osla_trmm, osla_trmm(OSLA_LEFT, OSLA_LOWER, OSLA_NOTRANS, OSLA_NONUNIT, 1, s->pa, s->pb, NULL))
CALL(osla_gemv, osla_gemv(OSLA_NOTRANS, 1, s->pa, s->x, 1, s->v))
CALL(osla_symv, osla_symv(OSLA_LOWER, 1, s->pa, s->x, 1, s->v))
CALL(osla_hemv, osla_hemv(OSLA_LOWER, 1, s->pa, s->x, 1, s->v))
CALL(osla_residual, osla_residual(s->a, s->b, s->c, &value))
CALL(osla_gesv_mixed, osla_gesv_mixed(s->a, s->b, s->c, NULL, NULL))
CALL(osla_posv_mixed, osla_posv_mixed(OSLA_LOWER, s->a, s->b, s->c, NULL, NULL))
CALL(osla_gecon, osla_gecon(s->a, s->ipiv, 1, &value))
CALL(osla_pocon, osla_pocon(OSLA_LOWER, s->a, 1, &value))

static osla_err with_osla_file_put_matrix(const operands *s)
{
  return osla_file_put_matrix(NULL, "a", s->a, OSLA_STORED_WHOLE);
}

static osla_err with_osla_file_get_matrix(const operands *s)
{
  return osla_file_get_matrix(NULL, "a", s->a);
}

static osla_err with_osla_refine(const operands *s)
{
  osla_factors f = osla_factors_cholesky(s->a, OSLA_LOWER);
  return osla_refine(s->a, &f, s->b, s->c, NULL, NULL);
}

static osla_err with_osla_splitting_create_dense(const operands *s)
{
  osla_splitting *h = NULL;
  const double b[N] = {0};
  const osla_err err = osla_splitting_create_dense(OSLA_LOWER, s->a, b, NULL, &h);
  CU_ASSERT(h == NULL);
  return err;
}

static osla_err with_osla_blas_iamax(const operands *s)
{
  int64_t index;
  return osla_blas_iamax(OSLA_DOUBLE, 1, osla_matrix_local(s->a), &index);
}

static osla_err with_osla_blas_max(const operands *s)
{
  double value;
  return osla_blas_max(OSLA_DOUBLE, 1, osla_matrix_local(s->a), &value);
}

static osla_err with_osla_blas_ger(const operands *s)
{
  double x = 1;
  return osla_blas_ger(OSLA_DOUBLE, 1, 1, 1, &x, 1, osla_matrix_local(s->a), 1, &x, 1);
}

static osla_err with_osla_lapack_potri(const operands *s)
{
  int64_t info;
  return osla_lapack_potri(OSLA_DOUBLE, OSLA_LOWER, 1, osla_matrix_local(s->a), 1, &info);
}

static osla_err with_osla_alltoall(const operands *s)
{
  double x = 1;
  return osla_alltoall(s->t, &x, osla_matrix_local(s->a), 1, MPI_DOUBLE);
}

static osla_err with_osla_bcast(const operands *s)
{
  return osla_bcast(s->t, osla_matrix_local(s->a), 1, MPI_DOUBLE, 0);
}

static osla_err with_osla_blas_scal(const operands *s)
{
  return osla_blas_scal(OSLA_DOUBLE, 1, 2, osla_matrix_local(s->a));
}

#define LINE(name)                                                                                 \
  {                                                                                                \
#name, with_##name                                                                             \
  }
static const struct refused_call {
  const char *name;
  osla_err (*run)(const operands *s);
} calls[] = {LINE(osla_matrix_add),
             LINE(osla_matrix_mirror),
             LINE(osla_matrix_save),
             LINE(osla_file_put_matrix),
             LINE(osla_file_get_matrix),
             LINE(osla_getri),
             LINE(osla_potri),
             LINE(osla_symm),
             LINE(osla_hemm),
             LINE(osla_trmm),
             LINE(osla_gemv),
             LINE(osla_symv),
             LINE(osla_hemv),
             LINE(osla_residual),
             LINE(osla_gesv_mixed),
             LINE(osla_posv_mixed),
             LINE(osla_gecon),
             LINE(osla_pocon),
             LINE(osla_refine),
             LINE(osla_splitting_create_dense),
             LINE(osla_blas_iamax),
             LINE(osla_blas_max),
             LINE(osla_blas_ger),
             LINE(osla_blas_scal),
             LINE(osla_lapack_potri),
             LINE(osla_alltoall),
             LINE(osla_bcast)};

static void check_refused(const operands *s)
{
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    OSLA_ASSERT_ERR(calls[i].run(s), OSLA_ERR_UNSUPPORTED);
    OSLA_ASSERT_TEXT(calls[i].name);
  }
}

/* Checks that products and solves are refused if some operands lie in host memory and others on a
 * device. */
static void check_mixed(const operands *s)
{
  osla_part y = osla_whole(s->y);
  OSLA_ASSERT_ERR(osla_gemm(OSLA_NOTRANS, OSLA_NOTRANS, 1, s->pa, y, 1, s->pc, NULL), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("on a device");
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_ERR(osla_gemm(OSLA_NOTRANS, OSLA_NOTRANS, 1, s->pa, s->pb, 1, y, NULL), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_syrk(OSLA_LOWER, OSLA_NOTRANS, 1, s->pa, 1, y, NULL), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_trsm(OSLA_LEFT, OSLA_LOWER, OSLA_NOTRANS, OSLA_NONUNIT, 1, s->a, s->y),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_potrs(OSLA_LOWER, s->y, s->b), OSLA_ERR_ARG);
  osla_gemm_ablate(&(osla_gemm_ablation){.copy = true});
  OSLA_ASSERT_ERR(osla_gemm(OSLA_NOTRANS, OSLA_NOTRANS, 1, s->pa, s->pb, 1, s->pc, NULL),
                  OSLA_ERR_UNSUPPORTED);
  osla_gemm_ablate(NULL);
  double x = 1, *on = osla_matrix_local(s->a);
  for (int64_t k = 0; k < 2; k++) {
    OSLA_ASSERT_ERR(
      osla_blas_gemm(OSLA_DOUBLE, OSLA_NOTRANS, OSLA_NOTRANS, 1, 1, k, 1, on, 1, &x, 1, 1, &x, 1),
      OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("on a device");
  }
  OSLA_ASSERT_ERR(
    osla_blas_gemm(OSLA_DOUBLE, OSLA_NOTRANS, OSLA_NOTRANS, 1, 1, 1, 1, &x, 1, on, 1, 1, &x, 1),
    OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_blas_syrk(OSLA_DOUBLE, OSLA_LOWER, OSLA_NOTRANS, 1, 1, 1, on, 1, 1, &x, 1),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_blas_trsm(OSLA_DOUBLE, OSLA_LEFT, OSLA_LOWER, OSLA_NOTRANS, OSLA_NONUNIT, 1,
                                 1, on, 1, &x, 1),
                  OSLA_ERR_ARG);
}

static void test_calls(void)
{
  device_bench b;
  if (!bench_open(&b, false)) return;
  osla_grid *grid = osla_test_square_grid(b.t);
  matrix_pair a = pair_make(&b, grid, grid, OSLA_DOUBLE, N, N, NB, NB, OSLA_FILL_SPD, 1);
  matrix_pair x = pair_make(&b, grid, grid, OSLA_DOUBLE, N, N, NB, NB, OSLA_FILL_UNIFORM, 2);
  matrix_pair c = pair_make(&b, grid, grid, OSLA_DOUBLE, N, N, NB, NB, OSLA_FILL_UNIFORM, 3);
  int64_t ipiv[N];
  for (int i = 0; i < N; i++)
    ipiv[i] = i + 1;
  operands s = {.t = b.t, .a = a.device, .b = x.device, .c = c.device, .y = x.host, .ipiv = ipiv};
  s.pa = osla_whole(s.a);
  s.pb = osla_whole(s.b);
  s.pc = osla_whole(s.c);
  s.x = (osla_part){s.b, 0, 0, N, 1};
  s.v = (osla_part){s.c, 0, 0, N, 1};
  check_refused(&s);
  check_mixed(&s);
  pair_expect(&a, 0, "A after refused calls");
  pair_expect(&x, 0, "B after refused calls");
  pair_expect(&c, 0, "C after refused calls");
  pair_free(&a), pair_free(&x), pair_free(&c);
  osla_grid_destroy(&grid);
  bench_close(&b);
}

static const osla_test_case cases[] = {{"calls", test_calls}, {NULL, NULL}};
OSLA_TEST_SUITE(test_device_refused, cases);
