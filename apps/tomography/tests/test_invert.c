/* Tests of the steps of `osla invert` against the serial inversion: the assembled matrix,
 * gradient, ray density and misfit; the model; the resolution; and the failure of a rank during
 * the work.
 *
 * Size: mesh frequency 4 (162 knots) x 3 radial functions, 200 to 500 paths x 100 data. */
#include "apps/tomography/tests/invert_reference.h"
#include "apps/tomography/tests/invert_test_job.h"
#include "tests/osla_test_help.h"
#include "tools/common/local_elements.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Asserts that this rank's part of the matrix equals that of the serial inversion in the triangle
 * that is stored, and is zero in the other triangle. */
static void compare_matrix(const invert_job *job, const invert_reference *r, double tolerance)
{
  const bool upper = job->options->uplo == OSLA_UPPER;
  const int prow = osla_grid_prow(job->grid), pcol = osla_grid_pcol(job->grid);
  osla_matrix *h = NULL;
  if (!OSLA_ASSERT_OK(osla_hessian_matrix(job->hessian, &h))) return;
  const osla_layout f = osla_matrix_layout(h);
  const int64_t rows = osla_matrix_local_rows(h), cols = osla_matrix_local_cols(h);
  double difference = 0.0, scale = test_job_largest(r->hessian, job->n * job->n);
  int64_t touched = 0;
  for (int64_t c = 0; c < cols; c++)
    for (int64_t l = 0; l < rows; l++) {
      int64_t i = osla_index_global(l, f.mb, prow, f.nprow);
      int64_t j = osla_index_global(c, f.nb, pcol, f.npcol);
      const int64_t at = local_element_index(h, i, j);
      if (at < 0) continue; /* a block above the diagonal of a triangular matrix */
      double value = osla_test_real(job->options->dtype, osla_matrix_local(h), at);
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

/* Assembles and solves in parallel and serially, and compares the results. The option --resolution
 * 400 samples the resolution at all knots at the middle depth, --resolution 0 at no knot. */
static void run(const char *case_options, const char *grid)
{
  test_job s;
  invert_reference r = {0};
  if (!test_job_open(&s, case_options, grid)) return;
  invert_job *job = &s.job;
  const bool is_float = s.options.dtype == OSLA_FLOAT;
  if (OSLA_ASSERT_OK(invert_assemble(job)) && reference_assemble(job, &r) &&
      reference_solve(job, &r)) {
    compare_matrix(job, &r, is_float ? 1e-4 : 1e-12);
    test_job_compare("gradient", osla_hessian_gradient(job->hessian), r.gradient, job->n,
                     is_float ? 1e-4 : 1e-12);
    test_job_compare("ray density", job->density, r.density, job->knots, 1e-12);
    OSLA_ASSERT_CLOSE(job->result.misfit_before / r.misfit_before, 1.0, 1e-12);
    CU_ASSERT(job->result.data == tomo_data_first(&job->data, job->n_paths));
    CU_ASSERT(job->result.updates >= job->n_paths);

    OSLA_ASSERT_OK(invert_solve(job));
    invert_compare_models(job);
    OSLA_ASSERT_OK(invert_sample_resolution(job));
    OSLA_ASSERT_OK(invert_measure_misfit(job));
    test_job_compare("model", job->m, r.model, job->n, is_float ? 1e-3 : 1e-9);
    const double tight = is_float ? 1e-5 : 1e-8;
    OSLA_ASSERT_CLOSE(job->result.misfit_after / r.misfit_after, 1.0, tight);
    OSLA_ASSERT_CLOSE(job->result.misfit_after / job->result.misfit_expected, 1.0, tight);
    compare_resolution(job, &r, is_float ? 1e-3 : 1e-9);
  }
  reference_free(&r);
  test_job_close(&s);
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
  run("--max-paths 200 --resolution 0 --solver lu --nb 40", row_grid());
  run("--max-paths 200 --resolution 400 --solver lu --triangle upper --threads 3 --nb 600", "");
}

static void test_float(void)
{
  run("--max-paths 200 --resolution 400 --precision float --nb 17", "");
  run("--max-paths 200 --resolution 0 --precision float --triangle upper --solver lu --threads 3",
      column_grid());
}

/* A case with fewer paths than ranks and threads, so that most knots have no path; the true model
 * is random blobs, and the data have no noise. */
static void test_few_paths(void)
{
  run("--max-paths 1 --resolution 400 --threads 3 --test blobs --noise 0", row_grid());
}

static void test_progress_thread(void)
{
  if (!osla_test_multiple("a progress thread")) return;
  run("--max-paths 200 --resolution 0 --progress-thread --subset 7", "");
}

/* A case with lists of real stations and earthquakes; skipped unless they are in ../shared/data
 * beside the source tree. */
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

/* Compares the models of LSQR and CG with the model of the serial inversion, which assembles and
 * factors the matrix. */
static void run_iterative(const char *case_options)
{
  test_job s;
  invert_reference r = {0};
  if (!test_job_open(&s, case_options, "")) return;
  invert_job *job = &s.job;
  if (OSLA_ASSERT_OK(invert_trace_paths(job)) && OSLA_ASSERT_OK(invert_iterate_model(job)) &&
      reference_assemble(job, &r) && reference_solve(job, &r)) {
    test_job_compare("gradient", job->gradient, r.gradient, job->n, 1e-12);
    test_job_compare("ray density", job->density, r.density, job->knots, 1e-12);
    invert_compare_models(job);
    OSLA_ASSERT_OK(invert_measure_misfit(job));
    test_job_compare("model", job->m, r.model, job->n, 1e-6);
    OSLA_ASSERT_CLOSE(job->result.misfit_after / r.misfit_after, 1.0, 1e-8);
  }
  reference_free(&r);
  test_job_close(&s);
}

/* Writes a table of minor and major arcs, whose sources are events and stations. Each path has 1 to
 * 9 data of different measures; every third path has deviations. */
static void write_table(const char *name)
{
  FILE *file = fopen(name, "w");
  CU_ASSERT(file != NULL);
  if (!file) return;
  fprintf(file, "event,station,station2,arc,branch,period,delay,sigma\n");
  static const char *const codes[] = {"TAM",  "PPT", "LSA", "AAK", "ALE",
                                      "BORG", "EFI", "FFC", "MBAR"};
  for (int p = 0; p < 198; p++) {
    const int source = p % 11, receiver = p / 11 % 9, major = p / 99 % 2, count = 1 + p % 9;
    for (int i = 0; i < count; i++) {
      const char *from = source < 9 ? codes[source] : "";
      if (source < 9 && receiver <= source) continue;
      fprintf(file, "%s,%s,%s,%s,%d,%d,%g,",
              source == 9    ? "2010-maule"
              : source == 10 ? "2004-sumatra-andaman"
                             : "",
              codes[receiver], from, major ? "major" : "minor", i % 3, 40 + 20 * i,
              10.0 * osla_random_uniform(8, (uint64_t)p, (uint64_t)i));
      fprintf(file, p % 3 ? "\n" : "%g\n", 1.0 + osla_random_uniform(9, (uint64_t)p, (uint64_t)i));
    }
  }
  fclose(file);
}

static void test_measurements(void)
{
  char name[] = "/tmp/osla-test-data-XXXXXX", options[200];
  if (osla_test_rank() == 0) {
    const int fd = mkstemp(name);
    if (fd >= 0) close(fd);
    write_table(name);
  }
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  snprintf(options, sizeof options, "--data %s --resolution 0 --reference stand-in", name);
  run(options, "");
  snprintf(options, sizeof options,
           "--data %s --resolution 0 --reference stand-in --precision float --threads 3", name);
  run(options, "");
  snprintf(options, sizeof options,
           "--data %s --reference stand-in --test blobs --threads 2 --resolution 400", name);
  run(options, "");
  snprintf(options, sizeof options,
           "--data %s --reference stand-in --solver lsqr --threads 3 --tolerance 1e-12", name);
  run_iterative(options);
  snprintf(
    options, sizeof options,
    "--data %s --reference stand-in --solver cg --test spike --max-paths 60 --tolerance 1e-12",
    name);
  run_iterative(options);
  if (osla_test_rank() == 0) unlink(name);
}

/* The list of paths has each pair within the limits of distance once and in ascending order; an
 * independent loop counts the pairs. */
static void test_list_of_paths(void)
{
  const double degrees = 180.0 / acos(-1.0);
  test_job s;
  if (!test_job_open(&s, "--min-distance 30 --max-distance 120 --major-arc", "")) return;
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
  test_job_close(&s);
}

static osla_err fail_on_last_rank(invert_worker *w)
{
  w->data++;
  if (osla_test_rank() == osla_test_size() - 1)
    return osla_error_set(OSLA_ERR_IO, "path %lld on purpose", (long long)w->path_id);
  usleep(2000);
  return OSLA_OK;
}

/* After the failure of one rank, all ranks return that rank's error within a short time. */
static void test_failure_of_one_rank(void)
{
  test_job s;
  invert_worker total = {0};
  double seconds;
  if (!test_job_open(&s, "--threads 2", "")) return;
  const invert_pass pass = {.what = "failing", .work = fail_on_last_rank};
  OSLA_ASSERT_ERR(invert_for_all_paths(&s.job, &pass, &total, &seconds), OSLA_ERR_IO);
  OSLA_ASSERT_TEXT("on purpose");
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_MSG(total.data < s.job.n_paths / 2, "%lld paths after a failure",
                  (long long)total.data);
  invert_free_sums(&total);
  test_job_close(&s);
}

/* Without damping and smoothing the matrix is singular: unknowns that no path touches have zeros on
 * its diagonal. */
static void test_singular(void)
{
  const char *const options[] = {
    "--max-paths 20 --damping 0 --smoothing 0 --radial-smoothing 0",
    "--max-paths 20 --damping 0 --smoothing 0 --radial-smoothing 0 --solver lu --triangle upper"};
  for (int i = 0; i < 2; i++) {
    test_job s;
    if (!test_job_open(&s, options[i], "")) return;
    OSLA_ASSERT_OK(invert_assemble(&s.job));
    OSLA_ASSERT_ERR(invert_solve(&s.job), OSLA_ERR_STATE);
    OSLA_ASSERT_TEXT("raise --damping or --smoothing");
    OSLA_ASSERT_SAME_TEXT();
    test_job_close(&s);
  }
}

static const osla_test_case cases[] = {{"list of paths", test_list_of_paths},
                                       {"cholesky", test_cholesky},
                                       {"lu", test_lu},
                                       {"float", test_float},
                                       {"few paths", test_few_paths},
                                       {"measurements", test_measurements},
                                       {"progress thread", test_progress_thread},
                                       {"real lists", test_real_lists},
                                       {"failure of one rank", test_failure_of_one_rank},
                                       {"singular", test_singular},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_invert, cases);
