/* `osla solve` for a sparse system A x = b by CG or LSQR. A and b come from two Matrix Market
 * files.
 *
 * Default method: CG if A is square and A x = A^T x for a random x, otherwise LSQR. A matrix that
 * CG finds to be indefinite is an error. */
#include "osla_random.h"
#include "tools/common/command_files.h"
#include "tools/solve/solve_command.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEED_SYMMETRY = 77, CAUTION = 1000 };

typedef struct sparse_job {
  const solve_options *options;
  osla_transport *t;
  osla_csr *a;
  osla_operator op;
  osla_jacobi *jacobi;
  solve_method method;
  int64_t rows, columns, entries; /* numbers of rows, columns and nonzeros of the whole matrix */
  double *b,                      /* this rank's part of the right-hand side */
    *x;                           /* this rank's part of the solution */
  double *r,                      /* [op.rows] work array */
    *shifted;                     /* [op.columns] work array */
  double *whole;                  /* [columns] x on all ranks */
  osla_krylov_result result;
  double residual; /* relative residual |b - A x| / |b| */
  char verdict[120];
  double seconds_read;
} sparse_job;

static osla_err check_files(const sparse_job *job, bool room)
{
  const solve_options *o = job->options;
  const command_file files[] = {
    {"--output", o->output, OSLA_FILE_REPLACED, (uint64_t)job->columns * sizeof(double)},
    {"--json", o->json, OSLA_FILE_REPLACED, 0},
    {"the matrix", o->input, OSLA_FILE_READ, 0},
    {"--rhs", o->rhs, OSLA_FILE_READ, 0}};
  return command_check_files_on_root(job->t, files, sizeof files / sizeof *files, room);
}

static osla_err allocate(sparse_job *job)
{
  const size_t rows = (size_t)job->op.rows + 1, columns = (size_t)job->op.columns + 1;
  job->b = calloc(rows, sizeof *job->b);
  job->r = calloc(rows, sizeof *job->r);
  job->shifted = calloc(columns, sizeof *job->shifted);
  job->x = calloc(columns, sizeof *job->x);
  job->whole = calloc((size_t)job->columns + 1, sizeof *job->whole);
  OSLA_CHECK(job->b && job->r && job->shifted && job->x && job->whole, OSLA_ERR_MEM,
             "no memory for vectors of %" PRId64 " rows and %" PRId64 " columns", job->rows,
             job->columns);
  return OSLA_OK;
}

static osla_err read_system(sparse_job *job)
{
  const solve_options *o = job->options;
  const int size = osla_transport_size(job->t);
  const double start = osla_clock();
  OSLA_CALL(osla_csr_read_matrix_market(job->t, o->input, NULL, NULL, &job->a));
  job->op = osla_csr_operator(job->a);
  job->rows = osla_csr_row_start(job->a)[size];
  job->columns = osla_csr_column_start(job->a)[size];
  job->entries = osla_csr_entries(job->a);
  OSLA_CHECK(job->rows > 0 && job->columns > 0, OSLA_ERR_ARG,
             "%s: a matrix of %" PRId64 " x %" PRId64, o->input, job->rows, job->columns);
  OSLA_CALL(osla_allreduce(job->t, &job->entries, 1, MPI_INT64_T, MPI_SUM));
  OSLA_CALL(osla_agree(job->t, allocate(job)));
  OSLA_CALL(osla_vector_read_matrix_market(job->t, o->rhs, osla_csr_row_start(job->a), job->b));
  job->seconds_read = osla_clock() - start;
  return OSLA_OK;
}

/* Tests for a random x that A x = A^T x up to rounding errors. */
static osla_err test_symmetry(sparse_job *job, bool *symmetric)
{
  const int64_t first = osla_csr_column_start(job->a)[osla_transport_rank(job->t)];
  double largest[2] = {0.0};
  *symmetric = false;
  if (job->rows != job->columns) return OSLA_OK;
  for (int64_t j = 0; j < job->op.columns; j++)
    job->x[j] = osla_random_normal(SEED_SYMMETRY, (uint64_t)(first + j), 0);
  OSLA_CALL(osla_spmv(OSLA_NOTRANS, job->a, job->x, 0.0, job->r));
  OSLA_CALL(osla_spmv(OSLA_TRANS, job->a, job->x, 0.0, job->shifted));
  for (int64_t i = 0; i < job->op.rows; i++) {
    largest[0] = fmax(largest[0], fabs(job->r[i] - job->shifted[i]));
    largest[1] = fmax(largest[1], fabs(job->r[i]));
    job->x[i] = 0.0;
  }
  OSLA_CALL(osla_allreduce(job->t, largest, 2, MPI_DOUBLE, MPI_MAX));
  *symmetric = isfinite(largest[1]) && largest[0] <= 1e-12 * largest[1];
  return OSLA_OK;
}

static osla_err choose_method(sparse_job *job)
{
  const solve_options *o = job->options;
  bool symmetric;
  OSLA_CALL(test_symmetry(job, &symmetric));
  job->method = o->method != SOLVE_CHOSEN ? o->method : symmetric ? SOLVE_CG : SOLVE_LSQR;
  OSLA_CHECK(job->method == SOLVE_LSQR || job->rows == job->columns, OSLA_ERR_ARG,
             "%s: %" PRId64 " x %" PRId64 " is not square, as --method cg needs; use --method lsqr",
             o->input, job->rows, job->columns);
  OSLA_CHECK(job->method == SOLVE_LSQR || symmetric, OSLA_ERR_ARG,
             "%s: is not symmetric, as --method cg needs; use --method lsqr", o->input);
  return OSLA_OK;
}

/* y := (A + damping I) x + beta y for symmetric A: the operator that CG uses. */
static osla_err apply_damped(void *arg, osla_trans op, const double *x, double beta, double *y)
{
  sparse_job *job = arg;
  OSLA_CALL(osla_spmv(op, job->a, x, beta, y));
  for (int64_t i = 0; i < job->op.rows; i++)
    y[i] += job->options->damping * x[i];
  return OSLA_OK;
}

static osla_err solve_by_cg(sparse_job *job, const osla_krylov_options *options)
{
  const solve_options *o = job->options;
  osla_operator op = job->op;
  op.multiply = apply_damped;
  op.arg = job;
  if (o->block > 0) OSLA_CALL(osla_jacobi_create(job->a, o->block, o->damping, &job->jacobi));
  const osla_preconditioner m =
    job->jacobi ? osla_jacobi_use(job->jacobi) : (osla_preconditioner){0};
  return osla_cg(&op, job->jacobi ? &m : NULL, job->b, job->x, options, &job->result);
}

/* Solves by LSQR; without damping the columns of A are scaled to norm 1. */
static osla_err solve_by_lsqr(sparse_job *job, const osla_krylov_options *options)
{
  const bool scaled = !(job->options->damping > 0.0);
  OSLA_CALL(osla_csr_column_norms(job->a, job->shifted));
  for (int64_t j = 0; j < job->op.columns; j++) {
    /* the norm is limited to a range in which its reciprocal is finite */
    const double norm = fmin(fmax(job->shifted[j], DBL_MIN), DBL_MAX);
    job->shifted[j] = job->shifted[j] > 0.0 ? 1.0 / norm : 1.0;
  }
  return osla_lsqr(&job->op, job->b, job->options->damping, scaled ? job->shifted : NULL, job->x,
                   options, &job->result);
}

static osla_err solve_system(sparse_job *job)
{
  const solve_options *o = job->options;
  const osla_krylov_options options = {.tolerance = o->tolerance, .iterations = o->iterations};
  return job->method == SOLVE_CG ? solve_by_cg(job, &options) : solve_by_lsqr(job, &options);
}

/* Sets *norm to |r| / |b|, or to |r| if b = 0. The elements are divided by the largest element, so
 * that no square overflows or underflows. */
static osla_err relative_norm(sparse_job *job, const double *r, const double *b, double *norm)
{
  double largest[2] = {0.0}, sum[2] = {0.0};
  for (int64_t i = 0; i < job->op.rows; i++) {
    largest[0] = fmax(largest[0], fabs(r[i]));
    largest[1] = fmax(largest[1], fabs(b[i]));
  }
  OSLA_CALL(osla_allreduce(job->t, largest, 2, MPI_DOUBLE, MPI_MAX));
  for (int64_t i = 0; i < job->op.rows; i++) {
    const double of_r = largest[0] > 0.0 ? r[i] / largest[0] : r[i];
    const double of_b = largest[1] > 0.0 ? b[i] / largest[1] : b[i];
    sum[0] += of_r * of_r;
    sum[1] += of_b * of_b;
  }
  OSLA_CALL(osla_allreduce(job->t, sum, 2, MPI_DOUBLE, MPI_SUM));
  *norm =
    largest[1] > 0.0 ? largest[0] / largest[1] * sqrt(sum[0] / sum[1]) : largest[0] * sqrt(sum[0]);
  return OSLA_OK;
}

/* Computes the relative residual |b - A x| / |b| (for CG A includes the damping), gathers x on all
 * ranks, and sets the verdict. */
static osla_err set_verdict(sparse_job *job)
{
  static const char *const ends[] = {[OSLA_KRYLOV_CONVERGED] = SOLVE_GOOD,
                                     [OSLA_KRYLOV_ITERATIONS] = "not converged",
                                     [OSLA_KRYLOV_INDEFINITE] = "not positive definite",
                                     [OSLA_KRYLOV_NOT_FINITE] = "not finite"};
  const int64_t first = osla_csr_column_start(job->a)[osla_transport_rank(job->t)];
  if (job->method == SOLVE_CG)
    OSLA_CALL(apply_damped(job, OSLA_NOTRANS, job->x, 0.0, job->r));
  else
    OSLA_CALL(osla_spmv(OSLA_NOTRANS, job->a, job->x, 0.0, job->r));
  for (int64_t i = 0; i < job->op.rows; i++)
    job->r[i] = job->b[i] - job->r[i];
  OSLA_CALL(relative_norm(job, job->r, job->b, &job->residual));
  for (int64_t j = 0; j < job->op.columns; j++)
    job->whole[first + j] = job->x[j];
  OSLA_CALL(osla_allreduce(job->t, job->whole, job->columns, MPI_DOUBLE, MPI_SUM));
  const osla_krylov_end end = job->result.end;
  const char *advice = end == OSLA_KRYLOV_ITERATIONS   ? "; raise --iterations or --damping"
                       : end == OSLA_KRYLOV_INDEFINITE ? "; raise --damping, or use --method lsqr"
                                                       : "";
  if (end == OSLA_KRYLOV_CONVERGED && job->method == SOLVE_CG &&
      !(job->residual <= CAUTION * job->options->tolerance))
    (void)snprintf(job->verdict, sizeof job->verdict, "the residual is %.3g, and --tolerance is %g",
                   job->residual, job->options->tolerance);
  else if (end == OSLA_KRYLOV_CONVERGED)
    (void)snprintf(job->verdict, sizeof job->verdict, SOLVE_GOOD);
  else
    (void)snprintf(job->verdict, sizeof job->verdict,
                   "%s after %" PRId64 " iterations, %.3g is left%s", ends[end],
                   job->result.iterations, job->result.left, advice);
  return OSLA_OK;
}

static osla_err write_output(const sparse_job *job)
{
  const solve_options *o = job->options;
  osla_file *file = NULL;
  osla_err err;
  OSLA_CALL(osla_file_create(job->t, o->output, &file));
  OSLA_TRY(osla_file_put_vector(file, "x", OSLA_FILE_DOUBLE, job->columns, job->whole));
  OSLA_TRY(osla_file_put_text(file, "method", solve_method_name(job->method)));
  OSLA_TRY(osla_file_put_number(file, "damping", o->damping));
  OSLA_TRY(osla_file_put_number(file, "tolerance", o->tolerance));
  OSLA_TRY(osla_file_put_number(file, "iterations", (double)job->result.iterations));
  OSLA_TRY(osla_file_put_number(file, "residual", job->residual));
  OSLA_TRY(osla_file_put_text(file, "verdict", job->verdict));
  OSLA_TRY(osla_file_commit(&file));
cleanup:
  osla_file_close(&file);
  return err;
}

static void print_report(const sparse_job *job)
{
  const solve_options *o = job->options;
  const osla_krylov_result *r = &job->result;
  const int ranks = osla_transport_size(job->t);
  if (o->quiet || osla_transport_rank(job->t) > 0) return;
  (void)printf("A          %" PRId64 " x %" PRId64 ", %" PRId64 " entries, damping %g, %d rank%s\n",
               job->rows, job->columns, job->entries, o->damping, ranks, ranks == 1 ? "" : "s");
  (void)printf("Method     %s: %" PRId64 " iterations, %.2g is left (--tolerance %g)\n",
               solve_method_name(job->method), r->iterations, r->left, o->tolerance);
  (void)printf("Residual   |b - A x| / |b| = %.3g\n", job->residual);
  (void)printf("Times      read %s, solve %s\n", format_seconds(job->seconds_read).s,
               format_seconds(r->seconds).s);
  (void)printf("Output     %s\n", o->output);
}

static json_t *report_json(const sparse_job *job)
{
  const solve_options *o = job->options;
  const osla_krylov_result *r = &job->result;
  return json_pack("{s:I, s:I, s:I, s:f, s:s, s:f, s:I, s:o, s:o, s:f, s:f, s:f, s:f, s:s}", "rows",
                   (json_int_t)job->rows, "columns", (json_int_t)job->columns, "entries",
                   (json_int_t)job->entries, "damping", o->damping, "method",
                   solve_method_name(job->method), "tolerance", o->tolerance, "iterations",
                   (json_int_t)r->iterations, "left", command_number(r->left), "residual",
                   command_number(job->residual), "seconds_read", job->seconds_read,
                   "seconds_solve", r->seconds, "seconds_products", r->seconds_products,
                   "seconds_sums", r->seconds_sums, "verdict", job->verdict);
}

static osla_err run_steps(sparse_job *job)
{
  OSLA_CALL(check_files(job, false));
  OSLA_CALL(read_system(job));
  OSLA_CALL(check_files(job, true));
  OSLA_CALL(choose_method(job));
  OSLA_CALL(solve_system(job));
  OSLA_CALL(set_verdict(job));
  OSLA_CALL(write_output(job));
  print_report(job);
  return OSLA_OK;
}

osla_err solve_sparse(osla_transport *t, const solve_options *options, solve_report *report)
{
  sparse_job job = {.options = options, .t = t};
  osla_err err = run_steps(&job);
  if (err == OSLA_OK && osla_transport_rank(t) == 0) report->root = report_json(&job);
  memcpy(report->verdict, job.verdict, sizeof report->verdict);
  osla_jacobi_destroy(&job.jacobi);
  (void)osla_csr_destroy(&job.a);
  free(job.b);
  free(job.r);
  free(job.shifted);
  free(job.x);
  free(job.whole);
  return err;
}
