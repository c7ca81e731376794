/* Options of osla-bench for star forests. See bench_options.h. */
#include "config.h"

#include "bench/bench_forest.h"
#include "bench/bench_options.h"
#include "bench/mesh.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

/* Names of the cases, in the order of forest_case. */
#define DEVICE_CASES "pingpong,gather,reduce,fetch,halo,spmv,cg"
#define CASES        DEVICE_CASES ",migrate,setup,spmm,ptap"

void bench_forest_table(bench_raw_forest *raw, struct poptOption table[BENCH_FOREST_OPTIONS])
{
  const struct poptOption forest[] = {
    {"case", '\0', POPT_ARG_STRING, &raw->cases, 0, "Cases, of " CASES " (default: all)", "LIST"},
    {"matrix", '\0', POPT_ARG_STRING, &raw->matrix, 0,
     "spmv, cg, spmm, ptap: the matrix of a file: Matrix Market (.mtx), else a graph of METIS",
     "FILE"},
    {"partition", '\0', POPT_ARG_NONE, &raw->partition, 0,
     "spmv, cg, spmm, ptap: METIS distributes the graph's rows; migrate: the cells. Needs a build "
     "with METIS",
     NULL},
    {"start", '\0', POPT_ARG_STRING, &raw->starts, 0,
     "migrate: where the mesh lies first, of " MESH_START_NAMES " (default: all)", "LIST"},
    {"reach", '\0', POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &raw->reach, 0,
     "spmv, cg, spmm, ptap: points of the cube are joined up to this squared distance", "D"},
    {"plain", '\0', POPT_ARG_NONE, &raw->plain, 0,
     "OSLA's values in memory that ranks of the node cannot read in place: of malloc, or a segment",
     NULL},
    {"rewrite", '\0', POPT_ARG_NONE, &raw->rewrite, 0,
     "Each rank rewrites the values that are read before every transfer; timed", NULL},
    {"arrival", '\0', POPT_ARG_NONE, &raw->arrival, 0,
     "reduce, fetch: OSLA sums in any order (SUM_ARRIVAL)", NULL},
    {"exact", '\0', POPT_ARG_NONE, &raw->exact, 0,
     "reduce: OSLA sums exactly (SUM_EXACT): the same bits on any number of ranks", NULL},
    POPT_TABLEEND};
  memcpy(table, forest, sizeof forest);
}

/* Checks that every selected case accepts the sizes. MPI counts edges, and roots of all ranks, with
 * the type int. In a migration one rank may own all cells, and MPI counts their corners with the
 * type int. */
static int check_sizes(const bench_kernel *kernel, int size, const bench_settings *settings)
{
  bool pingpong = settings->cases >> FOREST_PINGPONG & 1;
  bool migrate = settings->cases >> FOREST_MIGRATE & 1;
  bool others = (settings->cases & ~(1U << FOREST_PINGPONG | 1U << FOREST_MIGRATE)) != 0;
  for (int i = 0; i < settings->n_count; i++) {
    int64_t n = settings->n[i];
    if (pingpong && n % (int64_t)sizeof(forest_value) != 0)
      return bench_error(kernel, "--n: %" PRId64 " bytes of pingpong are not a multiple of 8", n);
    if (pingpong && n > (int64_t)1 << 30)
      return bench_error(kernel, "--n: more than 1 GiB in one message of pingpong");
    if (migrate && n > INT_MAX / MESH_CORNERS)
      return bench_error(kernel, "--n: %" PRId64 " cells are too many: at most %d", n,
                         INT_MAX / MESH_CORNERS);
    if (others && n > INT_MAX / size)
      return bench_error(kernel, "--n: %" PRId64 " edges of each of %d ranks are too many", n,
                         size);
  }
  return OSLA_EXIT_OK;
}

int bench_forest_parse(const bench_kernel *kernel, int size, const bench_raw_forest *raw,
                       bench_settings *settings)
{
  settings->plain = raw->plain != 0;
  settings->rewrite = raw->rewrite != 0;
  settings->arrival = raw->arrival != 0;
  settings->exact = raw->exact != 0;
  if (!kernel->forest) return OSLA_EXIT_OK;
  settings->cases = (1U << FOREST_CASES) - 1;
  if (size < 2) settings->cases &= ~(1U << FOREST_PINGPONG);
  int status = OSLA_EXIT_OK;
  if (raw->cases) status = bench_parse_names(kernel, "--case", CASES, raw->cases, &settings->cases);
  const unsigned on_host =
    1U << FOREST_MIGRATE | 1U << FOREST_SETUP | 1U << FOREST_SPMM | 1U << FOREST_PTAP;
  if (settings->device && !raw->cases) settings->cases &= ~on_host;
  if (!status && settings->device && (settings->cases & on_host) != 0)
    status =
      bench_error(kernel, "--case %s: with --device the cases are " DEVICE_CASES, raw->cases);
  if (!status && settings->device && raw->rewrite)
    status = bench_error(kernel, "--rewrite: the host does not write values on a device: leave out "
                                 "--rewrite or --device");
  if (!status && size < 2 && settings->cases >> FOREST_PINGPONG & 1)
    status = bench_error(kernel, "--case: pingpong needs at least 2 ranks (mpiexec -n 2 ...)");
  if (!status && raw->arrival && raw->exact)
    status = bench_error(kernel, "--arrival and --exact exclude each other");
  settings->starts = (1U << MESH_STARTS) - 1;
  if (!status && raw->starts)
    status = bench_parse_names(kernel, "--start", MESH_START_NAMES, raw->starts, &settings->starts);
  if (!status) status = check_sizes(kernel, size, settings);
  settings->reach = raw->reach;
  settings->partition = raw->partition != 0;
  if (!status && (raw->reach < 1 || raw->reach > 100))
    status = bench_error(kernel, "--reach: %d is outside 1 to 100", raw->reach);
  settings->matrix = raw->matrix ? strdup(raw->matrix) : NULL;
  if (!status && raw->matrix && !settings->matrix) status = bench_error(kernel, "out of memory");
  /* The single size 0 stands for the default sizes of each case. */
  if (settings->n_count == 0) settings->n_count = 1;
  return status;
}
