/* The transport: the ranks of a job, their nodes, and all communication and waiting.
 *
 * A transport is made from an MPI communicator, and all other objects of the library (grids,
 * segments, matrices) are made on it. It uses a duplicate of the communicator that returns errors,
 * so its messages cannot be mixed up with those of the caller. The ranks of one shared-memory node
 * form a domain (Krishnan et al., section I): inside it data move by load and store, between
 * domains by contiguous MPI-3 RMA.
 *
 * Threads: MPI must have been started with MPI_Init_thread. The library serialises calls of several
 * threads. Calls of several threads need at least MPI_THREAD_SERIALIZED. They need
 * MPI_THREAD_MULTIPLE if the caller itself uses MPI at the same time, asks for the progress thread,
 * uses several transports in several threads at the same time, or makes or destroys objects in one
 * thread (as all collective operations on matrices and checkpoints do) while other threads use
 * objects. In all headers, collective calls come from one thread of each rank at a time, in the
 * same order on all ranks; local calls may come from any thread, at most one at a time on one
 * object unless the call says otherwise.
 * Part: stable (osla.h).
 */
#ifndef OSLA_TRANSPORT_H
#define OSLA_TRANSPORT_H

#include "osla_api.h"
#include "osla_error.h"
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct osla_transport osla_transport;

typedef struct osla_transport_options {
  /* true: start a thread that sleeps and calls osla_progress repeatedly, so that gets and puts of
   * other nodes are served while this rank computes; default false */
  bool progress_thread;
  /* number of computing threads of each rank, for the test whether cores are oversubscribed; 0
   * means 1 */
  int threads_per_rank;
  /* how data move: "mpi", "armci" (osla_armci.h) or "shmem" (osla_shmem.h); NULL: the value of the
   * environment variable OSLA_TRANSPORT, or "mpi" if that is not set */
  const char *transport;
  uint64_t reserved[8]; /* must be 0, see osla_types.h */
} osla_transport_options;

/* Makes a transport on a communicator. Collective on comm.
 *   comm    [in]  any intracommunicator; duplicated, so the caller may free it
 *   options [in]  NULL = defaults; the same on all ranks
 *   out     [out] owned by the caller, freed by osla_transport_destroy after all objects made on it
 * Errors, on all ranks together: ARG (options), STATE (MPI is not started, or its thread level is
 * too low for the progress thread), UNSUPPORTED (the program has no such transport), MPI, MEM. */
OSLA_API osla_err osla_transport_create(MPI_Comm comm, const osla_transport_options *options,
                                        osla_transport **out);

/* Destroys a transport. Collective. Accepts NULL and nulls the handle. Ranks may destroy several
 * transports, and their segments before, in different orders, except when osla_segment_destroy is a
 * barrier, because MPI frees windows collectively.
 * A transport and all objects made on it must be destroyed before MPI_Finalize, or by an attribute
 * on MPI_COMM_SELF during it. Otherwise, if an MPI window is still open (memory of several nodes,
 * attached memory), one line names the missing calls. With MPICH over UCX, which would abort, the
 * job then ends with an error. */
OSLA_API void osla_transport_destroy(osla_transport **transport);

/* Local queries of a transport. */
OSLA_API int osla_transport_rank(const osla_transport *transport);
OSLA_API int osla_transport_size(const osla_transport *transport);
/* number of shared-memory nodes */
OSLA_API int osla_transport_n_nodes(const osla_transport *transport);
/* node of this rank, 0 <= node < n_nodes */
OSLA_API int osla_transport_node(const osla_transport *transport);
/* number of ranks on this rank's node */
OSLA_API int osla_transport_node_size(const osla_transport *transport);
/* largest number of ranks on a node */
OSLA_API int osla_transport_largest_node(const osla_transport *transport);
/* index of `rank` among the ranks of this rank's node; -1 if it is on another node */
OSLA_API int osla_transport_node_rank_of(const osla_transport *transport, int rank);
OSLA_API int osla_transport_node_of(const osla_transport *transport, int rank);
OSLA_API bool osla_transport_same_node(const osla_transport *transport, int rank);
/* True if there are more computing threads than cores. */
OSLA_API bool osla_transport_oversubscribed(const osla_transport *transport);
OSLA_API uint64_t
/* bytes of memory for each rank: the memory that was free on its host, divided by the host's ranks;
 * the smallest value of all hosts, equal on all ranks */
osla_transport_memory_share(const osla_transport *transport);
/* the transport's duplicate of the communicator; owned by the transport */
OSLA_API MPI_Comm osla_transport_comm(const osla_transport *transport);
/* Returns "mpi", "armci", "shmem" or "sim". */
OSLA_API const char *osla_transport_name(const osla_transport *transport);

/* Name of the machine that the ranks of this program are simulated on; NULL if they are real. Every
 * report of a simulated figure must say that it is simulated. Local. */
OSLA_API const char *osla_simulated_machine(void);

/* Makes one step of progress: serves transfers of other nodes and runs the hooks. Local,
 * thread-safe, cheap. Every wait of the library makes progress on the transport that it waits on,
 * and on no other. So before a rank waits on one transport while others need its progress on a
 * second one (for a posted put, a full ring of an accumulator, or a target without remote DMA), it
 * must finish or flush its work on the second transport, call osla_progress on the second
 * transport, or have a progress thread for it. */
OSLA_API void osla_progress(osla_transport *transport);

/* Adds or removes a function that every osla_progress call runs, one at a time on each rank and
 * never nested. There are at most 16. A hook must not add or remove hooks. Local. Errors: RANGE. */
typedef void osla_progress_hook(void *arg);
OSLA_API osla_err osla_progress_add(osla_transport *transport, osla_progress_hook *hook, void *arg);
OSLA_API void osla_progress_remove(osla_transport *transport, osla_progress_hook *hook, void *arg);

/* Collectives that sleep and make progress while they wait; MPI's own would spin on a core that a
 * computing rank needs. Buffers are as in MPI_Allreduce with MPI_IN_PLACE, MPI_Bcast and
 * MPI_Alltoall. Barrier, allreduce and alltoall (count > 0) order all loads and stores of every
 * rank before the call ahead of those of any rank after it. Collective. Errors: MPI. */
OSLA_API osla_err osla_barrier(osla_transport *transport);
OSLA_API osla_err osla_allreduce(osla_transport *transport, void *buffer, int64_t count,
                                 MPI_Datatype type, MPI_Op op);
OSLA_API osla_err osla_bcast(osla_transport *transport, void *buffer, int64_t count,
                             MPI_Datatype type, int root);
OSLA_API osla_err osla_alltoall(osla_transport *transport, const void *send, void *recv, int count,
                                MPI_Datatype type);

/* Agrees on failures: returns OSLA_OK on all ranks if every rank passes OSLA_OK; otherwise the code
 * of the lowest failing rank, with that rank's error text, on all ranks. Collective. */
OSLA_API osla_err osla_agree(osla_transport *transport, osla_err local);

/* Agrees on failures, as osla_agree, and compares arguments that must be equal on all ranks. If
 * they differ, it returns ARG, even if a rank failed; the text names the first argument that
 * differs, with its value on rank 0 and on the lowest rank with another value.
 *   call      [in] name of the call
 *   arguments [in] [count] names and values; all ranks pass equal names, at most
 *                  OSLA_MOST_ARGUMENTS of them (otherwise RANGE). A double is passed as its
 *                  bits, under a name that ends in " (bits)"; the text then has the name without
 *                  that ending, and the number. */
typedef struct osla_argument {
  const char *name;
  int64_t value;
} osla_argument;
enum { OSLA_MOST_ARGUMENTS = 32 };
OSLA_API osla_err osla_agree_same(osla_transport *transport, osla_err local, const char *call,
                                  const osla_argument *arguments, int count);

/* Ends all ranks with one line that contains the text of the latest error. It is for failures after
 * the first RMA operation of a kernel, when an error code on one rank would leave the others
 * waiting for ever. */
OSLA_API void osla_transport_abort(osla_transport *transport, osla_err err)
  __attribute__((noreturn));

/* Sets the action of this rank before it ends the job, for example to close a log or to note its
 * progress. It runs before the end by osla_transport_abort, by the time limit OSLA_PATIENCE, and by
 * MPI_Finalize with an open window. It runs once, after the line with the reason, on each rank that
 * detects by itself that the job cannot continue; other ranks are ended by MPI without it. It may
 * run in any thread and under locks of this library, so it must call neither this library nor MPI.
 * After OSLA_END_SECONDS an alarm ends the rank. One hook for each transport; NULL removes it.
 * Local.
 *   arg [in] passed to the hook; borrowed until the transport is destroyed or another hook is set
 */
typedef void osla_end_hook(void *arg);
enum { OSLA_END_SECONDS = 10 };
OSLA_API void osla_transport_at_end(osla_transport *transport, osla_end_hook *hook, void *arg);

/* Records the kernel and step that this rank executes; kernels call it at each step. The error line
 * of an exceeded time limit names them (OSLA_PATIENCE, in seconds; see osla(1)). `kernel` must be a
 * string literal, or remain valid. Local. */
OSLA_API void osla_at_step(osla_transport *transport, const char *kernel, int64_t step);

/* Memory that this node still offers for segments. Local.
 *   shared_bytes    [out] free bytes of the shared-memory file system
 *   available_bytes [out] memory that the kernel reports as available, within the memory limits of
 *                         this process's control groups */
OSLA_API void osla_memory_available(uint64_t *shared_bytes, uint64_t *available_bytes);

/* Checks that bytes_per_rank bytes (which may differ by rank) fit on every host, and in every
 * control group with a memory limit. Allocates nothing. Collective. Errors, on all ranks together:
 * MEM, with the bytes that are needed and available. */
OSLA_API osla_err osla_memory_check(osla_transport *transport, uint64_t bytes_per_rank);

#ifdef __cplusplus
}
#endif
#endif
