/* Cases spmm and ptap of the kernel forest: the products A P and P^T A P of sparse matrices, as in
 * section 6.4 and Fig. 12 of Zhang et al. 2022.
 *
 * A is the matrix of the case spmv. P prolongates from aggregates, as the smoothed aggregation of
 * multigrid methods does: boxes of 3 x 3 x 3 points of the cube, or 8 consecutive rows of the
 * matrix of a file. Element (i, J) of P is the number of neighbours of point i in aggregate J, plus
 * 13 if i itself is in J. With 26 neighbours these are 40 times the elements after one step of
 * Jacobi's method with weight 27/40. All values are integers, so that results are exact: the
 * values of a matrix from a file are rounded.
 *
 * In the table, the row "initial" has the time to compute the pattern and the values of the
 * product, and the row "numeric" the time to compute the values alone. The reference implementation
 * "loop" multiplies the diagonal blocks of each rank and exchanges nothing. */
#include "bench/bench_sparse.h"
#include "bench/spmm_loop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE_OF_AGGREGATE = 3, ROWS_OF_AGGREGATE = 8, OF_POINT = 13, N_IMPLS = 2 };

typedef struct product_problem {
  bench_job *job;
  bool ptap, numeric;
  osla_csr *a, *p;
  int64_t side;           /* points along a side of the cube; 0: A is from a file */
  spmm_rows a_own, p_own; /* this rank's diagonal blocks of A and P */
  double *x;              /* [columns of P on this rank] vector that the check multiplies by */
  double *a_values;       /* [entries of A on this rank] values, in the order of osla_csr_row */
} product_problem;

typedef struct product_data {
  product_problem *problem;
  osla_csr *c;     /* product that OSLA computed */
  spmm_loop *loop; /* product that the reference implementation computed */
  bool is_loop;
} product_data;

/* ---- prolongation ---- */

static int64_t aggregate_of(const product_problem *b, int64_t row)
{
  const int64_t side = b->side, boxes = (side + SIDE_OF_AGGREGATE - 1) / SIDE_OF_AGGREGATE;
  if (side == 0) return row / ROWS_OF_AGGREGATE;
  const int64_t x = row % side, y = row / side % side, z = row / side / side;
  return x / SIDE_OF_AGGREGATE + boxes * (y / SIDE_OF_AGGREGATE + boxes * (z / SIDE_OF_AGGREGATE));
}

static int64_t number_of_aggregates(const product_problem *b, int64_t rows)
{
  return rows == 0 ? 0 : aggregate_of(b, rows - 1) + 1;
}

/* Creates the prolongation P from the pattern of A. Neighbours of a point that are in one aggregate
 * give entries with equal row and column, which osla_csr_create adds. */
static osla_err create_prolongation(product_problem *b)
{
  bench_job *job = b->job;
  const int64_t rows = osla_csr_rows(b->a), entries = osla_csr_entries(b->a);
  const int64_t *row_start = osla_csr_row_start(b->a);
  void *firsts = NULL, *columns = NULL, *values = NULL, *starts = NULL;
  osla_err err;
  OSLA_TRY(bench_alloc(job, (uint64_t)(rows + 1) * sizeof(int64_t), &firsts));
  OSLA_TRY(bench_alloc(job, (uint64_t)(entries + 1) * sizeof(int64_t), &columns));
  OSLA_TRY(bench_alloc(job, (uint64_t)(entries + 1) * sizeof(double), &values));
  OSLA_TRY(bench_alloc(job, ((uint64_t)job->size + 1) * sizeof(int64_t), &starts));
  int64_t *first = firsts, *column = columns;
  double *value = values;
  first[0] = 0;
  for (int64_t i = 0; i < rows; i++) {
    const int64_t row = row_start[job->rank] + i;
    first[i + 1] = first[i] + osla_csr_row(b->a, i, column + first[i], NULL);
    for (int64_t e = first[i]; e < first[i + 1]; e++) {
      value[e] = column[e] == row ? OF_POINT : 1.0;
      column[e] = aggregate_of(b, column[e]);
    }
  }
  osla_even_blocks(number_of_aggregates(b, row_start[job->size]), job->size, starts);
  OSLA_TRY(osla_csr_create(job->transport, row_start, starts, first, column, value, &b->p));
cleanup:
  free(firsts);
  free(columns);
  free(values);
  free(starts);
  return err;
}

/* Rounds the values of A to integers, and stores the integers in A and in a_values. */
static osla_err round_values(product_problem *b)
{
  void *memory;
  OSLA_CALL(bench_alloc(b->job, (uint64_t)(osla_csr_entries(b->a) + 1) * sizeof(double), &memory));
  b->a_values = memory;
  for (int64_t i = 0, n_values = 0; i < osla_csr_rows(b->a); i++)
    n_values += osla_csr_row(b->a, i, NULL, b->a_values + n_values);
  for (int64_t e = 0; e < osla_csr_entries(b->a); e++)
    b->a_values[e] = rint(b->a_values[e]);
  return osla_agree(b->job->transport, osla_csr_set_values(b->a, b->a_values));
}

/* Copies the entries of a matrix in this rank's rows and columns to `block`, with indices from
 * 0. */
static osla_err copy_diagonal_block(bench_job *job, const osla_csr *a, spmm_rows *block)
{
  const int64_t low = osla_csr_column_start(a)[job->rank], entries = osla_csr_entries(a);
  void *columns = NULL, *values = NULL;
  osla_err err;
  OSLA_TRY(bench_alloc(job, (uint64_t)(entries + 1) * sizeof(int64_t), &columns));
  OSLA_TRY(bench_alloc(job, (uint64_t)(entries + 1) * sizeof(double), &values));
  OSLA_TRY(osla_agree(job->transport,
                      spmm_rows_create(osla_csr_rows(a), osla_csr_columns(a), entries, block)));
  const int64_t *column = columns;
  const double *value = values;
  for (int64_t i = 0; i < block->rows; i++) {
    const int64_t n = osla_csr_row(a, i, columns, values);
    int64_t at = block->first[i];
    for (int64_t e = 0; e < n; e++)
      if (column[e] >= low && column[e] < low + block->columns) {
        block->column[at] = (int32_t)(column[e] - low);
        block->value[at++] = value[e];
      }
    block->first[i + 1] = at;
  }
cleanup:
  free(columns);
  free(values);
  return err;
}

static osla_err create_problem(bench_job *job, int64_t n, bool ptap, product_problem *b)
{
  sparse_problem s = {0};
  void *memory;
  *b = (product_problem){.job = job, .ptap = ptap};
  osla_err err = sparse_problem_create(job, FOREST_SPMV, n, &s);
  b->a = s.a; /* only the matrix of s is used; its other members are freed */
  s.a = NULL;
  sparse_problem_free(&s);
  OSLA_CALL(err);
  if (!job->settings->matrix)
    while (b->side * b->side * b->side < osla_csr_row_start(b->a)[job->size])
      b->side++;
  OSLA_CALL(round_values(b));
  OSLA_CALL(create_prolongation(b));
  OSLA_CALL(copy_diagonal_block(job, b->a, &b->a_own));
  OSLA_CALL(copy_diagonal_block(job, b->p, &b->p_own));
  OSLA_CALL(bench_alloc(job, (uint64_t)(osla_csr_columns(b->p) + 1) * sizeof *b->x, &memory));
  b->x = memory;
  for (int64_t j = 0; j < osla_csr_columns(b->p); j++)
    b->x[j] = (double)((osla_csr_column_start(b->p)[job->rank] + j) * 7 % 17 - 8);
  return OSLA_OK;
}

static void free_problem(product_problem *b)
{
  (void)osla_csr_destroy(&b->a);
  (void)osla_csr_destroy(&b->p);
  spmm_rows_free(&b->a_own);
  spmm_rows_free(&b->p_own);
  free(b->x);
  free(b->a_values);
}

/* ---- work ---- */

/* Counts the multiplications of two entries that A P, or P^T A P, needs on all ranks. For a row of
 * A P they are the entries in those rows of P that correspond to the row's entries of A. A product
 * of a matrix with the pattern of A and values 1 with a vector of the lengths of the rows of P
 * counts them. */
static osla_err count_products(product_problem *b, double *products)
{
  bench_job *job = b->job;
  const int64_t rows = osla_csr_rows(b->a), *start = osla_csr_row_start(b->a);
  const int64_t most = osla_csr_entries(b->a) + rows + 1;
  osla_csr *ones = NULL, *ap = NULL;
  void *lengths = NULL, *sums = NULL, *numbers = NULL, *values = NULL;
  osla_err err;
  OSLA_TRY(bench_alloc(job, (uint64_t)(rows + 1) * sizeof(double), &lengths));
  OSLA_TRY(bench_alloc(job, (uint64_t)(rows + 1) * sizeof(double), &sums));
  OSLA_TRY(bench_alloc(job, (uint64_t)(rows + 1) * sizeof(int64_t), &numbers));
  OSLA_TRY(bench_alloc(job, (uint64_t)most * sizeof(double), &values));
  double *length = lengths, *sum = sums, *value = values;
  for (int64_t i = 0; i < rows; i++) {
    length[i] = (double)osla_csr_row(b->p, i, NULL, NULL);
    ((int64_t *)numbers)[i] = start[job->rank] + i;
  }
  for (int64_t e = 0; e < most; e++)
    value[e] = 1.0;
  OSLA_TRY(osla_csr_renumber(b->a, numbers, start, &ones));
  OSLA_TRY(osla_agree(job->transport, osla_csr_set_values(ones, value)));
  OSLA_TRY(osla_spmv(OSLA_NOTRANS, ones, length, 0.0, sum));
  OSLA_TRY(osla_csr_multiply(b->a, b->p, &ap));
  *products = 0.0;
  for (int64_t i = 0; i < rows; i++)
    *products += sum[i] + (b->ptap ? length[i] * (double)osla_csr_row(ap, i, NULL, NULL) : 0.0);
  OSLA_TRY(osla_allreduce(job->transport, products, 1, MPI_DOUBLE, MPI_SUM));
cleanup:
  (void)osla_csr_destroy(&ones);
  (void)osla_csr_destroy(&ap);
  free(lengths);
  free(sums);
  free(numbers);
  free(values);
  return err;
}

/* ---- implementations ---- */

static osla_err compute_first(product_data *d)
{
  const product_problem *b = d->problem;
  if (d->is_loop)
    return osla_agree(b->job->transport,
                      spmm_loop_initial(&b->a_own, &b->p_own, b->ptap, &d->loop));
  return b->ptap ? osla_csr_galerkin(b->a, b->p, &d->c) : osla_csr_multiply(b->a, b->p, &d->c);
}

static osla_err run_product(void *data)
{
  product_data *d = data;
  const product_problem *b = d->problem;
  if (!b->numeric) return compute_first(d);
  if (d->is_loop) {
    spmm_loop_numeric(d->loop);
    return OSLA_OK;
  }
  return b->ptap ? osla_csr_galerkin_numeric(b->a, b->p, d->c)
                 : osla_csr_multiply_numeric(b->a, b->p, d->c);
}

static void drop_result(product_data *d)
{
  (void)osla_csr_destroy(&d->c);
  spmm_loop_free(&d->loop);
}

static osla_err setup(void *data)
{
  product_data *d = data;
  return d->problem->numeric ? compute_first(d) : OSLA_OK;
}

/* Changes the signs of A's values, so that values of an earlier run do not pass the check. */
static osla_err change_signs(product_problem *b)
{
  const int64_t entries = osla_csr_entries(b->a);
  for (int64_t e = 0; e < entries; e++)
    b->a_values[e] = -b->a_values[e];
  for (int64_t e = 0; e < b->a_own.first[b->a_own.rows]; e++)
    b->a_own.value[e] = -b->a_own.value[e];
  return osla_agree(b->job->transport, osla_csr_set_values(b->a, b->a_values));
}

static osla_err prepare(void *data)
{
  product_data *d = data;
  if (!d->problem->numeric) drop_result(d);
  return change_signs(d->problem);
}

static void teardown(void *data)
{
  drop_result(data);
}

/* Sets `due` to A (P x), or in the case ptap to P^T (A (P x)), by products of matrices with
 * vectors. `px` and `middle` are work space. */
static osla_err apply_factors(const product_data *d, double *px, double *middle, double *due)
{
  const product_problem *b = d->problem;
  double *apx = b->ptap ? middle : due;
  if (d->is_loop) {
    spmm_rows_apply(&b->p_own, false, b->x, px);
    spmm_rows_apply(&b->a_own, false, px, apx);
    if (b->ptap) spmm_rows_apply(&b->p_own, true, apx, due);
    return OSLA_OK;
  }
  OSLA_CALL(osla_spmv(OSLA_NOTRANS, b->p, b->x, 0.0, px));
  OSLA_CALL(osla_spmv(OSLA_NOTRANS, b->a, px, 0.0, apx));
  return b->ptap ? osla_spmv(OSLA_TRANS, b->p, apx, 0.0, due) : OSLA_OK;
}

/* Checks the computed matrix C = A P or C = P^T A P: C x must be exactly equal to the vector that
 * results if x is multiplied by P, by A and, in the case ptap, by P^T. *residual: 0 if they are
 * equal, otherwise inf. */
static osla_err check(void *data, double *residual)
{
  product_data *d = data;
  const product_problem *b = d->problem;
  const int64_t rows = b->ptap ? osla_csr_columns(b->p) : osla_csr_rows(b->a);
  const uint64_t most = (uint64_t)(osla_csr_rows(b->a) + osla_csr_columns(b->p) + 1);
  void *memory = NULL;
  int different = 0;
  osla_err err;
  OSLA_TRY(bench_alloc(b->job, 4 * most * sizeof(double), &memory));
  double *px = memory, *middle = px + most, *due = middle + most, *y = due + most;
  OSLA_TRY(apply_factors(d, px, middle, due));
  if (d->is_loop)
    spmm_rows_apply(spmm_loop_result(d->loop), false, b->x, y);
  else
    OSLA_TRY(osla_spmv(OSLA_NOTRANS, d->c, b->x, 0.0, y));
  for (int64_t i = 0; i < rows; i++)
    different += !(y[i] == due[i]);
  OSLA_TRY(osla_allreduce(b->job->transport, &different, 1, MPI_INT, MPI_SUM));
  *residual = different ? INFINITY : 0.0;
cleanup:
  free(memory);
  return err;
}

static bench_impl implementation(const char *name, product_problem *b, product_data *d)
{
  *d = (product_data){.problem = b, .is_loop = strcmp(name, "loop") == 0};
  return (bench_impl){.name = name,
                      .setup = setup,
                      .prepare = prepare,
                      .run = run_product,
                      .check = check,
                      .teardown = teardown,
                      .data = d};
}

static osla_err run_phase(product_problem *b, bool numeric, double products)
{
  product_data data[N_IMPLS];
  b->numeric = numeric;
  const bench_impl impls[N_IMPLS] = {implementation("osla", b, &data[0]),
                                     implementation("loop", b, &data[1])};
  const bench_figure parameters[] = {{"products", products, false}, {"numeric", numeric, false}};
  const bench_case c = {.kernel = b->ptap ? "forest/ptap" : "forest/spmm",
                        .precision = "d",
                        .n = osla_csr_row_start(b->a)[b->job->size],
                        .variant = numeric ? "numeric" : "initial",
                        .parameters = parameters,
                        .n_parameters = sizeof parameters / sizeof *parameters,
                        .impls = impls,
                        .n_impls = N_IMPLS,
                        .work = 2.0 * products,
                        .operations = 1,
                        .unit = BENCH_GFLOPS};
  return bench_run_case(b->job, &c);
}

osla_err bench_spmm_case(bench_job *job, bool ptap, int64_t n)
{
  product_problem b;
  double products = 0.0;
  osla_err err = create_problem(job, n, ptap, &b);
  if (err == OSLA_OK) err = count_products(&b, &products);
  if (err == OSLA_OK) err = run_phase(&b, false, products);
  if (err == OSLA_OK) err = run_phase(&b, true, products);
  free_problem(&b);
  return err;
}
