/* `osla invert`, its steps in this process, beside the same inversion done serially: the assembled
 * matrix, gradient, ray density and misfit; the model; the resolution; and what happens when a rank
 * fails in the middle.
 *
 * Size: mesh frequency 4 (162 knots) x 3 radial functions, 200 to 500 paths x 100 data. */
#include "invert_reference.h"
#include "osla_test_help.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"

typedef struct set_up_job {
  invert_job job;
  invert_options options;
  osla_command_line line;
} set_up_job;

enum { ARGUMENTS_MAX = 48 };

/* Common options, then those of the case, then the grid if not empty; all are separated by blanks.
 */
static bool parse(set_up_job *s, const char *case_options, const char *grid)
{
  static char text[1024];
  char *argv[ARGUMENTS_MAX], *save = NULL;
  int argc = 0, status;
  snprintf(text, sizeof text, "invert --mesh 4 --radial 3 --cell 45 --quiet %s %s %s", case_options,
           grid[0] ? "--grid" : "", grid);
  for (char *word = strtok_r(text, " ", &save); word && argc < ARGUMENTS_MAX - 1;
       word = strtok_r(NULL, " ", &save))
    argv[argc++] = word;
  argv[argc] = NULL;
  bool parsed = invert_parse(argc, argv, osla_test_size(), &s->options, &s->line, &status);
  return OSLA_ASSERT_MSG(parsed, "'%s' is not accepted", case_options);
}

/* Reads and makes the problem; not yet assembled. */
static bool open_job(set_up_job *s, const char *case_options, const char *grid)
{
  *s = (set_up_job){0};
  if (!parse(s, case_options, grid)) return false;
  s->job.options = &s->options;
  s->job.blas_threads = 1;
  const osla_transport_options transport = {.progress_thread = s->options.progress_thread,
                                            .threads_per_rank = s->options.threads};
  return OSLA_ASSERT_OK(osla_transport_create(MPI_COMM_WORLD, &transport, &s->job.t)) &&
         OSLA_ASSERT_OK(invert_read_input(&s->job)) && OSLA_ASSERT_OK(invert_make_problem(&s->job));
}

static void close_job(set_up_job *s)
{
  invert_destroy(&s->job);
  osla_transport_destroy(&s->job.t);
  osla_command_release(&s->line);
}

static double largest(const double *x, int64_t count)
{
  double most = 0.0;
  for (int64_t i = 0; i < count; i++) {
    if (isnan(x[i])) return NAN;
    if (fabs(x[i]) > most) most = fabs(x[i]);
  }
  return most;
}

/* max |a - b| <= tolerance * max |b| */
static void compare(const char *what, const double *a, const double *b, int64_t count,
                    double tolerance)
{
  double difference = 0.0, scale = largest(b, count);
  for (int64_t i = 0; i < count; i++)
    if (!(fabs(a[i] - b[i]) <= difference)) difference = fabs(a[i] - b[i]);
  OSLA_ASSERT_MSG(scale > 0.0 && difference <= tolerance * scale, "%s: difference %g of %g", what,
                  difference, scale);
}

/* My part of the stored triangle equals the reference's, that of the other one is zero. */
static void compare_matrix(const invert_job *job, const invert_reference *r, double tolerance)
{
  const bool upper = job->options->uplo == OSLA_UPPER;
  const int prow = osla_grid_prow(job->grid), pcol = osla_grid_pcol(job->grid);
  osla_matrix *h = NULL;
  if (!OSLA_ASSERT_OK(osla_hessian_matrix(job->hessian, &h))) return;
  const osla_layout f = osla_matrix_layout(h);
  const int64_t rows = osla_matrix_local_rows(h), cols = osla_matrix_local_cols(h);
  const int64_t lld = osla_matrix_lld(h, osla_test_rank());
  double difference = 0.0, scale = largest(r->hessian, job->n * job->n);
  int64_t touched = 0;
  for (int64_t c = 0; c < cols; c++)
    for (int64_t l = 0; l < rows; l++) {
      int64_t i = osla_index_global(l, f.mb, prow, f.nprow);
      int64_t j = osla_index_global(c, f.nb, pcol, f.npcol);
      double value = osla_test_real(job->options->dtype, osla_matrix_local(h), l + c * lld);
      if (upper ? i > j : i < j) {
        touched += value != 0.0;
        continue;
      }
      double expected = upper ? r->hessian[i + j * job->n] : r->hessian[j + i * job->n];
      if (!(fabs(value - expected) <= difference)) difference = fabs(value - expected);
    }
  OSLA_ASSERT_MSG(difference <= tolerance * scale, "matrix: difference %g of %g", difference,
                  scale);
  OSLA_ASSERT_MSG(touched == 0, "%lld elements of the other triangle are not zero",
                  (long long)touched);
}

static void compare_resolution(const invert_job *job, const invert_reference *r, double tolerance)
{
  if (job->options->resolution == 0) {
    CU_ASSERT(job->result.sampled_dense + job->result.sampled_sparse == 0);
    return;
  }
  double sum[2] = {0.0, 0.0};
  int count[2] = {0, 0};
  for (int64_t l = 0; l < job->knots; l++) {
    int dense = job->density[l] >= job->result.threshold;
    sum[dense] += r->resolution[l * job->options->n_radial + (job->options->n_radial - 1) / 2];
    count[dense]++;
  }
  CU_ASSERT(job->result.sampled_dense == count[1]);
  CU_ASSERT(job->result.sampled_sparse == count[0]);
  OSLA_ASSERT_CLOSE(job->result.resolution_dense, sum[1] / count[1], tolerance);
  OSLA_ASSERT_CLOSE(job->result.resolution_sparse, sum[0] / count[0], tolerance);
}

/* Assembles and solves both ways. --resolution 400 takes all knots, at middle depth; 0 none. */
static void run(const char *case_options, const char *grid)
{
  set_up_job s;
  invert_reference r = {0};
  if (!open_job(&s, case_options, grid)) return;
  invert_job *job = &s.job;
  const bool is_float = s.options.dtype == OSLA_FLOAT;
  if (OSLA_ASSERT_OK(invert_assemble(job)) && reference_assemble(job, &r) &&
      reference_solve(job, &r)) {
    compare_matrix(job, &r, is_float ? 1e-4 : 1e-12);
    compare("gradient", osla_hessian_gradient(job->hessian), r.gradient, job->n,
            is_float ? 1e-4 : 1e-12);
    compare("ray density", job->density, r.density, job->knots, 1e-12);
    OSLA_ASSERT_CLOSE(job->result.misfit_before / r.misfit_before, 1.0, 1e-12);
    CU_ASSERT(job->result.data == job->n_paths * tomo_kernel_count(job->kernel));
    CU_ASSERT(job->result.updates >= job->n_paths);

    OSLA_ASSERT_OK(invert_solve(job));
    invert_judge(job);
    OSLA_ASSERT_OK(invert_sample_resolution(job));
    OSLA_ASSERT_OK(invert_measure_misfit(job));
    compare("model", job->m, r.model, job->n, is_float ? 1e-3 : 1e-9);
    const double tight = is_float ? 1e-5 : 1e-8;
    OSLA_ASSERT_CLOSE(job->result.misfit_after / r.misfit_after, 1.0, tight);
    OSLA_ASSERT_CLOSE(job->result.misfit_after / job->result.misfit_expected, 1.0, tight);
    compare_resolution(job, &r, is_float ? 1e-3 : 1e-9);
  }
  reference_free(&r);
  close_job(&s);
}

static const char *column_grid(void)
{
  static char grid[32];
  snprintf(grid, sizeof grid, "%dx1", osla_test_size());
  return grid;
}

static const char *row_grid(void)
{
  static char grid[32];
  snprintf(grid, sizeof grid, "1x%d", osla_test_size());
  return grid;
}

static void test_cholesky(void)
{
  run("--max-paths 200 --resolution 400 --nb 32", "");
  run("--max-paths 200 --resolution 400 --nb 48 --triangle upper --threads 3 --major-arc",
      column_grid());
}

static void test_lu(void)
{
  run("--max-paths 200 --resolution 0 --factor lu --nb 40", row_grid());
  run("--max-paths 200 --resolution 400 --factor lu --triangle upper --threads 3 --nb 600", "");
}

static void test_float(void)
{
  run("--max-paths 200 --resolution 400 --precision float --nb 17", "");
  run("--max-paths 200 --resolution 0 --precision float --triangle upper --factor lu --threads 3",
      column_grid());
}

/* Fewer paths than ranks and threads, most knots without any; a model of random blobs without
 * noise. */
static void test_few_paths(void)
{
  run("--max-paths 1 --resolution 400 --threads 3 --model blobs --noise 0", row_grid());
}

static void test_progress_thread(void)
{
  if (!osla_test_multiple("a progress thread")) return;
  run("--max-paths 200 --resolution 0 --progress-thread --subset 7", "");
}

/* The lists that the project is measured with, where they are beside the tree. */
static void test_real_lists(void)
{
  const char *source = getenv("SRCDIR");
  char stations[600], events[600], options[1300];
  snprintf(stations, sizeof stations, "%s/../shared/data/STATIONS", source ? source : ".");
  snprintf(events, sizeof events, "%s/../shared/data/events.csv", source ? source : ".");
  CU_ASSERT(true);
  if (access(stations, R_OK) != 0 || access(events, R_OK) != 0) {
    if (osla_test_rank() == 0) printf("real lists: skipped, %s is not there\n", stations);
    return;
  }
  snprintf(options, sizeof options, "--max-paths 500 --resolution 0 --stations %s --events %s",
           stations, events);
  run(options, "");
}

/* The list holds each pair within the distances once, in order, by an independent count. */
static void test_list_of_paths(void)
{
  const double degrees = 180.0 / acos(-1.0);
  set_up_job s;
  if (!open_job(&s, "--min-distance 30 --max-distance 120 --major-arc", "")) return;
  const invert_job *job = &s.job;
  int64_t at = 0, differ = 0;
  for (int64_t e = 0; e < job->n_events; e++)
    for (int64_t st = 0; st < job->n_stations; st++) {
      double a[3], b[3];
      tomo_unit_vector(job->events[e].latitude, job->events[e].longitude, a);
      tomo_unit_vector(job->stations[st].latitude, job->stations[st].longitude, b);
      double distance = acos(a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) * degrees;
      for (int major = 0; major < 2 && distance >= 30.0 && distance <= 120.0; major++, at++)
        differ += at >= job->n_paths || job->path_ids[at] != (e * job->n_stations + st) * 2 + major;
    }
  CU_ASSERT(at == job->n_paths && differ == 0);
  CU_ASSERT(job->n_pairs == job->n_events * job->n_stations);
  close_job(&s);
}

static osla_err fail_on_last_rank(invert_worker *w)
{
  w->data++;
  if (osla_test_rank() == osla_test_size() - 1)
    return osla_error_set(OSLA_ERR_IO, "path %lld on purpose", (long long)w->path_id);
  usleep(2000);
  return OSLA_OK;
}

/* All ranks get the error of the one that failed, and soon. */
static void test_failure_of_one_rank(void)
{
  set_up_job s;
  invert_worker total = {0};
  double seconds;
  if (!open_job(&s, "--threads 2", "")) return;
  const invert_pass pass = {.what = "failing", .work = fail_on_last_rank};
  OSLA_ASSERT_ERR(invert_for_all_paths(&s.job, &pass, &total, &seconds), OSLA_ERR_IO);
  OSLA_ASSERT_TEXT("on purpose");
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_MSG(total.data < s.job.n_paths / 2, "%lld paths after a failure",
                  (long long)total.data);
  invert_free_sums(&total);
  close_job(&s);
}

/* Without damping and smoothing, unknowns that no path touches leave a zero on the diagonal. */
static void test_singular(void)
{
  const char *const options[] = {
    "--max-paths 20 --damping 0 --smoothing 0 --radial-smoothing 0",
    "--max-paths 20 --damping 0 --smoothing 0 --radial-smoothing 0 --factor lu --triangle upper"};
  for (int i = 0; i < 2; i++) {
    set_up_job s;
    if (!open_job(&s, options[i], "")) return;
    OSLA_ASSERT_OK(invert_assemble(&s.job));
    OSLA_ASSERT_ERR(invert_solve(&s.job), OSLA_ERR_STATE);
    OSLA_ASSERT_TEXT("raise --damping or --smoothing");
    OSLA_ASSERT_SAME_TEXT();
    close_job(&s);
  }
}

int main(int argc, char **argv)
{
  static const osla_test_case cases[] = {{"list of paths", test_list_of_paths},
                                         {"cholesky", test_cholesky},
                                         {"lu", test_lu},
                                         {"float", test_float},
                                         {"few paths", test_few_paths},
                                         {"progress thread", test_progress_thread},
                                         {"real lists", test_real_lists},
                                         {"failure of one rank", test_failure_of_one_rank},
                                         {"singular", test_singular},
                                         {NULL, NULL}};
  return osla_test_main(argc, argv, cases);
}
