/* Signals between the devices of the ranks of a node. A signal is a number that a device stores in
 * a word in host memory when all earlier work of its lane is complete. Devices of other ranks wait
 * for this number, so that no host waits.
 *
 * Each rank has a line of two words for each of its devices, in memory that the ranks of the node
 * map. The signals of a line are numbered in ascending order. The host submits a signal to the
 * device, and then publishes its number in the word `submitted`; the device stores the number in
 * the word `reached`. A rank that waits loads `submitted`, and lets its device wait until `reached`
 * is at least the loaded number.
 *
 * No circle of waits can form: a device waits only for a signal that was submitted before the wait,
 * and a signal waits only for work that was submitted to its lane before the signal.
 *
 * Lines belong to the transport and not to a device, because a rank may close its device while
 * devices of other ranks still wait for the words of this rank. */
#include "src/memory/segment_state.h"

#include <stdlib.h>

enum { LINE = 64, LINES = 64 };

/* The two words of one device. They keep their values when the device is closed. So the signals of
 * the next device that uses the line get larger numbers. */
typedef struct signal_line {
  _Alignas(LINE) _Atomic uint64_t reached;   /* number of the latest signal that has run */
  _Alignas(LINE) _Atomic uint64_t submitted; /* number of the latest submitted signal */
} signal_line;

struct device_signals {
  osla_transport *t;
  osla_region *region; /* [LINES] lines of each rank */
  uint64_t used;       /* bit i is 1 while an open device of this rank has line i */
  int n_pinned; /* number of open devices of this rank that need the lines in pinned memory */
};

/* Returns the line of a rank of this node that belongs to a device. A device has the line with the
 * same index on all ranks. */
static signal_line *line_of(const osla_device *d, int rank)
{
  const device_signals *s = d->signals;
  return (signal_line *)s->t->ops->peer_ptr(s->region, rank) + d->line;
}

/* ---- signals ---- */

bool osli_device_has_signals(const osla_device *d)
{
  return d->signals != NULL;
}

/* Queues a signal of this rank in LANE_MAIN and publishes its number. If the backend returns an
 * error, the host stores the number instead of the device, so that no rank waits forever. Errors:
 * those of the backend. */
static osla_err signal_ranks(osla_device *d)
{
  signal_line *line = line_of(d, d->t->rank);
  const uint64_t value = atomic_load_explicit(&line->submitted, memory_order_relaxed) + 1;
  const device_lane lane = osli_device_lane(LANE_MAIN);
  const osla_err err = osli_device_signal(d->queue, &line->reached, value);
  /* After an error the host stores the number. Earlier signals must have run before, because they
   * would store smaller numbers. */
  if (err != OSLA_OK) {
    (void)osli_device_finish(d->queue);
    atomic_store_explicit(&line->reached, value, memory_order_release);
  }
  (void)osli_device_lane(lane);
  atomic_store_explicit(&line->submitted, value, memory_order_release);
  return err;
}

/* Lets LANE_MAIN wait for the latest signal that a rank of the node has published. */
static osla_err await_rank(const osla_device *d, int rank)
{
  signal_line *line = line_of(d, rank);
  const uint64_t value = atomic_load_explicit(&line->submitted, memory_order_acquire);
  const device_lane lane = osli_device_lane(LANE_MAIN);
  const osla_err err = osli_device_await(d->queue, &line->reached, value);
  (void)osli_device_lane(lane);
  return err;
}

void osli_device_signal_ranks(osla_device *d)
{
  osli_device_keep_error(signal_ranks(d));
}

void osli_device_await_rank(const osla_device *d, int rank)
{
  if (!d || !d->signals || rank == d->t->rank) return;
  osli_device_keep_error(await_rank(d, rank));
}

/* ---- set-up ---- */

static void destroy_signals(void *object)
{
  device_signals *s = object;
  if (s->region) s->t->ops->region_free(&s->region);
  free(s);
}

/* Returns the signals of a transport; the first call creates them. Collective. Errors, on all ranks
 * together: MEM, MPI. */
static osla_err find_signals(osla_transport *t, device_signals **out)
{
  static const char key; /* &key identifies the signals among the transport's objects */
  *out = osli_transport_object_find(t, &key);
  if (*out) return OSLA_OK;
  osla_err err;
  void *memory;
  OSLA_CALL(osli_agree_calloc(t, sizeof(device_signals), "signals of devices", &memory));
  device_signals *s = memory;
  s->t = t;
  OSLA_TRY(t->ops->region_alloc(t, LINES * sizeof(signal_line), &s->region));
  OSLA_TRY(osla_agree(t, osli_transport_object_add(t, &key, s, destroy_signals)));
  *out = s;
  return OSLA_OK;
cleanup:
  osli_transport_object_remove(t, &key);
  destroy_signals(s);
  return err;
}

/* Unpins the lines of those ranks 0 .. n - 1 that are on this node. */
static void unpin_lines(const osla_device *d, int n)
{
  const device_signals *s = d->signals;
  for (int rank = 0; rank < n; rank++)
    if (osla_transport_same_node(s->t, rank))
      d->queue->ops->unpin(d->queue->state, s->t->ops->peer_ptr(s->region, rank));
}

/* Pins the lines of all ranks of the node, unless another device of this rank has pinned them, and
 * counts the device in n_pinned. Does nothing if the backend has no function `pin`. Local. Errors:
 * those of the backend; no line is then pinned. */
static osla_err pin_lines(osla_device *d)
{
  device_signals *s = d->signals;
  osla_err err = OSLA_OK;
  if (!d->queue->ops->pin) return OSLA_OK;
  for (int rank = 0; rank < s->t->size && s->n_pinned == 0; rank++) {
    if (!osla_transport_same_node(s->t, rank)) continue;
    err = d->queue->ops->pin(d->queue->state, s->t->ops->peer_ptr(s->region, rank),
                             LINES * sizeof(signal_line));
    if (err == OSLA_OK) continue;
    unpin_lines(d, rank);
    return err;
  }
  s->n_pinned++;
  d->has_pinned = true;
  return OSLA_OK;
}

void osli_device_signals_close(osla_device *d)
{
  device_signals *s = d->signals;
  if (!s) return;
  if (d->has_pinned && --s->n_pinned == 0) unpin_lines(d, s->t->size);
  d->has_pinned = false;
  s->used &= ~((uint64_t)1 << d->line);
  d->signals = NULL;
}

/* Sets *all to true if the error `mine` is OK on all ranks. Collective. Errors: MPI. */
static osla_err agree_on_use(osla_transport *t, osla_err mine, bool *all)
{
  int64_t lacks = mine != OSLA_OK;
  OSLA_CALL(osla_allreduce(t, &lacks, 1, MPI_INT64_T, MPI_MAX));
  *all = !lacks;
  return OSLA_OK;
}

/* Tests signals: each rank submits a signal, and lets its device wait for the signals of all ranks
 * of the node. Sets *works to true if all calls succeed on all ranks, and if each word `reached`
 * then has at least the number in the word `submitted`. Collective. Errors: MPI. */
static osla_err try_signals(osla_device *d, bool *works)
{
  const osla_transport *t = d->t;
  osla_err err = pin_lines(d);
  if (err == OSLA_OK) err = signal_ranks(d);
  OSLA_CALL(agree_on_use(d->t, err, works));
  if (!*works) return OSLA_OK;
  for (int rank = 0; rank < t->size && err == OSLA_OK; rank++)
    if (osla_transport_same_node(t, rank)) err = await_rank(d, rank);
  if (err == OSLA_OK) err = osli_device_finish(d->queue);
  for (int rank = 0; rank < t->size && err == OSLA_OK; rank++)
    if (osla_transport_same_node(t, rank) &&
        atomic_load(&line_of(d, rank)->reached) < atomic_load(&line_of(d, rank)->submitted))
      err = OSLA_ERR_UNSUPPORTED;
  return agree_on_use(d->t, err, works);
}

osla_err osli_device_signals_open(osla_device *d)
{
  device_signals *s = NULL;
  bool works = false;
  OSLA_CALL(find_signals(d->t, &s));
  uint64_t used = s->used;
  OSLA_CALL(osla_allreduce(d->t, &used, 1, MPI_UINT64_T, MPI_BOR));
  if (used == UINT64_MAX) return OSLA_OK;
  d->line = __builtin_ctzll(~used);
  d->signals = s;
  s->used |= (uint64_t)1 << d->line;
  const osla_err err = try_signals(d, &works);
  if (err != OSLA_OK || !works) osli_device_signals_close(d);
  return err;
}
