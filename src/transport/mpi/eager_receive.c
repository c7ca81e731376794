/* Receives messages and applies them: stores their data, and their words in the order of sending.
 * eager_mpi.h has the contract. */
#include "src/transport/mpi/eager_mpi.h"
#include "src/transport/mpi/eager_state.h"
#include "src/transport/request_pool.h"

#include <string.h>

static void send_answer(osla_transport *t, int rank)
{
  osla_eager *e = t->eager;
  eager_header *answer = &e->answers[e->next_answer];
  MPI_Request *request = &e->answer_sends[e->next_answer];
  *answer = (eager_header){.flags = IS_ANSWER, .applied = e->peers[rank].applied};
  e->next_answer = (e->next_answer + 1) % ANSWER_SLOTS;
  int code = MPI_Isend(answer, (int)sizeof *answer, MPI_BYTE, rank, EAGER_TAG, t->comm, request);
  if (code != MPI_SUCCESS) osla_transport_abort(t, osla_error_set_mpi(code, "MPI_Isend"));
}

static unsigned char *target_memory(const osla_transport *t, const eager_header *head)
{
  return osla_region_mine(t->eager->regions[head->region]);
}

/* Returns false if the message requests an answer and no buffer for an answer is free. */
static bool can_answer(osla_transport *t, const eager_header *head)
{
  osla_eager *e = t->eager;
  return !(head->flags & REQUESTS_ANSWER) ||
         osli_eager_request_is_free(t, &e->answer_sends[e->next_answer]);
}

/* Completes a message whose data are in place: stores its word, and sends an answer if one is
 * requested. */
static void apply_message(osla_transport *t, int origin, const eager_header *head)
{
  if (head->flags & HAS_WORD)
    atomic_store_explicit((_Atomic uint64_t *)(target_memory(t, head) + head->word_offset),
                          head->word, memory_order_release);
  t->eager->peers[origin].applied++;
  if (head->flags & REQUESTS_ANSWER) send_answer(t, origin);
}

/* The first incomplete message of an origin; NULL if there is none. */
static const eager_arrival *first_arrival(const osla_eager *e, int origin)
{
  for (const eager_arrival *a = e->arrivals; a < e->arrivals + e->n_arrivals; a++)
    if (a->origin == origin) return a;
  return NULL;
}

/* Completes the incomplete messages whose data have arrived. Returns whether there was one. */
static bool complete_arrivals(osla_transport *t)
{
  osla_eager *e = t->eager;
  bool found = false;
  for (int i = 0; i < e->n_arrivals;) {
    eager_arrival *a = &e->arrivals[i];
    bool here = osli_eager_request_is_free(t, &a->data);
    if (!here || first_arrival(e, a->origin) != a || !can_answer(t, &a->head)) {
      i++;
      continue;
    }
    apply_message(t, a->origin, &a->head);
    e->n_arrivals--;
    memmove(a, a + 1, (size_t)(e->n_arrivals - i) * sizeof *a);
    found = true;
  }
  return found;
}

/* Are data of an earlier message from this origin still to arrive at bytes that this message
 * writes? */
static bool overlaps_pending_data(const osla_eager *e, int origin, const eager_header *head)
{
  for (const eager_arrival *a = e->arrivals; a < e->arrivals + e->n_arrivals; a++)
    if (a->origin == origin && a->data != MPI_REQUEST_NULL && a->head.region == head->region &&
        a->head.offset < head->offset + head->bytes &&
        head->offset < a->head.offset + a->head.bytes)
      return true;
  return false;
}

/* Sends data that a message requests. Returns false if no request is free. */
static bool send_requested_data(osla_transport *t, int origin, const eager_header *head)
{
  osla_eager *e = t->eager;
  MPI_Request *request = &e->served[e->next_served];
  if (!osli_eager_request_is_free(t, request)) return false;
  e->next_served = (e->next_served + 1) % SERVED_SLOTS;
  int code = MPI_Isend(target_memory(t, head) + head->offset, (int)head->bytes, MPI_BYTE, origin,
                       FETCH_TAG, t->comm, request);
  if (code != MPI_SUCCESS) osla_transport_abort(t, osla_error_set_mpi(code, "MPI_Isend"));
  return true;
}

/* Applies a received message: stores its data, and its word if all earlier messages of its origin
 * are complete. Returns false if this is not possible yet. */
static bool accept_message(osla_transport *t, int origin, const eager_header *head,
                           const unsigned char *data)
{
  osla_eager *e = t->eager;
  bool alone = head->flags & DATA_FOLLOWS;
  if (head->flags & IS_ANSWER) return true;
  if (head->bytes > 0 && overlaps_pending_data(e, origin, head)) return false;
  bool later = alone || first_arrival(e, origin);
  if (later ? e->n_arrivals == MAX_ARRIVALS : !can_answer(t, head)) return false;
  if (head->flags & REQUESTS_DATA) {
    if (!send_requested_data(t, origin, head)) return false;
  } else if (!alone && head->bytes > 0)
    memcpy(target_memory(t, head) + head->offset, data, head->bytes);
  if (!later) {
    apply_message(t, origin, head);
    return true;
  }
  eager_arrival *a = &e->arrivals[e->n_arrivals++];
  *a = (eager_arrival){origin, *head, MPI_REQUEST_NULL};
  int code = MPI_SUCCESS;
  if (alone)
    code = MPI_Irecv(target_memory(t, head) + head->offset, (int)head->bytes, MPI_BYTE, origin,
                     DATA_TAG, t->comm, &a->data);
  if (code != MPI_SUCCESS) osla_transport_abort(t, osla_error_set_mpi(code, "MPI_Irecv"));
  return true;
}

/* One MPI call that tests the receive and the message lines. Returns whether one of them completed.
 */
static bool test_receive(osla_transport *t, MPI_Request *request, MPI_Status *status)
{
  int here = 0;
  if (t->eager->n_lines > 0) return osli_mpi_lines_test(t, request, status);
  if (*request == MPI_REQUEST_NULL) return false;
  int code = MPI_Test(request, &here, status);
  if (code != MPI_SUCCESS)
    osla_transport_abort(t, osla_error_set_mpi(code, "MPI_Test of a receive"));
  return here;
}

bool osli_eager_progress(osla_transport *t)
{
  osla_eager *e = t->eager;
  MPI_Request *request = &e->receives[e->head];
  MPI_Status status;
  bool found = complete_arrivals(t);
  /* true if the message in this buffer has arrived earlier and could not be applied yet */
  const bool waits = *request == MPI_REQUEST_NULL;
  if (test_receive(t, request, &status)) {
    if (waits || *request != MPI_REQUEST_NULL)
      found = true; /* a message on a message line has completed */
    else
      e->origin = status.MPI_SOURCE;
  }
  if (*request != MPI_REQUEST_NULL) return found;
  const unsigned char *message = e->received + (size_t)e->head * e->stride;
  eager_header head;
  memcpy(&head, message, sizeof head);
  eager_peer *p = &e->peers[e->origin];
  p->confirmed = head.applied;
  if (!eager_is_unconfirmed(p)) p->from = p->to = 0;
  if (!accept_message(t, e->origin, &head, message + sizeof head)) return found;
  osli_pool_count_finished(t->pool);
  osla_err err = osli_eager_post_receive(t, e, e->head);
  if (err != OSLA_OK) osla_transport_abort(t, err);
  e->head = (e->head + 1) % RECEIVE_SLOTS;
  return true;
}
