/* Options of Jacobi's method. See bench_options.h. */
#include "config.h"

#include "bench/bench_options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Least tolerance of the reference implementation `threads`: its running sum of squares is updated
 * by differences, and each update rounds. */
static const double LEAST_OF_THREADS = 1e-5;

const bench_raw_jacobi bench_raw_jacobi_default = {
  .sweeps = 1000, .period = 1, .in_flight = 2, .levels = 1};

void bench_jacobi_table(bench_raw_jacobi *raw, struct poptOption table[BENCH_JACOBI_OPTIONS])
{
  const struct poptOption jacobi[] = {
    {"mode", '\0', POPT_ARG_STRING, &raw->modes, 0, "Modes, of " BENCH_MODES " (default: all)",
     "LIST"},
    {"whole", '\0', POPT_ARG_NONE, &raw->whole, 0, "N is the side of the whole grid", NULL},
    {"sweeps", '\0', POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &raw->sweeps, 0,
     "Sweeps of each rank", "K"},
    {"tolerance", '\0', POPT_ARG_DOUBLE, &raw->tolerance, 0,
     "Solve, until the residual is T times that of the start", "T"},
    {"period", '\0', POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &raw->period, 0,
     "Halos are sent every P sweeps", "P"},
    {"lead", '\0', POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &raw->lead, 0,
     "async, racy: sweeps on the same halo at most; -1: any number; 0: see osla_iterate.h", "L"},
    {"in-flight", '\0', POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &raw->in_flight, 0,
     "Messages under way to a neighbour: between nodes, and of mpi", "R"},
    {"slow", '\0', POPT_ARG_STRING, &raw->slow, 0, "Sweeps of one rank take F times as long",
     "RANK:F"},
    {"threads", '\0', POPT_ARG_STRING, &raw->threads, 0,
     "Of the reference threads, over which the grid is distributed (default: the cores)", "K"},
    {"zeros", '\0', POPT_ARG_NONE, &raw->zeros, 0,
     "Boundary and start are not raised by 1: exact zeros and subnormal numbers", NULL},
    {"cost-points", '\0', POPT_ARG_LONGLONG, &raw->cost_points, 0,
     "Simulated machines: sweeps and halos take the time of C^3 points, not N^3", "C"},
    {"bound", '\0', POPT_ARG_INT, &raw->bound, 0,
     "Find in K steps whether every schedule converges, and warn if that is not proved", "K"},
    {"levels", '\0', POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &raw->levels, 0,
     "2: correct x by a coarse level with one unknown for each rank; needs --tolerance", "L"},
    {"correct-every", '\0', POPT_ARG_INT, &raw->correct_every, 0,
     "--levels 2: sweeps from a correction to the next residual; 0: see osla_coarse.h", "K"},
    {"damping", '\0', POPT_ARG_DOUBLE, &raw->damping, 0,
     "--levels 2: factor of each correction; 0: see osla_coarse.h", "D"},
    {"record", '\0', POPT_ARG_STRING, &raw->record, 0,
     "Append a line of JSON about each run: sweeps, ages of halos, residuals", "FILE"},
    POPT_TABLEEND};
  _Static_assert(sizeof jacobi / sizeof *jacobi == BENCH_JACOBI_OPTIONS, "room for all");
  memcpy(table, jacobi, sizeof jacobi);
}

int bench_parse_slow(const bench_kernel *kernel, int size, const char *text,
                     bench_settings *settings)
{
  char *end;
  const long rank = strtol(text, &end, 10);
  const bool has_rank = end != text && *end == ':';
  const char *factor = has_rank ? end + 1 : text;
  settings->slow_factor = strtod(factor, &end);
  settings->slow_rank = (int)rank;
  if (has_rank && end != factor && *end == '\0' && rank >= 0 && rank < size &&
      settings->slow_factor >= 1 && settings->slow_factor <= 1000)
    return OSLA_EXIT_OK;
  return bench_error(kernel, "--slow: '%s' is not a rank (0 to %d), ':', and a factor of 1 to 1000",
                     text, size - 1);
}

/* Checks --cost-points, which only changes simulated times. */
static int check_cost(const bench_kernel *kernel, const bench_raw_jacobi *raw,
                      const bench_settings *settings)
{
  if (raw->cost_points == 0) return OSLA_EXIT_OK;
  if (!osla_simulated_machine())
    return bench_error(kernel, "--cost-points needs a simulated machine (bench/scripts/simulate)");
  if (raw->whole || raw->slow)
    return bench_error(kernel, "--cost-points cannot be combined with --whole or --slow");
  for (int i = 0; i < settings->n_count; i++)
    if (raw->cost_points < settings->n[i] || raw->cost_points > 4096)
      return bench_error(kernel, "--cost-points: %lld is not from --points %lld to 4096",
                         raw->cost_points, (long long)settings->n[i]);
  return OSLA_EXIT_OK;
}

/* Checks --levels, --correct-every and --damping. */
static int check_levels(const bench_kernel *kernel, const bench_raw_jacobi *raw)
{
  const bool two = raw->levels == 2;
  if (raw->levels != 1 && !two)
    return bench_error(kernel, "--levels: %d is neither 1 nor 2", raw->levels);
  if (two && raw->tolerance == 0) return bench_error(kernel, "--levels 2 needs --tolerance");
  if (two && raw->record)
    return bench_error(kernel, "--levels 2: a record has no corrections: leave out --record");
  if (!two && (raw->correct_every != 0 || raw->damping != 0))
    return bench_error(kernel, "--correct-every and --damping need --levels 2");
  if (!(raw->damping >= 0 && raw->damping < 2))
    return bench_error(kernel, "--damping: %g is not at least 0 and less than 2", raw->damping);
  return bench_at_least(kernel, "--correct-every", raw->correct_every, 0);
}

/* Checks that the selected reference implementations can run with the other options. */
static int check_refs(const bench_kernel *kernel, int size, const bench_raw_jacobi *raw,
                      const bench_settings *settings)
{
  const bool copying = bench_list_has(settings->ref, "copying");
  const bool threads = bench_list_has(settings->ref, "threads");
  const bool cg = bench_list_has(settings->ref, "cg");
  if (bench_list_has(settings->ref, "uncertified") && raw->tolerance > 0)
    return bench_error(kernel,
                       "--ref uncertified makes a fixed number of sweeps: leave out --tolerance");
  if (copying && raw->tolerance > 0)
    return bench_error(kernel,
                       "--ref copying makes a fixed number of sweeps: leave out --tolerance");
  if (bench_list_has(settings->ref, "shmem") && raw->tolerance > 0)
    return bench_error(kernel, "--ref shmem makes a fixed number of sweeps: leave out --tolerance");
  if (cg && raw->tolerance == 0) return bench_error(kernel, "--ref cg needs --tolerance");
  if ((cg || threads) && raw->slow)
    return bench_error(kernel,
                       "--slow %s: the reference %s has no slow rank, leave one of them out",
                       raw->slow, cg ? "cg" : "threads");
  if (bench_list_has(settings->ref, "one-level") && raw->levels == 1)
    return bench_error(kernel, "--ref one-level needs --levels 2");
  if (threads && size > 1)
    return bench_error(kernel, "--ref threads needs 1 rank, but there are %d", size);
  if (threads && raw->tolerance > 0 && raw->tolerance < LEAST_OF_THREADS)
    return bench_error(kernel, "--tolerance: %g is less than %g, the least with --ref threads",
                       raw->tolerance, LEAST_OF_THREADS);
  if (raw->threads && !threads)
    return bench_error(kernel, "--threads %s needs --ref threads", raw->threads);
  return OSLA_EXIT_OK;
}

/* Sets the number of threads of the reference implementation `threads`, or 1 if it is not
 * selected. */
static int parse_threads(const bench_kernel *kernel, const char *text, bench_settings *settings)
{
  enum { MOST = 1024 };
  settings->threads = 1;
  if (!bench_list_has(settings->ref, "threads")) return OSLA_EXIT_OK;
  if (text) {
    char *end;
    errno = 0;
    const long threads = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno || threads < 1 || threads > MOST)
      return bench_error(kernel, "--threads: '%s' is not a number from 1 to %d", text, MOST);
    settings->threads = (int)threads;
  } else {
    osla_host host;
    if (osla_host_look(MPI_COMM_SELF, &host) != OSLA_OK)
      return bench_error(kernel, "--threads: %s", osla_error_text());
    settings->threads = host.cores < MOST ? host.cores : MOST;
  }
  for (int i = 0; i < settings->n_count && settings->whole; i++)
    if (settings->n[i] < settings->threads)
      return bench_error(kernel, "--threads: %d is more than the %lld layers of points",
                         settings->threads, (long long)settings->n[i]);
  return OSLA_EXIT_OK;
}

int bench_jacobi_parse(const bench_kernel *kernel, int size, const bench_raw_jacobi *raw,
                       bench_settings *settings)
{
  if (!kernel->jacobi) return OSLA_EXIT_OK;
  settings->cases = 7;
  settings->slow_rank = -1;
  settings->slow_factor = 1;
  settings->whole = raw->whole != 0;
  settings->zeros = raw->zeros != 0;
  settings->sweeps = raw->sweeps;
  settings->tolerance = raw->tolerance;
  settings->period = raw->period;
  settings->lead = raw->lead;
  settings->in_flight = raw->in_flight;
  settings->bound = raw->bound;
  settings->cost_points = raw->cost_points;
  settings->levels = raw->levels;
  settings->correct_every = raw->correct_every;
  settings->damping = raw->damping;
  settings->record = raw->record ? strdup(raw->record) : NULL;
  if (raw->record && !settings->record) return bench_error(kernel, "out of memory");
  int status = OSLA_EXIT_OK;
  if (raw->modes)
    status = bench_parse_names(kernel, "--mode", BENCH_MODES, raw->modes, &settings->cases);
  if (!status && raw->slow) status = bench_parse_slow(kernel, size, raw->slow, settings);
  if (!status) status = bench_at_least(kernel, "--sweeps", raw->sweeps, 1);
  if (!status) status = bench_at_least(kernel, "--period", raw->period, 1);
  if (!status) status = bench_at_least(kernel, "--in-flight", raw->in_flight, 1);
  if (!status) status = bench_at_least(kernel, "--lead", raw->lead, -1);
  if (!status) status = bench_at_least(kernel, "--bound", raw->bound, 0);
  if (!status && !(raw->tolerance >= 0 && raw->tolerance < 1))
    status =
      bench_error(kernel, "--tolerance: %g is not at least 0 and less than 1", raw->tolerance);
  if (!status) status = check_levels(kernel, raw);
  if (!status) status = check_cost(kernel, raw, settings);
  if (!status) status = check_refs(kernel, size, raw, settings);
  if (!status) status = parse_threads(kernel, raw->threads, settings);
  for (int i = 0; i < settings->n_count && !status; i++)
    if (settings->n[i] > 4096)
      status = bench_error(kernel, "--points: %lld is more than 4096", (long long)settings->n[i]);
  return status;
}
