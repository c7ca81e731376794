/* When puts travel as messages, and which regions they are for. See eager_mpi.h. */
#include "src/transport/mpi/eager_mpi.h"
#include "src/transport/mpi/eager_state.h"
#include "src/transport/mpi/lines_mpi.h"
#include "src/transport/mpi/poll_control.h"
#include "src/transport/probe.h"

#include <stdlib.h>

static void discard(osla_eager *e)
{
  if (!e) return;
  free(e->peers);
  free(e->regions);
  free(e->received);
  free(e->to_send);
  osli_mpi_lines_stop(e);
  osli_polls_close(&e->polls);
  free(e);
}

static osla_err make(const osla_transport *t, osla_eager **out)
{
  enum { ALIGN = 64 };
  osla_eager *e = calloc(1, sizeof *e);
  *out = e;
  OSLA_CHECK(e, OSLA_ERR_MEM, "messages");
  e->polls = osli_polls_open(t->thread_level);
  e->most = (size_t)t->settings.small_bytes;
  e->stride = (sizeof(eager_header) + e->most + ALIGN - 1) / ALIGN * ALIGN;
  e->peers = calloc((size_t)t->size, sizeof *e->peers);
  e->received = malloc(RECEIVES * e->stride);
  e->to_send = malloc(SLOTS * e->stride);
  for (int i = 0; i < RECEIVES; i++)
    e->receives[i] = MPI_REQUEST_NULL;
  for (int i = 0; i < SLOTS; i++)
    e->sends[i] = MPI_REQUEST_NULL;
  for (int i = 0; i < ANSWERS; i++)
    e->answer_sends[i] = MPI_REQUEST_NULL;
  for (int i = 0; i < SERVED; i++)
    e->served[i] = MPI_REQUEST_NULL;
  OSLA_CHECK(e->peers && e->received && e->to_send, OSLA_ERR_MEM, "buffers for %d messages",
             RECEIVES + SLOTS);
  return OSLA_OK;
}

static osla_err start(osla_transport *t)
{
  osla_eager *e;
  osla_err err = osla_agree(t, make(t, &e));
  if (err != OSLA_OK) {
    discard(e);
    return err;
  }
  (void)pthread_mutex_lock(&t->mutex);
  for (int i = 0; i < RECEIVES && err == OSLA_OK; i++)
    err = osli_eager_receive(t, e, i);
  t->eager = e; /* from here on progress takes what comes */
  (void)pthread_mutex_unlock(&t->mutex);
  return osla_agree(t, err);
}

static osla_err decide(osla_region *region)
{
  osla_transport *t = region->t;
  bool wanted = t->settings.messages == OSLA_MESSAGES_ON;
  if (t->settings.messages == OSLA_MESSAGES_AUTO) OSLA_CALL(osli_probe_get_waits(region, &wanted));
  if (wanted) OSLA_CALL(start(t));
  t->eager_decided = true;
  return OSLA_OK;
}

/* Regions are made and freed in one order on all ranks: so the first free place is one number. */
static osla_err give_number(osla_region *region)
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
  if (!t->eager_decided) OSLA_CALL(decide(region));
  if (!t->eager) return OSLA_OK;
  (void)pthread_mutex_lock(&t->mutex);
  osla_err err = give_number(region);
  (void)pthread_mutex_unlock(&t->mutex);
  return err;
}

void osli_eager_remove_region(osla_region *region)
{
  if (region->number >= 0) region->t->eager->regions[region->number] = NULL;
  region->number = -1;
}

static void wait_for(MPI_Request *requests, int count)
{
  for (int i = 0; i < count; i++)
    (void)MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
}

/* All messages were taken before the last region went. */
void osli_eager_stop(osla_transport *t)
{
  osla_eager *e = t->eager;
  if (!e) return;
  for (int i = 0; i < RECEIVES; i++)
    if (e->receives[i] != MPI_REQUEST_NULL) (void)MPI_Cancel(&e->receives[i]);
  wait_for(e->receives, RECEIVES);
  wait_for(e->sends, SLOTS);
  wait_for(e->answer_sends, ANSWERS);
  wait_for(e->served, SERVED);
  discard(e);
  t->eager = NULL;
}
