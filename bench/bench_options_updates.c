/* Options of osla-bench for updates. See bench_options.h. */
#include "config.h"

#include "bench/bench_options.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_COUNT "400"

const bench_raw_updates bench_raw_updates_default = {.updates = 64, .run = 1, .threads = 1};

void bench_updates_table(bench_raw_updates *raw, struct poptOption table[BENCH_UPDATES_OPTIONS])
{
  const struct poptOption updates[] = {
    {"updates", '\0', POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &raw->updates, 0,
     "Updates of each rank in one run", "U"},
    {"size", '\0', POPT_ARG_STRING, &raw->count, 0,
     "Indices of one update (default: " DEFAULT_COUNT "); a comma list", "S"},
    {"density", '\0', POPT_ARG_STRING, &raw->density, 0,
     "Instead of --size: indices of one update as a share of N; a comma list", "X"},
    {"run", '\0', POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &raw->run, 0,
     "Indices that follow one another without a gap", "R"},
    {"rows", '\0', POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &raw->rows, 0,
     "Rows of G; 0: ready blocks, no product", "K"},
    {"work", '\0', POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &raw->work, 0,
     "Work to make each G, as many products G^T G", "W"},
    {"ring-bytes", '\0', POPT_ARG_LONGLONG, &raw->ring_bytes, 0,
     "Room of each rank for updates to other nodes (default: 64 MiB)", "B"},
    {"seed", '\0', POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &raw->seed, 0,
     "Seed of indices and values", "SEED"},
    {"uplo", '\0', POPT_ARG_STRING, &raw->uplo, 0,
     "Stored triangle, lower or upper (default: lower)", "WHICH"},
    {"threads", '\0', POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &raw->threads, 0,
     "OpenMP threads of each rank that produce updates", "T"},
    POPT_TABLEEND};
  memcpy(table, updates, sizeof updates);
}

static int parse_uplo(const bench_kernel *kernel, const char *text, bench_settings *settings)
{
  settings->uplo = text && strcmp(text, "upper") == 0 ? OSLA_UPPER : OSLA_LOWER;
  if (kernel->general) {
    settings->uplo = OSLA_GENERAL;
    return text ? bench_error(kernel, "--uplo %s: the whole matrix is assembled", text)
                : OSLA_EXIT_OK;
  }
  if (!text || settings->uplo == OSLA_UPPER || strcmp(text, "lower") == 0) return OSLA_EXIT_OK;
  return bench_error(kernel, "--uplo: '%s' is not lower or upper", text);
}

static int parse_density(const bench_kernel *kernel, const bench_raw_updates *raw,
                         bench_settings *settings)
{
  const char *at = raw->density;
  if (raw->count)
    return bench_error(kernel,
                       "--density %s: leave out --size %s, which sets the number of indices, too",
                       at, raw->count);
  for (;;) {
    char *end;
    errno = 0;
    double value = strtod(at, &end);
    if (end == at || (*end != ',' && *end != '\0') || errno || !(value > 0 && value <= 1))
      return bench_error(kernel, "--density: '%s' is not a list of shares above 0, at most 1",
                         raw->density);
    if (settings->n_densities == BENCH_MAX_DENSITIES)
      return bench_error(kernel, "--density: more than %d shares", BENCH_MAX_DENSITIES);
    settings->density[settings->n_densities++] = value;
    if (*end == '\0') return OSLA_EXIT_OK;
    at = end + 1;
  }
}

static int parse_counts(const bench_kernel *kernel, const bench_raw_updates *raw,
                        bench_settings *settings)
{
  int status = bench_add_sizes(kernel, "--size", raw->count ? raw->count : DEFAULT_COUNT,
                               BENCH_MAX_SIZES, settings->counts, &settings->n_counts);
  for (int i = 0; i < settings->n_count; i++)
    for (int k = 0; k < settings->n_counts && !status; k++)
      if (settings->counts[k] > settings->n[i])
        status = bench_error(kernel, "--size: %" PRId64 " indices are more than n = %" PRId64,
                             settings->counts[k], settings->n[i]);
  return status;
}

int bench_updates_parse(const bench_kernel *kernel, const bench_raw_updates *raw,
                        bench_settings *settings)
{
  settings->threads = raw->threads;
  settings->updates = raw->updates;
  settings->rows = raw->rows;
  settings->work = raw->work;
  settings->ring_bytes = raw->ring_bytes;
  settings->run = raw->run;
  settings->seed = raw->seed;
  if (!kernel->updates) return OSLA_EXIT_OK;
  int status = bench_at_least(kernel, "--updates", raw->updates, 1);
  if (!status) status = bench_at_least(kernel, "--run", raw->run, 1);
  if (!status) status = bench_at_least(kernel, "--rows", raw->rows, 0);
  if (!status) status = bench_at_least(kernel, "--work", raw->work, 0);
  if (!status) status = bench_at_least(kernel, "--ring-bytes", raw->ring_bytes, 0);
  if (!status) status = bench_at_least(kernel, "--seed", raw->seed, 0);
  if (!status) status = bench_at_least(kernel, "--threads", raw->threads, 1);
  if (!status) status = parse_uplo(kernel, raw->uplo, settings);
  if (!status)
    status =
      raw->density ? parse_density(kernel, raw, settings) : parse_counts(kernel, raw, settings);
  if (!status && raw->work > 0 && raw->rows == 0)
    status = bench_error(kernel, "--work %lld needs --rows", raw->work);
  if (!status && raw->rows == 0 && bench_list_has(settings->ref, "produce"))
    status = bench_error(kernel, "--ref produce needs --rows");
  if (!status && settings->uplo != OSLA_LOWER && bench_list_has(settings->ref, "triangle"))
    status = bench_error(kernel, "--ref triangle needs --uplo lower");
  return status;
}
