#include "tests/device/device_help.h"
#include "osla_index.h"
#include "osla_transport.h"
#include "src/matrix/part_stage.h"
#include "src/memory/segment.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool bench_open(device_bench *b, bool early)
{
  const char *kind = getenv("OSLA_TEST_DEVICE");
  const osla_device_options options = {.kind = kind ? kind : "fake"};
  const char *fault = getenv("OSLA_TEST_DEVICE_FAULT");
  (void)setenv("OSLA_FAKE_DEVICE", early ? "early" : "late", 1);
  *b = (device_bench){.t = osla_test_transport()};
  OSLA_ASSERT_OK(osla_device_open(b->t, &options, &b->device));
  if (!b->device) return false;
  OSLA_ASSERT_OK(osla_transport_create(MPI_COMM_SELF, NULL, &b->self));
  OSLA_ASSERT_OK(osla_grid_create(b->self, 1, 1, &b->alone));

  osli_device_faults = fault ? atoi(fault) : 0;
  return true;
}

void bench_close(device_bench *b)
{
  osli_device_faults = 0;
  for (int i = 0; i < PAIRS; i++)
    osla_segment_destroy(&b->on_device[i]);

  osla_grid_destroy(&b->alone);
  osla_transport_destroy(&b->self);
  osla_device_close(&b->device);
  osla_transport_destroy(&b->t);
}

void on_all_grids(void (*check)(device_bench *b, osla_grid *grid, int which))
{
  for (int early = 0; early < 2; early++) {
    device_bench b;
    if (!bench_open(&b, early)) return;
    for (int which = 0; which < osla_test_n_grids(b.t); which++) {
      osla_grid *grid = osla_test_grid(b.t, which);
      check(&b, grid, which);
      osla_grid_destroy(&grid);
    }
    bench_close(&b);
  }
}

const osla_dtype all_types[4] = {OSLA_FLOAT, OSLA_DOUBLE, OSLA_COMPLEX_FLOAT, OSLA_COMPLEX_DOUBLE};

/* Returns the index, in the array of a stage, of the element that has the local indices (r, c) in
 * the part of the matrix that is staged. */
static int64_t stage_index(const part_stage *stage, int64_t r, int64_t c)
{
  const stored_columns s = osli_part_stage_columns(stage, c);
  return stored_index(&s, r, c);
}

/* Returns the index, in the array of a host matrix, of the element that has the local indices (r,
 * c) in a device matrix. */
static int64_t host_index(const part_stage *host, const part_local *device, int64_t r, int64_t c)
{
  const osla_layout *l = &host->p.layout;
  return stage_index(host, osla_index_local(part_row(device, r), l->mb, l->nprow),
                     osla_index_local(part_col(device, c), l->nb, l->npcol));
}

matrix_pair pair_make(device_bench *b, osla_grid *host_grid, osla_grid *grid, osla_dtype dtype,
                      int64_t m, int64_t n, int64_t mb, int64_t nb, osla_fill fill, uint64_t seed)
{
  int i = 0;
  while (i < PAIRS - 1 && b->used[i])
    i++;
  OSLA_ASSERT_MSG(!b->used[i], "more than %d pairs of matrices", PAIRS);
  b->used[i] = true;
  if (!b->on_device[i])
    OSLA_ASSERT_OK(osla_segment_create_on(b->device, PAIR_BYTES, 0, &b->on_device[i]));
  matrix_pair p = {.used = &b->used[i]};
  OSLA_ASSERT_OK(osla_matrix_create(host_grid, dtype, m, n, mb, nb, &p.host));
  OSLA_ASSERT_OK(osla_matrix_create_in(b->on_device[i], grid, dtype, m, n, mb, nb, &p.device));
  OSLA_ASSERT_OK(osla_matrix_fill(p.host, fill, seed));
  const osla_part of_host = osla_whole(p.host), of_device = osla_whole(p.device);
  part_stage x, y;
  OSLA_ASSERT_OK(osli_part_stage_open(&of_host, false, &x));
  OSLA_ASSERT_OK(osli_part_stage_open(&of_device, true, &y));
  for (int64_t c = 0; c < y.p.cols; c++)
    for (int64_t r = 0; r < y.p.rows; r++)
      osla_test_store(dtype, y.base, stage_index(&y, r, c),
                      osla_test_load(dtype, x.base, host_index(&x, &y.p, r, c)));
  osli_part_stage_close(&x);
  osli_part_stage_close(&y);
  return p;
}

void pair_free(matrix_pair *p)
{
  osla_matrix_destroy(&p->host);
  osla_matrix_destroy(&p->device);
  *p->used = false;
}

void pair_expect(const matrix_pair *p, double factor, const char *format, ...)
{
  osla_grid *grid = osla_matrix_grid(p->device);
  const osla_dtype dtype = osla_matrix_dtype(p->host);
  const double eps = dtype == OSLA_FLOAT || dtype == OSLA_COMPLEX_FLOAT ? FLT_EPSILON : DBL_EPSILON;
  const osla_part of_host = osla_whole(p->host), of_device = osla_whole(p->device);
  part_stage x, y;
  double largest[2] = {0, 0}; /* largest element of the host matrix, and largest difference */
  char text[200];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(text, sizeof text, format, args);
  va_end(args);
  OSLA_ASSERT_OK(osli_part_stage_open(&of_host, false, &x));
  OSLA_ASSERT_OK(osli_part_stage_open(&of_device, false, &y));
  for (int64_t c = 0; c < y.p.cols; c++)
    for (int64_t r = 0; r < y.p.rows; r++) {
      const osla_complex on_host = osla_test_load(dtype, x.base, host_index(&x, &y.p, r, c));
      const double apart = cabs(osla_test_load(dtype, y.base, stage_index(&y, r, c)) - on_host);
      if (cabs(on_host) > largest[0]) largest[0] = cabs(on_host);
      if (!(apart <= largest[1])) largest[1] = isnan(apart) ? (double)INFINITY : apart;
    }
  osli_part_stage_close(&x);
  osli_part_stage_close(&y);
  OSLA_ASSERT_OK(osla_allreduce(osla_grid_transport(grid), largest, 2, MPI_DOUBLE, MPI_MAX));
  OSLA_ASSERT_MSG(largest[1] <= factor * eps * largest[0], "%s: %g apart of %g on a %d x %d grid",
                  text, largest[1], largest[0], osla_grid_nprow(grid), osla_grid_npcol(grid));
}

void device_overwrite(osla_matrix *a)
{
  const osla_layout l = osla_matrix_layout(a);
  osla_transport *t = osla_grid_transport(osla_matrix_grid(a));
  void *zeros = osla_test_allocate((size_t)(l.m * l.n) + 1, sizeof(osla_complex));
  if (osla_transport_rank(t) == 0)
    OSLA_ASSERT_OK(osla_matrix_put_block(a, 0, 0, l.m, l.n, zeros, l.m > 0 ? l.m : 1));
  free(zeros);
}

void *program_memory_allocate(const osla_device *device, size_t bytes)
{
  const device_queue *q = osli_device_queue(device);
  void *memory = NULL;
  OSLA_ASSERT_OK(q->ops->alloc(q->state, bytes, true, &memory));
  return memory;
}

void program_memory_free(const osla_device *device, void *memory, size_t bytes)
{
  const device_queue *q = osli_device_queue(device);
  q->ops->release(q->state, memory, bytes);
}

bool unopened_allocate(const osla_device *device, size_t bytes, unopened_memory *out)
{
  const device_queue *q = osli_device_queue(device);
  int count = 0;
  OSLA_ASSERT_OK(q->ops->count(&count));
  *out = (unopened_memory){.bytes = bytes, .ops = q->ops};
  if (count < 2) return false;
  out->ordinal = (q->ordinal + 1) % count;
  OSLA_ASSERT_OK(q->ops->open(out->ordinal, NULL, &out->state));
  OSLA_ASSERT_OK(q->ops->alloc(out->state, bytes, true, &out->address));
  return true;
}

void unopened_free(unopened_memory *m)
{
  m->ops->release(m->state, m->address, m->bytes);
  m->ops->close(m->state);
}

/* ---- calls to the device ---- */

static const device_ops *uncounted; /* functions of the backend, while calls are counted */
static device_ops counting;
static device_calls counted;

static osla_err wait_counted(device_state *state, uint64_t mark)
{
  counted.waits++;
  return uncounted->wait(state, mark);
}

static osla_err submit_counted(device_state *state, const device_work *w)
{
  counted.copies += w->kind == DEVICE_COPY && !(osli_device_find(w->a) && osli_device_find(w->c));
  counted.panel_combines += w->kind == DEVICE_COMBINE && w->lane == LANE_PANEL;
  return uncounted->submit(state, w);
}

void count_begin(const osla_device *device)
{
  device_queue *q = osli_device_queue(device);
  uncounted = q->ops;
  counting = *uncounted;
  counting.wait = wait_counted;
  counting.submit = submit_counted;
  counted = (device_calls){0};
  q->ops = &counting;
}

device_calls count_end(const osla_device *device)
{
  osli_device_queue(device)->ops = uncounted;
  return counted;
}

osla_err device_upload(osla_segment *g, const void *bytes, size_t size)
{
  const device_queue *q = osli_device_find(osla_segment_local(g));
  return q->ops->copy_now(q->state, bytes, osla_segment_local(g), size);
}
