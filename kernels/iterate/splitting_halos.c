/* Finds the halos of a splitting. A rank knows its ghosts. The owners of the values receive the
 * numbers of ghosts by an all-to-all, and the lists of ghosts over channels. */
#include "kernels/iterate/splitting.h"
#include "osla_channel.h"

#include <stdlib.h>

/* Numbers of values that this rank and every other rank need from each other. */
typedef struct counts {
  int64_t *needed; /* [size] number of values that this rank needs from each rank */
  int64_t *asked;  /* [size] number of values that each rank needs from this rank */
} counts;

static osla_err count(osla_splitting *s, const int64_t *ghost, const int64_t *start, counts *c)
{
  osla_transport *t = s->t;
  const int size = osla_transport_size(t);
  c->needed = calloc(2 * (size_t)size, sizeof *c->needed);
  OSLA_CALL(osla_agree(
    t, c->needed ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "no memory for %d counts", size)));
  c->asked = c->needed + size;
  for (int64_t j = 0, owner = 0; j < s->n_ghosts; j++) {
    while (ghost[j] >= start[owner + 1])
      owner++;
    c->needed[owner]++;
  }
  return osla_alltoall(t, c->needed, c->asked, 1, MPI_INT64_T);
}

osla_err osli_splitting_make_halos(osla_splitting *s, int64_t n, int64_t values)
{
  s->halos = calloc((size_t)n + 1, sizeof *s->halos);
  s->sent = calloc((size_t)n + 1, sizeof *s->sent);
  s->received = calloc((size_t)n + 1, sizeof *s->received);
  s->memory = calloc((size_t)values + 1, sizeof *s->memory);
  OSLA_CHECK(s->halos && s->sent && s->received && s->memory, OSLA_ERR_MEM,
             "no memory for %lld halos of a splitting", (long long)n);
  return OSLA_OK;
}

static osla_err make_halos(osla_splitting *s, const counts *c)
{
  const int size = osla_transport_size(s->t);
  int64_t sent = 0, ghosts = 0, n = 0;
  for (int p = 0; p < size; p++) {
    n += c->needed[p] > 0 || c->asked[p] > 0;
    sent += c->asked[p];
  }
  OSLA_CALL(osli_splitting_make_halos(s, n, sent));
  int32_t *at = s->memory;
  for (int p = 0; p < size; p++) {
    if (c->needed[p] == 0 && c->asked[p] == 0) continue;
    s->halos[s->n_halos] = (osla_halo){.peer = p, .send = c->asked[p], .recv = c->needed[p]};
    s->sent[s->n_halos] = at;
    s->received[s->n_halos++] = ghosts;
    at += c->asked[p];
    ghosts += c->needed[p];
  }
  return OSLA_OK;
}

static osla_err swap_lists(osla_splitting *s, const int64_t *ghost, const int64_t *start,
                           osla_channels *set)
{
  for (int h = 0; h < s->n_halos; h++) {
    int32_t *out = osla_channel_buffer(set, h);
    OSLA_CHECK(out, OSLA_ERR_MPI, "list of a halo");
    for (int64_t j = 0; j < s->halos[h].recv; j++)
      out[j] = (int32_t)(ghost[s->received[h] + j] - start[s->halos[h].peer]);
    OSLA_CALL(osla_channel_send(set, h, 0));
  }
  for (int h = 0; h < s->n_halos; h++) {
    const void *message;
    OSLA_CALL(osla_channel_recv(set, h, &message, NULL));
    for (int64_t j = 0; j < s->halos[h].send; j++)
      s->sent[h][j] = ((const int32_t *)message)[j];
  }
  return OSLA_OK;
}

osla_err osli_splitting_find_halos(osla_splitting *s, const int64_t *ghost, const int64_t *start)
{
  osla_transport *t = s->t;
  osla_channel_end *ends = NULL;
  osla_channels *set = NULL;
  counts c = {0};
  osla_err err = count(s, ghost, start, &c);
  if (err == OSLA_OK) {
    err = make_halos(s, &c);
    ends = calloc((size_t)s->n_halos + 1, sizeof *ends);
    if (err == OSLA_OK && !ends)
      err = osla_error_set(OSLA_ERR_MEM, "no memory for %d halos", s->n_halos);
    err = osla_agree(t, err);
  }
  for (int h = 0; err == OSLA_OK && h < s->n_halos; h++)
    ends[h] = (osla_channel_end){.peer = s->halos[h].peer,
                                 .kind = OSLA_CHANNEL_EVERY,
                                 .in_flight = 1,
                                 .send_bytes = s->halos[h].recv * (int64_t)sizeof(int32_t),
                                 .recv_bytes = s->halos[h].send * (int64_t)sizeof(int32_t)};
  if (err == OSLA_OK) err = osla_channels_create(t, s->n_halos, ends, &set);
  if (err == OSLA_OK) err = osla_agree(t, swap_lists(s, ghost, start, set));
  osla_channels_destroy(&set);
  free(ends);
  free(c.needed);
  return err;
}
