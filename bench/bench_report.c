/* Reports of a case: rows of the table, and JSON lines (format: results/README.md). See bench.h. */
#include "bench/bench.h"
#include "src/blas/work.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int by_value(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double bench_median(const double *values, int count)
{
  double *sorted = malloc((size_t)count * sizeof *sorted);
  if (!sorted || count < 1) {
    free(sorted);
    return NAN;
  }
  memcpy(sorted, values, (size_t)count * sizeof *sorted);
  qsort(sorted, (size_t)count, sizeof *sorted, by_value);
  double median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
  free(sorted);
  return median;
}

static const char *unit_name(bench_unit unit)
{
  static const char *const name[] = {"GF/s", "Melem/s", "GB/s", "us"};
  return name[unit];
}

static double rate(const bench_case *c, const bench_result *r, double seconds)
{
  static const double scale[] = {1e-9, 1e-6, 1e-9, 0};
  return c->unit == BENCH_MICROSECONDS ? 1e6 * seconds : scale[c->unit] * r->work / seconds;
}

static double smallest(const double *values, int count)
{
  double least = values[0];
  for (int i = 1; i < count; i++)
    if (values[i] < least) least = values[i];
  return least;
}

/* Median over the repetitions of OSLA's speed divided by the reference implementation's speed in
 * the same repetition. Above 1, OSLA is faster. `scratch` has room for reps values. */
static double ratio(const bench_result *osla, const bench_result *ref, int reps, double *scratch)
{
  for (int rep = 0; rep < reps; rep++)
    scratch[rep] = osla->work / osla->seconds[rep] / (ref->work / ref->seconds[rep]);
  return bench_median(scratch, reps);
}

/* --- the table --- */

/* Column widths of the table. They are the same for all cases of a job, and leave room for long
 * names of variants, and for shapes in place of orders. */
static int impl_width(const bench_job *job)
{
  if (job->settings->ablate) return 36;
  return strstr(job->settings->ref, "mpi-accumulate-") ? 20 : 14;
}

static int kernel_width(const bench_job *job)
{
  if (job->settings->inner) return 22;
  return job->settings->plain || job->settings->rewrite ? 29 : 18;
}

static int size_width(const bench_job *job)
{
  return job->settings->m || job->settings->k || job->settings->nrhs > 1 ? 20 : 8;
}

static void print_header(bench_job *job)
{
  if (job->header_done) return;
  job->header_done = true;
  const char *machine = osla_simulated_machine();
  if (machine)
    (void)printf("simulated: machine %s; all seconds and rates are simulated\n", machine);
  if (job->device)
    (void)printf("device: %s%s\n", job->device_name,
                 bench_device_is_fake(job)
                   ? " (memory and cores of the host; its rates say nothing about a GPU)"
                   : "");
  if (job->device_shared)
    (void)printf("shared: ranks use one device in turn, so no rate is compared with a limit\n");
  (void)printf("%-*s %-*s %4s %*s %5s %6s %5s %5s %10s %10s %17s %9s %4s  %s\n", kernel_width(job),
               "kernel", impl_width(job), "impl", "prec", size_width(job), "n", "nb", "grid",
               "ranks", "nodes", "min s", "median s", "rate", "residual", "", "osla/ref");
}

/* Writes the name of the kernel with its variant, such as "gemm NT" or "lu partial". Writes the
 * size: the order, such as "2048"; m x n x k if --m or --k is given; n x nrhs for solves. */
static void describe(const bench_job *job, const bench_case *c, char *kernel, char *size,
                     size_t room)
{
  bool plain = !c->trans || strcmp(c->trans, "NN") == 0;
  const char *variant = c->variant ? c->variant : c->pivoting ? c->pivoting : plain ? "" : c->trans;
  (void)snprintf(kernel, room, "%s%s%s", c->kernel, variant[0] ? " " : "", variant);
  if (job->settings->m || job->settings->k)
    (void)snprintf(size, room, "%" PRId64 "x%" PRId64 "x%" PRId64, c->m, c->n, c->k);
  else if (c->nrhs > 1)
    (void)snprintf(size, room, "%" PRId64 "x%" PRId64, c->n, c->nrhs);
  else
    (void)snprintf(size, room, "%" PRId64, c->n);
}

int64_t bench_block_size(const bench_case *c, const bench_impl *impl)
{
  if (impl->nb == BENCH_NO_NB) return 0;
  return impl->nb ? impl->nb : c->nb;
}

static void print_row(const bench_job *job, const bench_case *c, const bench_result *r,
                      const char *grid, const char *ratios)
{
  int reps = job->settings->reps;
  double median = bench_median(r->seconds, reps);
  char speed[40], nb[24] = "-", kernel[64], size[64], residual[24] = "-";
  const char *verdict = osli_work_modelled ? "-" : r->pass ? "PASS" : "FAIL";
  describe(job, c, kernel, size, sizeof size);
  (void)snprintf(speed, sizeof speed, "%.4g %s", rate(c, r, median), unit_name(c->unit));
  int64_t block = bench_block_size(c, r->impl);
  if (block > 0) (void)snprintf(nb, sizeof nb, "%" PRId64, block);
  if (!osli_work_modelled) (void)snprintf(residual, sizeof residual, "%.2g", r->residual);
  (void)printf("%-*s %-*s %4s %*s %5s %6s %5d %5d %10.4g %10.4g %17s %9s %4s  %s%s%s%s\n",
               kernel_width(job), kernel, impl_width(job), r->impl->name,
               c->precision[0] ? c->precision : "-", size_width(job), size, nb, grid, job->size,
               job->n_nodes, smallest(r->seconds, reps), median, speed, residual, verdict, ratios,
               job->device ? "  " : "", job->device ? job->device_name : "",
               osli_work_modelled         ? "  simulated, only modelled"
               : osla_simulated_machine() ? "  simulated"
                                          : "");
}

/* Prints the phases of an implementation's run in a line below its row. */
static void print_phases(const bench_result *r, const bench_figure *figures, int n_figures)
{
  bool any = false;
  for (int i = 0; i < n_figures; i++) {
    if (!figures[i].phase) continue;
    if (!any)
      (void)printf("  %s, %sseconds of a run:", r->impl->name,
                   osla_simulated_machine() ? "simulated " : "");
    (void)printf("%s %s %.3g", any ? "," : "", figures[i].name, figures[i].value);
    any = true;
  }
  if (any) (void)printf("\n");
}

/* Prints the trial that chose an implementation in a line below its row. */
static void print_trial(const bench_result *r)
{
  if (r->n_trials == 0) return;
  (void)printf("  %s: %s was fastest in a trial, seconds of a run:", r->impl->name,
               r->trials[r->fastest].name);
  for (int i = 0; i < r->n_trials; i++)
    (void)printf("%s %s %.3g", i ? "," : "", r->trials[i].name, r->trials[i].seconds);
  (void)printf("\n");
}

/* --- JSON --- */

/* NaN and infinity become null, since JSON has neither. */
static json_t *real_or_null(double value)
{
  return isfinite(value) ? json_real(value) : json_null();
}

static json_t *row_json(const bench_job *job, const bench_case *c, const bench_result *r,
                        const char *grid, json_t *ratios)
{
  int reps = job->settings->reps;
  double median = bench_median(r->seconds, reps);
  json_t *seconds = json_array();
  for (int rep = 0; rep < reps; rep++)
    (void)json_array_append_new(seconds, real_or_null(r->seconds[rep]));
  json_t *row = json_pack("{s:s,s:s,s:s,s:I,s:I,s:s,s:i,s:i,s:i,s:o,s:o,s:o,s:s,s:o,s:b,s:o,s:o}",
                          "kernel", c->kernel, "impl", r->impl->name, "precision", c->precision,
                          "n", (json_int_t)c->n, "nb", (json_int_t)bench_block_size(c, r->impl),
                          "grid", grid, "ranks", job->size, "nodes", job->n_nodes, "reps", reps,
                          "seconds_min", real_or_null(smallest(r->seconds, reps)), "seconds_median",
                          real_or_null(median), "rate", real_or_null(rate(c, r, median)), "unit",
                          unit_name(c->unit), "residual", real_or_null(r->residual), "pass",
                          (int)r->pass, "ratio_vs", ratios, "seconds", seconds);
  if (row && c->m > 0)
    (void)json_object_update_new(
      row, json_pack("{s:I,s:I}", "m", (json_int_t)c->m, "k", (json_int_t)c->k));
  if (row && c->trans) (void)json_object_set_new(row, "trans", json_string(c->trans));
  if (row && c->pivoting) (void)json_object_set_new(row, "pivoting", json_string(c->pivoting));
  if (row && c->look_ahead)
    (void)json_object_update_new(row,
                                 json_pack("{s:i,s:s}", "look_ahead", job->settings->look_ahead,
                                           "forward", bench_forward_name(job->settings->forward)));
  if (row && c->cold) (void)json_object_set_new(row, "cold", json_true());
  if (row && c->inner) (void)json_object_set_new(row, "inner", json_string(c->inner));
  if (row && c->nrhs > 0) (void)json_object_set_new(row, "nrhs", json_integer(c->nrhs));
  if (row && job->device)
    (void)json_object_update_new(row, json_pack("{s:s,s:b}", "device", job->device_name,
                                                "device_shared", (int)job->device_shared));
  const char *machine = osla_simulated_machine();
  if (row && machine) (void)json_object_set_new(row, "simulated", json_string(machine));
  if (row && osli_work_modelled)
    (void)json_object_update_new(row, json_pack("{s:b,s:n}", "modelled", 1, "pass"));
  for (int i = 0; row && i < c->n_parameters; i++)
    (void)json_object_set_new(row, c->parameters[i].name,
                              json_integer((json_int_t)c->parameters[i].value));
  return row;
}

/* Adds figures to a JSON line. Figures that are phases go into an object of their own. */
static void add_figures(json_t *row, const bench_figure *figures, int n_figures)
{
  json_t *phases = row && n_figures > 0 ? json_object() : NULL;
  if (!phases) return;
  for (int i = 0; i < n_figures; i++)
    (void)json_object_set_new(figures[i].phase ? phases : row, figures[i].name,
                              real_or_null(figures[i].value));
  (void)json_object_set_new(row, "phases", phases);
}

static osla_err write_line(const bench_job *job, json_t *row)
{
  OSLA_CHECK(row, OSLA_ERR_MEM, "out of memory for a JSON line");
  char *line = json_dumps(row, JSON_COMPACT | JSON_REAL_PRECISION(9));
  json_decref(row);
  OSLA_CHECK(line, OSLA_ERR_MEM, "out of memory for a JSON line");
  const size_t length = strlen(line);
  line[length] = '\n'; /* replaces the terminating zero byte */
  /* The whole line is written by one write, so that a job that is killed leaves no partial line. */
  size_t done = 0;
  while (done <= length) {
    const ssize_t n = write(fileno(job->json), line + done, length + 1 - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += (size_t)n;
  }
  const bool written = done == length + 1;
  free(line);
  OSLA_CHECK(written, OSLA_ERR_IO, "--json: %s cannot be written", job->settings->json);
  return OSLA_OK;
}

/* Adds the trial that chose an implementation to a JSON line. */
static void add_trial(json_t *row, const bench_result *r)
{
  json_t *trials = row && r->n_trials > 0 ? json_object() : NULL;
  if (!trials) return;
  for (int i = 0; i < r->n_trials; i++)
    (void)json_object_set_new(trials, r->trials[i].name, real_or_null(r->trials[i].seconds));
  (void)json_object_set_new(row, "trials", trials);
  (void)json_object_set_new(row, "chosen", json_string(r->trials[r->fastest].name));
}

/* Fastest of the results for block sizes of --ref-nb; NULL if there are none. */
static const bench_result *fastest_block_size(const bench_result *results, int n_results, int reps)
{
  const bench_result *found = NULL;
  for (int i = 1; i < n_results; i++)
    if (results[i].impl->nb > 0 && results[i].impl != &results[i].chosen &&
        (!found || bench_median(results[i].seconds, reps) < bench_median(found->seconds, reps)))
      found = &results[i];
  return found;
}

/* Prints OSLA's speed divided by that of each reference implementation, and of ScaLAPACK's fastest
 * block size (--ref-nb). */
static json_t *ratios_json(const bench_result *results, int n_results, int reps, double *scratch)
{
  json_t *ratios = json_object();
  const bench_result *fastest = fastest_block_size(results, n_results, reps);
  char name[64];
  for (int i = 1; i < n_results; i++)
    (void)json_object_set_new(ratios, results[i].impl->name,
                              real_or_null(ratio(&results[0], &results[i], reps, scratch)));
  if (!fastest) return ratios;
  (void)snprintf(name, sizeof name, "%s-best", fastest->impl->ref);
  (void)json_object_set_new(ratios, name, real_or_null(ratio(&results[0], fastest, reps, scratch)));
  return ratios;
}

osla_err bench_report(bench_job *job, const bench_case *c, const bench_result *results,
                      int n_results)
{
  int reps = job->settings->reps;
  char grid[32];
  osla_err err = OSLA_OK;
  for (int i = 0; i < n_results; i++)
    *(results[i].pass ? &job->n_passed : &job->n_failed) += reps;
  if (job->rank != 0) return OSLA_OK;

  double *scratch = malloc((size_t)reps * sizeof *scratch);
  OSLA_CHECK(scratch, OSLA_ERR_MEM, "%d ratios", reps);
  (void)snprintf(grid, sizeof grid, "%dx%d", osla_grid_nprow(job->grid),
                 osla_grid_npcol(job->grid));
  if (!c->print) print_header(job);
  for (int i = 0; i < n_results && err == OSLA_OK; i++) {
    char text[40] = "";
    if (c->cold) (void)snprintf(text, sizeof text, "cold");
    if (job->device_shared)
      (void)snprintf(text, sizeof text, "shared");
    else if (i > 0)
      (void)snprintf(text, sizeof text, "%.3g%s", ratio(&results[0], &results[i], reps, scratch),
                     &results[i] == fastest_block_size(results, n_results, reps) ? " best nb" : "");
    bench_figure figures[BENCH_MAX_FIGURES];
    const bench_impl *impl = results[i].impl;
    int n_figures = impl->figures ? impl->figures(impl->data ? impl->data : c->data, figures) : 0;
    if (c->print)
      c->print(job, c, &results[i]);
    else
      print_row(job, c, &results[i], grid, text);
    print_phases(&results[i], figures, n_figures);
    if (!c->print) print_trial(&results[i]);
    if (!job->json) continue;
    const bool compared = i == 0 && !job->device_shared;
    json_t *ratios = compared ? ratios_json(results, n_results, reps, scratch) : json_object();
    json_t *row = row_json(job, c, &results[i], grid, ratios);
    add_figures(row, figures, n_figures);
    add_trial(row, &results[i]);
    err = write_line(job, row);
  }
  (void)fflush(stdout);
  free(scratch);
  return err;
}
