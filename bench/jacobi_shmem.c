/* Reference implementation `shmem`: Jacobi's method by puts of OpenSHMEM, as in Bethune, Bull,
 * Dingle and Higham (Int. J. High Perf. Comput. Appl. 28(1), 2014, sections 3.2.1 to 3.2.3).
 *
 *    sync   put of the halo, fence, put of a flag; the receiver waits for the flag, and puts an
 *      acknowledgement, for which the sender waits
 *    async  up to R halos under way to each neighbour: R buffers with a flag each form a ring. A
 *      halo for which there is no free buffer is not sent. The receiver tests the next flag of the
 *      ring, and acknowledges the halos that it has read. Of several halos that arrived, the
 *      receiver uses the newest.
 *    racy   each sweep puts the halo into the only buffer, without flags; the receiver reads the
 *      buffer in each sweep
 *
 * As in the reference `mpi`, states are swapped instead of copied, and the number of sweeps is
 * fixed. */
#include "config.h"

#include "bench/bench_jacobi.h"

#include <shmem.h>
#include <stdlib.h>
#include <string.h>

enum { FACES = 6 };

/* One halo, which this rank and a neighbour exchange. */
typedef struct lane {
  int pe, far; /* PE number of the neighbour, and the neighbour's index of the halo */
  /* index of the buffer in the ring into which the next halo is sent, and received */
  int send, receive;
} lane;

struct jacobi_shmem {
  osla_transport *t; /* its creation starts OpenSHMEM */
  int n, ring;       /* numbers of halos, and of buffers for each halo */
  int64_t longest;   /* number of doubles in a buffer: the longest halo of any rank */
  lane lane[FACES];
  /* symmetric: [FACES][ring][longest] received halos */
  double *buffer;
  /* symmetric: [FACES][ring] flags. full: 1 if this rank has not yet read the halo in its buffer.
   * sent: 1 if the neighbour has not yet acknowledged the halo that this rank put into the
   * neighbour's buffer. */
  int *full, *sent;
  double *packed; /* [longest] halo to send */
};

/* Index in `full` and `sent` of buffer k of a halo. */
static int flag_index(const struct jacobi_shmem *s, int face, int k)
{
  return face * s->ring + k;
}

static double *buffer_at(const struct jacobi_shmem *s, int face, int k)
{
  return s->buffer + flag_index(s, face, k) * s->longest;
}

/* Finds the PE number of the neighbour for each halo, and the neighbour's index of the halo. The
 * two neighbours use one tag for a halo. */
static osla_err meet_neighbours(const jacobi_data *d, struct jacobi_shmem *s)
{
  const osla_fixed_point *p = &d->problem->p;
  /* a duplicate, because other messages on the transport's communicator could have these tags */
  MPI_Comm comm;
  OSLA_MPI(MPI_Comm_dup(osla_transport_comm(d->problem->job->transport), &comm));
  for (int h = 0; h < s->n; h++) {
    const int mine[2] = {shmem_my_pe(), h}, peer = p->halos[h].peer, tag = p->halos[h].tag;
    int theirs[2];
    OSLA_MPI(MPI_Sendrecv(mine, 2, MPI_INT, peer, tag, theirs, 2, MPI_INT, peer, tag, comm,
                          MPI_STATUS_IGNORE));
    s->lane[h].pe = theirs[0];
    s->lane[h].far = theirs[1];
  }
  (void)MPI_Comm_free(&comm);
  return OSLA_OK;
}

/* Allocates the symmetric memory, which has equal size on all ranks. */
static osla_err allocate_symmetric(const jacobi_data *d, struct jacobi_shmem *s)
{
  const osla_fixed_point *p = &d->problem->p;
  for (int h = 0; h < s->n; h++) {
    if (p->halos[h].send > s->longest) s->longest = p->halos[h].send;
    if (p->halos[h].recv > s->longest) s->longest = p->halos[h].recv;
  }
  OSLA_CALL(osla_allreduce(s->t, &s->longest, 1, MPI_INT64_T, MPI_MAX));
  const size_t flags = FACES * (size_t)s->ring;
  const size_t bytes = flags * (size_t)s->longest * sizeof *s->buffer;
  s->buffer = shmem_malloc(bytes + sizeof *s->buffer);
  s->full = shmem_malloc(flags * sizeof *s->full);
  s->sent = shmem_malloc(flags * sizeof *s->sent);
  return osla_agree(s->t,
                    s->buffer && s->full && s->sent
                      ? OSLA_OK
                      : osla_error_set(OSLA_ERR_MEM,
                                       "the symmetric heap has no room for %zu bytes of halos: set "
                                       "SHMEM_SYMMETRIC_SIZE to more on all ranks",
                                       bytes));
}

/* Marks all buffers as empty, after all puts are complete. Collective. */
static void clear_flags(const jacobi_data *d, struct jacobi_shmem *s)
{
  const osla_fixed_point *p = &d->problem->p;
  const size_t bytes = FACES * (size_t)s->ring * sizeof *s->full;
  shmem_barrier_all();
  memset(s->full, 0, bytes);
  memset(s->sent, 0, bytes);
  for (int h = 0; h < s->n; h++) {
    s->lane[h].send = s->lane[h].receive = 0;
    /* in mode RACY ranks read the buffer before the first halo arrives, so the buffer starts with
     * the halo of the initial state */
    p->pack(p->arg, h, d->x, s->packed);
    shmem_double_put(buffer_at(s, s->lane[h].far, 0), s->packed, (size_t)p->halos[h].send,
                     s->lane[h].pe);
  }
  shmem_barrier_all();
}

osla_err jacobi_shmem_setup(void *data)
{
  jacobi_data *d = data;
  bench_job *job = d->problem->job;
  const osla_transport_options options = {.transport = "shmem"};
  void *memory;
  OSLA_CALL(bench_alloc(job, sizeof *d->shmem, &memory));
  d->shmem = memory;
  *d->shmem = (struct jacobi_shmem){.n = d->problem->p.n_halos};
  d->shmem->ring = d->mode == OSLA_ITERATE_ASYNC ? job->settings->in_flight : 1;
  OSLA_CALL(osla_transport_create(MPI_COMM_WORLD, &options, &d->shmem->t));
  OSLA_CALL(allocate_symmetric(d, d->shmem));
  OSLA_CALL(bench_alloc(job, (uint64_t)d->shmem->longest * sizeof(double), &memory));
  d->shmem->packed = memory;
  return meet_neighbours(d, d->shmem);
}

osla_err jacobi_shmem_prepare(void *data)
{
  jacobi_data *d = data;
  clear_flags(d, d->shmem);
  return OSLA_OK;
}

void jacobi_shmem_teardown(jacobi_data *d)
{
  struct jacobi_shmem *s = d->shmem;
  if (!s) return;
  if (s->sent) shmem_free(s->sent);
  if (s->full) shmem_free(s->full);
  if (s->buffer) shmem_free(s->buffer);
  osla_transport_destroy(&s->t);
  free(s->packed);
  free(s);
  d->shmem = NULL;
}

/* Puts a halo into buffer k of the neighbour. */
static void put_halo(const jacobi_data *d, int h, int k)
{
  const struct jacobi_shmem *s = d->shmem;
  const osla_fixed_point *p = &d->problem->p;
  const lane *l = &s->lane[h];
  p->pack(p->arg, h, d->x, s->packed);
  shmem_double_put(buffer_at(s, l->far, k), s->packed, (size_t)p->halos[h].send, l->pe);
}

/* Puts a halo into buffer k of the neighbour, then the flag. */
static void send_halo(const jacobi_data *d, int h, int k)
{
  const struct jacobi_shmem *s = d->shmem;
  const lane *l = &s->lane[h];
  const int one = 1;
  s->sent[flag_index(s, h, k)] = 1;
  put_halo(d, h, k);
  shmem_fence();
  shmem_int_put(&s->full[flag_index(s, l->far, k)], &one, 1, l->pe);
}

/* Informs the neighbour that the halo in buffer k was read. */
static void acknowledge(const struct jacobi_shmem *s, int h, int k)
{
  const lane *l = &s->lane[h];
  const int zero = 0;
  s->full[flag_index(s, h, k)] = 0;
  shmem_int_put(&s->sent[flag_index(s, l->far, k)], &zero, 1, l->pe);
}

static void exchange_sync(jacobi_data *d)
{
  const struct jacobi_shmem *s = d->shmem;
  const osla_fixed_point *p = &d->problem->p;
  for (int h = 0; h < s->n; h++)
    send_halo(d, h, 0);
  for (int h = 0; h < s->n; h++) {
    shmem_int_wait_until(&s->full[flag_index(s, h, 0)], SHMEM_CMP_EQ, 1);
    p->unpack(p->arg, h, buffer_at(s, h, 0), d->x);
    /* sweeps without new halos read the halos of both states in turn */
    if (d->problem->job->settings->period > 1) p->unpack(p->arg, h, buffer_at(s, h, 0), d->spare);
    acknowledge(s, h, 0);
  }
  for (int h = 0; h < s->n; h++)
    shmem_int_wait_until(&s->sent[flag_index(s, h, 0)], SHMEM_CMP_EQ, 0);
}

static void exchange_async(jacobi_data *d, int h, bool sends)
{
  struct jacobi_shmem *s = d->shmem;
  const osla_fixed_point *p = &d->problem->p;
  lane *l = &s->lane[h];
  if (sends && shmem_int_test(&s->sent[flag_index(s, h, l->send)], SHMEM_CMP_EQ, 0)) {
    send_halo(d, h, l->send);
    l->send = (l->send + 1) % s->ring;
  }
  int newest = -1;
  while (shmem_int_test(&s->full[flag_index(s, h, l->receive)], SHMEM_CMP_EQ, 1)) {
    if (newest >= 0) acknowledge(s, h, newest);
    newest = l->receive;
    l->receive = (l->receive + 1) % s->ring;
    if (l->receive == newest) break; /* the only buffer of the ring has been found full */
  }
  if (newest < 0) return;
  p->unpack(p->arg, h, buffer_at(s, h, newest), d->x);
  p->unpack(p->arg, h, buffer_at(s, h, newest), d->spare);
  acknowledge(s, h, newest);
}

static void exchange_racy(jacobi_data *d, int h, bool sends)
{
  const osla_fixed_point *p = &d->problem->p;
  if (sends) put_halo(d, h, 0);
  p->unpack(p->arg, h, buffer_at(d->shmem, h, 0), d->x);
}

osla_err jacobi_shmem_run(void *data)
{
  jacobi_data *d = data;
  const bench_settings *settings = d->problem->job->settings;
  for (int64_t k = 0; k < settings->sweeps; k++) {
    const bool sends = k % settings->period == 0;
    if (d->mode == OSLA_ITERATE_SYNC && sends) exchange_sync(d);
    for (int h = 0; h < d->shmem->n && d->mode == OSLA_ITERATE_ASYNC; h++)
      exchange_async(d, h, sends);
    for (int h = 0; h < d->shmem->n && d->mode == OSLA_ITERATE_RACY; h++)
      exchange_racy(d, h, sends);
    jacobi_sweep(d);
  }
  return OSLA_OK;
}
