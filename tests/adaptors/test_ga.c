/* Tests osla_ga_gemm on Global Arrays of all types and distributions, against an exact serial
 * product of integers. Also tests arrays as matrices, and refused arguments. */
#include "tests/adaptors/ga_help.h"
#include "tests/complex_help.h"

#include <ga.h>
#include <inttypes.h>
#include <macdecls.h>
#include <stdlib.h>
#include <string.h>

static const int some_block[2] = {5, 3};

static void test_not_started(void)
{
  int64_t info;
  osla_ga_matrix *x;
  osla_ga_hessian *h;
  OSLA_ASSERT_ERR(osla_ga_gemm('n', 'n', 1, 1, 1, 1, -1000, -999, 0, -998), OSLA_ERR_STATE);
  OSLA_ASSERT_TEXT("Global Arrays is not running");
  OSLA_ASSERT_ERR(osla_ga_lu_solve('n', -1000, -999, &info), OSLA_ERR_STATE);
  OSLA_ASSERT_ERR(osla_ga_matrix_create(-1000, OSLA_GA_SQUARE, &x), OSLA_ERR_STATE);
  OSLA_ASSERT_ERR(osla_ga_hessian_create(-1000, OSLA_LOWER, &h), OSLA_ERR_STATE);
  OSLA_ASSERT_ERR(osla_ga_initialize(-1), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_ga_initialize(INT64_MAX / 64), OSLA_ERR_MEM);
}

typedef struct operand {
  int array;
  int64_t rows, cols; /* numbers of rows and columns of the array */
  osla_complex *have;
} operand;

static operand make_operand(ga_kind kind, osla_dtype dtype, int64_t rows, int64_t cols,
                            uint64_t seed)
{
  operand x = {ga_make(kind, dtype, rows, cols, some_block), rows, cols, NULL};
  ga_fill(x.array, ga_whole, &seed);
  x.have = ga_contents(x.array, ga_whole, &seed);
  return x;
}

static void free_operand(operand *x)
{
  GA_Destroy(x->array);
  free(x->have);
}

static osla_complex element(const operand *x, char trans, int64_t i, int64_t j)
{
  osla_complex value = trans == 'n' ? x->have[i * x->cols + j] : x->have[j * x->cols + i];
  return trans == 'c' ? conj(value) : value;
}

/* Computes the serial product in c->have, exactly, since all values are integers. */
static void multiply(char ta, char tb, int64_t m, int64_t n, int64_t k, osla_complex alpha,
                     const operand *a, const operand *b, osla_complex beta, operand *c)
{
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++) {
      osla_complex sum = 0;
      for (int64_t l = 0; l < k; l++)
        sum += element(a, ta, i, l) * element(b, tb, l, j);
      osla_complex *to = &c->have[i * c->cols + j];
      *to = beta == 0 ? alpha * sum : alpha * sum + beta * *to;
    }
}

/* Checks one product. In each dimension the arrays are larger than the product by `more`. */
static void check_gemm(osla_dtype dtype, char ta, char tb, const ga_kind kinds[3], int64_t m,
                       int64_t n, int64_t k, int64_t more, osla_complex beta)
{
  bool complex_type = dtype >= OSLA_COMPLEX_FLOAT;
  osla_complex alpha = complex_type ? CMPLX(2, -1) : 2;
  int64_t am = ta == 'n' ? m : k, an = ta == 'n' ? k : m;
  int64_t bm = tb == 'n' ? k : n, bn = tb == 'n' ? n : k;
  operand a = make_operand(kinds[0], dtype, am + more, an + more, 1);
  operand b = make_operand(kinds[1], dtype, bm + more, bn + more, 2);
  operand c = make_operand(kinds[2], dtype, m + more, n + more, 3);
  OSLA_ASSERT_OK(osla_ga_gemm(ta, tb, m, n, k, alpha, a.array, b.array, beta, c.array));
  multiply(ta, tb, m, n, k, alpha, &a, &b, beta, &c);
  int64_t wrong = ga_count_wrong(c.array, c.have, 0);
  OSLA_ASSERT_MSG(wrong == 0,
                  "%c, %c%c, %s x %s -> %s, %" PRId64 " x %" PRId64 ": %" PRId64 " wrong",
                  osla_dtype_letter(dtype), ta, tb, ga_kind_name(kinds[0]), ga_kind_name(kinds[1]),
                  ga_kind_name(kinds[2]), m, n, wrong);
  free_operand(&a);
  free_operand(&b);
  free_operand(&c);
}

/* Tests all types and transposes (a fifth of the combinations if ranks outnumber cores, because
 * creating an array takes long then), with the kinds of arrays in turn. */
static void test_gemm(void)
{
  static const char letters[] = "ntc";
  int turn = 0;
  ga_start();
  for (int dtype = OSLA_FLOAT; dtype <= OSLA_COMPLEX_DOUBLE; dtype++)
    for (int ta = 0; ta < 3; ta++)
      for (int tb = 0; tb < 3; tb++, turn++) {
        if (osla_test_size() > 2 && turn % 5 != 0) continue;
        ga_kind kinds[3] = {turn % GA_KINDS, (turn / 2) % GA_KINDS, (turn * 3 + 1) % GA_KINDS};
        check_gemm((osla_dtype)dtype, letters[ta], letters[tb], kinds, 13, 17, 11, turn % 2 ? 0 : 2,
                   turn % 3 ? -1 : 0);
      }
}

/* Tests every kind of array as every operand, with sizes that blocks divide, sizes that they do
 * not divide, and fewer rows than ranks. */
static void test_gemm_kinds(void)
{
  static const int64_t sizes[][3] = {{24, 36, 48}, {31, 9, 23}, {1, 5, 1}};
  ga_start();
  for (int kind = 0; kind < GA_KINDS; kind++)
    for (int s = 0; s < 3; s++) {
      if (osla_test_size() > 2 && s != kind % 3) continue;
      ga_kind kinds[3] = {kind, kind, kind};
      check_gemm(OSLA_DOUBLE, 'n', s == 1 ? 't' : 'n', kinds, sizes[s][0], sizes[s][1], sizes[s][2],
                 0, s == 0 ? 0 : 1);
    }
}

/* Tests products with k = 0, and empty results. */
static void test_gemm_empty(void)
{
  static const ga_kind kinds[3] = {GA_REGULAR, GA_REGULAR, GA_REGULAR};
  ga_start();
  check_gemm(OSLA_DOUBLE, 'n', 'n', kinds, 5, 4, 0, 3, 2);
  check_gemm(OSLA_DOUBLE, 't', 'n', kinds, 0, 4, 6, 3, 2);
}

/* Tests that GA's own call with the same letters and sizes gives the same result. */
static void test_gemm_as_ga(void)
{
  static const char letters[] = "nt";
  uint64_t seed = 3;
  ga_start();
  for (int turn = 0; turn<4; turn += osla_test_size()> 2 ? 3 : 1) {
    char ta = letters[turn % 2], tb = letters[turn / 2];
    operand a = make_operand(GA_REGULAR, OSLA_DOUBLE, ta == 'n' ? 21 : 33, ta == 'n' ? 33 : 21, 1);
    operand b = make_operand(GA_REGULAR, OSLA_DOUBLE, tb == 'n' ? 33 : 18, tb == 'n' ? 18 : 33, 2);
    operand c = make_operand(GA_REGULAR, OSLA_DOUBLE, 21, 18, seed);
    OSLA_ASSERT_OK(osla_ga_gemm(ta, tb, 21, 18, 33, 3, a.array, b.array, 2, c.array));
    osla_complex *ours = ga_read(c.array);
    ga_fill(c.array, ga_whole, &seed);
    GA_Dgemm64(ta, tb, 21, 18, 33, 3, a.array, b.array, 2, c.array);
    int64_t wrong = ga_count_wrong(c.array, ours, 0);
    OSLA_ASSERT_MSG(wrong == 0, "%c%c: %" PRId64 " differ from GA_Dgemm's", ta, tb, wrong);
    free(ours);
    free_operand(&a);
    free_operand(&b);
    free_operand(&c);
  }
}

static double transposed(int64_t i, int64_t j, void *arg)
{
  const operand *x = arg;
  return creal(x->have[j * x->cols + i]);
}

/* Tests that the matrix holds the transpose of the array as C indexes it, and that
 * osla_ga_matrix_store copies changes back. */
static void test_matrix(void)
{
  uint64_t seed = 8;
  ga_start();
  for (int kind = 0; kind < GA_KINDS; kind++)
    for (int blocks = OSLA_GA_AS_DISTRIBUTED; blocks <= OSLA_GA_SQUARE; blocks++) {
      if (osla_test_size() > 2 && blocks != kind % 2) continue;
      operand x = make_operand(kind, OSLA_DOUBLE, 19, 26, 7);
      osla_ga_matrix *matrix = NULL;
      double block[26 * 19];
      if (!OSLA_ASSERT_OK(osla_ga_matrix_create(x.array, blocks, &matrix))) continue;
      osla_matrix *m = osla_ga_matrix_get(matrix);
      CU_ASSERT(osla_matrix_layout(m).m == 26 && osla_matrix_layout(m).n == 19);
      OSLA_ASSERT_OK(osla_matrix_get_block(m, 0, 0, 26, 19, block, 26));
      int64_t wrong = 0;
      for (int64_t k = 0; k < 26 * 19; k++)
        wrong += block[k] != transposed(k % 26, k / 26, &x);
      OSLA_ASSERT_MSG(wrong == 0, "%s: %" PRId64 " wrong", ga_kind_name(kind), wrong);
      ga_fill(x.array, ga_whole, &seed); /* the matrix must be a copy of the array */
      OSLA_ASSERT_OK(osla_ga_matrix_store(matrix));
      osla_ga_matrix_destroy(&matrix);
      CU_ASSERT(matrix == NULL);
      wrong = ga_count_wrong(x.array, x.have, 0);
      OSLA_ASSERT_MSG(wrong == 0, "%s stored: %" PRId64 " wrong", ga_kind_name(kind), wrong);
      free_operand(&x);
    }
}

static double place(int64_t i, int64_t j, void *arg)
{
  (void)arg;
  return (double)(100 * i + j);
}

/* Tests IN_PLACE: changes of the matrix change the array and vice versa. If must_fit, the sizes
 * are divisible by every grid of up to 4 ranks; arrays with another layout must be refused. */
static void check_in_place(ga_kind kind, int64_t rows, int64_t cols, bool must_fit)
{
  uint64_t seed = 9;
  operand x = make_operand(kind, OSLA_DOUBLE, rows, cols, 7);
  osla_ga_matrix *matrix = NULL;
  osla_err err = osla_ga_matrix_create(x.array, OSLA_GA_IN_PLACE, &matrix);
  if (err != OSLA_OK) {
    OSLA_ASSERT_MSG(err == OSLA_ERR_UNSUPPORTED && !must_fit, "%s: %s", ga_kind_name(kind),
                    osla_error_text());
    OSLA_ASSERT_TEXT("array \"test\" cannot be used in place");
    OSLA_ASSERT_SAME_TEXT();
    CU_ASSERT(matrix == NULL);
    free_operand(&x);
    return;
  }
  osla_matrix *m = osla_ga_matrix_get(matrix);
  double block[26 * 24];
  OSLA_ASSERT_OK(osla_matrix_get_block(m, 0, 0, cols, rows, block, cols));
  GA_Sync(); /* after this GA_Sync all ranks have read the matrix, so it may be changed */
  int64_t wrong = 0;
  for (int64_t k = 0; k < rows * cols; k++)
    wrong += block[k] != transposed(k % cols, k / cols, &x);
  OSLA_ASSERT_MSG(wrong == 0, "%s: %" PRId64 " wrong", ga_kind_name(kind), wrong);
  OSLA_ASSERT_OK(osla_matrix_fill_with(m, ga_whole, &seed));
  OSLA_ASSERT_OK(osla_ga_matrix_store(matrix));
  osla_ga_matrix_destroy(&matrix);
  /* the array in C's order is the transpose of the matrix */
  for (int64_t k = 0; k < rows * cols; k++)
    x.have[k] = ga_whole(k % cols, k / cols, &seed);
  wrong = ga_count_wrong(x.array, x.have, 0);
  OSLA_ASSERT_MSG(wrong == 0, "%s changed: %" PRId64 " wrong", ga_kind_name(kind), wrong);
  free_operand(&x);
}

static void test_in_place(void)
{
  ga_start();
  check_in_place(GA_SCALAPACK, 19, 26, true);
  check_in_place(GA_REGULAR, 24, 24, true);
  check_in_place(GA_REGULAR, 19, 26, osla_test_size() == 1);
  check_in_place(GA_IRREGULAR, 19, 26, osla_test_size() == 1);
  check_in_place(GA_CYCLIC, 19, 26, false);
  check_in_place(GA_TILED, 24, 24, false);
  check_in_place(GA_GHOSTS, 24, 24, true);
}

/* Tests arrays with fewer blocks than ranks. GA cannot put data to them (see ga_help.c), but OSLA
 * can. */
static void test_few_blocks(void)
{
  static const int64_t sizes[][2] = {{1, 1}, {5, 3}, {3, 7}};
  ga_start();
  for (int s = 0; s<6; s += osla_test_size()> 2 ? 2 : 1) {
    int64_t dims[2] = {sizes[s % 3][0], sizes[s % 3][1]}, ranks = GA_Nnodes();
    int block[2] = {5, 3}, grid[2] = {(int)ranks, 1};
    double have[21];
    osla_ga_matrix *matrix = NULL;
    int array = GA_Create_handle();
    GA_Set_data64(array, 2, dims, C_DBL);
    if (s < 3)
      GA_Set_block_cyclic_proc_grid(array, block, grid);
    else
      GA_Set_block_cyclic(array, block);
    CU_ASSERT(GA_Allocate(array));
    /* Turn 0 fills the matrix and stores it in the array, turn 1 reads the array. */
    for (int turn = 0; turn < 2; turn++) {
      if (!OSLA_ASSERT_OK(osla_ga_matrix_create(array, OSLA_GA_AS_DISTRIBUTED, &matrix))) continue;
      osla_matrix *m = osla_ga_matrix_get(matrix);
      if (turn == 0) OSLA_ASSERT_OK(osla_matrix_fill_with(m, place, NULL));
      if (turn == 0) OSLA_ASSERT_OK(osla_ga_matrix_store(matrix));
      OSLA_ASSERT_OK(osla_matrix_get_block(m, 0, 0, dims[1], dims[0], have, dims[1]));
      for (int64_t k = 0; k < dims[0] * dims[1] && turn == 1; k++)
        CU_ASSERT(have[k] == place(k % dims[1], k / dims[1], NULL));
      osla_ga_matrix_destroy(&matrix);
    }
    GA_Destroy(array);
  }
}

static int make_special(int type, int ndim, int group)
{
  int64_t dims[3] = {6, 6, 6};
  return NGA_Create_config64(type, ndim, dims, "special", NULL, group);
}

/* Tests that each refusal is one clear line, equal on all ranks, and changes nothing. */
static void test_refused(void)
{
  ga_start();
  int world = GA_Pgroup_get_world(), list[64] = {0};
  for (int r = 0; r < GA_Nnodes(); r++)
    list[r] = r;
  int group = GA_Pgroup_create(list, GA_Nnodes());
  int good = make_special(C_DBL, 2, world), other = make_special(C_DBL, 2, world);
  int whole = make_special(C_INT, 2, world), cube = make_special(C_DBL, 3, world);
  int vector = make_special(C_DBL, 1, world), single = make_special(C_FLOAT, 2, world);
  int grouped = make_special(C_DBL, 2, group), freed = make_special(C_DBL, 2, world);
  int pending = GA_Create_handle(); /* the array is not allocated */
  GA_Destroy(freed);
  int64_t info;
  const struct {
    int g_a, g_b, g_c;
    char ta;
    int64_t m, k;
    osla_err code;
    const char *text;
  } calls[] = {
    {freed, good, other, 'n', 6, 6, OSLA_ERR_ARG, "is not the handle of a global array"},
    {good, pending, other, 'n', 6, 6, OSLA_ERR_ARG, "g_b"},
    {good, 12345, other, 'n', 6, 6, OSLA_ERR_ARG, "12345"},
    {good, whole, other, 'n', 6, 6, OSLA_ERR_UNSUPPORTED, "type"},
    {cube, good, other, 'n', 6, 6, OSLA_ERR_UNSUPPORTED, "3 dimensions"},
    {vector, good, other, 'n', 6, 6, OSLA_ERR_UNSUPPORTED, "one dimension"},
    {single, good, other, 'n', 6, 6, OSLA_ERR_ARG, "types: A s, B d, C d"},
    {grouped, good, other, 'n', 6, 6, OSLA_ERR_UNSUPPORTED, "processor group"},
    {good, other, other, 'n', 6, 6, OSLA_ERR_ARG, "is an operand, too"},
    {good, good, other, 'x', 6, 6, OSLA_ERR_ARG, "transa = 'x'"},
    {good, good, other, 'n', 7, 6, OSLA_ERR_ARG, "less than 7 x 6"},
    {good, good, other, 'n', 6, 8, OSLA_ERR_ARG, "less than 6 x 8"},
    {good, good, other, 'n', -1, 6, OSLA_ERR_ARG, "m = -1"},
  };
  for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
    OSLA_ASSERT_ERR(osla_ga_gemm(calls[c].ta, 'n', calls[c].m, 6, calls[c].k, 1, calls[c].g_a,
                                 calls[c].g_b, 0, calls[c].g_c),
                    calls[c].code);
    OSLA_ASSERT_TEXT(calls[c].text);
    OSLA_ASSERT_SAME_TEXT();
  }
  OSLA_ASSERT_ERR(osla_ga_lu_solve('n', good, freed, &info), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_ga_potrf('x', good, &info), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_ga_initialize(100), OSLA_ERR_STATE);
  GA_Pgroup_set_default(group);
  OSLA_ASSERT_ERR(osla_ga_potrf('l', good, &info), OSLA_ERR_STATE);
  OSLA_ASSERT_TEXT("default processor group");
  GA_Pgroup_set_default(world);
  int arrays[] = {good, other, whole, cube, vector, single, grouped};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
    GA_Destroy(arrays[k]);
}

/* GA 5.8.2 places the tiles of grids that are not square outside the array's memory, so such arrays
 * must be refused. */
static void test_tiles_outside(void)
{
  int64_t dims[2] = {13, 9};
  int block[2] = {3, 2}, grid[2] = {GA_Nnodes(), 1};
  osla_ga_matrix *x = NULL;
  ga_start();
  int array = GA_Create_handle();
  GA_Set_data64(array, 2, dims, C_DBL);
  GA_Set_tiled_proc_grid(array, block, grid);
  CU_ASSERT(GA_Allocate(array));
  osla_err err = osla_ga_matrix_create(array, OSLA_GA_AS_DISTRIBUTED, &x);
  OSLA_ASSERT_MSG(err == OSLA_OK || err == OSLA_ERR_UNSUPPORTED, "%s", osla_error_text());
  if (GA_Nnodes() == 2) CU_ASSERT(err == OSLA_ERR_UNSUPPORTED);
  osla_ga_matrix_destroy(&x);
  GA_Destroy(array);
}

static void test_terminate(void)
{
  int64_t info;
  ga_start();
  osla_ga_terminate();
  CU_ASSERT(!GA_Initialized());
  OSLA_ASSERT_ERR(osla_ga_potrf('l', -1000, &info), OSLA_ERR_STATE);
}

static const osla_test_case cases[] = {
  {"not_started", test_not_started}, {"gemm", test_gemm},
  {"gemm_kinds", test_gemm_kinds},   {"gemm_empty", test_gemm_empty},
  {"gemm_as_ga", test_gemm_as_ga},   {"matrix", test_matrix},
  {"in_place", test_in_place},       {"few_blocks", test_few_blocks},
  {"refused", test_refused},         {"tiles_outside", test_tiles_outside},
  {"terminate", test_terminate},     {NULL, NULL}};
OSLA_TEST_SUITE(test_ga, cases);
