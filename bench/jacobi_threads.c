/* Reference implementation `threads`: Jacobi's method by OpenMP threads in one process, as in
 * Bethune et al. (2014), figure 2 and section 3.3. Each thread has a slab in z and reads its
 * neighbours' cells in place. A sweep has three loops: residual, new array, copy back.
 *
 *    sync   barriers between the loops, and a sum of the residuals in each sweep
 *    async  a lock for each boundary between two slabs, held by the thread that works on a layer
 *      next to it, so that a layer is always read as it was after a whole sweep. In a critical
 *      section each thread subtracts the change of its own residual from a running sum; a thread
 *      that finds the sum small enough sets a flag
 *    racy   no locks; the running sum is atomic. Data that are read while they are written are
 *      accessed by relaxed atomics, which impose no order but are no data race in C
 *
 * With a tolerance, async and racy finish with synchronous sweeps until the true residual is small
 * enough, as the authors propose (section 3.1.2). Memory: a second state, and two rows for each
 * thread. Barriers and locks are OpenMP's: a waiting thread blocks soon if there are more threads
 * than cores. Otherwise it spins for some milliseconds first, which disturbs other programs; with
 * OMP_WAIT_POLICY=passive it blocks at once.
 *
 * ThreadSanitizer with Archer (clang's OpenMP) finds no data race. */
#include "bench/bench_jacobi.h"

#ifdef _OPENMP
#include <math.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Data of one thread. */
typedef struct slab {
  int64_t first, end; /* first layer of the thread's slab, and the layer after the last one */
  double *row_copies; /* mode racy: [2][a row] copies of rows of the neighbouring slabs */
  int64_t sweeps;
  double residual2;
  char apart[64]; /* padding, so that the members of two threads are in different cache lines */
} slab;

struct jacobi_threads {
  int n,        /* number of requested threads */
    n_obtained; /* number of threads that run */
  slab *slabs;
  omp_lock_t *locks; /* [n + 1] locks; lock i guards the lower boundary of slab i */
  jacobi_grid grid;
  double *x, /* current state */
    *fresh;  /* state that a sweep computes */
  osla_iterate_mode mode;
  double running2, /* sum of the latest squared residuals of all slabs */
    enough2;       /* value of running2 at which the run ends */
  _Atomic bool ended;
};

/* ---- layers ---- */

/* True if layer k is the lower (upper) end of the slab and has another slab beyond it. */
static bool is_lower_boundary(const slab *w, int64_t k)
{
  return k == w->first && k > 0;
}

static bool is_upper_boundary(const struct jacobi_threads *t, const slab *w, int64_t k)
{
  return k == w->end - 1 && w->end < t->grid.count[2];
}

static const double *copy_row_atomically(const double *row, int64_t n, double *to)
{
  for (int64_t i = 0; i < n; i++)
    to[i] =
      atomic_load_explicit((const _Atomic double *)(const void *)(row + i), memory_order_relaxed);
  return to;
}

static jacobi_row row_of(const struct jacobi_threads *t, const slab *w, int64_t j, int64_t k)
{
  const int64_t n = t->grid.count[0];
  jacobi_row row = jacobi_row_at(&t->grid, t->x, j, k);
  if (t->mode != OSLA_ITERATE_RACY) return row;
  if (is_lower_boundary(w, k)) row.below = copy_row_atomically(row.below, n, w->row_copies);
  if (is_upper_boundary(t, w, k)) row.above = copy_row_atomically(row.above, n, w->row_copies + n);
  return row;
}

typedef double layer_work(const struct jacobi_threads *t, const slab *w, int64_t k);

static double residual_of_layer(const struct jacobi_threads *t, const slab *w, int64_t k)
{
  double sum = 0.0;
  for (int64_t j = 0; j < t->grid.count[1]; j++) {
    const jacobi_row row = row_of(t, w, j, k);
    sum += jacobi_row_residual2(t->grid.count[0], &row);
  }
  return sum;
}

static double new_layer(const struct jacobi_threads *t, const slab *w, int64_t k)
{
  for (int64_t j = 0; j < t->grid.count[1]; j++) {
    const jacobi_row row = row_of(t, w, j, k);
    jacobi_row_new(t->grid.count[0], &row, t->fresh + jacobi_row_offset(&t->grid, j, k));
  }
  return 0.0;
}

static double copy_layer(const struct jacobi_threads *t, const slab *w, int64_t k)
{
  const int64_t n = t->grid.count[0];
  const bool is_read =
    t->mode == OSLA_ITERATE_RACY && (is_lower_boundary(w, k) || is_upper_boundary(t, w, k));
  for (int64_t j = 0; j < t->grid.count[1]; j++) {
    double *to = t->x + jacobi_row_offset(&t->grid, j, k);
    const double *from = t->fresh + jacobi_row_offset(&t->grid, j, k);
    if (!is_read) memcpy(to, from, (size_t)n * sizeof *to);
    for (int64_t i = 0; i < n && is_read; i++)
      atomic_store_explicit((_Atomic double *)(void *)(to + i), from[i], memory_order_relaxed);
  }
  return 0.0;
}

/* Calls `work` for all layers of slab i and returns the sum of the results. A slab of one layer
 * needs the locks of both boundaries; every thread takes the lower lock first. */
static double for_each_layer(struct jacobi_threads *t, int i, layer_work *work)
{
  const slab *w = &t->slabs[i];
  const bool locks = t->mode == OSLA_ITERATE_ASYNC;
  double sum = 0.0;
  for (int64_t k = w->first; k < w->end; k++) {
    const bool lower = locks && is_lower_boundary(w, k),
               upper = locks && is_upper_boundary(t, w, k);
    if (lower) omp_set_lock(&t->locks[i]);
    if (upper) omp_set_lock(&t->locks[i + 1]);
    sum += work(t, w, k);
    if (upper) omp_unset_lock(&t->locks[i + 1]);
    if (lower) omp_unset_lock(&t->locks[i]);
  }
  return sum;
}

/* ---- sweeps ---- */

static double all_residuals(const struct jacobi_threads *t)
{
  double sum = 0.0;
  for (int i = 0; i < t->n; i++)
    sum += t->slabs[i].residual2;
  return sum;
}

/* Makes up to `most` synchronous sweeps, until the residual is small enough. */
static void sweep_sync(struct jacobi_threads *t, int i, int64_t most)
{
  for (int64_t k = 0; k < most; k++) {
    t->slabs[i].residual2 = for_each_layer(t, i, residual_of_layer);
#pragma omp barrier
    if (all_residuals(t) <= t->enough2) break; /* the sum has the same bits on all threads */
    (void)for_each_layer(t, i, new_layer);
#pragma omp barrier
    (void)for_each_layer(t, i, copy_layer);
    t->slabs[i].sweeps++;
#pragma omp barrier
  }
}

/* Subtracts `less` from the running residual and returns the result. */
static double subtract_residual(struct jacobi_threads *t, double less)
{
  double left;
  if (t->mode == OSLA_ITERATE_ASYNC) {
#pragma omp critical(jacobi_threads)
    {
      t->running2 -= less;
      left = t->running2;
    }
  } else {
#pragma omp atomic capture
    left = t->running2 -= less;
  }
  return left;
}

static void sweep_async(struct jacobi_threads *t, int i, int64_t most)
{
  slab *w = &t->slabs[i];
  for (int64_t k = 0; k < most && !atomic_load_explicit(&t->ended, memory_order_relaxed); k++) {
    const double before = w->residual2;
    w->residual2 = for_each_layer(t, i, residual_of_layer);
    if (subtract_residual(t, before - w->residual2) <= t->enough2)
      atomic_store_explicit(&t->ended, true, memory_order_relaxed);
    (void)for_each_layer(t, i, new_layer);
    (void)for_each_layer(t, i, copy_layer);
    w->sweeps++;
  }
}

/* Main function of thread i: computes the residual of the start, sweeps, and ends with synchronous
 * sweeps. */
static void thread_main(struct jacobi_threads *t, int i, const bench_settings *s)
{
  const bool solves = s->tolerance > 0;
  const int64_t any = INT64_C(1) << 40, most = solves ? any : s->sweeps;
  t->slabs[i].sweeps = 0;
  t->slabs[i].residual2 = for_each_layer(t, i, residual_of_layer);
#pragma omp barrier
#pragma omp single
  {
    t->running2 = all_residuals(t);
    t->enough2 = solves ? s->tolerance * s->tolerance * t->running2 : -INFINITY;
  }
  if (t->mode == OSLA_ITERATE_SYNC) {
    sweep_sync(t, i, most);
  } else {
    sweep_async(t, i, most);
#pragma omp barrier
    if (solves) sweep_sync(t, i, any);
  }
}

osla_err jacobi_threads_run(void *data)
{
  jacobi_data *d = data;
  struct jacobi_threads *t = d->threads;
  const bench_settings *s = d->problem->job->settings;
  t->x = d->x;
  t->fresh = d->spare;
  t->ended = false;
#pragma omp parallel num_threads(t->n)
  {
#pragma omp single
    t->n_obtained = omp_get_num_threads();
    if (t->n_obtained == t->n) thread_main(t, omp_get_thread_num(), s);
  }
  OSLA_CHECK(t->n_obtained == t->n, OSLA_ERR_MEM, "--threads: %d, but OpenMP provides %d", t->n,
             t->n_obtained);
  osla_iterate_result r = {.least = INT64_MAX};
  for (int i = 0; i < t->n; i++) {
    const int64_t sweeps = t->slabs[i].sweeps;
    r.least = sweeps < r.least ? sweeps : r.least;
    r.most = sweeps > r.most ? sweeps : r.most;
    r.mean += (double)sweeps / t->n;
  }
  d->result = r;
  return OSLA_OK;
}

/* ---- setup and teardown ---- */

osla_err jacobi_threads_setup(void *data)
{
  jacobi_data *d = data;
  bench_job *job = d->problem->job;
  const jacobi_grid grid = jacobi_grid_of(d->problem);
  const int n = job->settings->threads;
  void *memory;
  OSLA_CALL(bench_alloc(job, sizeof *d->threads, &memory));
  d->threads = memory;
  *d->threads = (struct jacobi_threads){.grid = grid, .mode = d->mode};
  OSLA_CALL(bench_alloc(job, (uint64_t)n * sizeof(slab), &memory));
  d->threads->slabs = memory;
  for (int i = 0; i < n; i++) {
    slab *w = &d->threads->slabs[i];
    w->first = grid.count[2] * i / n;
    w->end = grid.count[2] * (i + 1) / n;
    OSLA_CALL(bench_alloc(job, 2 * (uint64_t)grid.count[0] * sizeof(double), &memory));
    w->row_copies = memory;
    d->threads->n++;
  }
  OSLA_CALL(bench_alloc(job, ((uint64_t)n + 1) * sizeof(omp_lock_t), &memory));
  d->threads->locks = memory;
  for (int i = 0; i <= n; i++)
    omp_init_lock(&d->threads->locks[i]);
  return OSLA_OK;
}

void jacobi_threads_teardown(jacobi_data *d)
{
  struct jacobi_threads *t = d->threads;
  if (!t) return;
  for (int i = 0; i <= t->n && t->locks; i++)
    omp_destroy_lock(&t->locks[i]);
  for (int i = 0; i < t->n; i++)
    free(t->slabs[i].row_copies);
  free(t->locks);
  free(t->slabs);
  free(t);
  d->threads = NULL;
}

#else

osla_err jacobi_threads_setup(void *data)
{
  (void)data;
  return osla_error_set(OSLA_ERR_UNSUPPORTED, "--ref threads needs a build with OpenMP");
}

osla_err jacobi_threads_run(void *data)
{
  return jacobi_threads_setup(data);
}

void jacobi_threads_teardown(jacobi_data *d)
{
  (void)d;
}

#endif
