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

static bool is_in_group(const osla_splitting *s, int p)
{
  return s->group && p >= s->group->first && p < s->group->end;
}

/* Appends halos to s->halos: if `inner` is true those with ranks of this rank's group, otherwise
 * those with all other ranks. Sets *at, the next free element of s->memory, behind the elements for
 * the indices that these halos send. */
static void append_halos(osla_splitting *s, const counts *c, bool inner, int32_t **at)
{
  int64_t ghosts = 0;
  for (int p = 0; p < osla_transport_size(s->t); p++) {
    const bool is_one = is_in_group(s, p) == inner && (c->needed[p] > 0 || c->asked[p] > 0);
    if (is_one) {
      s->halos[s->n_halos] = (osla_halo){.peer = p, .send = c->asked[p], .recv = c->needed[p]};
      s->sent[s->n_halos] = *at;
      s->received[s->n_halos++] = ghosts;
      *at += c->asked[p];
    }
    ghosts += c->needed[p];
  }
}

static osla_err make_halos(osla_splitting *s, const counts *c)
{
  const int size = osla_transport_size(s->t);
  int64_t sent = 0, n = 0;
  for (int p = 0; p < size; p++) {
    n += c->needed[p] > 0 || c->asked[p] > 0;
    sent += c->asked[p];
  }
  OSLA_CALL(osli_splitting_make_halos(s, n, sent));
  int32_t *at = s->memory;
  append_halos(s, c, false, &at);
  const int n_outer = s->n_halos;
  append_halos(s, c, true, &at);
  if (s->group) s->group->sweeps.n_inner = s->n_halos - n_outer;
  return OSLA_OK;
}

/* Creates a channel for each halo, for one message from the receiver of the halo to its sender. The
 * message has `bytes` bytes for each value of the halo. Collective. */
static osla_err open_backwards(const osla_splitting *s, size_t bytes, osla_channels **set)
{
  osla_channel_end *ends = calloc((size_t)s->n_halos + 1, sizeof *ends);
  osla_err err = osla_agree(
    s->t, ends ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "no memory for %d halos", s->n_halos));
  for (int h = 0; err == OSLA_OK && h < s->n_halos; h++)
    ends[h] = (osla_channel_end){.peer = s->halos[h].peer,
                                 .kind = OSLA_CHANNEL_EVERY,
                                 .in_flight = 1,
                                 .send_bytes = s->halos[h].recv * (int64_t)bytes,
                                 .recv_bytes = s->halos[h].send * (int64_t)bytes};
  if (err == OSLA_OK) err = osla_channels_create(s->t, s->n_halos, ends, set);
  free(ends);
  return err;
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
  osla_channels *set = NULL;
  counts c = {0};
  osla_err err = count(s, ghost, start, &c);
  if (err == OSLA_OK) err = osla_agree(t, make_halos(s, &c));
  if (err == OSLA_OK) err = open_backwards(s, sizeof(int32_t), &set);
  if (err == OSLA_OK) err = osla_agree(t, swap_lists(s, ghost, start, set));
  osla_channels_destroy(&set);
  free(c.needed);
  return err;
}

static osla_err exchange_ghosts(osla_splitting *s, double *x, osla_channels *set)
{
  for (int h = 0; h < s->n_halos; h++) {
    double *out = osla_channel_buffer(set, h);
    OSLA_CHECK(out, OSLA_ERR_MPI, "ghosts of a halo");
    for (int64_t j = 0; j < s->halos[h].recv; j++)
      out[j] = x[s->n + s->received[h] + j];
    OSLA_CALL(osla_channel_send(set, h, 0));
  }
  for (int h = 0; h < s->n_halos; h++) {
    const void *message;
    OSLA_CALL(osla_channel_recv(set, h, &message, NULL));
    for (int64_t j = 0; j < s->halos[h].send; j++)
      x[s->sent[h][j]] += ((const double *)message)[j];
  }
  return OSLA_OK;
}

osla_err osli_splitting_add_ghosts(osla_splitting *s, double *x)
{
  osla_channels *set = NULL;
  osla_err err = open_backwards(s, sizeof *x, &set);
  if (err == OSLA_OK) err = osla_agree(s->t, exchange_ghosts(s, x, set));
  osla_channels_destroy(&set);
  return err;
}
