/* Probes of the MPI library; probe.h has the contracts. */
#include "osla_clock.h"
#include "src/base/futex.h"
#include "src/transport/mpi/region_mpi.h"
#include "src/transport/probe.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGN = 64, TIME_LIMIT_S = 5 };

/* The next rank after `origin`, cyclically, on its node or on another node, as `kind` says; -1 if
 * there is none. */
static int target_of(const osla_transport *t, int origin, int kind)
{
  for (int d = 1; d < t->size; d++) {
    int rank = (origin + d) % t->size;
    bool same = osla_transport_node_of(t, rank) == osla_transport_node_of(t, origin);
    if (same == (kind == OSLA_PROBE_ON_NODE)) return rank;
  }
  return -1;
}

/* A window of ordinary memory with a passive epoch of all ranks. */
typedef struct window {
  unsigned char *memory; /* memory of the window, aligned to 64 bytes and zeroed */
  MPI_Win win;
} window;

static osla_err open_window(osla_transport *t, size_t bytes, size_t shift, window *w)
{
  w->win = MPI_WIN_NULL;
  w->memory = aligned_alloc(ALIGN, (bytes + shift + ALIGN - 1) / ALIGN * ALIGN);
  OSLA_CALL(
    osla_agree(t, w->memory ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "%zu bytes", bytes + shift)));
  memset(w->memory, 0, bytes + shift);
  return osli_window_create(t, false, w->memory + shift, bytes, &w->win);
}

static void close_window(osla_transport *t, window *w)
{
  (void)osla_barrier(t);
  osli_window_free(&w->win);
  free(w->memory);
}

/* Reduces the values of each kind to their largest value over the ranks. */
static osla_err agree_on_worst(osla_transport *t, osla_err err, int value[OSLA_PROBE_KINDS])
{
  OSLA_CALL(osla_agree(t, err));
  return osla_allreduce(t, value, OSLA_PROBE_KINDS, MPI_INT, MPI_MAX);
}

/* --- probe of puts to a window that is not aligned --- */

enum { SLOT = 64, PATTERN_AT = 20, PATTERN = 24, SEARCH = 16 };

static void make_pattern(int origin, unsigned char pattern[PATTERN])
{
  for (int i = 0; i < PATTERN; i++)
    pattern[i] = (unsigned char)(1 + (origin * 31 + i * 7) % 251);
}

static osla_err put_pattern(osla_transport *t, const window *w, int kind)
{
  unsigned char pattern[PATTERN];
  int target = target_of(t, t->rank, kind);
  if (target < 0) return OSLA_OK;
  make_pattern(t->rank, pattern);
  OSLA_MPI(MPI_Put(pattern, PATTERN, MPI_BYTE, target, SLOT * (1 + t->rank) + PATTERN_AT, PATTERN,
                   MPI_BYTE, w->win));
  OSLA_MPI(MPI_Win_flush(target, w->win));
  return OSLA_OK;
}

/* Number of bytes by which the pattern of `origin` lies before its correct address in this rank's
 * memory; OSLA_PROBE_LOST if it is elsewhere. */
static int find_pattern(const unsigned char *base, int origin)
{
  unsigned char pattern[PATTERN];
  const unsigned char *place = base + SLOT * (1 + origin) + PATTERN_AT;
  make_pattern(origin, pattern);
  for (int n_early = 0; n_early <= SEARCH; n_early++) {
    if (memcmp(place - n_early, pattern, PATTERN) == 0) return n_early;
    if (memcmp(place + n_early, pattern, PATTERN) == 0) return OSLA_PROBE_LOST;
  }
  return OSLA_PROBE_LOST;
}

static osla_err probe_shift(osla_transport *t, size_t shift, int kind, int *worst)
{
  window w;
  osla_err err = open_window(t, SLOT * ((size_t)t->size + 2), shift, &w);
  if (err == OSLA_OK) err = osla_barrier(t);
  if (err == OSLA_OK) err = osla_agree(t, put_pattern(t, &w, kind));
  for (int origin = 0; origin < t->size && err == OSLA_OK; origin++) {
    if (target_of(t, origin, kind) != t->rank) continue;
    int n_early = find_pattern(w.memory + shift, origin);
    if (n_early > *worst) *worst = n_early;
  }
  close_window(t, &w);
  return err;
}

osla_err osli_probe_alignment(osla_transport *t, int n_early[OSLA_PROBE_KINDS])
{
  static const size_t shifts[] = {1, 4, 8, 12};
  osla_err err = OSLA_OK;
  for (int kind = 0; kind < OSLA_PROBE_KINDS; kind++) {
    n_early[kind] = -1;
    for (size_t i = 0; i < sizeof shifts / sizeof *shifts && err == OSLA_OK; i++)
      err = osla_agree(t, probe_shift(t, shifts[i], kind, &n_early[kind]));
  }
  return agree_on_worst(t, err, n_early);
}

/* --- probe of a window inside another window --- */

static osla_err read_inner(osla_transport *t, const window *w, int kind, int *elsewhere)
{
  int target = target_of(t, t->rank, kind), word = -1;
  if (target < 0) return OSLA_OK;
  OSLA_MPI(MPI_Get(&word, sizeof word, MPI_BYTE, target, 0, sizeof word, MPI_BYTE, w->win));
  OSLA_MPI(MPI_Win_flush(target, w->win));
  *elsewhere = word != 1000 + target;
  return OSLA_OK;
}

osla_err osli_probe_window_within(osla_transport *t, int elsewhere[OSLA_PROBE_KINDS])
{
  enum { BEFORE = 128 };
  window outer, inner = {NULL, MPI_WIN_NULL};
  int word = 1000 + t->rank;
  osla_err err = open_window(t, (size_t)2 * BEFORE, 0, &outer);
  if (err == OSLA_OK) err = osli_window_create(t, false, outer.memory + BEFORE, BEFORE, &inner.win);
  if (err == OSLA_OK) memcpy(outer.memory + BEFORE, &word, sizeof word);
  for (int kind = 0; kind < OSLA_PROBE_KINDS; kind++) {
    elsewhere[kind] = -1;
    if (err == OSLA_OK) err = osla_barrier(t);
    if (err == OSLA_OK) err = osla_agree(t, read_inner(t, &inner, kind, &elsewhere[kind]));
  }
  close_window(t, &inner);
  close_window(t, &outer);
  return agree_on_worst(t, err, elsewhere);
}

/* --- probe of a strided get --- */

enum { COUNT = 8, STRIDE = 4 };

static osla_err get_strided(osla_transport *t, const window *w, MPI_Datatype strided, int kind,
                            int *missing)
{
  double received[COUNT];
  int target = target_of(t, t->rank, kind), done = 0;
  MPI_Request request;
  if (target < 0) return OSLA_OK;
  for (int i = 0; i < COUNT; i++)
    received[i] = -1;
  OSLA_MPI(MPI_Rget(received, COUNT, MPI_DOUBLE, target, 0, 1, strided, w->win, &request));
  double end = osla_clock() + TIME_LIMIT_S;
  while (!done && osla_clock() < end)
    OSLA_MPI(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
  *missing = 0;
  for (int i = 0; i < COUNT; i++)
    if (!done || received[i] != target * 1000.0 + i * STRIDE) ++*missing;
  OSLA_MPI(MPI_Win_flush(target, w->win)); /* late data must not arrive after `received` is gone */
  return OSLA_OK;
}

osla_err osli_probe_strided_get(osla_transport *t, int missing[OSLA_PROBE_KINDS])
{
  window w;
  MPI_Datatype strided;
  OSLA_MPI(MPI_Type_vector(COUNT, 1, STRIDE, MPI_DOUBLE, &strided));
  OSLA_MPI(MPI_Type_commit(&strided));
  osla_err err = open_window(t, COUNT * STRIDE * sizeof(double), 0, &w);
  for (int i = 0; i < COUNT * STRIDE && err == OSLA_OK; i++)
    ((double *)w.memory)[i] = t->rank * 1000.0 + i;
  for (int kind = 0; kind < OSLA_PROBE_KINDS; kind++) {
    missing[kind] = -1;
    if (err == OSLA_OK) err = osla_barrier(t);
    if (err == OSLA_OK) err = osla_agree(t, get_strided(t, &w, strided, kind, &missing[kind]));
  }
  close_window(t, &w);
  (void)MPI_Type_free(&strided);
  return agree_on_worst(t, err, missing);
}

/* --- probe of MPI_Win_shared_query --- */

osla_err osli_probe_shared_query(osla_transport *t, bool *served)
{
  void *base = NULL, *queried = NULL;
  MPI_Aint size = 0;
  MPI_Win win = MPI_WIN_NULL;
  int unit, good = 0;
  int code = MPI_Win_allocate(4096, 1, MPI_INFO_NULL, t->comm, &base, &win);
  if (code == MPI_SUCCESS) code = MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  osla_err err = code == MPI_SUCCESS ? OSLA_OK : osla_error_set_mpi(code, "MPI_Win_allocate");
  if (err == OSLA_OK)
    good = MPI_Win_shared_query(win, t->rank, &size, &unit, &queried) == MPI_SUCCESS && queried;
  (void)osla_barrier(t);
  if (win != MPI_WIN_NULL) (void)MPI_Win_free(&win);
  OSLA_CALL(osla_agree(t, err));
  OSLA_CALL(osla_allreduce(t, &good, 1, MPI_INT, MPI_MIN));
  *served = good;
  return OSLA_OK;
}

/* --- probe of accesses to a computing target --- */

enum { REPETITIONS = 3, HEAD_START_US = 2000, LONGER = 5 };

static double median_of_3(const double x[REPETITIONS])
{
  double low = x[0] < x[1] ? x[0] : x[1], high = x[0] < x[1] ? x[1] : x[0];
  return x[2] < low ? low : x[2] > high ? high : x[2];
}

static void compute(double seconds)
{
  for (double end = osla_clock() + seconds; osla_clock() < end;)
    continue;
}

/* A complete access of the origin to the memory of the target. */
typedef osla_err rma_operation(void *memory, int target);

/* Times an operation of the origin while the target computes for `busy` seconds.
 *   late [out] the origin began so late that the target may have finished computing */
static osla_err time_once(osla_transport *t, const osla_probe_pair *pair, double busy,
                          rma_operation *run, void *memory, double *took, bool *is_late)
{
  if (t->rank == pair->target) {
    OSLA_CALL(osli_receive(t, pair->origin, NULL, 0));
    OSLA_CALL(osli_send(t, pair->origin, NULL, 0));
    compute(busy);
  }
  if (t->rank == pair->origin) {
    const double before = osla_clock(); /* a time before the target starts computing */
    OSLA_CALL(osli_send(t, pair->target, NULL, 0));
    OSLA_CALL(osli_receive(t, pair->target, NULL, 0));
    osli_nap(HEAD_START_US); /* gives the target time to leave MPI */
    const double start = osla_clock();
    OSLA_CALL(run(memory, pair->target));
    *took = osla_clock() - start;
    *is_late = start - before > busy - 1e-6 * HEAD_START_US;
  }
  return OSLA_OK;
}

/* Median time of an operation of the origin while the target computes. A late measurement is
 * repeated with twice the computing time. Collective. */
static osla_err time_operation(osla_transport *t, const osla_probe_pair *pair, rma_operation *run,
                               void *memory, double *median)
{
  double took[REPETITIONS] = {0}, busy = pair->busy_seconds;
  for (int i = 0, longer = 0; i < REPETITIONS;) {
    bool is_late = false;
    OSLA_CALL(osla_barrier(t));
    OSLA_CALL(osla_agree(t, time_once(t, pair, busy, run, memory, &took[i], &is_late)));
    OSLA_CALL(osla_bcast(t, &is_late, 1, MPI_C_BOOL, pair->origin));
    if (is_late && longer++ < LONGER)
      busy *= 2;
    else
      i++;
  }
  OSLA_CALL(osla_bcast(t, took, REPETITIONS, MPI_DOUBLE, pair->origin));
  *median = median_of_3(took);
  return OSLA_OK;
}

static osla_err get_word(void *memory, int target)
{
  const window *w = memory;
  uint64_t word;
  OSLA_MPI(MPI_Get(&word, sizeof word, MPI_BYTE, target, 0, sizeof word, MPI_BYTE, w->win));
  OSLA_MPI(MPI_Win_flush(target, w->win));
  return OSLA_OK;
}

static osla_err put_word(void *memory, int target)
{
  const window *w = memory;
  uint64_t word = 1;
  OSLA_MPI(MPI_Put(&word, sizeof word, MPI_BYTE, target, 0, sizeof word, MPI_BYTE, w->win));
  OSLA_MPI(MPI_Win_flush(target, w->win));
  return OSLA_OK;
}

osla_err osli_probe_passive(osla_transport *t, const osla_probe_pair *pair, double *get,
                            double *put)
{
  window w;
  osla_err err = open_window(t, ALIGN, 0, &w);
  if (err == OSLA_OK) err = time_operation(t, pair, get_word, &w, get);
  if (err == OSLA_OK) err = time_operation(t, pair, put_word, &w, put);
  close_window(t, &w);
  return err;
}

static osla_err get_by_transport(void *memory, int target)
{
  osla_region *region = memory;
  osla_transport *t = region->t;
  osla_handle handle;
  uint64_t word;
  OSLA_CALL(t->ops->get(region, target, OSLA_REGION_WORD, &word, sizeof word, &handle));
  return t->ops->wait(t, &handle);
}

/* The key of the attribute on MPI_COMM_SELF that caches this process's result. */
static struct {
  pthread_mutex_t mutex;
  int keyval;
} cached_result = {PTHREAD_MUTEX_INITIALIZER, MPI_KEYVAL_INVALID};
enum { NOT_MEASURED, DOES_NOT_WAIT, WAITS };

static intptr_t known_waits(void)
{
  void *value = NULL;
  int is_there = 0;
  (void)pthread_mutex_lock(&cached_result.mutex);
  if (cached_result.keyval != MPI_KEYVAL_INVALID)
    (void)MPI_Comm_get_attr(MPI_COMM_SELF, cached_result.keyval, &value, &is_there);
  (void)pthread_mutex_unlock(&cached_result.mutex);
  return is_there ? (intptr_t)value : NOT_MEASURED;
}

/* Caches the result. If that fails, the next transport measures again. */
static void cache_waits(intptr_t waits)
{
  int code = MPI_SUCCESS;
  (void)pthread_mutex_lock(&cached_result.mutex);
  if (cached_result.keyval == MPI_KEYVAL_INVALID)
    code = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN,
                                  &cached_result.keyval, NULL);
  if (code == MPI_SUCCESS)
    (void)MPI_Comm_set_attr(MPI_COMM_SELF, cached_result.keyval, (void *)waits);
  (void)pthread_mutex_unlock(&cached_result.mutex);
}

osla_err osli_probe_get_waits(osla_region *region, bool *waits)
{
  /* of the 5 ms for which the target computes, 2 ms pass before the get */
  static const double busy = 5e-3, most = 1e-3;
  osla_transport *t = region->t;
  int64_t known = known_waits(), range[2] = {known, -known};
  OSLA_CALL(osla_allreduce(t, range, 2, MPI_INT64_T, MPI_MIN));
  if (range[0] != -range[1] || range[0] == NOT_MEASURED) {
    const osla_probe_pair pair = {0, target_of(t, 0, OSLA_PROBE_ACROSS), busy};
    double took;
    /* times a get, because a put needs a flush, which may block */
    OSLA_CALL(time_operation(t, &pair, get_by_transport, region, &took));
    range[0] = took > most ? WAITS : DOES_NOT_WAIT;
    cache_waits((intptr_t)range[0]);
  }
  *waits = range[0] == WAITS;
  return OSLA_OK;
}

/* Offsets in the region of the data, the notify word and the counter, all after the transport's own
 * words; REGION is the region's size. In bytes. */
enum { DATA_AT = 64, NOTIFIED_AT = 128, COUNTED_AT = 192, REGION = 256 };

static osla_err notify_by_transport(void *memory, int target)
{
  osla_region *region = memory;
  const osla_transport_ops *ops = region->t->ops;
  double data = 1;
  OSLA_CALL(ops->put_notify(region, target, DATA_AT, &data, sizeof data, NOTIFIED_AT, 1, 0));
  return ops->flush(region, target);
}

static osla_err fetch_by_transport(void *memory, int target)
{
  osla_region *region = memory;
  int64_t old;
  return region->t->ops->fetch_add(region, target, COUNTED_AT, 1, &old);
}

osla_err osli_probe_busy_target(osla_transport *t, const osla_probe_pair *pair,
                                osla_probe_times *out)
{
  osla_region *region = NULL;
  OSLA_CALL(t->ops->region_alloc(t, REGION, &region));
  osla_err err = time_operation(t, pair, get_by_transport, region, &out->get);
  if (err == OSLA_OK) err = time_operation(t, pair, notify_by_transport, region, &out->notify);
  if (err == OSLA_OK) err = time_operation(t, pair, fetch_by_transport, region, &out->fetch_add);
  t->ops->region_free(&region);
  return err;
}
