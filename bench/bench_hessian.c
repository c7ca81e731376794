/* osla-bench hessian: the assembly of a symmetric matrix from indexed updates. Options, cases and
 * the list of implementations. */
#include "config.h"

#include "bench/bench_hessian.h"

#include <inttypes.h>
#include <stdlib.h>

enum { N_IMPLS = 15, N_PARAMETERS = 9 };

static void list_parameters(const bench_settings *s, int64_t count,
                            bench_figure parameters[N_PARAMETERS])
{
  int n = 0;
  parameters[n++] = (bench_figure){"size", (double)count, false};
  parameters[n++] = (bench_figure){"run", (double)s->run, false};
  parameters[n++] = (bench_figure){"rows", (double)s->rows, false};
  parameters[n++] = (bench_figure){"work", (double)s->work, false};
  parameters[n++] = (bench_figure){"updates", (double)s->updates, false};
  parameters[n++] = (bench_figure){"ring_bytes", (double)s->ring_bytes, false};
  parameters[n++] = (bench_figure){"threads", (double)s->threads, false};
  parameters[n++] = (bench_figure){"seed", (double)s->seed, false};
  parameters[n++] = (bench_figure){"upper", s->uplo == OSLA_UPPER ? 1 : 0, false};
}

/* Writes the text of a case in the table: the number of indices, the rows of G after k, and the
 * products of --work after w, as in "400 k100 w5". */
static void describe(const bench_settings *s, int64_t count, char *text, size_t room)
{
  size_t used = (size_t)snprintf(text, room, "%" PRId64, count);
  if (s->rows > 0 && used < room)
    used += (size_t)snprintf(text + used, room - used, " k%" PRId64, s->rows);
  if (s->work > 0 && used < room) (void)snprintf(text + used, room - used, " w%" PRId64, s->work);
}

static osla_err run_count(bench_job *job, int64_t n, int64_t count, void *data)
{
  const bench_settings *s = job->settings;
  hessian_data *d = data;
  *d = (hessian_data){.job = job,
                      .n = n,
                      .counted = s->updates,
                      .plain = {d, "osla", "osla"},
                      .exact = {d, "osla-exact", "exact", .exact = true},
                      .triangle = {d, "osla-triangle", "triangle", .triangle = true},
                      .node = {d, "osla-node", "node", .node_sums = true},
                      .wrapped = {d, "osla-wrapped", "wrapped", .wrapped = true},
                      .staged = {d, "osla-staged", "staged", .node_sums = true, .wrapped = true},
                      .on_ga = {d, "osla-ga", "on-ga", .on_ga = true},
                      .lock = {.data = d, .locks = true},
                      .flush = {.data = d},
                      .ga = {{.data = d, .way = HESSIAN_GA_SCATTER},
                             {.data = d, .way = HESSIAN_GA_PATCH},
                             {.data = d, .way = HESSIAN_GA_VECTOR}}};
  const bench_impl impls[N_IMPLS] = {hessian_accumulator_impl(&d->plain),
                                     hessian_accumulator_impl(&d->exact),
                                     hessian_accumulator_impl(&d->triangle),
                                     hessian_accumulator_impl(&d->node),
                                     hessian_accumulator_impl(&d->wrapped),
                                     hessian_accumulator_impl(&d->staged),
                                     hessian_accumulator_impl(&d->on_ga),
                                     hessian_produce,
                                     hessian_blas,
                                     hessian_allreduce,
                                     hessian_window_impl(&d->lock),
                                     hessian_window_impl(&d->flush),
                                     hessian_ga_impl(&d->ga[0]),
                                     hessian_ga_impl(&d->ga[1]),
                                     hessian_ga_impl(&d->ga[2])};
  bench_figure parameters[N_PARAMETERS];
  char variant[80];
  double elements = (double)count * (double)(count + 1) / 2;
  bench_case c = {.kernel = "hessian",
                  .n = n,
                  .nb = s->nb,
                  .impls = impls,
                  .n_impls = N_IMPLS,
                  .precision = s->dtype == OSLA_FLOAT ? "s" : "d",
                  .variant = variant,
                  .parameters = parameters,
                  .n_parameters = N_PARAMETERS,
                  .data = d,
                  .operations = 1,
                  .unit = BENCH_MELEMENTS,
                  .work = elements * (double)s->updates * (double)job->size};
  list_parameters(s, count, parameters);
  describe(s, count, variant, sizeof variant);
  osla_err err = updates_create(job, n, count, &d->updates);
  if (err == OSLA_OK) err = bench_run_case(job, &c);
  updates_free(&d->updates);
  return err;
}

static osla_err run(bench_job *job, int64_t n)
{
  bench_keep_freed_memory();
  hessian_data *d = malloc(sizeof *d);
  osla_err err = d ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "%zu bytes", sizeof *d);
  err = osla_agree(job->transport, err);
  if (err == OSLA_OK) err = updates_each_count(job, n, run_count, d);
  free(d);
  return err;
}

#ifdef HAVE_GA
#define REFERENCE_HESSIAN_GA ",on-ga,ga,ga-scatter,ga-patch,ga-vector"
#define ABOUT_ON_GA          "  on-ga      OSLA on the memory of a Global Array, osla-ga\n"
#define ABOUT_GA                                                                                   \
  "  ga         the fastest of Global Arrays' ways: NGA_Scatter_acc (ga-scatter), NGA_NbAcc of\n"  \
  "             patches (-patch), ARMCI_NbAccV (-vector); only when named\n"
#else
#define REFERENCE_HESSIAN_GA ""
#define ABOUT_ON_GA          ""
#define ABOUT_GA             ""
#endif

const bench_kernel bench_hessian = {
  .name = "hessian",
  .summary = "symmetric matrix of order N from indexed updates, H[ix,ix] += G^T G",
  .about =
    "\nTimes U updates of each rank and the commit, in million elements of the triangle per "
    "second,\n"
    "all ranks together; below, what that time was spent on. Beside it:\n"
    "  blas       the limit: a triangle for each thread, one product and scatter-add each update\n"
    "  exact      OSLA in order-independent mode, osla-exact\n"
    "  triangle   OSLA with H stored as a triangle, osla-triangle; needs --uplo lower\n"
    "  node       OSLA with sums of each node, osla-node\n"
    "  wrapped    OSLA on memory that only its owner can access, osla-wrapped\n"
    "  staged     as wrapped, with sums of each node in shared memory, osla-staged\n" ABOUT_ON_GA
    "  produce    the work and products alone: what adding should hide behind; needs --rows\n"
    "  allreduce  as blas, and MPI_Allreduce of the whole triangle\n"
    "  mpi-accumulate  the faster of MPI_Accumulate with lock and unlock (mpi-accumulate-lock) "
    "and\n"
    "             with flush (-flush); only when named: some MPI libraries lose updates or "
    "crash\n" ABOUT_GA
    "Residual: |h - serial sum| / (eps (terms + K) sum of magnitudes), 256 elements.\n",
  .references =
    "blas,exact,triangle,node,wrapped,staged,produce,allreduce,mpi-accumulate,mpi-accumulate-lock,"
    "mpi-accumulate-flush" REFERENCE_HESSIAN_GA,
  .default_references = "blas,allreduce",
  .after =
    "Example: mpiexec -n 2 osla-bench hessian --n 8192 --size 400 --precision s --updates 200\n",
  .reps = 9,
  .run = run,
  .sizes = {4096},
  .updates = true,
  .modelled = true,
};
