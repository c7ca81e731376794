/* The transport table: all that a backend must provide (floor 0, internal).
 *
 * Nothing above this floor calls MPI RMA. A region is a piece of memory of every rank; segments
 * (floor 1) lay out notify slots and data in it. Offsets and sizes are bytes.
 */
#ifndef OSLA_TRANSPORT_OPS_H
#define OSLA_TRANSPORT_OPS_H

#include "osla_host.h"
#include "osla_transport.h"
#include "src/transport/alive.h"
#include "src/transport/exchange.h"
#include "src/transport/groups.h"
#include "src/transport/settings.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

typedef struct osla_region osla_region;

/* A nonblocking transfer. first < 0: complete. Must be waited for exactly once. */
typedef struct osla_handle {
  int32_t first;
} osla_handle;
#define OSLA_HANDLE_DONE ((osla_handle){-1})

/* An eventcount: who changes a condition rings, who waits for it sleeps here. Zero-initialised, in
 * shared memory. */
typedef struct osla_bell {
  _Atomic uint32_t rings;
  _Atomic uint32_t sleepers;
} osla_bell;

/* The backend's own word in an allocated region, which no caller touches: what C11 atomics change,
 * such as a bell at its beginning, MPI's accumulates must not read. */
enum { OSLA_REGION_WORD = 8 };

/* A put with notify that is under way, and those to one rank of a region. */
typedef struct osla_post osla_post;
typedef struct osla_post_queue osla_post_queue;

/* Messages from one rank to another that who receives them has said the places of. */
typedef struct osla_line osla_line;
typedef struct osla_line_end {
  int peer;
  int number; /* among the lines to who receives, from 0 on, the same at both ends */
  bool receives;
  int most;               /* messages that were started and are not done */
  size_t bytes;           /* of the longest */
  _Atomic uint64_t *done; /* how many are: received, or the source may be reused (release) */
} osla_line_end;

/* What osli_wait_until waits for. */
typedef bool osla_wait_test(void *arg);

typedef enum osla_collective_kind {
  OSLA_DO_BARRIER,
  OSLA_DO_ALLREDUCE, /* recv in place */
  OSLA_DO_BCAST,     /* recv */
  OSLA_DO_ALLTOALL,  /* count to each rank */
  OSLA_DO_ALLGATHER  /* count from each rank */
} osla_collective_kind;

typedef struct osla_collective {
  osla_collective_kind kind;
  const void *send;
  void *recv;
  int count;
  MPI_Datatype type;
  MPI_Op op; /* of a reduction */
  int root;  /* of a bcast */
} osla_collective;

/* From one rank to another, both of which call. */
typedef struct osla_message {
  bool is_sent; /* else received */
  int other, bytes;
  void *buffer;
} osla_message;

/* Letters by messages, `in` in any order; none of `out` to myself comes. */
typedef struct osla_sparse {
  uint64_t number; /* of the transport's exchanges */
  const osla_letters *out;
  osla_letters *in;
  int expected; /* so many come, -1: who knows */
} osla_sparse;

/* Gives a region its memory: sets peer[] and what it takes to reach the other ranks. `bytes` are
 * whole pages. Collective; all ranks fail together. Errors: MEM, MPI. */
typedef osla_err osla_region_allocate(osla_region *region, size_t bytes);

typedef struct osla_transport_ops {
  const char *name;
  const char *(*machine)(void); /* that is simulated; NULL: none is */
  /* The ranks of a host. NULL: MPI_Comm_split_type knows them. */
  osla_err (*split_hosts)(MPI_Comm comm, MPI_Comm *out);
  bool one_thread;        /* a rank can have no others: no progress thread, no producers */
  bool every_rank_a_node; /* nobody reaches a neighbour's memory by load and store */
  bool puts_as_messages;  /* a put with notify may travel as a message (eager_mpi.h) */

  /* Collective; what the backend needs before anything else. Fails on all ranks
   * together. */
  osla_err (*start)(osla_transport *t);

  /* Returns the first time that test(arg) is true; sleeps on the bell, where there is one, until
   * something may have changed that, and makes progress meanwhile. */
  void (*wait_until)(osla_transport *t, osla_wait_test *test, void *arg, osla_bell *bell);
  /* Wakes who sleeps on the bell. The change must have been stored before. */
  void (*ring)(osla_transport *t, osla_bell *bell);

  /* Both as MPI's, but asleep while they wait. */
  osla_err (*collective)(osla_transport *t, const osla_collective *what);
  osla_err (*message)(osla_transport *t, const osla_message *what);
  osla_err (*exchange)(osla_transport *t, const osla_sparse *what);

  /* Collective. Zeroed, page-aligned memory of `bytes` (may differ by rank) on every rank. */
  osla_err (*region_alloc)(osla_transport *t, size_t bytes, osla_region **out);
  /* Collective. Exposes the caller's memory; other ranks reach it by get and put only. */
  osla_err (*region_attach)(osla_transport *t, void *base, size_t bytes, osla_region **out);
  /* Collective. A region as region_alloc makes it, with memory from `allocate`, for a backend that
   * stands on this one. NULL: no backend stands on this one. */
  osla_err (*region_make)(osla_transport *t, size_t bytes, osla_region_allocate *allocate,
                          osla_region **out);
  /* All that it holds steers: it moves as a whole even where work is only modelled (work.h). NULL:
   * the backend does not model. Local. */
  void (*region_steers)(osla_region *region);
  /* See segment_messages.h; `offset` of the region. NULL: they are memory like any other. Local. */
  void (*region_messages)(osla_region *region, size_t offset);
  void (*region_store)(osla_region *region, size_t offset, const void *bytes, size_t count);
  void (*region_free)(osla_region **region); /* collective; may be kept for the next one */
  void (*finish)(osla_transport *t); /* collective: all regions have been freed; also where start
                                        failed or was not reached */

  /* Address of a rank's memory, NULL when it cannot be reached by load and store. Local. */
  void *(*peer_ptr)(const osla_region *region, int rank);

  /* Contiguous nonblocking transfers; on the node they complete at once. The handle completes a
   * get when the data is here, a put when the source may be reused. */
  osla_err (*get)(osla_region *region, int rank, size_t offset, void *dest, size_t bytes,
                  osla_handle *handle);
  /* As get, but it may need progress steps of `rank`: then faster. NULL: there is no other way. */
  osla_err (*fetch)(osla_region *region, int rank, size_t offset, void *dest, size_t bytes,
                    osla_handle *handle);
  osla_err (*put)(osla_region *region, int rank, size_t offset, const void *source, size_t bytes,
                  osla_handle *handle);
  osla_err (*test)(osla_transport *t, osla_handle *handle, bool *done);
  osla_err (*wait)(osla_transport *t, osla_handle *handle);
  /* Orders all earlier puts of this rank to `rank` before its later ones there. */
  osla_err (*flush)(osla_region *region, int rank);

  /* Puts the data, then the 64-bit word, such that who sees the word sees the data, and rings the
   * bell at bell_offset. bytes may be 0. The source may be reused on return. */
  osla_err (*put_notify)(osla_region *region, int rank, size_t offset, const void *source,
                         size_t bytes, size_t word_offset, uint64_t word, size_t bell_offset);

  /* The same without waiting for the target: it goes on in this rank's progress steps. What one
   * rank posts for one word arrives in that order. The source must stay until post_wait, which is
   * called exactly once, unless out is NULL (then bytes = 0). *out = NULL: it is complete;
   * post_wait takes that, too. */
  osla_err (*post)(osla_region *region, int rank, size_t offset, const void *source, size_t bytes,
                   size_t word_offset, uint64_t word, size_t bell_offset, osla_post **out);
  osla_err (*post_wait)(osla_transport *t, osla_post **post);
  /* True: it is complete, and this stands for post_wait. */
  osla_err (*post_test)(osla_transport *t, osla_post **post, bool *done);

  /* Lines in a region. Who receives starts message s before it is sent, which the caller sees to;
   * `done` grows in progress steps. *out = NULL, at both ends: this one is not, for its number or
   * its bytes; the one back may be. Closing drops receives that were started, for which nothing may
   * have been sent. A line is watched at first; while it is not, its `done` may rest, and it costs
   * no progress step anything. NULL: this backend has none. Local. Errors: MEM, MPI. */
  osla_err (*line_open)(osla_region *region, const osla_line_end *end, osla_line **out);
  osla_err (*line_start)(osla_line *line, void *message, size_t bytes);
  void (*line_watch)(osla_line *line, bool watched);
  void (*line_close)(osla_line **line);

  /* Atomic *word += add on a 64-bit word that is used by nothing else; old value in *old. */
  osla_err (*fetch_add)(osla_region *region, int rank, size_t offset, int64_t add, int64_t *old);

  void (*progress)(osla_transport *t);

  /* Ends all ranks, with exit status 1. NULL: MPI_Abort does. */
  void (*end_all)(void);
} osla_transport_ops;

enum { OSLA_MAX_HOOKS = 16 };

/* A rank that looks for a meeting (meet_find.c): the number of its search, 0 if it does not look;
 * what it has answered. */
typedef struct meet_looker {
  int64_t number;
  enum { MEET_UNHEARD, MEET_YES, MEET_NO } answer;
} meet_looker;

typedef struct osla_blocked_call { /* see patience.h */
  const char *_Atomic name;        /* of MPI; NULL: none, else since: */
  _Atomic double since;
} osla_blocked_call;

struct osla_transport {
  const osla_transport_ops *ops;
  osla_alive alive;
  MPI_Comm comm, node_comm;
  MPI_Request pending; /* a receive of what is sent at the end; until then its test is progress */
  double idle_turn;    /* seconds of a look of progress that finds nothing; under the mutex */
  atomic_bool worked;  /* in the latest step of progress: a look took longer */
  osla_settings settings;
  int rank, size;
  int node, n_nodes, node_rank, node_size, largest_node;
  int host; /* lowest rank on my host, see osla_host.h */
  osla_group_places groups;
  bool has_memory_limit; /* of a group, when the transport was made */
  int node_each;         /* rank r is on node r / node_each; 0: see the tables (node_map.h) */
  int *node_of;          /* [size] node of each rank; NULL: see node_each */
  int *node_rank_of;     /* [size] its number among the ranks of my node; -1: on another node */
  int thread_level;      /* what MPI provides */
  bool memory_by_mpi;    /* node memory comes from MPI_Win_allocate_shared, see shared_memory.h */
  uint64_t memory_share; /* see osla_transport_memory_share */
  bool oversubscribed;   /* more computing threads on the node than cores: waits never spin */
  atomic_int n_attached; /* attached regions: they need MPI progress even on one node */
  pthread_mutex_t mutex; /* serialises MPI calls and the request pool */
  struct request_pool *pool;
  osla_region *kept_regions; /* for the next ones, see region_cache.h */
  osla_post_queue *posts;    /* those that are not empty; under the mutex */
  struct osla_eager *eager;  /* small puts as messages, see eager_mpi.h; NULL: they are not */
  bool eager_decided;
  void *backend;          /* what ops->start made */
  struct osla_kept *kept; /* see kept.h */
  uint64_t exchanges;     /* by messages, so far */
  int64_t searches;       /* of mine for a meeting, so far: meet_find.c */
  meet_looker *lookers;   /* rank 0: [size], or NULL */
  int n_lookers;
  osla_transport *older, *newer; /* of the process: osla_meet_find_any */
  struct {
    osla_progress_hook *run;
    void *arg;
  } hooks[OSLA_MAX_HOOKS];
  int n_hooks;
  pthread_mutex_t hook_mutex; /* guards the hooks and lets one thread at a time run them */
  osla_end_hook *end_hook;    /* NULL: none, or it has run */
  _Atomic bool end_running;   /* it runs */
  void *end_arg;
  pthread_mutex_t end_mutex; /* guards these two */
  pthread_t progress_thread;
  bool has_progress_thread;
  atomic_bool stop_progress;
  /* For the line that patience.c ends with: */
  const char *_Atomic kernel; /* the last one that ran, and its step */
  _Atomic int64_t step;
  atomic_int awaited;           /* a rank that a notify is awaited from; -1: none */
  osla_blocked_call collective; /* of the one thread that is in a collective call */
  osla_blocked_call locked;     /* of the one that holds the mutex */
  pthread_t watch_thread;
  bool watches;
  atomic_bool stop_watch;
  struct osla_trace *trace; /* what was recorded last, see trace.h; NULL: nothing ever was */
  struct osla_trace *_Atomic tracing; /* the same while tracing is on, else NULL */
};

/* The one that every program of this build has: mpi, or in a simulation sim. */
extern const osla_transport_ops *const osli_transport_built_in;

/* What a backend in a library of its own calls here (osla_backend.h): the shared library shows no
 * private function. */
typedef struct osla_backend_services {
  const osla_transport_ops *built_in;
  osla_err (*allgather)(osla_transport *t, const void *mine, void *all, int bytes);
  void (*wait_until)(osla_transport *t, osla_wait_test *test, void *arg, osla_bell *bell);
} osla_backend_services;

/* The backend of that name; NULL: what OSLA_TRANSPORT says, else mpi. Collective on comm. Errors,
 * on all ranks together: UNSUPPORTED (with the names that there are), ARG (ranks differ), MPI. */
osla_err osli_backend_choose(MPI_Comm comm, const char *name, const osla_transport_ops **out);

/* Runs what osla_transport_at_end set, at most once. Local. */
void osli_run_end_hook(osla_transport *t);

/* Between a last line and MPI_Abort: hydra drops what it has not passed on by then. */
enum { OSLA_LAST_WORDS_US = 200000 };

/* The one wait routine: the backend's. */
void osli_wait_until(osla_transport *t, osla_wait_test *test, void *arg, osla_bell *bell);

/* What tells one running kernel from another: its boot id; where that cannot be read, the host's
 * name. Local. */
void osli_host_kernel(const char *host_name, char kernel[64]);

/* Before there is a transport: does every rank have the memory that it asked for? Collective on
 * comm. Errors, on all ranks together: MEM ("WHAT of N ranks"), MPI. */
osla_err osli_all_have(MPI_Comm comm, bool mine, const char *what);

/* osla_host_look where the lowest rank of my node and my control groups' limits are known. */
osla_err osli_host_look_nodes(MPI_Comm comm, int node_leader, const osla_groups *groups,
                              osla_host *out);

/* `bytes` bytes from one rank to another, where two-sided is simpler. Not for kernels. Local;
 * sleeps until the buffer may be reused, or is filled. */
osla_err osli_send(osla_transport *t, int to, const void *buffer, int bytes);
osla_err osli_receive(osla_transport *t, int from, void *buffer, int bytes);

/* all[rank] := that rank's `bytes` bytes at mine. Collective, sleeps while it waits. */
osla_err osli_allgather(osla_transport *t, const void *mine, void *all, int bytes);

/* The backend's. */
void osli_bell_ring(osla_transport *t, osla_bell *bell);

/* Waits of processes that run at the same time (wait.c): spins shortly if cores are free, then
 * sleeps on the bell (or naps, when bell is NULL), with progress between. */
void osli_wait_awake(osla_transport *t, osla_wait_test *test, void *arg, osla_bell *bell);
void osli_wait_ring(osla_transport *t, osla_bell *bell);

/* MPI's nonblocking calls under the wait routine (collective_mpi.c). */
osla_err osli_mpi_collective(osla_transport *t, const osla_collective *what);
osla_err osli_mpi_message(osla_transport *t, const osla_message *what);
osla_err osli_mpi_exchange(osla_transport *t, const osla_sparse *what); /* exchange_mpi.c */

#endif
