/* The case migrate of star forests: a mesh moves to other ranks. See mesh_migrate.h. */
#include "bench_forest.h"
#include "mesh_migrate.h"

#include <math.h>

typedef struct migration {
  bench_job *job;
  int64_t side;
  mesh_start start;
  mesh_part from, to;
} migration;

static osla_err setup(void *data)
{
  migration *m = data;
  return osla_agree(m->job->transport,
                    mesh_start_create(m->job->transport, m->side, m->start, &m->from));
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
  return mesh_migrate(m->job->transport, &m->from, &m->to);
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

osla_err bench_migrate_case(bench_job *job, int64_t n)
{
  const int64_t side = n < 1 ? 1 : (int64_t)(cbrt((double)n) + 1e-9); /* the largest such cube */
  static const char *const starts[MESH_STARTS] = {"seq", "chunks", "rand"};
  for (int start = 0; start < MESH_STARTS; start++) {
    migration m = {.job = job, .side = side, .start = (mesh_start)start};
    const bench_impl impl = {.name = "osla",
                             .setup = setup,
                             .prepare = prepare,
                             .run = run,
                             .check = check,
                             .teardown = teardown,
                             .data = &m};
    const bench_figure parameters[] = {{"start", start, false}};
    const bench_case c = {.kernel = "forest/migrate",
                          .precision = "",
                          .n = side * side * side,
                          .variant = starts[start],
                          .parameters = parameters,
                          .n_parameters = 1,
                          .impls = &impl,
                          .n_impls = 1,
                          .work = (double)side * (double)side * (double)side,
                          .unit = BENCH_MELEMENTS,
                          .operations = 1};
    const bool last = job->last_size;
    job->last_size = last && start == MESH_STARTS - 1;
    OSLA_CALL(bench_run_case(job, &c));
    job->last_size = last;
  }
  return OSLA_OK;
}
