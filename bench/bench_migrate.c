/* Case migrate of star forests: a mesh moves to other ranks. See mesh_migrate.h. */
#include "bench/bench_forest.h"
#include "bench/mesh_migrate.h"

#include <math.h>

typedef osla_err migrate_function(osla_transport *transport, const mesh_part *from, mesh_part *out);

typedef struct migration {
  bench_job *job;
  migrate_function *migrate;
  int64_t side;
  mesh_start start;
  const int32_t *target;
  mesh_part from, to;
} migration;

static osla_err setup(void *data)
{
  migration *m = data;
  return osla_agree(m->job->transport,
                    mesh_start_create(m->job->transport, m->side, m->start, m->target, &m->from));
}

static osla_err prepare(void *data)
{
  migration *m = data;
  mesh_part_free(&m->to);
  return OSLA_OK;
}

static osla_err run(void *data)
{
  migration *m = data;
  return m->migrate(m->job->transport, &m->from, &m->to);
}

static osla_err check(void *data, double *residual)
{
  migration *m = data;
  bool right;
  OSLA_CALL(mesh_check(m->job->transport, &m->to, &right));
  *residual = right ? 0 : INFINITY;
  return OSLA_OK;
}

static void teardown(void *data)
{
  migration *m = data;
  mesh_part_free(&m->from);
  mesh_part_free(&m->to);
}

static osla_err run_start(bench_job *job, int64_t side, mesh_start start, const int32_t *target)
{
  static const char *const names[MESH_STARTS][2] = {
    {"seq", "seq to metis"}, {"chunks", "chunks to metis"}, {"rand", "rand to metis"}};
  static const char *const impl_names[] = {"osla", "mpi"};
  static migrate_function *const migrate[] = {mesh_migrate, mesh_migrate_mpi};
  migration m[2];
  bench_impl impls[2];
  for (int k = 0; k < 2; k++) {
    m[k] = (migration){job, migrate[k], side, start, target, {0}, {0}};
    impls[k] = (bench_impl){.name = impl_names[k],
                            .setup = setup,
                            .prepare = prepare,
                            .run = run,
                            .check = check,
                            .teardown = teardown,
                            .data = &m[k]};
  }
  const bench_figure parameters[] = {{"start", start, false}, {"partition", target != NULL, false}};
  const bench_case c = {.kernel = "forest/migrate",
                        .precision = "",
                        .n = side * side * side,
                        .variant = names[start][target != NULL],
                        .parameters = parameters,
                        .n_parameters = 2,
                        .impls = impls,
                        .n_impls = 2,
                        .work = (double)side * (double)side * (double)side,
                        .unit = BENCH_MELEMENTS,
                        /* no warm-up in a simulation: a run of thousands of ranks takes minutes */
                        .cold = osla_simulated_machine() != NULL,
                        .operations = 1};
  return bench_run_case(job, &c);
}

osla_err bench_migrate_case(bench_job *job, int64_t n)
{
  /* side of the largest cube of at most n cells */
  const int64_t side = n < 1 ? 1 : (int64_t)(cbrt((double)n) + 1e-9);
  const unsigned starts = job->settings->starts;
  int32_t *target = NULL;
  osla_err err = OSLA_OK;
  if (job->settings->partition) err = mesh_partition_create(job, side, &target);
  const bool last = job->last_size;
  for (int start = 0; err == OSLA_OK && start < MESH_STARTS; start++) {
    if (!(starts >> start & 1)) continue;
    job->last_size = last && starts >> start == 1;
    err = run_start(job, side, (mesh_start)start, target);
  }
  job->last_size = last;
  mesh_partition_free(job, &target);
  return err;
}
