/* Halos: messages from neighbours arrive over channels and are copied into the state that is swept
 * next.
 *
 * Halos between ranks of a group (group.c) are the last ones of a rank. They are received one by
 * one and in order, in all modes; this file calls them inner halos.
 *
 * The stamp of a message consists of the number of the run, whether the sender makes no more sweeps
 * in it (last), and the sender's number of sweeps. */
#include "kernels/iterate/iterate.h"
#include "osla_trace.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t LAST = UINT64_C(1) << 41;

static uint64_t stamp_of(const osla_iteration *it, int64_t sweeps, bool last)
{
  return it->run << OSLA_ITERATE_RUN_SHIFT | (last ? LAST : 0) | (uint64_t)sweeps;
}

osla_err osli_halos_create(osla_iteration *it)
{
  const int n = it->p.n_halos;
  osla_channel_end *ends = calloc(2 * (size_t)n + OSLA_REDUCTION_NEIGHBOURS, sizeof *ends);
  it->message = calloc((size_t)n + 1, sizeof *it->message);
  it->unpacks_left = calloc((size_t)n + 1, sizeof *it->unpacks_left);
  it->sweeps_since = calloc((size_t)n + 1, sizeof *it->sweeps_since);
  it->is_last = calloc((size_t)n + 1, sizeof *it->is_last);
  it->numbers = calloc(2 * (size_t)n + 1, sizeof *it->numbers);
  const bool have =
    ends && it->message && it->unpacks_left && it->sweeps_since && it->is_last && it->numbers;
  osla_err err =
    osla_agree(it->t, have ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "no memory for %d halos", n));
  static const osla_channel_kind kinds[] = {[OSLA_ITERATE_ASYNC] = OSLA_CHANNEL_LATEST,
                                            [OSLA_ITERATE_RACY] = OSLA_CHANNEL_RACY,
                                            [OSLA_ITERATE_SYNC] = OSLA_CHANNEL_EVERY};
  for (int k = 0; err == OSLA_OK && k < 2 * n; k++) {
    const osla_halo *h = &it->p.halos[k / 2];
    const bool recorded = k % 2, every = recorded || k / 2 >= it->n_outer;
    it->numbers[recorded ? n + k / 2 : k / 2] = k;
    ends[k] = (osla_channel_end){.peer = h->peer,
                                 .tag = 2 * h->tag + recorded,
                                 .kind = every ? OSLA_CHANNEL_EVERY : kinds[it->o.mode],
                                 .in_flight = recorded ? 1 : it->o.in_flight,
                                 .send_bytes = h->send * (int64_t)sizeof(double),
                                 .recv_bytes = h->recv * (int64_t)sizeof(double)};
  }
  if (err == OSLA_OK) {
    const int others = osli_watch_ends(it, ends + 2 * n);
    err = osla_channels_create(it->t, 2 * n + others, ends, &it->set);
  }
  free(ends);
  return err;
}

/* The halos of this rank with the numbers from `from` to to - 1. */
typedef struct halo_range {
  int from, to;
} halo_range;

/* Packs the halos of range r from x and sends them; halo h goes over channel channels[h]. */
static osla_err send_over(osla_iteration *it, halo_range r, const int *channels, const double *x,
                          uint64_t stamp)
{
  OSLA_CALL(osli_watch_send(it, r.to - r.from, channels + r.from));
  if (it->w.stopped >= 0) return OSLA_OK;
  for (int h = r.from; h < r.to; h++) {
    double *message = osla_channel_buffer(it->set, channels[h]);
    OSLA_CHECK(message, OSLA_ERR_MPI, "halo %d", h);
    const double since = osla_trace_now(it->t);
    it->p.pack(it->p.arg, h, x, message);
    osla_trace_add(it->t, OSLA_TRACE_PACK, since, (double)it->p.halos[h].send * sizeof *x);
    OSLA_CALL(osla_channel_send(it->set, channels[h], stamp));
  }
  return OSLA_OK;
}

static osla_err send_outer(osla_iteration *it, const double *x, int64_t sweeps, bool last)
{
  const halo_range outer = {0, it->n_outer};
  it->sent_at = sweeps;
  return send_over(it, outer, it->numbers, x, stamp_of(it, sweeps, last));
}

osla_err osli_halos_send(osla_iteration *it, const double *x, bool last)
{
  return send_outer(it, x, it->sweeps, last);
}

osla_err osli_halos_send_next(osla_iteration *it, const double *x)
{
  return send_outer(it, x, it->sweeps + 1, false);
}

osla_err osli_halos_drop_next(osla_iteration *it)
{
  if (it->sent_at <= it->sweeps || it->w.stopped >= 0) return OSLA_OK;
  OSLA_CALL(osli_watch_receive(it, it->set, it->n_outer, it->numbers));
  for (int h = 0; h < it->n_outer && it->w.stopped < 0; h++) {
    const void *message;
    OSLA_CALL(osla_channel_recv(it->set, it->numbers[h], &message, NULL));
  }
  return OSLA_OK;
}

/* Receives the newest message of halo h. A message of another run is ignored. */
static osla_err receive_newest(osla_iteration *it, int h)
{
  const void *message;
  uint64_t stamp = 0;
  OSLA_CALL(osla_channel_recv(it->set, it->numbers[h], &message, &stamp));
  if (!message || stamp >> OSLA_ITERATE_RUN_SHIFT != it->run) return OSLA_OK;
  it->message[h] = message;
  it->unpacks_left[h] = 2;
  it->sweeps_since[h] = 0;
  it->is_last[h] = stamp & LAST;
  osli_record_reading(it, h, (int64_t)(stamp & (LAST - 1)));
  return OSLA_OK;
}

void osli_halos_unpack(osla_iteration *it, double *x)
{
  for (int h = 0; h < it->p.n_halos; h++) {
    if (it->unpacks_left[h] == 0) continue;
    const double since = osla_trace_now(it->t);
    it->p.unpack(it->p.arg, h, it->message[h], x);
    osla_trace_add(it->t, OSLA_TRACE_PACK, since, (double)it->p.halos[h].recv * sizeof *x);
    it->unpacks_left[h]--;
  }
}

osla_err osli_halos_receive_next(osla_iteration *it)
{
  OSLA_CALL(osli_watch_receive(it, it->set, it->n_outer, it->numbers));
  for (int h = 0; h < it->n_outer && !it->c.over; h++)
    OSLA_CALL(receive_newest(it, h));
  return OSLA_OK;
}

/* Returns whether this rank must not sweep before it has received a new message of halo h. */
static bool must_wait(const osla_iteration *it, int h)
{
  return it->o.lead >= 0 && it->sweeps_since[h] >= it->o.lead && !it->is_last[h] && !it->c.over;
}

osla_err osli_halos_poll(osla_iteration *it, bool *waits)
{
  *waits = false;
  for (int h = 0; h < it->n_outer; h++) {
    if (osla_channel_can_recv(it->set, it->numbers[h])) OSLA_CALL(receive_newest(it, h));
    *waits = *waits || must_wait(it, h);
  }
  return OSLA_OK;
}

/* Waiting cannot deadlock. A rank that waits has sent its newest state before. In a cycle of
 * waiting ranks, each rank would have made its last sweep later than the next rank of the cycle,
 * which is impossible. */
osla_err osli_halos_receive_newest(osla_iteration *it, const double *x)
{
  for (int h = 0; h < it->n_outer; h++) {
    if (osla_channel_can_recv(it->set, it->numbers[h])) OSLA_CALL(receive_newest(it, h));
    while (must_wait(it, h)) {
      if (it->sent_at != it->sweeps) OSLA_CALL(osli_halos_send(it, x, false));
      OSLA_CALL(osli_watch_receive(it, it->set, 1, &it->numbers[h]));
      OSLA_CALL(receive_newest(it, h));
    }
  }
  return OSLA_OK;
}

osla_err osli_halos_exchange_inner(osla_iteration *it, double *x)
{
  const halo_range inner = {it->n_outer, it->p.n_halos};
  if (inner.from == inner.to || it->w.stopped >= 0) return OSLA_OK;
  OSLA_CALL(send_over(it, inner, it->numbers, x, 0));
  OSLA_CALL(osli_watch_receive(it, it->set, inner.to - inner.from, it->numbers + inner.from));
  for (int h = inner.from; h < inner.to && it->w.stopped < 0; h++) {
    const void *message;
    OSLA_CALL(osla_channel_recv(it->set, it->numbers[h], &message, NULL));
    it->p.unpack(it->p.arg, h, message, x);
  }
  return OSLA_OK;
}

osla_err osli_halos_begin(osla_iteration *it, double *x)
{
  const int n = it->p.n_halos;
  memset(it->unpacks_left, 0, (size_t)n * sizeof *it->unpacks_left);
  memset(it->message, 0, (size_t)n * sizeof *it->message);
  OSLA_CALL(osli_halos_send(it, x, it->p.length == 0 || it->o.sweeps == 0));
  for (int h = 0; h < it->n_outer; h++) {
    /* A neighbour that began the run earlier may have sent its halo while this rank was still in
     * the previous run. */
    if (it->o.mode != OSLA_ITERATE_SYNC) OSLA_CALL(receive_newest(it, h));
    while (!it->message[h] && !it->c.over) {
      OSLA_CALL(osli_watch_receive(it, it->set, 1, &it->numbers[h]));
      if (!it->c.over)
        OSLA_CALL(receive_newest(it, h)); /* after a rank has stopped, receiving from a channel of
                                             kind EVERY may wait for ever */
    }
  }
  return osli_halos_exchange_inner(it, x);
}

/* ---- halos of recorded states ---- */

osla_err osli_halos_send_state(osla_iteration *it, const double *x)
{
  const halo_range all = {0, it->p.n_halos};
  return send_over(it, all, it->numbers + it->p.n_halos, x, 0);
}

osla_err osli_halos_state_arrived(osla_iteration *it, bool waits, bool *here)
{
  const int *channels = it->numbers + it->p.n_halos;
  if (waits) OSLA_CALL(osli_watch_receive(it, it->set, it->p.n_halos, channels));
  *here = true;
  for (int h = 0; h < it->p.n_halos && *here; h++)
    *here = osla_channel_can_recv(it->set, channels[h]);
  return OSLA_OK;
}

osla_err osli_halos_receive_state(osla_iteration *it, double *x)
{
  for (int h = 0; h < it->p.n_halos; h++) {
    const void *message;
    OSLA_CALL(osla_channel_recv(it->set, it->numbers[it->p.n_halos + h], &message, NULL));
    it->p.unpack(it->p.arg, h, message, x);
  }
  return OSLA_OK;
}

osla_err osli_halos_exchange(osla_iteration *it, double *x)
{
  bool here;
  OSLA_CALL(osli_halos_send_state(it, x));
  OSLA_CALL(osli_halos_state_arrived(it, true, &here));
  return here ? osli_halos_receive_state(it, x) : OSLA_OK;
}
