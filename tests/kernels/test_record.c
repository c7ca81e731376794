/* Tests of the records of iterations and of their replay on one rank. A replay must give the bits
 * of the run, and its depth the error bound. Schedules made by hand must give known results. */
#include "kernels/iterate/iterate.h"
#include "osla_iterate_record.h"
#include "tests/kernels/replay_reference.h"
#include "tests/osla_test_help.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The diffusion problem of this run, with the problems of all ranks on each rank for the replay. */
typedef struct cube {
  osla_transport *t;
  osla_diffusion *d, **all;
  osla_fixed_point p, *parts;
  double *x, **xs;
} cube;

static bool make_cube(cube *c, const osla_diffusion_options *o)
{
  const int size = osla_test_size();
  c->t = osla_test_transport();
  if (!OSLA_ASSERT_OK(osla_diffusion_create(c->t, o, &c->d))) return false;
  c->p = osla_diffusion_problem(c->d);
  c->x = osla_test_allocate((size_t)c->p.length + 1, sizeof *c->x);
  c->all = osla_test_allocate((size_t)size, sizeof *c->all);
  c->parts = osla_test_allocate((size_t)size, sizeof *c->parts);
  c->xs = osla_test_allocate((size_t)size, sizeof *c->xs);
  for (int rank = 0; rank < size; rank++) {
    OSLA_ASSERT_OK(osli_diffusion_create_part(o, rank, size, &c->all[rank]));
    c->parts[rank] = osla_diffusion_problem(c->all[rank]);
    c->xs[rank] = osla_test_allocate((size_t)c->parts[rank].length + 1, sizeof **c->xs);
  }
  return true;
}

static void start(cube *c)
{
  osla_diffusion_fill(c->d, c->x);
  for (int rank = 0; rank < osla_test_size(); rank++)
    osla_diffusion_fill(c->all[rank], c->xs[rank]);
}

static void free_cube(cube *c)
{
  for (int rank = 0; rank < osla_test_size(); rank++) {
    osla_diffusion_destroy(&c->all[rank]);
    free(c->xs[rank]);
  }
  free((void *)c->all);
  free(c->parts);
  free((void *)c->xs);
  free(c->x);
  osla_diffusion_destroy(&c->d);
  osla_transport_destroy(&c->t);
}

static bool same_bits(const double *a, const double *b, int64_t n)
{
  return n == 0 || memcmp(a, b, (size_t)n * sizeof *a) == 0;
}

/* ---- a replay gives the bits of the run ---- */

/* Each rank in turn replays the sweeps of all ranks, and compares its own part with the run. */
static void replay_run(cube *c, osla_iteration *it, double omega)
{
  const int size = osla_test_size(), rank = osla_test_rank();
  osla_iterate_result r;
  start(c);
  OSLA_ASSERT_OK(osla_iterate(it, c->x, &r));
  for (int root = 0; root < size; root++) {
    osla_record *records;
    int64_t depth = -1;
    OSLA_ASSERT_OK(osla_iteration_gather(it, root, &records));
    CU_ASSERT((records != NULL) == (rank == root));
    if (!records) continue;
    OSLA_ASSERT_OK(replay_records(size, c->parts, records, omega, c->xs, &depth));
    OSLA_ASSERT_MSG(same_bits(c->x, c->xs[rank], c->p.length), "end %s, %lld sweeps",
                    osla_iterate_end_name(r.end), (long long)r.sweeps);
    CU_ASSERT(records[rank].sweeps == r.sweeps && records[rank].complete);
    CU_ASSERT(depth >= 0 && depth <= r.most && records[rank].n_estimates > 0);
    osla_records_free(size, &records);
    CU_ASSERT(records == NULL);
  }
}

static void test_same_bits(void)
{
  static const struct {
    int mode, period, lead;
    double omega;
    int64_t sweeps;
  } ways[] = {{OSLA_ITERATE_SYNC, 1, -1, 1.0, 100000}, {OSLA_ITERATE_SYNC, 3, -1, 0.9, 47},
              {OSLA_ITERATE_ASYNC, 1, 0, 1.0, 100000}, {OSLA_ITERATE_ASYNC, 2, 5, 0.9, 100000},
              {OSLA_ITERATE_ASYNC, 1, -1, 1.0, 60},    {OSLA_ITERATE_RACY, 1, 0, 1.0, 100000},
              {OSLA_ITERATE_RACY, 3, 2, 0.8, 33}};
  osla_diffusion_options o = {.points = {9, 8, 11}};
  cube c;
  if (!make_cube(&c, &o)) return;
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    osla_iterate_options how = {0};
    osla_iteration *it;
    how.mode = (osla_iterate_mode)ways[i].mode;
    how.period = ways[i].period;
    how.lead = ways[i].lead;
    how.omega = ways[i].omega;
    how.sweeps = ways[i].sweeps;
    how.tolerance = 1e-4;
    how.record_bytes = 64 << 20;
    OSLA_ASSERT_OK(osla_iteration_create(c.t, &c.p, &how, &it));
    replay_run(&c, it, how.omega);
    replay_run(&c, it, how.omega); /* the record is that of the latest run */
    osla_iteration_destroy(&it);
  }
  free_cube(&c);
}

/* ---- error bound by depth: |e|_v <= alpha^m |e_0|_v ---- */

static double largest_error(const cube *c, const double *v)
{
  int64_t first[3], n[3];
  double largest = 0.0;
  osla_diffusion_own(c->d, first, n);
  for (int64_t k = 1; k <= n[2]; k++)
    for (int64_t j = 1; j <= n[1]; j++)
      for (int64_t i = 1; i <= n[0]; i++) {
        const int64_t at = i + (n[0] + 2) * (j + (n[1] + 2) * k);
        largest = fmax(largest, fabs(c->x[at]) / v[at]);
      }
  return largest;
}

/* The initial x is an eigenvector v of M >= 0, and the solution is 0, so alpha is its eigenvalue.
 */
static void test_depth(void)
{
  osla_diffusion_options o = {.points = {11, 7, 12}};
  cube c;
  o.start = OSLA_DIFFUSION_MODE;
  if (!make_cube(&c, &o)) return;
  const double rho = osla_diffusion_radius(c.d);
  double *v = osla_test_allocate((size_t)c.p.length + 1, sizeof *v);
  osla_diffusion_fill(c.d, v);
  /* way: 0 is SYNC mode; 1 and 2 are ASYNC mode with different leads */
  for (int way = 0; way < 3; way++) {
    const int mode = way == 0 ? OSLA_ITERATE_SYNC : OSLA_ITERATE_ASYNC;
    osla_iterate_options how = {0};
    osla_iteration *it;
    osla_iterate_result r;
    osla_record *records;
    int64_t depth = -1;
    double largest;
    how.mode = (osla_iterate_mode)mode;
    how.tolerance = -1;
    how.lead = way == 1 ? 1 : 0; /* with a lead of 1, each sweep uses new halos */
    how.sweeps = 150;
    how.record_bytes = 1 << 20;
    start(&c);
    OSLA_ASSERT_OK(osla_iteration_create(c.t, &c.p, &how, &it));
    OSLA_ASSERT_OK(osla_iterate(it, c.x, &r));
    OSLA_ASSERT_OK(osla_iteration_gather(it, 0, &records));
    if (records)
      OSLA_ASSERT_OK(replay_records(osla_test_size(), c.parts, records, 1.0, c.xs, &depth));
    OSLA_ASSERT_OK(osla_bcast(c.t, &depth, 1, MPI_INT64_T, 0));
    largest = largest_error(&c, v);
    OSLA_ASSERT_MSG(largest <= pow(rho, (double)depth) * (1 + 1e-10),
                    "mode %d: error %g, bound %g of depth %lld", mode, largest,
                    pow(rho, (double)depth), (long long)depth);
    if (way == 0 && c.p.length > 0) OSLA_ASSERT_CLOSE(largest, pow(rho, 150.0), 1e-10);
    OSLA_ASSERT_MSG(depth == 150 || (way == 2 && osla_test_size() > 1 && depth > 0 && depth < 150),
                    "way %d: depth %lld", way, (long long)depth);
    osla_records_free(osla_test_size(), &records);
    osla_iteration_destroy(&it);
  }
  free(v);
  free_cube(&c);
}

/* ---- two unknowns with rho(M) < 1 < rho(|M|) ---- */

/* Sweeps x := [a b; -b a] x in two parts. The array of each part has its own unknown, followed by
 * that of the other part. M has the eigenvalues a +- i b. If one part makes many sweeps while the
 * other unknown is a constant z, its own unknown converges to +-b z / (1 - a). */
typedef struct half {
  double own, other;
} half;

static double half_sweep(void *arg, double omega, const double *x, double *y)
{
  const half *m = arg;
  const double change = m->own * x[0] + m->other * x[1] - x[0];
  y[0] = x[0] + omega * change;
  return change * change;
}

static void half_pack(void *arg, int h, const double *x, double *message)
{
  (void)arg;
  (void)h;
  message[0] = x[0];
}

static void half_unpack(void *arg, int h, const double *message, double *x)
{
  (void)arg;
  (void)h;
  x[1] = message[0];
}

typedef struct pair {
  half m[2];
  osla_halo halos[2];
  osla_fixed_point parts[2];
  double x[2][2], *xs[2];
  osla_reading readings[2][1024];
  osla_record records[2];
} pair;

static void make_pair(pair *p)
{
  memset(p, 0, sizeof *p);
  for (int k = 0; k < 2; k++) {
    p->m[k] = (half){0.5, k == 0 ? 0.8 : -0.8};
    p->halos[k] = (osla_halo){.peer = 1 - k, .send = 1, .recv = 1};
    p->parts[k] = (osla_fixed_point){.arg = &p->m[k],
                                     .length = 2,
                                     .n_halos = 1,
                                     .halos = &p->halos[k],
                                     .sweep = half_sweep,
                                     .pack = half_pack,
                                     .unpack = half_unpack};
    p->x[k][0] = 1.0;
    p->xs[k] = p->x[k];
    p->records[k] = (osla_record){.readings = p->readings[k], .complete = true};
  }
}

static void add(pair *p, int k, int64_t sweep, int64_t version)
{
  osla_record *r = &p->records[k];
  r->readings[r->n_readings++] = (osla_reading){.sweep = sweep, .version = version};
  CU_ASSERT(r->n_readings <= 1024);
}

static double largest_of(const pair *p)
{
  return fmax(fabs(p->x[0][0]), fabs(p->x[1][0]));
}

/* SYNC mode converges. A schedule of 40 sweeps of each part with the last value of the other part,
 * which asynchronous modes allow, multiplies x by 0.64 / 0.25 in each round. */
static void test_diverging(void)
{
  enum { ROUNDS = 10, SWEEPS = 40 };
  static pair p;
  int64_t depth;
  make_pair(&p);
  for (int64_t s = 0; s < 400; s++)
    for (int k = 0; k < 2; k++)
      add(&p, k, s, s);
  for (int k = 0; k < 2; k++)
    p.records[k].sweeps = p.records[k].returned = 400;
  OSLA_ASSERT_OK(replay_records(2, p.parts, p.records, 1.0, p.xs, &depth));
  OSLA_ASSERT_MSG(largest_of(&p) < 1e-8, "%g after 400 sweeps in lock-step", largest_of(&p));
  CU_ASSERT(depth == 400);
  /* the returned halo equals the value that the neighbour returned */
  CU_ASSERT(p.x[0][1] == p.x[1][0] && p.x[1][1] == p.x[0][0]);

  make_pair(&p);
  for (int64_t round = 0; round < ROUNDS; round++) {
    add(&p, 0, round * SWEEPS, round * SWEEPS);
    add(&p, 1, round * SWEEPS, (round + 1) * SWEEPS);
  }
  for (int k = 0; k < 2; k++)
    p.records[k].sweeps = p.records[k].returned = (int64_t)ROUNDS * SWEEPS;
  OSLA_ASSERT_OK(replay_records(2, p.parts, p.records, 1.0, p.xs, &depth));
  const double grown = pow(0.64 / 0.25, ROUNDS);
  OSLA_ASSERT_CLOSE(fabs(p.x[1][0]), grown, 1e-6 * grown);
  OSLA_ASSERT_MSG(depth >= 2 * ROUNDS - 1 && depth <= 2 * ROUNDS * SWEEPS, "depth %lld",
                  (long long)depth);
}

/* Without a certificate, a replay gives the rank's own points exactly, but halos may differ. */
static void test_uncertified(void)
{
  osla_diffusion_options o = {.points = {9, 8, 11}};
  cube c;
  if (!make_cube(&c, &o)) return;
  for (int mode = OSLA_ITERATE_ASYNC; mode <= OSLA_ITERATE_SYNC; mode++) {
    osla_iterate_options how = {0};
    osla_iteration *it;
    osla_iterate_result r;
    osla_record *records;
    int64_t first[3], n[3], differ = 0;
    how.mode = (osla_iterate_mode)mode;
    how.uncertified = true;
    how.sweeps = 45;
    how.record_bytes = 1 << 20;
    start(&c);
    OSLA_ASSERT_OK(osla_iteration_create(c.t, &c.p, &how, &it));
    OSLA_ASSERT_OK(osla_iterate(it, c.x, &r));
    CU_ASSERT(r.end == OSLA_ITERATE_SWEEPS && r.most == 45 && r.snapshots == 0);
    CU_ASSERT(r.residual > 0 && r.residual < r.start);
    for (int root = 0; root < osla_test_size(); root++) {
      OSLA_ASSERT_OK(osla_iteration_gather(it, root, &records));
      if (!records) continue;
      OSLA_ASSERT_OK(replay_records(osla_test_size(), c.parts, records, 1.0, c.xs, NULL));
      osla_records_free(osla_test_size(), &records);
    }
    osla_diffusion_own(c.d, first, n);
    const double *again = c.xs[osla_test_rank()];
    for (int64_t k = 1; k <= n[2]; k++)
      for (int64_t j = 1; j <= n[1]; j++) {
        const int64_t at = 1 + (n[0] + 2) * (j + (n[1] + 2) * k);
        differ += !same_bits(c.x + at, again + at, n[0]);
      }
    OSLA_ASSERT_MSG(differ == 0, "mode %d: %lld rows differ", mode, (long long)differ);
    osla_iteration_destroy(&it);
  }
  free_cube(&c);
}

static void test_lags(void)
{
  osla_reading readings[] = {{0, 0, 0}, {0, 3, 1}, {2, 1, 0}, {2, 2, 0}, {5, 9, 1}};
  const osla_record r = {
    .sweeps = 6, .returned = 6, .n_readings = 5, .readings = readings, .complete = true};
  /* lags in sweeps; | separates readings. Halo 0: 0 1 | 0 1 2 3. Halo 1: -3 -2 -1 0 1 | -4 */
  const int64_t expected[] = {2, 1, 1, 3, 3, 1, 1};
  int64_t count[7] = {0};
  osla_record_lags(&r, 2, 3, count);
  for (int k = 0; k < 7; k++)
    OSLA_ASSERT_MSG(count[k] == expected[k], "lag %d: %lld, not %lld", k - 3, (long long)count[k],
                    (long long)expected[k]);
  osla_record cut = r;
  cut.complete = false; /* nothing is known of sweep 5 and later ones */
  memset(count, 0, sizeof count);
  osla_record_lags(&cut, 2, 3, count);
  int64_t sum = 0;
  for (int k = 0; k < 7; k++)
    sum += count[k];
  CU_ASSERT(sum == 10 && count[0] == 1);
}

static void refuse(pair *p, const char *text)
{
  OSLA_ASSERT_ERR(replay_records(2, p->parts, p->records, 1.0, p->xs, NULL), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT(text);
  make_pair(p);
}

static void test_refused(void)
{
  static pair p;
  make_pair(&p);
  p.records[1].complete = false;
  refuse(&p, "the record of rank 1 is not complete");
  p.records[0].returned = 1;
  refuse(&p, "returned sweep 1 of 0");
  p.records[0].sweeps = 2;
  add(&p, 0, 0, 1);
  refuse(&p, "sweep 0 of rank 0 reads version 1 of rank 1, which cannot have been made");
  add(&p, 0, 0, 1);
  add(&p, 0, 1, 0);
  refuse(&p, "rank 0 reads version 0 of halo 0 after version 1");
  add(&p, 1, 0, 0);
  p.readings[1][0].halo = 1;
  refuse(&p, "halo 1");
  p.records[1].values = p.x[0];
  refuse(&p, "of ranks 0 and 1 one has values");
  for (int k = 0; k < 2; k++)
    p.records[k].values = p.x[0];
  refuse(&p, "rank 0 has 0 values for each reading, and its halo 0 1");
  p.parts[1].length = -1;
  refuse(&p, "rank 1 has a state of -1 numbers");
  p.halos[1].tag = 1;
  refuse(&p, "halo 0 of rank 0 (peer 1, tag 0, 1 numbers) has no sender");
}

static void test_no_record(void)
{
  osla_diffusion_options o = {.points = {6, 5, 12}};
  osla_iterate_options how = {0};
  osla_iteration *it;
  osla_iterate_result r;
  osla_record *records;
  cube c;
  if (!make_cube(&c, &o)) return;
  start(&c);
  OSLA_ASSERT_OK(osla_iteration_create(c.t, &c.p, &how, &it));
  OSLA_ASSERT_OK(osla_iterate(it, c.x, &r));
  OSLA_ASSERT_ERR(osla_iteration_gather(it, 0, &records), OSLA_ERR_STATE);
  CU_ASSERT(records == NULL);
  osla_iteration_destroy(&it);
  how.record_bytes = 3 * (int64_t)sizeof(osla_reading);
  start(&c);
  OSLA_ASSERT_OK(osla_iteration_create(c.t, &c.p, &how, &it));
  OSLA_ASSERT_ERR(osla_iteration_gather(it, 0, &records), OSLA_ERR_STATE);
  OSLA_ASSERT_OK(osla_iterate(it, c.x, &r));
  OSLA_ASSERT_OK(osla_iteration_gather(it, 0, &records));
  for (int rank = 0; records && rank < osla_test_size(); rank++) {
    CU_ASSERT(records[rank].n_readings <= 3);
    CU_ASSERT(records[rank].complete == (records[rank].n_readings < 3));
  }
  CU_ASSERT(osla_test_size() == 1 || osla_test_rank() > 0 || !records[0].complete);
  osla_records_free(osla_test_size(), &records);
  OSLA_ASSERT_ERR(osla_iteration_gather(it, osla_test_size(), &records), OSLA_ERR_ARG);
  osla_iteration_destroy(&it);
  how.record_bytes = -1;
  OSLA_ASSERT_ERR(osla_iteration_create(c.t, &c.p, &how, &it), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("record_bytes = -1");
  free_cube(&c);
}

/* With the option `proven`, a run without a bound that covers omega is refused. */
static void test_proven(void)
{
  osla_diffusion_options o = {.points = {6, 5, 7}};
  osla_iterate_options how = {0};
  osla_iteration *it;
  osla_iterate_result r;
  double alpha;
  cube c;
  if (!make_cube(&c, &o)) return;
  how.proven = true;
  how.omega = 1.02;
  start(&c);
  OSLA_ASSERT_OK(osla_iteration_create(c.t, &c.p, &how, &it));
  OSLA_ASSERT_ERR(osla_iterate(it, c.x, &r), OSLA_ERR_STATE);
  OSLA_ASSERT_TEXT("not proved that every schedule converges (call osla_iterate_bound): alpha = "
                   "inf, omega = 1.02");
  OSLA_ASSERT_OK(osla_iterate_bound(it, 1, &alpha)); /* with the vector of ones, alpha is 1 */
  OSLA_ASSERT_ERR(osla_iterate(it, c.x, &r), OSLA_ERR_STATE);
  OSLA_ASSERT_OK(osla_iterate_bound(it, 300, &alpha));
  OSLA_ASSERT_MSG(alpha < 0.95, "alpha %g", alpha);
  OSLA_ASSERT_OK(osla_iterate(it, c.x, &r));
  CU_ASSERT(r.end == OSLA_ITERATE_CONVERGED);
  osla_iteration_destroy(&it);
  free_cube(&c);
}

static const osla_test_case cases[] = {
  {"same_bits", test_same_bits},     {"depth", test_depth},   {"diverging", test_diverging},
  {"uncertified", test_uncertified}, {"lags", test_lags},     {"refused", test_refused},
  {"no_record", test_no_record},     {"proven", test_proven}, {NULL, NULL},
};
OSLA_TEST_SUITE(test_record, cases);
