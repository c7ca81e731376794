/* Prints the text report of a job to standard output, on rank 0. */
#include "apps/tomography/invert/invert.h"
#include "tools/common/command.h"
#include <string.h>

#include <inttypes.h>
#include <stdio.h>

static const char *const phase_names[N_PHASES] = {
  [PHASE_COMPUTE] = "compute", [PHASE_UPDATE] = "update",      [PHASE_COMMIT] = "commit wait",
  [PHASE_FACTOR] = "factor",   [PHASE_PRODUCTS] = "products",  [PHASE_SUMS] = "sums",
  [PHASE_SOLVE] = "solve",     [PHASE_MISFIT] = "misfit pass", [PHASE_SCAN] = "scan",
  [PHASE_INVERSE] = "inverse"};

const char *invert_phase_name(invert_phase phase)
{
  return phase_names[phase];
}

bool invert_phase_is_used(const invert_job *job, invert_phase phase)
{
  const bool direct = job->options->solver == INVERT_DIRECT;
  switch (phase) {
    case PHASE_UPDATE:
    case PHASE_COMMIT:
    case PHASE_FACTOR: return direct;
    case PHASE_SCAN: return invert_has_scan(job->options);
    case PHASE_INVERSE: return job->options->posterior;
    case PHASE_PRODUCTS:
    case PHASE_SUMS: return !direct;
    default: return true;
  }
}

osla_err invert_gather_phase_times(const invert_job *job, invert_phase_times *s)
{
  for (int i = 0; i < N_PHASES; i++)
    s->min[i] = s->mean[i] = s->max[i] = job->result.seconds[i];
  OSLA_CALL(osla_allreduce(job->t, s->min, N_PHASES, MPI_DOUBLE, MPI_MIN));
  OSLA_CALL(osla_allreduce(job->t, s->mean, N_PHASES, MPI_DOUBLE, MPI_SUM));
  OSLA_CALL(osla_allreduce(job->t, s->max, N_PHASES, MPI_DOUBLE, MPI_MAX));
  for (int i = 0; i < N_PHASES; i++)
    s->mean[i] /= osla_transport_size(job->t);
  return OSLA_OK;
}

double invert_phase_work(const invert_job *job, invert_phase phase, const char **unit)
{
  double n = (double)job->n;
  switch (phase) {
    case PHASE_COMPUTE: *unit = "paths/s"; return (double)job->n_paths;
    case PHASE_UPDATE: *unit = "Melem/s"; return 1e-6 * (double)job->result.elements;
    case PHASE_FACTOR:
      *unit = "GF/s";
      return 1e-9 * n * n * n * (job->options->factor == INVERT_CHOLESKY ? 1.0 / 3 : 2.0 / 3);
    case PHASE_INVERSE: *unit = "GF/s"; return 1e-9 * n * n * n * invert_inverse_work(job);
    case PHASE_PRODUCTS: *unit = "iterations/s"; return (double)job->result.iterations;
    case PHASE_MISFIT: *unit = "paths/s"; return (double)job->n_paths;
    default: *unit = ""; return 0.0;
  }
}

static void print_phases(const invert_job *job, const invert_phase_times *s)
{
  (void)printf("\n%s per rank      min      mean       max   rate of all ranks\n",
               osla_simulated_machine() ? "Simulated s" : "Seconds");
  for (int i = 0; i < N_PHASES; i++) {
    const char *unit;
    if (!invert_phase_is_used(job, (invert_phase)i)) continue;
    double work = invert_phase_work(job, (invert_phase)i, &unit);
    (void)printf("  %-14s %9.3f %9.3f %9.3f", phase_names[i], s->min[i], s->mean[i], s->max[i]);
    if (work > 0.0 && s->max[i] > 0.0) (void)printf("   %.4g %s", work / s->max[i], unit);
    (void)printf("\n");
  }
  (void)printf("  %-14s %29.3f\n", "whole job", job->result.wall);
}

static void print_recovery(const char *where, const tomo_recovery *c)
{
  (void)printf("  %-14s %8" PRId64 "   %11.3f   %9.3f   %9.3f\n", where, c->knots, c->correlation,
               c->amplitude, c->variance_reduction);
}

/* Writes a word so that a shell reads it as one word. */
static void put_word(const char *word, FILE *out)
{
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "-_=./,:+@%";
  const char *quote = word[strspn(word, plain)] != '\0' || *word == '\0' ? "'" : "";
  (void)fprintf(out, " %s", quote);
  for (; *word; word++) {
    if (*word == '\'')
      (void)fputs("'\\''", out);
    else
      (void)fputc(*word, out);
  }
  (void)fputs(quote, out);
}

void invert_put_command(const invert_options *o, FILE *out)
{
  (void)fputs("osla", out);
  for (char *const *word = o->words; word && *word; word++)
    put_word(*word, out);
}

/* Prints how many measurements were rejected for each reason, and the first messages with their
 * line numbers. */
static void print_notes(const invert_job *job)
{
  const tomo_data_notes *n = &job->notes;
  if (n->sigma_missing > 0)
    (void)printf("           %" PRId64 " without sigma: %g of the period\n", n->sigma_missing,
                 job->options->kernel.sigma_fraction);
  if (n->distant > 0)
    (void)printf("           %" PRId64 " left out: not between %g and %g degrees\n", n->distant,
                 job->options->min_distance, job->options->max_distance);
  if (n->unmatched == 0) return;
  (void)printf("Not used   %" PRId64 " of %" PRId64 " measurements%s\n", n->unmatched, n->rows,
               n->unmatched > n->listed ? ", the first:" : ":");
  for (int64_t i = 0; i < n->listed; i++)
    (void)printf("           %s:%" PRId64 ": %s\n", job->options->data, n->place[i], n->note[i]);
}

static void print_data(const invert_job *job)
{
  const invert_options *o = job->options;
  (void)printf("Data       %" PRId64 " paths (%" PRId64 " stations, %" PRId64 " earthquakes)",
               job->n_paths, job->n_stations, job->n_events);
  if (!o->data) {
    (void)printf(" x %" PRId64 " measurements\n", job->data.n_measures);
  } else {
    (void)printf(", %" PRId64 " measurements of %" PRId64 " kinds\n",
                 tomo_data_first(&job->data, job->n_paths), job->data.n_measures);
    print_notes(job);
  }
  (void)printf("Reference  %s\n", strcmp(job->earth, "stand-in") == 0
                                    ? "stand-in formulas (--reference)"
                                    : job->earth);
}

/* Prints whether H is a triangle or a square, and its bytes, summed over all ranks. */
static void print_layout(const invert_job *job)
{
  const invert_options *o = job->options;
  const bool triangle = invert_stores_triangle(o);
  const uint64_t n = (uint64_t)job->n, elements = triangle ? n * (n + 1) / 2 : n * n;
  (void)printf("Hessian    %s, %s on all ranks%s\n", triangle ? "lower triangle" : "square",
               format_bytes(elements * osla_dtype_size(o->dtype)).s,
               invert_has_scan(o) ? " (--scan saves the Hessian in the second triangle)" : "");
}

static void print_problem(const invert_job *job)
{
  const invert_options *o = job->options;
  const invert_result *r = &job->result;
  (void)printf("Model      %" PRId64 " unknowns: %" PRId64
               " knots x %d radial functions to %g km\n",
               job->n, job->knots, o->n_radial, o->depth_km);
  print_data(job);
  invert_print_selection(job);
  (void)printf(
    "Machine    %d rank%s (%d x %d) x %d thread%s, %d node%s; about %s of memory per rank\n",
    osla_transport_size(job->t), osla_transport_size(job->t) == 1 ? "" : "s",
    osla_grid_nprow(job->grid), osla_grid_npcol(job->grid), o->threads, o->threads == 1 ? "" : "s",
    osla_transport_n_nodes(job->t), osla_transport_n_nodes(job->t) == 1 ? "" : "s",
    format_bytes(r->bytes).s);
  if (o->solver == INVERT_DIRECT) {
    print_layout(job);
    (void)printf("Updates    %" PRId64 ", %.4g elements added to the Hessian\n", r->updates,
                 (double)r->elements);
    reproducible_print(&job->reproducible);
  } else {
    (void)printf("Solver     %s without assembly: %" PRId64
                 " iterations, %.2g is left (--tolerance %g); rows of G in %s\n",
                 o->solver == INVERT_CG ? "CG" : "LSQR", r->iterations, r->left, o->tolerance,
                 format_bytes(r->rays_bytes).s);
  }
}

static void print_fit(const invert_job *job)
{
  const invert_result *r = &job->result;
  double data = (double)r->data;
  (void)printf("\nMisfit per datum, in variances: %.3f before, %.3f after (%.3f expected of the "
               "exact solution)\n",
               r->misfit_before / data, r->misfit_after / data, r->misfit_expected / data);
  (void)printf("Variance reduction of the data: %.3f\n", 1.0 - r->misfit_after / r->misfit_before);
  if (job->options->factor == INVERT_LU) (void)printf("Growth of LU: %.3g\n", r->growth);
}

/* Prints the comparison of the recovered with the true model. */
static void print_recoveries(const invert_job *job)
{
  const invert_result *r = &job->result;
  (void)printf("\nTrue model found where   knots   correlation   amplitude   variance reduction\n");
  print_recovery("rays are dense", &r->dense);
  print_recovery("rays are few", &r->sparse);
  print_recovery("everywhere", &r->all);
  (void)printf("  (dense: at least %.0f km of paths at a knot)\n", r->threshold);
}

static void print_resolution(const invert_job *job)
{
  const invert_result *r = &job->result;
  if (r->sampled_dense + r->sampled_sparse > 0)
    (void)printf("Resolution, mean diagonal of %d and %d unknowns (1: the data decide, 0: the "
                 "prior): %.3f dense, %.3f few\n",
                 r->sampled_dense, r->sampled_sparse, r->resolution_dense, r->resolution_sparse);
}

static void print_files(const invert_job *job)
{
  const invert_options *o = job->options;
  if (o->output || o->json || o->report || job->result.map_written || o->files.netcdf)
    (void)printf("\n");
  if (o->output) (void)printf("Model      %s\n", o->output);
  if (job->result.map_written) (void)printf("Map        %s\n", o->map);
  if (o->report) (void)printf("Page       %s/index.html\n", o->report);
  if (o->files.netcdf) (void)printf("Grid       %s\n", o->files.netcdf);
  if (o->files.xdmf) (void)printf("ParaView   %s\n", o->files.xdmf);
  if (o->json) (void)printf("Report     %s\n", o->json);
}

osla_err invert_print_report(invert_job *job)
{
  invert_phase_times s;
  OSLA_CALL(invert_gather_phase_times(job, &s));
  if (osla_transport_rank(job->t) != 0 || job->options->quiet) return OSLA_OK;
  print_problem(job);
  print_fit(job);
  invert_print_fit(job);
  invert_print_robust(job);
  if (job->m_true) print_recoveries(job);
  print_resolution(job);
  invert_print_uncertainty(job);
  print_phases(job, &s);
  print_files(job);
  (void)fflush(stdout);
  return OSLA_OK;
}
