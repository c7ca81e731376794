/* Tests of every struct of options: {0} means the defaults. An element of `reserved` that is not 0
 * on one rank is refused on all ranks, and the message names it. The table contains all calls with
 * options. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/iterate/iterate.h"
#include "osla.h"
#include "osla_coarse.h"
#include "osla_device.h"
#include "tests/osla_test_help.h"

enum { N = 12, NB = 4, WORDS = 8 };

/* Operands of all calls: A is positive definite, B and X have two columns. */
typedef struct operands {
  osla_transport *t;
  osla_grid *grid;
  osla_matrix *a, *b, *x, *c;
  osla_csr *sparse; /* sparse identity matrix */
  double *vector, *other;
  int64_t rows, *ipiv;
  char path[64];
} operands;

/* Makes a call in which options.reserved[word] has this value, and destroys the objects that the
 * call created. */
typedef osla_err call_with(const operands *s, int word, uint64_t value);

#define CALL_WITH(name, type, call)                                                                \
  static osla_err name(const operands *s, int word, uint64_t value)                                \
  {                                                                                                \
    type o = {0};                                                                                  \
    o.reserved[word] = value;                                                                      \
    return call;                                                                                   \
  }

static osla_err with_transport(const operands *s, int word, uint64_t value)
{
  osla_transport_options o = {0};
  osla_transport *made = NULL;
  (void)s;
  o.reserved[word] = value;
  const osla_err err = osla_transport_create(MPI_COMM_WORLD, &o, &made);
  CU_ASSERT((err == OSLA_OK) == (made != NULL));
  osla_transport_destroy(&made);
  return err;
}

static osla_err with_device(const operands *s, int word, uint64_t value)
{
  osla_device_options o = {.kind = "fake"};
  osla_device *made = NULL;
  o.reserved[word] = value;
  const osla_err err = osla_device_open(s->t, &o, &made);
  osla_device_close(&made);
  const bool several = osla_transport_n_nodes(s->t) > 1; /* a kind of device may need one node */
  return several && err == OSLA_ERR_UNSUPPORTED ? OSLA_OK : err;
}

CALL_WITH(with_save, osla_save_options, osla_matrix_save(s->a, s->path, &o))

static osla_err with_load(const operands *s, int word, uint64_t value)
{
  osla_load_options o = {0};
  osla_matrix *made = NULL;
  o.reserved[word] = value;
  OSLA_ASSERT_OK(osla_matrix_save(s->a, s->path, NULL));
  const osla_err err = osla_matrix_load(s->grid, s->path, &o, NULL, &made);
  osla_matrix_destroy(&made);
  return err;
}

CALL_WITH(with_gemm, osla_gemm_options,
          osla_gemm(OSLA_NOTRANS, OSLA_NOTRANS, 1, osla_whole(s->a), osla_whole(s->b), 0,
                    osla_whole(s->x), &o))
CALL_WITH(with_syrk, osla_gemm_options,
          osla_syrk(OSLA_LOWER, OSLA_NOTRANS, 1, osla_whole(s->b), 0, osla_whole(s->c), &o))
CALL_WITH(with_herk, osla_gemm_options,
          osla_herk(OSLA_LOWER, OSLA_NOTRANS, 1, osla_whole(s->b), 0, osla_whole(s->c), &o))
CALL_WITH(with_symm, osla_gemm_options,
          osla_symm(OSLA_LEFT, OSLA_LOWER, 1, osla_whole(s->a), osla_whole(s->b), 0,
                    osla_whole(s->x), &o))
CALL_WITH(with_hemm, osla_gemm_options,
          osla_hemm(OSLA_LEFT, OSLA_LOWER, 1, osla_whole(s->a), osla_part_at(s->b, 0, 0, N, 0), 0,
                    osla_part_at(s->x, 0, 0, N, 0), &o)) /* a product without columns */
CALL_WITH(with_trmm, osla_gemm_options,
          osla_trmm(OSLA_LEFT, OSLA_LOWER, OSLA_NOTRANS, OSLA_UNIT, 1, osla_whole(s->a),
                    osla_whole(s->x), &o))

static osla_err with_lu(const operands *s, int word, uint64_t value)
{
  osla_lu_options o = {.pivoting = OSLA_PIVOT_PARTIAL};
  osla_lu_result result;
  o.reserved[word] = value;
  OSLA_ASSERT_OK(osla_matrix_copy(s->a, s->c));
  return osla_getrf(s->c, s->ipiv, &o, &result);
}

static osla_err with_potrf(const operands *s, int word, uint64_t value)
{
  osla_chol_options o = {0};
  int64_t info;
  o.reserved[word] = value;
  OSLA_ASSERT_OK(osla_matrix_copy(s->a, s->c));
  return osla_potrf(OSLA_LOWER, s->c, &o, &info);
}

static osla_err with_potri(const operands *s, int word, uint64_t value)
{
  osla_chol_options o = {0};
  int64_t info;
  o.reserved[word] = value;
  /* any triangle with a positive diagonal can be used as a factor */
  return osla_potri(OSLA_LOWER, s->a, &o, &info);
}

static osla_err with_refine(const operands *s, int word, uint64_t value)
{
  osla_refine_options o = {0};
  int64_t info;
  o.reserved[word] = value;
  OSLA_ASSERT_OK(osla_matrix_copy(s->a, s->c));
  OSLA_ASSERT_OK(osla_potrf(OSLA_LOWER, s->c, NULL, &info));
  const osla_factors f = osla_factors_cholesky(s->c, OSLA_LOWER);
  return osla_refine(s->a, &f, s->b, s->x, &o, NULL);
}

CALL_WITH(with_gesv, osla_refine_options, osla_gesv_mixed(s->a, s->b, s->x, &o, NULL))
CALL_WITH(with_posv, osla_refine_options, osla_posv_mixed(OSLA_LOWER, s->a, s->b, s->x, &o, NULL))

static osla_err with_hessian(const operands *s, int word, uint64_t value)
{
  osla_hessian_options o = {0};
  osla_hessian *made;
  o.reserved[word] = value;
  const osla_err err = osla_hessian_create(s->grid, N, &o, &made);
  osla_hessian_destroy(&made);
  return err;
}

static osla_err with_cg(const operands *s, int word, uint64_t value)
{
  osla_krylov_options o = {0};
  osla_krylov_result result;
  const osla_operator a = osla_csr_operator(s->sparse);
  o.reserved[word] = value;
  return osla_cg(&a, NULL, s->vector, s->other, &o, &result);
}

static osla_err with_lsqr(const operands *s, int word, uint64_t value)
{
  osla_krylov_options o = {0};
  osla_krylov_result result;
  const osla_operator a = osla_csr_operator(s->sparse);
  o.reserved[word] = value;
  return osla_lsqr(&a, s->vector, 0.0, NULL, s->other, &o, &result);
}

static osla_err with_diffusion(const operands *s, int word, uint64_t value)
{
  osla_diffusion_options o = {.points = {3, 4, 5}};
  osla_diffusion *made;
  o.reserved[word] = value;
  const osla_err err = osla_diffusion_create(s->t, &o, &made);
  osla_diffusion_destroy(&made);
  return err;
}

static osla_err with_splitting(const operands *s, int word, uint64_t value)
{
  osla_splitting_options o = {0};
  osla_splitting *made;
  o.reserved[word] = value;
  const osla_err err = osla_splitting_create(s->sparse, s->vector, &o, &made);
  osla_splitting_destroy(&made);
  return err;
}

static osla_err with_dense_splitting(const operands *s, int word, uint64_t value)
{
  osla_splitting_options o = {0};
  osla_splitting *made;
  o.reserved[word] = value;
  const osla_err err = osla_splitting_create_dense(OSLA_GENERAL, s->a, s->vector, &o, &made);
  osla_splitting_destroy(&made);
  return err;
}

/* Makes an iteration or, if `sweeps` is true, a preconditioner that consists of sweeps. */
static osla_err with_iterations(const operands *s, int word, uint64_t value, bool sweeps)
{
  osla_iterate_options o = {0};
  osla_splitting *split;
  osla_iteration *it = NULL;
  osla_sweeps *made = NULL;
  o.reserved[word] = value;
  if (!OSLA_ASSERT_OK(osla_splitting_create(s->sparse, s->vector, NULL, &split))) return OSLA_OK;
  const osla_fixed_point p = osla_splitting_problem(split);
  const osla_err err = sweeps ? osla_sweeps_create(s->t, &p, s->rows, s->vector, &o, &made)
                              : osla_iteration_create(s->t, &p, &o, &it);
  osla_iteration_destroy(&it);
  osla_sweeps_destroy(&made);
  osla_splitting_destroy(&split);
  return err;
}

static osla_err with_coarse(const operands *s, int word, uint64_t value)
{
  osla_coarse_options o = {0};
  osla_splitting *split;
  osla_iteration *it = NULL;
  o.reserved[word] = value;
  if (!OSLA_ASSERT_OK(osla_splitting_create(s->sparse, s->vector, NULL, &split))) return OSLA_OK;
  const osla_fixed_point p = osla_splitting_problem(split);
  const osla_coarse coarse = osla_splitting_coarse(split);
  osla_err err = OSLA_OK;
  if (OSLA_ASSERT_OK(osla_iteration_create(s->t, &p, NULL, &it)))
    err = osla_iteration_add_coarse(it, &coarse, &o);
  osla_iteration_destroy(&it);
  osla_splitting_destroy(&split);
  return err;
}

static osla_err with_iteration(const operands *s, int word, uint64_t value)
{
  return with_iterations(s, word, value, false);
}

static osla_err with_sweeps(const operands *s, int word, uint64_t value)
{
  return with_iterations(s, word, value, true);
}

static const struct {
  const char *options;
  call_with *call;
} table[] = {{"osla_transport_options", with_transport},
             {"osla_device_options", with_device},
             {"osla_save_options", with_save},
             {"osla_load_options", with_load},
             {"osla_gemm_options", with_gemm},
             {"osla_gemm_options", with_syrk},
             {"osla_gemm_options", with_herk},
             {"osla_gemm_options", with_symm},
             {"osla_gemm_options", with_hemm},
             {"osla_gemm_options", with_trmm},
             {"osla_lu_options", with_lu},
             {"osla_chol_options", with_potrf},
             {"osla_chol_options", with_potri},
             {"osla_refine_options", with_refine},
             {"osla_refine_options", with_gesv},
             {"osla_refine_options", with_posv},
             {"osla_hessian_options", with_hessian},
             {"osla_krylov_options", with_cg},
             {"osla_krylov_options", with_lsqr},
             {"osla_diffusion_options", with_diffusion},
             {"osla_splitting_options", with_splitting},
             {"osla_splitting_options", with_dense_splitting},
             {"osla_iterate_options", with_iteration},
             {"osla_iterate_options", with_sweeps},
             {"osla_coarse_options", with_coarse}};

static operands make_operands(void)
{
  operands s = {.t = osla_test_transport()};
  int64_t *start = osla_test_allocate((size_t)osla_test_size() + 1, sizeof *start);
  osla_even_blocks(N, osla_test_size(), start);
  const int64_t low = start[osla_test_rank()];
  s.rows = start[osla_test_rank() + 1] - low;
  OSLA_ASSERT_OK(osla_grid_create(s.t, 0, 0, &s.grid));
  OSLA_ASSERT_OK(osla_matrix_create(s.grid, OSLA_DOUBLE, N, N, NB, NB, &s.a));
  OSLA_ASSERT_OK(osla_matrix_create(s.grid, OSLA_DOUBLE, N, N, NB, NB, &s.c));
  OSLA_ASSERT_OK(osla_matrix_create(s.grid, OSLA_DOUBLE, N, 2, NB, 1, &s.b));
  OSLA_ASSERT_OK(osla_matrix_create(s.grid, OSLA_DOUBLE, N, 2, NB, 1, &s.x));
  OSLA_ASSERT_OK(osla_matrix_fill(s.b, OSLA_FILL_UNIFORM, 2));
  s.ipiv = osla_test_allocate((size_t)osla_matrix_local_rows(s.a) + 1, sizeof *s.ipiv);
  s.vector = osla_test_allocate(N, sizeof *s.vector);
  s.other = osla_test_allocate(N, sizeof *s.other);
  int64_t *first = osla_test_allocate((size_t)s.rows + 1, sizeof *first);
  int64_t *column = osla_test_allocate((size_t)s.rows + 1, sizeof *column);
  double *one = osla_test_allocate((size_t)s.rows + 1, sizeof *one);
  for (int64_t i = 0; i < s.rows; i++) {
    first[i + 1] = i + 1;
    column[i] = low + i;
    one[i] = 1.0;
  }
  OSLA_ASSERT_OK(osla_csr_create(s.t, start, start, first, column, one, &s.sparse));
  free(first);
  free(column);
  free(one);
  free(start);
  int job = (int)getpid();
  OSLA_ASSERT_OK(osla_bcast(s.t, &job, 1, MPI_INT, 0));
  (void)snprintf(s.path, sizeof s.path, "/tmp/osla_reserved_%d.bin", job);
  return s;
}

static void free_operands(operands *s)
{
  OSLA_ASSERT_OK(osla_barrier(s->t));
  if (osla_test_rank() == 0) (void)remove(s->path);
  OSLA_ASSERT_OK(osla_csr_destroy(&s->sparse));
  osla_matrix_destroy(&s->a);
  osla_matrix_destroy(&s->b);
  osla_matrix_destroy(&s->x);
  osla_matrix_destroy(&s->c);
  osla_grid_destroy(&s->grid);
  free(s->ipiv);
  free(s->vector);
  free(s->other);
  osla_transport_destroy(&s->t);
}

/* Number of elements of `reserved` in this struct of options. */
static int words_of(const char *options)
{
  if (strcmp(options, "osla_splitting_options") == 0) return WORDS - 2;
  const bool has_new_member = strcmp(options, "osla_krylov_options") == 0 ||
                              strcmp(options, "osla_hessian_options") == 0;
  return has_new_member ? WORDS - 1 : WORDS;
}

static void test_collective(void)
{
  operands s = make_operands();
  const int odd = osla_test_size() - 1; /* the only rank on which the reserved element is not 0 */
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    for (int end = 0; end < 2; end++) {
      const int word = end ? words_of(table[i].options) - 1 : 0;
      char text[80];
      OSLA_ASSERT_OK(osla_matrix_fill(s.a, OSLA_FILL_SPD, 1));
      const osla_err plain = table[i].call(&s, word, 0);
      OSLA_ASSERT_MSG(plain == OSLA_OK, "{0} of %s, line %zu of the table: %s", table[i].options, i,
                      osla_error_text());
      OSLA_ASSERT_OK(osla_matrix_fill(s.a, OSLA_FILL_SPD, 1));
      const osla_err err = table[i].call(&s, word, osla_test_rank() == odd ? 0x2a : 0);
      OSLA_ASSERT_MSG(err == OSLA_ERR_ARG, "reserved[%d] of %s, line %zu of the table: %s", word,
                      table[i].options, i, osla_err_name(err));
      (void)snprintf(text, sizeof text, "%s: reserved[%d] = 0x2a is not 0", table[i].options, word);
      OSLA_ASSERT_TEXT(text);
      OSLA_ASSERT_SAME_TEXT();
    }
  free_operands(&s);
}

/* Local calls with options. */
static void test_local(void)
{
  operands s = make_operands();
  osla_gemm_options o = {.reserved = {0, 0, 9}};
  osla_diffusion_options d = {.points = {2, 2, 2}, .reserved = {0, UINT64_MAX}};
  osla_gemm_plan plan;
  osla_diffusion *made;
  OSLA_ASSERT_ERR(osla_gemm_predict(OSLA_NOTRANS, OSLA_NOTRANS, osla_whole(s.a), osla_whole(s.b),
                                    osla_whole(s.x), &o, &plan),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("osla_gemm_options: reserved[2] = 0x9 is not 0");
  OSLA_ASSERT_ERR(osli_diffusion_create_part(&d, 0, 1, &made), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("osla_diffusion_options: reserved[1] = 0xffffffffffffffff is not 0");
  free_operands(&s);
}

static const osla_test_case cases[] = {
  {"collective", test_collective}, {"local", test_local}, {NULL, NULL}};
OSLA_TEST_SUITE(test_reserved, cases);
