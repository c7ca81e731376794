/* Decides whether puts travel as messages, allocates the buffers, and assigns the ids of regions.
 * eager_mpi.h has the contract. */
#include "src/transport/mpi/eager_mpi.h"
#include "src/transport/mpi/eager_state.h"
#include "src/transport/mpi/lines_mpi.h"
#include "src/transport/mpi/poll_control.h"
#include "src/transport/probe.h"

#include <stdlib.h>

static void free_buffers(osla_eager *e)
{
  if (!e) return;
  free(e->peers);
  free(e->regions);
  free(e->received);
  free(e->to_send);
  osli_mpi_lines_free(e);
  osli_poll_control_close(&e->poll_control);
  free(e);
}

static osla_err allocate_buffers(const osla_transport *t, osla_eager **out)
{
  enum { ALIGN = 64 };
  osla_eager *e = calloc(1, sizeof *e);
  *out = e;
  OSLA_CHECK(e, OSLA_ERR_MEM, "state of messages");
  e->poll_control = osli_poll_control_open(t->thread_level);
  e->most = (size_t)t->settings.small_bytes;
  e->stride = (sizeof(eager_header) + e->most + ALIGN - 1) / ALIGN * ALIGN;
  e->peers = calloc((size_t)t->size, sizeof *e->peers);
  e->received = malloc(RECEIVE_SLOTS * e->stride);
  e->to_send = malloc(SEND_SLOTS * e->stride);
  for (int i = 0; i < RECEIVE_SLOTS; i++)
    e->receives[i] = MPI_REQUEST_NULL;
  for (int i = 0; i < SEND_SLOTS; i++)
    e->sends[i] = MPI_REQUEST_NULL;
  for (int i = 0; i < ANSWER_SLOTS; i++)
    e->answer_sends[i] = MPI_REQUEST_NULL;
  for (int i = 0; i < SERVED_SLOTS; i++)
    e->served[i] = MPI_REQUEST_NULL;
  OSLA_CHECK(e->peers && e->received && e->to_send, OSLA_ERR_MEM, "buffers for %d messages",
             RECEIVE_SLOTS + SEND_SLOTS);
  return OSLA_OK;
}

static osla_err start_messages(osla_transport *t)
{
  osla_eager *e;
  osla_err err = osla_agree(t, allocate_buffers(t, &e));
  if (err != OSLA_OK) {
    free_buffers(e);
    return err;
  }
  (void)pthread_mutex_lock(&t->mutex);
  for (int i = 0; i < RECEIVE_SLOTS && err == OSLA_OK; i++)
    err = osli_eager_post_receive(t, e, i);
  t->eager = e; /* from now on progress receives messages */
  (void)pthread_mutex_unlock(&t->mutex);
  return osla_agree(t, err);
}

static osla_err decide_use(osla_region *region)
{
  osla_transport *t = region->t;
  bool wanted = t->settings.messages == OSLA_MESSAGES_ON;
  if (t->settings.messages == OSLA_MESSAGES_AUTO) OSLA_CALL(osli_probe_get_waits(region, &wanted));
  if (wanted) OSLA_CALL(start_messages(t));
  t->eager_decided = true;
  return OSLA_OK;
}

/* Assigns the first free id. Ids are equal on all ranks, because all ranks create and free regions
 * in one order. */
static osla_err assign_number(osla_region *region)
{
  osla_eager *e = region->t->eager;
  int number = 0;
  region->last = calloc((size_t)region->t->size, sizeof *region->last);
  OSLA_CHECK(region->last, OSLA_ERR_MEM, "messages to %d ranks", region->t->size);
  while (number < e->n_regions && e->regions[number])
    number++;
  if (number == e->n_regions) {
    int more = 2 * number + 4;
    osla_region **regions = realloc(e->regions, (size_t)more * sizeof(osla_region *));
    OSLA_CHECK(regions, OSLA_ERR_MEM, "list of %d regions", more);
    for (int i = number; i < more; i++)
      regions[i] = NULL;
    e->regions = regions;
    e->n_regions = more;
  }
  e->regions[number] = region;
  region->number = number;
  return OSLA_OK;
}

osla_err osli_eager_add_region(osla_region *region)
{
  osla_transport *t = region->t;
  if (!t->ops->puts_as_messages || t->n_nodes == 1) return OSLA_OK;
  if (!t->eager_decided) OSLA_CALL(decide_use(region));
  if (!t->eager) return OSLA_OK;
  (void)pthread_mutex_lock(&t->mutex);
  osla_err err = assign_number(region);
  (void)pthread_mutex_unlock(&t->mutex);
  return err;
}

void osli_eager_remove_region(osla_region *region)
{
  if (region->number >= 0) region->t->eager->regions[region->number] = NULL;
  region->number = -1;
}

static void wait_requests(MPI_Request *requests, int count)
{
  for (int i = 0; i < count; i++)
    (void)MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
}

/* Cancels the receives and frees all state. All messages were applied before the last region was
 * freed. */
void osli_eager_stop(osla_transport *t)
{
  osla_eager *e = t->eager;
  if (!e) return;
  for (int i = 0; i < RECEIVE_SLOTS; i++)
    if (e->receives[i] != MPI_REQUEST_NULL) (void)MPI_Cancel(&e->receives[i]);
  wait_requests(e->receives, RECEIVE_SLOTS);
  wait_requests(e->sends, SEND_SLOTS);
  wait_requests(e->answer_sends, ANSWER_SLOTS);
  wait_requests(e->served, SERVED_SLOTS);
  free_buffers(e);
  t->eager = NULL;
}
