/* The transport table: the operations that a backend must provide, and the state of a transport
 * (layer 0, internal).
 *
 * No other layer calls one-sided routines of MPI. A region is a piece of memory of every rank; a
 * segment (layer 1) places notify slots and data in a region. Offsets and sizes are in bytes. */
#ifndef OSLA_TRANSPORT_OPS_H
#define OSLA_TRANSPORT_OPS_H

#include "osla_host.h"
#include "osla_transport.h"
#include "src/transport/exchange.h"
#include "src/transport/groups.h"
#include "src/transport/live_objects.h"
#include "src/transport/settings.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

typedef struct osla_region osla_region;

/* A nonblocking transfer, which must be waited for exactly once. first: index of its first entry in
 * the request pool, or a number that the backend has chosen; -1 if the transfer is complete. */
typedef struct osla_handle {
  int32_t first;
} osla_handle;
#define OSLA_HANDLE_DONE ((osla_handle){-1})

/* An eventcount in shared memory, which begins as zeros: a waiting rank sleeps on the bell, and a
 * rank that changes the awaited condition rings it. */
typedef struct osla_bell {
  _Atomic uint32_t rings;
  _Atomic uint32_t sleepers;
} osla_bell;

/* Offset of an 8-byte word in each allocated region that only the backend uses. The word is apart
 * from the bell at offset 0, as MPI accumulates must not read a word that C11 atomics change. */
enum { OSLA_REGION_WORD = 8 };

/* One put with notify that is under way, and the queue of all such puts to one rank of a region. */
typedef struct osla_post osla_post;
typedef struct osla_post_queue osla_post_queue;

/* A message line: a one-way stream of messages between two ranks, whose receives are posted in
 * advance at the final address of each message. */
typedef struct osla_line osla_line;
typedef struct osla_line_end {
  int peer;
  /* index of this line among the message lines from its sender to its receiver, from 0; equal at
   * both ends */
  int number;
  bool receives;
  int most;     /* largest number of messages that are started and not complete */
  size_t bytes; /* size of the longest message */
  /* number of complete messages, stored with release: the data of a receive have arrived, and the
   * source of a send may be reused */
  _Atomic uint64_t *done;
} osla_line_end;

/* Type of a condition that osli_wait_until waits for; returns whether the condition is true. */
typedef bool osla_wait_test(void *arg);

typedef enum osla_collective_kind {
  OSLA_DO_BARRIER,
  OSLA_DO_ALLREDUCE, /* `recv` holds this rank's values, then the result */
  OSLA_DO_BCAST,     /* `recv` holds the data on the root, and receives them on other ranks */
  OSLA_DO_ALLTOALL,  /* `send` and `recv` hold `count` elements for each rank */
  OSLA_DO_ALLGATHER  /* `recv` holds `count` elements from each rank */
} osla_collective_kind;

typedef struct osla_collective {
  osla_collective_kind kind;
  const void *send;
  void *recv;
  int count;
  MPI_Datatype type;
  MPI_Op op; /* the reduction operation of an allreduce */
  int root;  /* the root of a broadcast */
} osla_collective;

/* A two-sided message: its sender and its receiver must both make a call. */
typedef struct osla_message {
  bool is_sent; /* true: this rank sends; false: it receives */
  int other, bytes;
  void *buffer;
} osla_message;

/* A sparse exchange of letters (exchange.h): the letters of `out` are sent as messages, and the
 * letters that arrive are added to `in` in any order. A letter of this rank to itself is skipped.
 */
typedef struct osla_sparse {
  uint64_t number; /* index of this exchange on the transport, from 0 */
  const osla_letters *out;
  osla_letters *in;
  /* number of letters that will arrive at this rank; -1 on all ranks if the numbers are unknown */
  int expected;
} osla_sparse;

/* Allocates the memory of a region: sets peer[], and what the backend needs to reach the other
 * ranks. `bytes` is a multiple of the page size. Collective; all ranks fail together. Errors: MEM,
 * MPI. */
typedef osla_err osla_region_allocate(osla_region *region, size_t bytes);

typedef struct osla_transport_ops {
  const char *name;
  const char *(*machine)(void); /* name of the simulated machine; NULL if the ranks are real */
  /* Splits comm into one communicator for each host. NULL: MPI_Comm_split_type does it. */
  osla_err (*split_hosts)(MPI_Comm comm, MPI_Comm *out);
  /* true if a rank must not have further threads, such as the progress thread and threads that
   * start updates */
  bool one_thread;
  bool every_rank_a_node; /* true if ranks of one node do not map each other's memory */
  bool puts_as_messages;  /* true if puts with notify may travel as messages (mpi/eager_mpi.h) */

  /* Starts the backend, before any other operation. Collective; all ranks fail together. */
  osla_err (*start)(osla_transport *t);

  /* Returns as soon as test(arg) is true. Meanwhile the rank makes progress, and sleeps on the bell
   * (if it is not NULL) or for short times. */
  void (*wait_until)(osla_transport *t, osla_wait_test *test, void *arg, osla_bell *bell);
  /* Wakes the ranks that sleep on the bell. The caller has stored the awaited change before. */
  void (*ring)(osla_transport *t, osla_bell *bell);

  /* Collectives and messages as in MPI, except that the waiting rank sleeps. */
  osla_err (*collective)(osla_transport *t, const osla_collective *what);
  osla_err (*message)(osla_transport *t, const osla_message *what);
  osla_err (*exchange)(osla_transport *t, const osla_sparse *what);

  /* Allocates zeroed, page-aligned memory of `bytes` bytes on every rank; ranks may pass different
   * sizes. Collective. */
  osla_err (*region_alloc)(osla_transport *t, size_t bytes, osla_region **out);
  /* Exposes the caller's memory. Other ranks reach it by get and put only. Collective. */
  osla_err (*region_attach)(osla_transport *t, void *base, size_t bytes, osla_region **out);
  /* Works as region_alloc, but takes the memory from `allocate`. It serves a backend that builds on
   * this one; NULL if there is no such backend. Collective. */
  osla_err (*region_make)(osla_transport *t, size_t bytes, osla_region_allocate *allocate,
                          osla_region **out);
  /* Marks a region whose contents control the program: its transfers move all bytes even if the
   * backend only models bulk data (src/blas/work.h). NULL: the backend moves all data anyway.
   * Local. */
  void (*region_steers)(osla_region *region);
  /* Work as osli_segment_messages and osli_segment_store (src/memory/segment.h), with offsets in
   * the region. NULL if the memory of messages is ordinary memory. Local. */
  void (*region_messages)(osla_region *region, size_t offset);
  void (*region_store)(osla_region *region, size_t offset, const void *bytes, size_t count);
  /* frees the region, or caches it for reuse; collective */
  void (*region_free)(osla_region **region);
  /* ends the backend; collective, after all regions are freed; also called if start failed or was
   * not called */
  void (*finish)(osla_transport *t);

  /* Address of a rank's memory; NULL if this rank cannot load and store there. Local. */
  void *(*peer_ptr)(const osla_region *region, int rank);

  /* Contiguous nonblocking transfers; on the node they are complete on return. The handle of a get
   * completes when the data have arrived, the handle of a put when the source may be reused. */
  osla_err (*get)(osla_region *region, int rank, size_t offset, void *dest, size_t bytes,
                  osla_handle *handle);
  /* Works as get, but may be faster and may need progress steps of `rank`. If fetch is NULL, get is
   * used. */
  osla_err (*fetch)(osla_region *region, int rank, size_t offset, void *dest, size_t bytes,
                    osla_handle *handle);
  osla_err (*put)(osla_region *region, int rank, size_t offset, const void *source, size_t bytes,
                  osla_handle *handle);
  osla_err (*test)(osla_transport *t, osla_handle *handle, bool *done);
  osla_err (*wait)(osla_transport *t, osla_handle *handle);
  /* Orders all earlier puts of this rank to `rank` before its later puts to `rank`. */
  osla_err (*flush)(osla_region *region, int rank);

  /* Puts `bytes` bytes (0 or more), then the 64-bit word, and rings the bell at bell_offset. A rank
   * that sees the word also sees the data. The source may be reused on return. */
  osla_err (*put_notify)(osla_region *region, int rank, size_t offset, const void *source,
                         size_t bytes, size_t word_offset, uint64_t word, size_t bell_offset);

  /* Starts put_notify and returns at once; the transfer continues in this rank's progress steps.
   * Posts of one rank to one word arrive in their order. The source must stay unchanged until
   * post_wait, which is called exactly once. If out is NULL, bytes must be 0 and post_wait is not
   * called. *out = NULL if the post is complete; post_wait accepts that. */
  osla_err (*post)(osla_region *region, int rank, size_t offset, const void *source, size_t bytes,
                   size_t word_offset, uint64_t word, size_t bell_offset, osla_post **out);
  osla_err (*post_wait)(osla_transport *t, osla_post **post);
  /* Sets *done to whether the post is complete. If it is, this call replaces post_wait. */
  osla_err (*post_test)(osla_transport *t, osla_post **post, bool *done);

  /* Message lines in a region. The receiver must start message s before the sender starts it; the
   * caller takes care of that. `done` grows in progress steps. *out = NULL at both ends if the line
   * exceeds the limit on numbers or bytes; the line in the opposite direction may exist. line_close
   * cancels started receives; no messages may have been sent to them. line_watch(false) excludes a
   * line from progress steps, so that its `done` need not grow; a new line is included. These
   * members are NULL if the backend has no lines. Local. Errors: MEM, MPI. */
  osla_err (*line_open)(osla_region *region, const osla_line_end *end, osla_line **out);
  osla_err (*line_start)(osla_line *line, void *message, size_t bytes);
  void (*line_watch)(osla_line *line, bool watched);
  void (*line_close)(osla_line **line);

  /* Atomically adds to a 64-bit word that only fetch_add uses; *old is the earlier value. */
  osla_err (*fetch_add)(osla_region *region, int rank, size_t offset, int64_t add, int64_t *old);

  void (*progress)(osla_transport *t);

  /* Ends all ranks with exit status 1. NULL: MPI_Abort does it. */
  void (*end_all)(void);
} osla_transport_ops;

enum { OSLA_MAX_HOOKS = 16 };

/* State at rank 0 of a rank that searches for the transport of a collective call
 * (collective_search.c). number: its search id, 0 if it does not search. answer: its answer to the
 * latest question. */
typedef struct searching_rank {
  int64_t number;
  enum { SEARCH_NOT_ANSWERED, SEARCH_YES, SEARCH_NO } answer;
} searching_rank;

/* A blocking call of MPI or OpenSHMEM by a thread, see time_limit.h. */
typedef struct osla_blocked_call {
  /* name of the function; NULL if no call is under way, and then `since` has no meaning */
  const char *_Atomic name;
  _Atomic double since;
} osla_blocked_call;

struct osla_transport {
  const osla_transport_ops *ops;
  osla_live_object alive;
  MPI_Comm comm, node_comm;
  /* a receive that completes only when the transport ends; testing it makes MPI progress */
  MPI_Request pending;
  /* shortest recent duration of a progress turn without work; guarded by the mutex */
  double idle_turn_seconds;
  /* true if the latest progress step took longer than a step without work */
  atomic_bool found_work;
  osla_settings settings;
  int rank, size;
  int node, n_nodes, node_rank, node_size, largest_node;
  int host; /* lowest rank on this rank's host, see osla_host.h */
  osla_group_folders groups;
  bool has_memory_limit; /* true if a control group limited this rank's memory at creation */
  /* if > 0, rank r is on node r / node_each; if 0, node_of and node_rank_of hold the nodes */
  int node_each;
  int *node_of; /* [size] node of each rank; NULL if node_each > 0 */
  /* [size] index of each rank on this rank's node, -1 on other nodes; NULL if node_each > 0 */
  int *node_rank_of;
  int thread_level; /* thread level that MPI provides */
  /* true if MPI_Win_allocate_shared provides node memory, see shared_memory.h */
  bool memory_by_mpi;
  uint64_t memory_share; /* result of osla_transport_memory_share */
  /* true if the node has more computing threads than cores; then waits never spin */
  bool oversubscribed;
  atomic_int n_attached; /* number of attached regions, which need MPI progress even on one node */
  pthread_mutex_t mutex; /* serialises MPI calls and the request pool */
  struct request_pool *pool;
  osla_region *cached_regions; /* freed regions for reuse, see region_mpi.c */
  osla_post_queue *posts;      /* nonempty queues of posts; guarded by the mutex */
  struct osla_eager *eager;    /* state of puts as messages, see eager_mpi.h; NULL if unused */
  bool eager_decided;
  void *backend; /* the backend's state, set by ops->start */
  /* list of the objects that osli_transport_object_add has added */
  struct osla_owned_object *owned_objects;
  uint64_t exchanges;        /* number of sparse exchanges so far */
  int64_t n_searches;        /* number of this rank's searches so far, see collective_search.c */
  searching_rank *searching; /* [size] on rank 0, allocated at the first search; else NULL */
  int n_searching;
  /* List of this process's transports, for osla_meet_find_any. */
  osla_transport *older_transport, *newer_transport;
  struct {
    osla_progress_hook *run;
    void *arg;
  } hooks[OSLA_MAX_HOOKS];
  int n_hooks;
  pthread_mutex_t hook_mutex; /* guards the hooks, and lets one thread at a time run them */
  osla_end_hook *end_hook;    /* NULL if no hook is set, or if the hook has run */
  _Atomic bool end_hook_is_running;
  void *end_arg;
  pthread_mutex_t end_mutex; /* guards end_hook and end_arg */
  pthread_t progress_thread;
  bool has_progress_thread;
  atomic_bool stop_progress;
  /* The report of an exceeded time limit (time_limit.c) contains the following members. */
  const char *_Atomic kernel;   /* name of the kernel in the latest call of osla_at_step */
  _Atomic int64_t step;         /* index of the kernel's step in the latest call of osla_at_step */
  atomic_int awaited_rank;      /* rank whose notify is awaited; -1 if none */
  osla_blocked_call collective; /* blocking call of the thread that is in a collective call */
  osla_blocked_call locked;     /* blocking call of the thread that holds the mutex */
  pthread_t watch_thread;
  bool has_watch_thread;
  atomic_bool stop_watch;
  struct osla_trace *trace; /* the latest recorded trace, see trace.h; NULL if there was none */
  struct osla_trace *_Atomic tracing; /* equal to `trace` while tracing is on, else NULL */
};

/* The backend that every program of this build has: "mpi", or "sim" in a simulation. */
extern const osla_transport_ops *const osli_transport_built_in;

/* Functions of libosla that a backend in a library of its own may call (osla_backend.h). They are
 * passed by this struct because the shared library exports no private function. */
typedef struct osla_backend_services {
  const osla_transport_ops *built_in;
  osla_err (*allgather)(osla_transport *t, const void *mine, void *all, int bytes);
  void (*wait_until)(osla_transport *t, osla_wait_test *test, void *arg, osla_bell *bell);
  /* ends the hooks of progress steps in this thread, when their memory is gone; local */
  void (*stop_hooks)(void);
  /* osli_time_limit_blocked (time_limit.h) */
  void (*time_limit_blocked)(osla_blocked_call *call, const char *name);
} osla_backend_services;

/* osli_transport_register adds a transport to those that osla_meet_find_any searches.
 * osli_transport_unregister removes it, and does nothing if the transport was never added. Each
 * call takes constant time, because all simulated ranks share one list of transports. Local,
 * thread-safe. */
void osli_transport_register(osla_transport *t);
void osli_transport_unregister(osla_transport *t);

/* Receives and drops the remaining messages of searches, before the communicator is freed.
 * Local. */
void osli_search_discard_messages(osla_transport *t);

/* Sets node_comm and all fields of t about nodes. Nodes are numbered from 0 in the order of their
 * lowest ranks. Collective over t->comm.
 *   leader [out] lowest rank of this rank's node
 * Errors: MEM, ARG (as ops->split_hosts), MPI. */
osla_err osli_nodes_map(osla_transport *t, int *leader);

/* Objects of higher layers that live as long as a transport, such as memory that all star forests
 * of a transport share. Each has a key, which is the address of a static object.
 * osli_transport_object_find finds an object; NULL if there is none. osli_transport_object_add adds
 * an object, which osla_transport_destroy destroys by destroy(object), the latest object first. All
 * ranks must add objects in the same order. osli_transport_object_remove removes an object without
 * destroying it, if there is one; osli_transport_objects_destroy destroys all. Local. Errors: MEM.
 */
void *osli_transport_object_find(const osla_transport *t, const void *key);
osla_err osli_transport_object_add(osla_transport *t, const void *key, void *object,
                                   void (*destroy)(void *object));
void osli_transport_object_remove(osla_transport *t, const void *key);
void osli_transport_objects_destroy(osla_transport *t);

/* Runs the hook of osla_transport_at_end, at most once. Local. */
void osli_end_hook_run(osla_transport *t);

/* Pause between the last line of output and MPI_Abort, in us: MPICH's process manager drops output
 * that it has not forwarded by then. */
enum { OSLA_LAST_LINE_US = 200000 };

/* Waits until test(arg) is true, by the wait operation of the backend. */
void osli_wait_until(osla_transport *t, osla_wait_test *test, void *arg, osla_bell *bell);

/* Writes an identifier of the running kernel: its boot id, or host_name if the boot id cannot be
 * read. Local. */
void osli_host_kernel(const char *host_name, char kernel[64]);

/* Agrees before a transport exists that every rank has allocated its memory. Collective on comm.
 *   is_allocated [in] this rank has its memory
 *   what         [in] name of the memory for the error text
 * Errors, on all ranks together: MEM ("WHAT of N ranks"), MPI. */
osla_err osli_agree_allocated(MPI_Comm comm, bool is_allocated, const char *what);

/* Describes this rank's host as osla_host_look does, for a caller that knows the lowest rank of its
 * node and the limits of its control groups. */
osla_err osli_host_describe_nodes(MPI_Comm comm, int node_leader, const osla_groups *groups,
                                  osla_host *out);

/* Sends or receives `bytes` bytes by a two-sided message, for set-up and traces; kernels do not use
 * it. Sleeps until the buffer may be reused, or holds the message. Local. */
osla_err osli_send(osla_transport *t, int to, const void *buffer, int bytes);
osla_err osli_receive(osla_transport *t, int from, void *buffer, int bytes);

/* Gathers `bytes` bytes of every rank on all ranks, ordered by rank. Sleeps while it waits.
 * Collective. */
osla_err osli_allgather(osla_transport *t, const void *mine, void *all, int bytes);

/* Sets *out to zeroed memory of `bytes` bytes, which the caller frees by free(). If a rank has no
 * memory, *out is NULL on all ranks. `purpose` names the memory in the error text. Collective.
 * Errors, on all ranks together: MEM, MPI. */
osla_err osli_agree_calloc(osla_transport *t, size_t bytes, const char *purpose, void **out);

/* Agrees on `local` as osla_agree does, and replaces each of `count` values by its minimum over all
 * ranks. One reduction does both. After an error the values are undefined. Collective. Errors, on
 * all ranks together: RANGE (count is larger than 2 OSLA_MOST_ARGUMENTS), those of osla_agree. */
osla_err osli_agree_least(osla_transport *t, osla_err local, int64_t *values, int count);

/* While osli_hooks_paused is true, progress steps of this thread run no hooks. A function that
 * holds a mutex which a hook may lock sets osli_hooks_paused before it waits, so that no hook
 * blocks on this mutex. */
extern _Thread_local bool osli_hooks_paused;

/* Rings the bell, by the operation of the backend. */
void osli_bell_ring(osla_transport *t, osla_bell *bell);

/* The wait operation for real processes (wait_mpi.c): spins for a short time if cores are free,
 * then sleeps on the bell (or for short times, if bell is NULL), with progress in between. */
void osli_wait_spin_then_sleep(osla_transport *t, osla_wait_test *test, void *arg, osla_bell *bell);
void osli_futex_bell_ring(osla_transport *t, osla_bell *bell);

/* Operations of the MPI backend on MPI's nonblocking calls (collective_mpi.c). */
osla_err osli_mpi_collective(osla_transport *t, const osla_collective *what);
osla_err osli_mpi_message(osla_transport *t, const osla_message *what);
osla_err osli_mpi_exchange(osla_transport *t, const osla_sparse *what);

#endif
