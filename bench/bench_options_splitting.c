/* The command-line options of osla-bench splitting: their table for popt, and the checks of their
 * values. The functions are declared in bench_options.h. */
#include "config.h"

#include "bench/bench_options.h"

#include <string.h>

#define INNER "points,cg,sparse"

const bench_raw_splitting bench_raw_splitting_default = {
  .group = 1, .tolerance = 1e-4, .inner_tolerance = 0.01};

void bench_splitting_table(bench_raw_splitting *raw,
                           struct poptOption table[BENCH_SPLITTING_OPTIONS])
{
  const struct poptOption splitting[] = {
    {"mode", '\0', POPT_ARG_STRING, &raw->modes, 0, "Modes, of " BENCH_MODES " (default: all)",
     "LIST"},
    {"whole", '\0', POPT_ARG_NONE, &raw->whole, 0, "N is the side of the whole grid", NULL},
    {"inner", '\0', POPT_ARG_STRING, &raw->inner, 0,
     "Solver of a rank's block, of " INNER " (default: cg); points: each point is a block", "NAME"},
    {"inner-tolerance", '\0', POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &raw->inner_tolerance, 0,
     "--inner cg: residual of each solve, relative to its right-hand side", "T"},
    {"group", '\0', POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &raw->group, 0,
     "--inner cg: consecutive ranks that share a block", "G"},
    {"tolerance", '\0', POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &raw->tolerance, 0,
     "Solve, until the residual is T times that of the start", "T"},
    {"lead", '\0', POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &raw->lead, 0,
     "async, racy: sweeps on the same halo at most; -1: any number; 0: see osla_iterate.h", "L"},
    {"slow", '\0', POPT_ARG_STRING, &raw->slow, 0, "Sweeps of one rank take F times as long",
     "RANK:F"},
    POPT_TABLEEND};
  _Static_assert(sizeof splitting / sizeof *splitting == BENCH_SPLITTING_OPTIONS, "room for all");
  memcpy(table, splitting, sizeof splitting);
}

static int parse_inner(const bench_kernel *kernel, const char *text, bench_settings *settings)
{
  static const char *const names[] = {"points", "cg", "sparse"};
  settings->inner = NULL;
  for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
    if (strcmp(text, names[i]) == 0) settings->inner = names[i];
  if (!settings->inner) return bench_error(kernel, "--inner: '%s' is not one of " INNER, text);
#ifndef HAVE_CHOLMOD
  if (strcmp(text, "sparse") == 0)
    return bench_error(kernel, "--inner sparse: this build has no CHOLMOD (libsuitesparse-dev)");
#endif
  return OSLA_EXIT_OK;
}

/* Checks the tolerances and sizes, and refuses options that exclude one another. Returns an exit
 * status. */
static int check_values(const bench_kernel *kernel, const bench_raw_splitting *raw,
                        const bench_settings *settings)
{
  if (!(raw->tolerance >= 1e-10 && raw->tolerance < 1))
    return bench_error(kernel, "--tolerance: %g is not at least 1e-10 and less than 1",
                       raw->tolerance);
  if (!(raw->inner_tolerance > 0 && raw->inner_tolerance < 1))
    return bench_error(kernel, "--inner-tolerance: %g is not greater than 0 and less than 1",
                       raw->inner_tolerance);
  if (raw->group > 1 && strcmp(settings->inner, "cg") != 0)
    return bench_error(kernel, "--group %lld needs --inner cg", raw->group);
  if (raw->slow && bench_list_has(settings->ref, "cg"))
    return bench_error(
      kernel,
      "--slow %s: the default reference cg has no slow rank: give --ref without it (--ref none)",
      raw->slow);
  for (int i = 0; i < settings->n_count; i++)
    if (settings->n[i] > 1024)
      return bench_error(kernel, "--points: %lld is more than 1024", (long long)settings->n[i]);
  return OSLA_EXIT_OK;
}

int bench_splitting_parse(const bench_kernel *kernel, int size, const bench_raw_splitting *raw,
                          bench_settings *settings)
{
  if (!kernel->splitting) return OSLA_EXIT_OK;
  settings->cases = 7;
  settings->slow_rank = -1;
  settings->slow_factor = 1;
  settings->threads = 1;
  settings->whole = raw->whole != 0;
  settings->tolerance = raw->tolerance;
  settings->inner_tolerance = raw->inner_tolerance;
  settings->lead = raw->lead;
  settings->group = raw->group;
  int status = parse_inner(kernel, raw->inner ? raw->inner : "cg", settings);
  if (!status && raw->modes)
    status = bench_parse_names(kernel, "--mode", BENCH_MODES, raw->modes, &settings->cases);
  if (!status && raw->slow) status = bench_parse_slow(kernel, size, raw->slow, settings);
  if (!status) status = bench_at_least(kernel, "--lead", raw->lead, -1);
  if (!status) status = bench_at_least(kernel, "--group", raw->group, 1);
  return status ? status : check_values(kernel, raw, settings);
}
