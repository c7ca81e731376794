/* Options of osla-bench for factorisations and solves. See bench_options.h. */
#include "bench/bench_options.h"

#include <string.h>

void bench_factor_table(const bench_kernel *kernel, bench_raw_factor *raw,
                        struct poptOption table[BENCH_FACTOR_OPTIONS])
{
  const struct poptOption pivoting = {"pivoting",
                                      '\0',
                                      POPT_ARG_STRING,
                                      &raw->pivoting,
                                      0,
                                      kernel->pivotings && bench_list_has(kernel->pivotings, "none")
                                        ? "Pivoting of OSLA: partial (default), tournament, none"
                                        : "Pivoting of OSLA: partial (default), tournament",
                                      "HOW"};
  const struct poptOption look_ahead = {
    "look-ahead",     '\0', POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT,
    &raw->look_ahead, 0,    "Panels that OSLA factors ahead of the update; 0: chosen, -1: none",
    "PANELS"};
  const struct poptOption forward = {
    "forward",     '\0', POPT_ARG_STRING,
    &raw->forward, 0,    "How OSLA's panels reach other nodes: chosen (default), flat, ring, tree",
    "HOW"};
  const struct poptOption cold = {
    "cold",     '\0', POPT_ARG_NONE,
    &raw->cold, 0,    "Time the first call of the process on a new matrix, without a warm-up",
    NULL};
  const struct poptOption solves[] = {
    {"kind", '\0', POPT_ARG_STRING, &raw->kind, 0, "Factorisation: lu (default), chol", "KIND"},
    {"nrhs", '\0', POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &raw->nrhs, 0, "Right-hand sides",
     "NRHS"}};
  if (kernel->pivotings) *table++ = pivoting;
  if (kernel->most_look_ahead > 0) {
    *table++ = look_ahead;
    *table++ = forward;
  }
  if (kernel->cold) *table++ = cold;
  if (kernel->solves) {
    memcpy(table, solves, sizeof solves);
    table += sizeof solves / sizeof *solves;
  }
  *table = (struct poptOption)POPT_TABLEEND;
}

static int parse_pivoting(const bench_kernel *kernel, const char *text, bench_settings *settings)
{
  static const char *const names[] = {"partial", "tournament",
                                      "none"}; /* names, indexed by osla_pivoting */
  settings->pivoting = OSLA_PIVOT_PARTIAL;
  if (!text) return OSLA_EXIT_OK;
  if (!bench_list_has(kernel->pivotings, text))
    return bench_error(kernel, "--pivoting: '%s' is not one of %s", text, kernel->pivotings);
  while (strcmp(names[settings->pivoting], text) != 0)
    settings->pivoting++;
  return OSLA_EXIT_OK;
}

const char *bench_forward_name(osla_forward forward)
{
  static const char *const names[] = {"chosen", "flat", "ring", "tree"};
  return names[forward];
}

static int parse_forward(const bench_kernel *kernel, const char *text, bench_settings *settings)
{
  settings->forward = OSLA_FORWARD_CHOSEN;
  if (!text) return OSLA_EXIT_OK;
  for (int way = OSLA_FORWARD_CHOSEN; way <= OSLA_FORWARD_TREE; way++)
    if (strcmp(bench_forward_name((osla_forward)way), text) == 0) {
      settings->forward = (osla_forward)way;
      return OSLA_EXIT_OK;
    }
  return bench_error(kernel, "--forward: '%s' is not one of chosen,flat,ring,tree", text);
}

int bench_factor_parse(const bench_kernel *kernel, const bench_raw_factor *raw,
                       bench_settings *settings)
{
  int status = parse_pivoting(kernel, raw->pivoting, settings);
  if (!status) status = parse_forward(kernel, raw->forward, settings);
  if (!status && (raw->look_ahead < -1 || raw->look_ahead > kernel->most_look_ahead))
    status = bench_error(kernel, "--look-ahead: %d is not from -1 to %d", raw->look_ahead,
                         kernel->most_look_ahead);
  if (!status && raw->kind && strcmp(raw->kind, "lu") != 0 && strcmp(raw->kind, "chol") != 0)
    status = bench_error(kernel, "--kind: '%s' is not one of lu,chol", raw->kind);
  if (!status && raw->nrhs < 1)
    status = bench_error(kernel, "--nrhs: %lld is less than 1", raw->nrhs);
  if (!status && raw->cold && settings->n_count * settings->n_nbs * settings->n_grids != 1)
    status = bench_error(kernel, "--cold times one call: give one --n, one --nb and one --grid");
  if (!status && kernel->solves && bench_list_has(settings->ref, "triangle") &&
      (!raw->kind || strcmp(raw->kind, "chol") != 0))
    status = bench_error(kernel, "--ref triangle needs --kind chol");
  settings->cold = raw->cold != 0;
  if (settings->cold) settings->reps = 1;
  settings->look_ahead = raw->look_ahead;
  settings->chol = raw->kind && strcmp(raw->kind, "chol") == 0;
  settings->nrhs = raw->nrhs;
  return status;
}
