/* Dynamic distribution of the paths: ranks and threads fetch subsets of paths from a shared
 * counter by a one-sided fetch-and-add. There is no master; a slow rank fetches fewer subsets
 * (French et al., IPDPS 2015, section II.B.3, who use a root thread). */
#include "apps/tomography/invert/invert.h"
#include "apps/tomography/invert/invert_rays.h"
#include "tools/common/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

typedef struct path_loop {
  invert_job *job;
  const invert_pass *pass;
  osla_counter *counter;
  int64_t subset;
  /* with static distribution: number of subsets that threads of this rank have begun */
  int64_t fixed;
  bool show; /* true if this rank prints the progress line */
  double start, shown;
  osla_err err; /* code and text of the first failure on this rank */
  char text[512];
} path_loop;

static int thread_number(void)
{
#ifdef _OPENMP
  return omp_get_thread_num();
#else
  return 0;
#endif
}

void invert_free_sums(invert_worker *w)
{
  for (int i = 0; i < N_SUMS; i++)
    order_free_destroy(&w->sums[i]);
}

static osla_err make_sums(const invert_pass *pass, invert_worker *w)
{
  for (int i = 0; i < N_SUMS; i++)
    OSLA_CALL(order_free_create(pass->n_sums[i], &w->sums[i]));
  return OSLA_OK;
}

static void close_worker(invert_worker *w)
{
  tomo_path_destroy(&w->path);
  free(w->d);
  free(w->g);
  free(w->g_sum);
  invert_path_qr_destroy(&w->split);
  invert_free_sums(w);
}

static osla_err open_worker(invert_worker *w, invert_job *job, const invert_pass *pass)
{
  *w = (invert_worker){.job = job};
  const int most = tomo_data_max_count(&job->data);
  OSLA_CALL(tomo_path_create(job->mesh, job->kernel, most, &w->path));
  size_t k = (size_t)most;
  size_t columns = (size_t)tomo_path_columns_max(w->path);
  w->d = malloc(k * sizeof *w->d);
  OSLA_CHECK(w->d, OSLA_ERR_MEM, "no memory for %zu data", k);
  if (pass->panels) {
    w->g = malloc(k * columns * osla_dtype_size(job->options->dtype));
    w->g_sum = malloc(columns * sizeof *w->g_sum);
    OSLA_CHECK(w->g && w->g_sum, OSLA_ERR_MEM, "no memory for panel of %zu x %zu elements", k,
               columns);
  }
  return make_sums(pass, w);
}

/* Overwrites the progress line on the terminal, at most five times a second. */
static void show_progress(path_loop *l, int64_t done)
{
  double now = osla_clock();
  int64_t all = l->job->n_paths;
  if (!l->show || done == 0 || done >= all || now - l->shown < 0.2) return;
  l->shown = now;
  double rate = (double)done / (now - l->start);
  (void)fprintf(stderr, "\r%s: %lld / %lld paths, %.0f paths/s, %s left\033[K", l->pass->what,
                (long long)done, (long long)all, rate,
                format_seconds((double)(all - done) / rate).s);
  (void)fflush(stderr);
}

static void clear_progress(const path_loop *l)
{
  if (!l->show || l->shown == l->start) return;
  (void)fprintf(stderr, "\r\033[K");
  (void)fflush(stderr);
}

/* Returns the weights that --robust gives to the data of the path; NULL: all weights are 1. */
static const double *weights_of_path(const invert_job *job, int64_t index, int count)
{
  const double *factor = job->weight ? job->weight + tomo_data_first(&job->data, index) : NULL;
  for (int i = 0; factor && i < count; i++)
    if (factor[i] < 1.0) return factor;
  return NULL;
}

/* Sets the whitened data of the path: synthetic data of the true model if there is one, otherwise
 * the data of the table. */
static void set_data(const invert_job *job, invert_worker *w)
{
  const invert_options *o = job->options;
  w->set = tomo_data_set(&job->data, w->index);
  w->factor = weights_of_path(job, w->index, w->set.count);
  tomo_path_set_data(w->path, &w->set, w->factor);
  if (job->m_true) {
    tomo_path_data(w->path, job->m_true, o->noise, o->model.seed, w->path_id, w->d);
  } else {
    memcpy(w->d, job->data.delay + tomo_data_first(&job->data, w->index),
           (size_t)w->set.count * sizeof *w->d);
    tomo_path_whiten(w->path, w->d);
  }
}

static osla_err run_path(const path_loop *l, invert_worker *w, int64_t index)
{
  const invert_job *job = l->job;
  const int64_t path_id = job->path_ids[index];
  tomo_arc arc;
  /* invert_path_arc cannot fail: the list contains no path with a degenerate arc */
  if (!invert_path_arc(job, path_id, &arc)) return OSLA_OK;
  w->index = index;
  w->path_id = path_id;
  w->columns = tomo_path_trace(w->path, &arc);
  set_data(job, w);
  return l->pass->work(w);
}

static osla_err next_subset(path_loop *l, int64_t *first)
{
  if (l->pass->fixed) {
    int64_t mine, size = osla_transport_size(l->job->t), rank = osla_transport_rank(l->job->t);
#ifdef _OPENMP
#pragma omp atomic capture
#endif
    mine = l->fixed++;
    *first = (mine * size + rank) * l->subset;
    return OSLA_OK;
  }
  if (!l->pass->points) return osla_counter_next(l->counter, l->subset, first);
  return checkpoint_next(l->pass->points, l->counter, l->subset, thread_number() == 0, first);
}

static osla_err run_subsets(path_loop *l, invert_worker *w)
{
  const invert_job *job = l->job;
  for (;;) {
    int64_t first;
    OSLA_CALL(next_subset(l, &first));
    if (thread_number() == 0) show_progress(l, first);
    if (first >= job->n_paths) return OSLA_OK;
    int64_t end = first + l->subset < job->n_paths ? first + l->subset : job->n_paths;
    for (int64_t i = first; i < end; i++) {
      OSLA_CALL(run_path(l, w, i));
      osla_progress(job->t);
    }
  }
}

static void add_totals(invert_worker *total, const invert_worker *w)
{
  for (int i = 0; i < N_SUMS; i++)
    order_free_merge(&total->sums[i], &w->sums[i]);
  total->data += w->data;
  total->seconds_update += w->seconds_update;
}

/* The work of one thread: opens its workspace, processes subsets of paths, and adds its sums to the
 * totals. */
static void run_thread(path_loop *l, invert_worker *total)
{
  invert_worker w;
  osla_err err = open_worker(&w, l->job, l->pass);
  if (err == OSLA_OK) err = run_subsets(l, &w);
  char text[sizeof l->text];
  (void)snprintf(text, sizeof text, "%s", osla_error_text());
  int64_t left;
  if (err != OSLA_OK) (void)osla_counter_next(l->counter, l->job->n_paths, &left);
  if (err != OSLA_OK) {
#ifdef _OPENMP
#pragma omp atomic
#endif
    l->fixed += l->job->n_paths;
  }
  if (err != OSLA_OK && l->pass->points && thread_number() == 0)
    checkpoint_abandon(l->pass->points, err);
#ifdef _OPENMP
#pragma omp critical(invert_totals)
#endif
  {
    if (err == OSLA_OK) {
      add_totals(total, &w);
    } else if (l->err == OSLA_OK) {
      l->err = err;
      memcpy(l->text, text, sizeof text);
    }
  }
  close_worker(&w);
}

/* Returns the number of paths in a subset. With static distribution it is 1, so that the shares of
 * the ranks differ by at most one path. Otherwise there are about 16 subsets for each thread, so
 * that the threads finish at about the same time; a subset then has at most 32 paths. */
static int64_t choose_subset(const invert_job *job, bool fixed)
{
  const invert_options *o = job->options;
  if (fixed) return 1;
  if (o->subset > 0) return o->subset;
  int64_t subset = job->n_paths / (16 * (int64_t)osla_transport_size(job->t) * o->threads);
  return subset < 1 ? 1 : subset > 32 ? 32 : subset;
}

static osla_err reduce_sums(const invert_job *job, invert_worker *total)
{
  for (int i = 0; i < N_SUMS; i++)
    OSLA_CALL(order_free_reduce(job->t, &total->sums[i]));
  return OSLA_OK;
}

osla_err invert_for_all_paths(invert_job *job, const invert_pass *pass, invert_worker *total,
                              double *seconds)
{
  path_loop l = {.job = job, .pass = pass, .subset = choose_subset(job, pass->fixed)};
  *total = (invert_worker){.job = job};
  osla_err err = osla_agree(job->t, make_sums(pass, total));
  if (err == OSLA_OK) err = osla_counter_create(job->t, &l.counter);
  if (err != OSLA_OK) return err;

  l.show = invert_shows_progress(job);
  l.start = l.shown = osla_clock();
  /* one BLAS thread for each thread, because all threads call the BLAS at the same time */
  if (job->options->threads > 1) osla_blas_set_threads(1);
#ifdef _OPENMP
#pragma omp parallel num_threads(job->options->threads)
#endif
  run_thread(&l, total);
  *seconds = osla_clock() - l.start;
  if (job->options->threads > 1) osla_blas_set_threads(job->blas_threads);
  clear_progress(&l);
  if (l.err != OSLA_OK) (void)osla_error_set(l.err, "%s", l.text);
  err = osla_agree(job->t, l.err);
  osla_counter_destroy(&l.counter);
  return err == OSLA_OK ? reduce_sums(job, total) : err;
}

void invert_add_path(invert_worker *w)
{
  const int32_t *knot;
  const double *length;
  const int64_t knots = tomo_path_knots(w->path, &knot, &length);
  order_free_add(&w->sums[SUM_MISFIT], 0, tomo_path_misfit(w->path, NULL, w->d));
  for (int i = 0; i < w->set.count; i++)
    w->data += !w->factor || w->factor[i] > 0.0;
  for (int64_t j = 0; j < knots; j++)
    order_free_add(&w->sums[SUM_KNOTS], knot[j], length[j]);
}

osla_err invert_store_totals(invert_job *job, const invert_worker *total)
{
  invert_result *r = &job->result;
  r->misfit_before = order_free_value(&total->sums[SUM_MISFIT], 0);
  r->data = total->data;
  for (int64_t l = 0; l < job->knots; l++)
    job->density[l] = order_free_value(&total->sums[SUM_KNOTS], l);
  return osla_allreduce(job->t, &r->data, 1, MPI_INT64_T, MPI_SUM);
}
