/* The ranks of a simulated job (layer 0, internal to the transport `sim`).
 *
 * All ranks share one address space, so data are copied directly to the target's memory; the
 * simulator determines when. A rank that waits is suspended in the simulator until an event could
 * end its wait: a transfer of its own is complete, data were stored into its memory, or a bell of
 * its node was rung.
 */
#ifndef OSLA_SIM_H
#define OSLA_SIM_H

#include "src/simulation/simulator.h"
#include "src/transport/transport_ops.h"

/* A call done(arg) at the target when a transfer is complete; it must not block. With remote DMA
 * (machine property cpu = 0) it is made at once. Without remote DMA, it is made when the target
 * rank is in the library, waiting or making progress. */
typedef struct sim_completion {
  struct sim_completion *next;
  struct sim_rank *at;
  osli_sim_done *done;
  void *arg;
} sim_completion;

/* A get or a put under way. It is one transfer with remote DMA, and several (request, data, answer)
 * if the cores at both ends move the data. */
typedef struct sim_transfer {
  sim_completion call;
  struct sim_rank *owner, *other;
  osla_region *region;
  void *to;
  const void *from;
  size_t bytes;
  bool is_put, is_fetch, done;
} sim_transfer;

/* a received letter of an exchange, defined in sim_exchange.c */
typedef struct sim_received_letter sim_received_letter;

typedef struct sim_rank {
  osla_transport *t;
  sim_actor *own;
  sg_host_t host;
  sg_sem_t resume_semaphore;
  bool is_waiting, is_suspended;
  uint64_t events;  /* number of events so far that could have ended a wait */
  double debt_time; /* simulated time until which idle time has been subtracted from own->debt */
  const osla_bell *bell; /* bell for which the rank is suspended; NULL if any event resumes it */
  sim_completion *completions,
    **last_completion; /* completions that arrived while the rank computed, oldest first */
  osla_post_queue *posts;
  sim_received_letter *letters; /* letters of exchanges that have arrived, newest first */
  struct sim_rank
    *next_on_node; /* next rank of the node, in a ring; NULL until the ring is built */
  /* [room] gets and puts under way, by handle; NULL if the handle is free */
  sim_transfer **transfer;
  int room;
} sim_rank;

/* State of the collective operation under way, shared by all ranks. */
typedef struct sim_collective_state {
  int arrived;
  uint64_t number;            /* number of collective operations that have finished */
  osla_err err;               /* result of the latest collective operation */
  double end_time;            /* simulated time at which the operation ends on all ranks */
  osla_collective *arguments; /* [size] arguments that each rank passed to the operation */
} sim_collective_state;

/* A send or a receive of one rank for which the other rank has not made its call yet. */
typedef struct sim_pending_message {
  struct sim_pending_message *next;
  int from, to, bytes;
  bool is_sent;
  void *buffer;
  bool done;
} sim_pending_message;

/* Rates of the machine, from properties of the hosts in the machine file. */
typedef struct sim_machine {
  double flops;     /* flop/s of a core in BLAS 3, double precision (the host's speed) */
  double copy;      /* bytes a second that a core copies */
  double bandwidth; /* bytes/s between a host and the network; used for the time of collectives */
  double overhead;  /* seconds of a core's time to start a transfer */
  /* seconds of work for each byte of a transfer, on the cores at both ends; 0: remote DMA */
  double cpu;
  double cpu_get; /* value of the property `cpu` for gets by osla_get; by default equal to `cpu` */
  double wake;    /* seconds from a store by a rank of the same node to the load that sees it */
  double latency; /* network latency in seconds between the hosts of the first and the last rank */
  /* number of dies of a host, which have equal numbers of cores; and bandwidth of a die's memory in
   * bytes per second, 0 if cores do not share it */
  double dies, memory;
} sim_machine;

/* osli_sim_machine_name returns the machine's name. osli_sim_machine_read reads a host's rates and
 * the model of its cores from the machine file. `has_slow_core`: true for the rank whose core a
 * disturbance slows down. Local. Errors: ARG for a property with an invalid value. */
const char *osli_sim_machine_name(void);
osla_err osli_sim_machine_read(sg_host_t host, bool has_slow_core, sim_machine *out,
                               sim_core *core);

/* Sets in `own` the die of the calling rank's core, which is core `number` of `host` (from 0), and
 * the rates at which its sweeps move data. */
void osli_sim_machine_find_dies(const sim_machine *m, sg_host_t host, int number, sim_actor *own);

typedef struct sim_job {
  int size, users; /* size: number of ranks; users: number of ranks that have not left the job */
  sim_machine machine;
  sim_collective_state collective;
  sim_pending_message *messages;
  sim_rank rank[];
} sim_job;

static inline sim_job *sim_job_of(const osla_transport *t)
{
  return t->backend;
}
static inline sim_rank *sim_self(const osla_transport *t)
{
  return &sim_job_of(t)->rank[t->rank];
}

/* Advances this rank's own clock by `seconds` and by the time that transfers have taken from its
 * core (debt). The simulator's clock follows later (osli_sim_sync_clock), because a suspension for
 * each piece of work would cost more real time than everything else. */
void osli_sim_advance_clock(double seconds);
/* Suspends this rank until the simulator's clock has reached the rank's own clock. It is needed
 * before the rank stores data that others read, or polls for data that others store. The rank can
 * use data that have already arrived without this call. */
void osli_sim_sync_clock(void);

/* Starts a transfer that takes `work` seconds of the cores of both ranks. On its arrival done(arg)
 * runs at rank `to`; *call must stay valid until then. */
void osli_sim_start_transfer_with_work(sim_rank *from, sim_rank *to, size_t bytes, double work,
                                       double delay, sim_completion *call, osli_sim_done *done,
                                       void *arg);
/* Starts a transfer whose work on the cores follows from the machine's rate for each byte. */
void osli_sim_start_transfer(sim_rank *from, sim_rank *to, size_t bytes, double delay,
                             sim_completion *call, osli_sim_done *done, void *arg);

/* Runs the completions of transfers that arrived while the calling rank computed. osla_progress
 * calls it. */
void osli_sim_run_completions(sim_rank *me);

/* True if transfers take time of the cores at both ends, false with remote DMA. */
static inline bool osli_sim_needs_cores(const sim_job *job)
{
  return job->machine.cpu > 0;
}

/* Charges the caller a short time for one poll without success. Otherwise a loop that polls would
 * stop simulated time. */
void osli_sim_charge_poll(const osla_transport *t);

/* Resumes a suspended rank, because one of its conditions may have changed. */
void osli_sim_resume(sim_rank *rank);

/* Functions of the table osla_transport_ops: */
osla_err osli_sim_split_hosts(MPI_Comm comm, MPI_Comm *out);
void osli_sim_wait_until(osla_transport *t, osla_wait_test *test, void *arg, osla_bell *bell);
void osli_sim_ring(osla_transport *t, osla_bell *bell);
osla_err osli_sim_collective(osla_transport *t, const osla_collective *what);
osla_err osli_sim_message(osla_transport *t, const osla_message *what);
osla_err osli_sim_exchange(osla_transport *t, const osla_sparse *what);
osla_err osli_sim_region_alloc(osla_transport *t, size_t bytes, osla_region **out);
osla_err osli_sim_region_attach(osla_transport *t, void *base, size_t bytes, osla_region **out);
void osli_sim_region_steers(osla_region *region);
/* Copies the data of a transfer to or from a region. If work is only modelled, bulk data are not
 * copied. */
void osli_sim_region_copy(const osla_region *region, void *to, const void *from, size_t bytes);
void osli_sim_region_messages(osla_region *region, size_t offset);
void osli_sim_region_store(osla_region *region, size_t offset, const void *bytes, size_t count);
/* Copies the data of a get: from the messages of `rank` (simulator.h), or from its memory. */
void osli_sim_region_copy_get(const osla_region *region, int rank, void *to, const void *from,
                              size_t bytes);
void osli_sim_region_free(osla_region **region);
void *osli_sim_peer_ptr(const osla_region *region, int rank);
osla_err osli_sim_post(osla_region *region, int rank, size_t offset, const void *source,
                       size_t bytes, size_t word_offset, uint64_t word, osla_post **out);
/* Waits until all posts of the calling rank in the region are delivered. */
void osli_sim_posts_finish(osla_region *region);
osla_err osli_sim_post_wait(osla_transport *t, osla_post **post);
osla_err osli_sim_post_test(osla_transport *t, osla_post **post, bool *done);

/* The memory of a region: one table for all ranks, since addresses are valid on all of them. */
typedef struct sim_memory {
  size_t bytes; /* size of this rank's memory of the region */
  unsigned char *base;
  /* contents of the memory from messages_start on; NULL if the memory itself holds them */
  sim_pieces *messages;
  const unsigned char *messages_start;
} sim_memory;
typedef struct sim_table {
  int users; /* ranks that have not freed the region */
  sim_memory memory[];
} sim_table;
struct osla_region {
  osla_transport *t;
  sim_table *table;
  sim_memory *memory; /* [size] memory of each rank in the region, a part of the table */
  bool attached;
  /* true if the region holds no bulk data, so all of it is copied even if work is only modelled */
  bool has_no_bulk_data;
};

#endif
