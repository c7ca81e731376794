/* Where do the others meet?
 *
 * Ranks that arrive at a meeting send an empty message around a ring. A rank that does not know
 * which transport its call is on looks at all of them for the message of the rank before it, and
 * joins that meeting. So all find it if one rank knows it. Where none does, nobody arrives: in each
 * transport rank 0, if it looks, sends a number around the ring, which ranks that look pass on;
 * when it is back all of them look, and rank 0 tells them so. Of several transports' rings one may
 * close first, so a rank obeys only if it has passed that number on in this search; and a number of
 * rank 0's next search may come before that word, so it says which ring was the last to close.
 */
#include "meet_find.h"
#include "osla_clock.h"
#include "osla_meet.h"

#include <stdlib.h>

enum { ARRIVED_TAG = 8, LOST_TAG, RELEASE_TAG }; /* others: eager_state.h, exchange_mpi.c */

/* A closed ring waits so long, and as long again for each larger transport that is looked at: one
 * of some of the ranks of another may have none but ranks that look, while the others of that one
 * are on their way, or look as well. */
static const double patience = 0.2;

static int before(const osla_transport *t)
{
  return (t->rank + t->size - 1) % t->size;
}

static int after(const osla_transport *t)
{
  return (t->rank + 1) % t->size;
}

osla_err osla_meet_arrive(osla_transport *t, meet_arrival *a)
{
  *a = (meet_arrival){t, {MPI_REQUEST_NULL, MPI_REQUEST_NULL}, MPI_SUCCESS};
  if (t->size == 1) return OSLA_OK;
  (void)pthread_mutex_lock(&t->mutex);
  int code = MPI_Irecv(NULL, 0, MPI_BYTE, before(t), ARRIVED_TAG, t->comm, &a->requests[0]);
  if (code == MPI_SUCCESS)
    code = MPI_Isend(NULL, 0, MPI_BYTE, after(t), ARRIVED_TAG, t->comm, &a->requests[1]);
  (void)pthread_mutex_unlock(&t->mutex);
  return code == MPI_SUCCESS ? OSLA_OK : osla_error_set_mpi(code, "MPI_Isend");
}

static bool both_done(void *arg)
{
  meet_arrival *a = arg;
  MPI_Status statuses[2];
  int flag = 0;
  (void)pthread_mutex_lock(&a->t->mutex);
  a->code = MPI_Testall(2, a->requests, &flag, statuses);
  (void)pthread_mutex_unlock(&a->t->mutex);
  return flag || a->code != MPI_SUCCESS;
}

osla_err osla_meet_arrived(meet_arrival *a)
{
  osla_wait_until(a->t, both_done, a, NULL);
  return a->code == MPI_SUCCESS ? OSLA_OK : osla_error_set_mpi(a->code, "MPI_Testall");
}

/* ---- the search ---- */

typedef struct ring {
  osla_transport *t;
  int64_t number; /* rank 0: what I sent; else: the first one that I passed on, 0: none */
  double closed;  /* rank 0: since then, 0: it is not */
  int larger;     /* transports before this one when a ring is closed */
} ring;

typedef struct search {
  ring *rings;
  int count, found, closed, code;
} search;

enum { NUMBER, LAST_CLOSED, WORDS };

/* Has such a message come? Then its words, where there are any, are received. */
static bool take(search *s, osla_transport *t, int from, int tag, int64_t words[WORDS])
{
  int flag = 0;
  (void)pthread_mutex_lock(&t->mutex);
  int code = MPI_Iprobe(from, tag, t->comm, &flag, MPI_STATUS_IGNORE);
  if (code == MPI_SUCCESS && flag && words)
    code = MPI_Recv(words, WORDS, MPI_INT64_T, from, tag, t->comm, MPI_STATUS_IGNORE);
  (void)pthread_mutex_unlock(&t->mutex);
  if (code != MPI_SUCCESS) s->code = code;
  return flag && code == MPI_SUCCESS;
}

static void send(search *s, osla_transport *t, int to, int tag, const int64_t words[WORDS])
{
  (void)pthread_mutex_lock(&t->mutex);
  int code = MPI_Send(words, WORDS, MPI_INT64_T, to, tag, t->comm);
  (void)pthread_mutex_unlock(&t->mutex);
  if (code != MPI_SUCCESS) s->code = code;
}

/* Rank 0. True: all ranks of this transport look. */
static bool close_ring(search *s, ring *r)
{
  osla_transport *t = r->t;
  int64_t words[WORDS];
  while (take(s, t, before(t), LOST_TAG, words))
    if (words[NUMBER] == r->number) r->closed = osla_clock();
  if (r->closed <= 0 || osla_clock() - r->closed < patience * (1 + r->larger)) return false;
  words[NUMBER] = words[LAST_CLOSED] = t->last_closed = r->number;
  for (int rank = 1; rank < t->size; rank++)
    send(s, t, rank, RELEASE_TAG, words);
  return true;
}

/* The others. A number that has come is looked at after what was sent before it. */
static void look_for_number(search *s, ring *r)
{
  if (r->t->rank != 0 && r->t->held[NUMBER] == 0)
    (void)take(s, r->t, before(r->t), LOST_TAG, r->t->held);
}

/* True: all ranks of this transport looked; a number that is held is for my next search. */
static bool is_released(search *s, ring *r)
{
  int64_t words[WORDS];
  if (r->t->rank == 0) return false;
  if (r->number > 0 && r->t->held[NUMBER] > 0 && r->t->held[LAST_CLOSED] >= r->number) return true;
  while (take(s, r->t, 0, RELEASE_TAG, words))
    if (r->number > 0 && words[NUMBER] >= r->number) return true;
  return false;
}

static void pass_on(search *s, ring *r)
{
  int64_t *held = r->t->held;
  if (r->t->rank == 0 || held[NUMBER] == 0) return;
  if (r->number == 0) r->number = held[NUMBER];
  send(s, r->t, after(r->t), LOST_TAG, held);
  held[NUMBER] = 0;
}

static bool is_over(void *arg)
{
  search *s = arg;
  for (int i = 0; i < s->count; i++) {
    if (i > 0) osla_progress(s->rings[i].t); /* who waits sees to the first one */
    if (take(s, s->rings[i].t, before(s->rings[i].t), ARRIVED_TAG, NULL)) {
      s->found = i;
      return true;
    }
  }
  for (int i = 0; i < s->count; i++)
    look_for_number(s, &s->rings[i]);
  for (int i = 0; i < s->count && s->closed < 0; i++)
    if (is_released(s, &s->rings[i])) s->closed = i;
  for (int i = 0; i < s->count && s->closed < 0; i++) {
    if (s->rings[i].t->rank == 0 && close_ring(s, &s->rings[i])) s->closed = i;
    pass_on(s, &s->rings[i]);
  }
  return s->closed >= 0 || s->code != MPI_SUCCESS;
}

osla_err osla_meet_find(int count, osla_transport *const *transports, osla_transport **found)
{
  *found = NULL;
  search s = {.found = -1, .closed = -1, .code = MPI_SUCCESS};
  s.rings = calloc((size_t)(count > 0 ? count : 1), sizeof *s.rings);
  OSLA_CHECK(s.rings, OSLA_ERR_MEM, "osla_meet_find: a list of %d transports", count);
  for (int i = 0; i < count; i++)
    if (transports[i]->size > 1) s.rings[s.count++].t = transports[i];
  if (s.count == 1 && count == 1) {
    s.found = 0;
  } else if (s.count > 0) {
    for (int i = 0; i < s.count; i++) {
      ring *r = &s.rings[i];
      for (int j = 0; j < s.count; j++)
        if (s.rings[j].t->size > r->t->size) r->larger++;
      if (r->t->rank != 0) continue;
      r->number = ++r->t->searches;
      send(&s, r->t, after(r->t), LOST_TAG, (const int64_t[WORDS]){r->number, r->t->last_closed});
    }
    osla_wait_until(s.rings[0].t, is_over, &s, NULL);
  }
  if (s.found >= 0) *found = s.rings[s.found].t;
  osla_err err = s.code == MPI_SUCCESS ? OSLA_OK : osla_error_set_mpi(s.code, "MPI_Iprobe");
  /* Nobody arrives at the next meeting while another one still looks for this one. */
  if (err == OSLA_OK && s.closed >= 0) err = osla_barrier(s.rings[s.closed].t);
  free(s.rings);
  return err;
}

void osla_meet_drain(osla_transport *t)
{
  for (int tag = LOST_TAG; tag <= RELEASE_TAG; tag++) {
    MPI_Status status;
    int flag = 1;
    while (flag) {
      int64_t words[WORDS];
      flag = 0;
      if (MPI_Iprobe(MPI_ANY_SOURCE, tag, t->comm, &flag, &status) != MPI_SUCCESS || !flag) break;
      (void)MPI_Recv(words, WORDS, MPI_INT64_T, status.MPI_SOURCE, tag, t->comm, MPI_STATUS_IGNORE);
    }
  }
}
