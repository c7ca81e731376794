/* The ranks of a simulated job (floor 0, internal to the transport `sim`).
 *
 * They share one address space, so whoever moves data writes it to its place; what the simulator
 * adds is when. A rank that waits sleeps in the simulator until something has happened that could
 * end its wait: a transfer of its own is done, something was put into its memory, a bell of its
 * node was rung.
 */
#ifndef OSLA_SIM_H
#define OSLA_SIM_H

#include "src/simulation/sim_pieces.h"
#include "src/simulation/simulator.h"
#include "src/transport/transport_ops.h"

/* What a transfer brings about where it ends: done(arg), which must not block. With remote DMA at
 * once; where cores work for transfers, when the rank there is in the library: it waits, or makes
 * progress. */
typedef struct sim_call {
  struct sim_call *next;
  struct sim_rank *at;
  osli_sim_done *done;
  void *arg;
} sim_call;

/* A get or a put that was started: one transfer, or several where cores work for them. */
typedef struct sim_transfer {
  sim_call call;
  struct sim_rank *owner, *other;
  osla_region *region;
  void *to;
  const void *from;
  size_t bytes;
  bool is_put, is_fetch, done;
} sim_transfer;

typedef struct sim_mail sim_mail; /* see sim_exchange.c */

typedef struct sim_rank {
  osla_transport *t;
  sim_own *own;
  sg_host_t host;
  sg_sem_t wakes;
  bool waits, asleep;
  uint64_t events;              /* what might have woken it, so far */
  double settled;               /* until when its idle time has been held against own->debt */
  const osla_bell *bell;        /* that it sleeps on; NULL: any wakes it */
  sim_call *calls, **last_call; /* what has come for it while it computed, oldest first */
  osla_post_queue *posts;
  sim_mail *mail;             /* that has come, newest first */
  struct sim_rank *next_here; /* of the ranks of its node, in a ring; NULL: not known yet */
  sim_transfer **transfer;    /* [room] gets and puts by handle; NULL: free */
  int room;
} sim_rank;

/* What the ranks meet in. */
typedef struct sim_meeting {
  int arrived;
  uint64_t number;     /* of meetings that are over */
  osla_err err;        /* of the one before */
  double over;         /* the time when it is over for all */
  osla_collective *of; /* [size] what each rank passed */
} sim_meeting;

/* A message that the other side has not met yet. */
typedef struct sim_letter {
  struct sim_letter *next;
  int from, to, bytes;
  bool is_sent;
  void *buffer;
  bool done;
} sim_letter;

/* How fast the machine is, from its file: properties of its hosts. */
typedef struct sim_machine {
  double flops;     /* a core's rate in BLAS 3, double precision: the host's speed */
  double copy;      /* bytes that a core copies in a second */
  double bandwidth; /* of a host's line, bytes a second: what collectives are reckoned by */
  double overhead;  /* seconds that a core is busy with each transfer that it starts */
  double cpu;     /* seconds that the cores at both ends work for each byte of a transfer; 0: DMA */
  double cpu_get; /* the same of a get, where it is another way; as cpu if it is not given */
  double wake;    /* seconds from a neighbour's store to the load that sees it */
  double latency; /* seconds between the hosts of the first and the last rank */
} sim_machine;

/* The name of the machine; what its file says of a host: rates, and the model of a core. Local.
 * Errors of _read: ARG for a property that makes no sense. */
const char *osli_sim_machine_name(void);
osla_err osli_sim_machine_read(sg_host_t host, sim_machine *out, sim_core *core);

typedef struct sim_job {
  int size, users; /* ranks that have not left it */
  sim_machine machine;
  sim_meeting meeting;
  sim_letter *letters;
  sim_rank rank[]; /* [size] */
} sim_job;

static inline sim_job *sim_job_of(const osla_transport *t)
{
  return t->backend;
}
static inline sim_rank *sim_me(const osla_transport *t)
{
  return &sim_job_of(t)->rank[t->rank];
}

/* Lets time pass on this rank, and what transfers have taken from it: its own clock goes ahead. To
 * sleep in the simulator for each piece of work would cost more real time than all else. */
void osli_sim_spend(double seconds);
/* And the simulator's clock follows: before this rank stores what others read, or looks for what
 * they do. Whatever was there already it may take without. */
void osli_sim_catch_up(void);

/* Starts a transfer from one rank to another, whose cores work so long for it; then calls done(arg)
 * there. `call` lives until then. */
void osli_sim_move_working(sim_rank *from, sim_rank *to, size_t bytes, double work, double delay,
                           sim_call *call, osli_sim_done *done, void *arg);
/* The same at the machine's rate. */
void osli_sim_move(sim_rank *from, sim_rank *to, size_t bytes, double delay, sim_call *call,
                   osli_sim_done *done, void *arg);

/* What has come for the caller meanwhile. Part of a step of progress. */
void osli_sim_take(sim_rank *me);

/* Do transfers need the ranks at both ends? */
static inline bool osli_sim_cores_move(const sim_job *job)
{
  return job->machine.cpu > 0;
}

/* A look at something that has not happened yet: takes a moment, or who looks again and again would
 * stop time. */
void osli_sim_look(const osla_transport *t);

/* Something may have changed for that rank. */
void osli_sim_wake(sim_rank *rank);

/* Of osla_transport_ops: */
osla_err osli_sim_split_hosts(MPI_Comm comm, MPI_Comm *out);
void osli_sim_wait_until(osla_transport *t, osla_wait_test *test, void *arg, osla_bell *bell);
void osli_sim_ring(osla_transport *t, osla_bell *bell);
osla_err osli_sim_collective(osla_transport *t, const osla_collective *what);
osla_err osli_sim_message(osla_transport *t, const osla_message *what);
osla_err osli_sim_exchange(osla_transport *t, const osla_sparse *what);
osla_err osli_sim_region_alloc(osla_transport *t, size_t bytes, osla_region **out);
osla_err osli_sim_region_attach(osla_transport *t, void *base, size_t bytes, osla_region **out);
void osli_sim_region_steers(osla_region *region);
/* Copies what a transfer to or from a region carries: bulk data do not move where work is only
 * modelled. */
void osli_sim_region_move(const osla_region *region, void *to, const void *from, size_t bytes);
void osli_sim_region_messages(osla_region *region, size_t offset);
void osli_sim_region_store(osla_region *region, size_t offset, const void *bytes, size_t count);
/* The same for a get from that rank. */
void osli_sim_region_take(const osla_region *region, int rank, void *to, const void *from,
                          size_t bytes);
void osli_sim_region_free(osla_region **region);
void *osli_sim_peer_ptr(const osla_region *region, int rank);
osla_err osli_sim_post(osla_region *region, int rank, size_t offset, const void *source,
                       size_t bytes, size_t word_offset, uint64_t word, osla_post **out);
void osli_sim_posts_finish(osla_region *region); /* waits until mine in that region are delivered */
osla_err osli_sim_post_wait(osla_transport *t, osla_post **post);
osla_err osli_sim_post_test(osla_transport *t, osla_post **post, bool *done);

/* The memory of a region: one table for all ranks, whose addresses are good everywhere. */
typedef struct sim_memory {
  size_t bytes; /* of this rank */
  unsigned char *base;
  sim_pieces *messages; /* what lies from here on; NULL: the memory itself */
  const unsigned char *messages_start;
} sim_memory;
typedef struct sim_table {
  int users; /* ranks that have not freed the region */
  sim_memory of[];
} sim_table;
struct osla_region {
  osla_transport *t;
  sim_table *table;
  sim_memory *of; /* [size] in it */
  bool attached;
  bool steers; /* none of it is bulk data */
};

#endif
