/* The table for people and the JSON lines. See bench.h and doc/design.md, section 9. */
#include "bench.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* Median over the repetitions of our speed over the reference's in the same one: above 1 we are
 * faster. `scratch` has room for reps values. */
static double ratio(const bench_result *ours, const bench_result *ref, int reps, double *scratch)
{
  for (int rep = 0; rep < reps; rep++)
    scratch[rep] = ours->work / ours->seconds[rep] / (ref->work / ref->seconds[rep]);
  return bench_median(scratch, reps);
}

/* --- the table --- */

static void print_header(bench_job *job)
{
  if (job->header_done) return;
  job->header_done = true;
  (void)printf("%-18s %-14s %4s %8s %5s %6s %5s %5s %10s %10s %17s %9s %4s  %s\n", "kernel", "impl",
               "prec", "n", "nb", "grid", "ranks", "nodes", "min s", "median s", "rate", "residual",
               "", "osla/ref");
}

static void print_row(const bench_job *job, const bench_case *c, const bench_result *r,
                      const char *grid, const char *ratios)
{
  int reps = job->settings->reps;
  double median = bench_median(r->seconds, reps);
  char speed[40], nb[24] = "-";
  (void)snprintf(speed, sizeof speed, "%.4g %s", rate(c, r, median), unit_name(c->unit));
  if (c->nb > 0) (void)snprintf(nb, sizeof nb, "%" PRId64, c->nb);
  (void)printf("%-18s %-14s %4s %8" PRId64 " %5s %6s %5d %5d %10.4g %10.4g %17s %9.2g %4s  %s\n",
               c->kernel, r->impl->name, c->precision[0] ? c->precision : "-", c->n, nb, grid,
               job->size, job->n_nodes, smallest(r->seconds, reps), median, speed, r->residual,
               r->pass ? "PASS" : "FAIL", ratios);
}

/* --- JSON --- */

/* JSON has no NaN and no infinity: they become null. */
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
  return json_pack(
    "{s:s,s:s,s:s,s:I,s:I,s:s,s:i,s:i,s:i,s:o,s:o,s:o,s:s,s:o,s:b,s:o,s:o}", "kernel", c->kernel,
    "impl", r->impl->name, "precision", c->precision, "n", (json_int_t)c->n, "nb",
    (json_int_t)c->nb, "grid", grid, "ranks", job->size, "nodes", job->n_nodes, "reps", reps,
    "seconds_min", real_or_null(smallest(r->seconds, reps)), "seconds_median", real_or_null(median),
    "rate", real_or_null(rate(c, r, median)), "unit", unit_name(c->unit), "residual",
    real_or_null(r->residual), "pass", (int)r->pass, "ratio_vs", ratios, "seconds", seconds);
}

static osla_err write_line(const bench_job *job, json_t *row)
{
  OSLA_CHECK(row, OSLA_ERR_MEM, "out of memory for a JSON line");
  bool written = json_dumpf(row, job->json, JSON_COMPACT | JSON_REAL_PRECISION(9)) == 0 &&
                 fputc('\n', job->json) != EOF && fflush(job->json) == 0;
  json_decref(row);
  OSLA_CHECK(written, OSLA_ERR_IO, "--json: %s cannot be written", job->settings->json);
  return OSLA_OK;
}

osla_err bench_report(bench_job *job, const bench_case *c, const bench_result *results,
                      int n_results)
{
  int reps = job->settings->reps;
  char grid[32];
  osla_err err = OSLA_OK;
  for (int i = 0; i < n_results; i++)
    if (!results[i].pass) job->failed = true;
  if (job->rank != 0) return OSLA_OK;

  double *scratch = malloc((size_t)reps * sizeof *scratch);
  OSLA_CHECK(scratch, OSLA_ERR_MEM, "%d ratios", reps);
  (void)snprintf(grid, sizeof grid, "%dx%d", osla_grid_nprow(job->grid),
                 osla_grid_npcol(job->grid));
  print_header(job);
  for (int i = 0; i < n_results && err == OSLA_OK; i++) {
    char text[24] = "";
    json_t *ratios = json_object();
    for (int ref = 1; ref < n_results && i == 0; ref++)
      (void)json_object_set_new(ratios, results[ref].impl->name,
                                real_or_null(ratio(&results[0], &results[ref], reps, scratch)));
    if (i > 0)
      (void)snprintf(text, sizeof text, "%.3g", ratio(&results[0], &results[i], reps, scratch));
    print_row(job, c, &results[i], grid, text);
    if (job->json)
      err = write_line(job, row_json(job, c, &results[i], grid, ratios));
    else
      json_decref(ratios);
  }
  (void)fflush(stdout);
  free(scratch);
  return err;
}
