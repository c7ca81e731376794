/* The transport: who the ranks are, which of them share memory, and how every wait is done.
 *
 * A transport is made from an MPI communicator and is the root of all other objects of the library
 * (grids, segments, matrices). It runs on a duplicate of that communicator with errors returned,
 * so that the library's traffic never meets the caller's. The ranks of one shared-memory node form
 * a domain (Krishnan et al., section I): inside it data moves by load and store, between domains
 * by contiguous MPI-3 RMA.
 *
 * Threads: MPI must have been started with MPI_Init_thread. Calls of several threads are
 * serialised inside the library; they need MPI_THREAD_SERIALIZED, and MPI_THREAD_MULTIPLE if the
 * caller itself uses MPI at the same time, asks for the progress thread, lets several threads use
 * several transports at the same time, or lets one thread make or destroy objects (all collective
 * operations on matrices, and checkpoints, make some) while others use some. In all headers: calls
 * that are collective come from one thread of each rank at a time, in the same order on all ranks;
 * calls that are local may come from any thread, at most one at a time on one object where nothing
 * else is said.
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
  bool progress_thread;  /* a thread that naps and calls progress, so that gets and puts of other
                            nodes are served while this rank computes; default false */
  int threads_per_rank;  /* computing threads of each rank, to know whether cores are
                            oversubscribed; 0: 1 */
  const char *transport; /* how data moves: "mpi", "armci" (osla_armci.h); default: what the
                            environment variable OSLA_TRANSPORT says, else "mpi" */
  uint64_t reserved[8];  /* 0: osla_types.h */
} osla_transport_options;

/* Makes a transport on a communicator. Collective on comm.
 *   comm    [in]  any intracommunicator; duplicated, so the caller may free it
 *   options [in]  NULL = defaults; the same on all ranks
 *   out     [out] the transport; owned by the caller, freed by osla_transport_destroy after all
 *                 objects made from it
 * Errors, on all ranks together: ARG (options), STATE (MPI not started, or the thread level too low
 * for the progress thread), UNSUPPORTED (the program has no such transport), MPI, MEM. */
OSLA_API osla_err osla_transport_create(MPI_Comm comm, const osla_transport_options *options,
                                        osla_transport **out);

/* Collective. Accepts NULL and nulls the handle. Several transports may be destroyed, and their
 * segments before, in different orders on different ranks, except where osla_segment_destroy is a
 * barrier: MPI frees windows together.
 * A transport and what was made on it must be destroyed before MPI_Finalize, or by an attribute on
 * MPI_COMM_SELF during it. Otherwise, if a window of MPI is still open (memory of several nodes,
 * attached memory), one line names the calls that are missing, and with MPICH over UCX, which would
 * abort, the job ends there with an error. */
OSLA_API void osla_transport_destroy(osla_transport **transport);

/* Local queries. */
OSLA_API int osla_transport_rank(const osla_transport *transport);
OSLA_API int osla_transport_size(const osla_transport *transport);
OSLA_API int osla_transport_n_nodes(const osla_transport *transport); /* shared-memory domains */
OSLA_API int osla_transport_node(const osla_transport *transport); /* mine, 0 <= node < n_nodes */
OSLA_API int osla_transport_node_size(const osla_transport *transport);    /* ranks in mine */
OSLA_API int osla_transport_largest_node(const osla_transport *transport); /* ranks in it */
OSLA_API int osla_transport_node_rank_of(const osla_transport *transport, int rank); /* its number
                                          among those of my node; -1: on another one */
OSLA_API int osla_transport_node_of(const osla_transport *transport, int rank);
OSLA_API bool osla_transport_same_node(const osla_transport *transport, int rank);
OSLA_API bool osla_transport_oversubscribed(
  const osla_transport *transport); /* more threads than cores */
OSLA_API uint64_t
osla_transport_memory_share(const osla_transport *transport);           /* bytes: what was free on
                                  the hosts by their ranks, the least; same on all */
OSLA_API MPI_Comm osla_transport_comm(const osla_transport *transport); /* the transport keeps it */
OSLA_API const char *osla_transport_name(
  const osla_transport *transport); /* "mpi", "armci", "sim" */

/* The machine that the ranks of this program are simulated on, by its name; NULL: they are real.
 * Every figure of a simulation must say that it is one. Local. */
OSLA_API const char *osla_simulated_machine(void);

/* One step of progress: serves other nodes' transfers and runs the hooks. Local, thread-safe,
 * cheap. Every wait of the library calls it, of the transport that it waits on, and of no other: a
 * rank that waits on one transport while others need its progress on a second one (a put that was
 * posted, a full ring of an accumulator, a target without remote DMA) must finish or flush there
 * first, call this itself, or have a progress thread there. */
OSLA_API void osla_progress(osla_transport *transport);

/* Adds or removes a function that every osla_progress call runs (one at a time per rank, never
 * nested). At most 16. A hook must not add or remove hooks. Local. Errors: RANGE. */
typedef void osla_progress_hook(void *arg);
OSLA_API osla_err osla_progress_add(osla_transport *transport, osla_progress_hook *hook, void *arg);
OSLA_API void osla_progress_remove(osla_transport *transport, osla_progress_hook *hook, void *arg);

/* Collectives that sleep and make progress while they wait, where MPI's own would spin on a core
 * that a computing rank needs. Collective; buffers as in MPI_Allreduce with MPI_IN_PLACE,
 * MPI_Bcast and MPI_Alltoall. Barrier, allreduce and alltoall (count > 0) order all loads and
 * stores of every rank before the call ahead of those of any rank after it. Errors: MPI. */
OSLA_API osla_err osla_barrier(osla_transport *transport);
OSLA_API osla_err osla_allreduce(osla_transport *transport, void *buffer, int64_t count,
                                 MPI_Datatype type, MPI_Op op);
OSLA_API osla_err osla_bcast(osla_transport *transport, void *buffer, int64_t count,
                             MPI_Datatype type, int root);
OSLA_API osla_err osla_alltoall(osla_transport *transport, const void *send, void *recv, int count,
                                MPI_Datatype type);

/* Agreement on failure: returns OSLA_OK on all ranks if every rank passed OSLA_OK; otherwise the
 * code of the lowest failing rank, with that rank's text, on all ranks. Collective. */
OSLA_API osla_err osla_agree(osla_transport *transport, osla_err local);

/* The same for a call whose arguments must be the same on all ranks: ARG where they are not, with
 * the first that differs, its value on rank 0 and on the lowest rank that has another. That comes
 * before a failure.
 *   call      [in] its name
 *   arguments [in] [count] names and values; the same names on all ranks. A double is passed as its
 *                  bits, under a name that ends in " (bits)": the text has the name without that,
 *                  and the number */
typedef struct osla_argument {
  const char *name;
  int64_t value;
} osla_argument;
enum { OSLA_MOST_ARGUMENTS = 20 };
OSLA_API osla_err osla_agree_same(osla_transport *transport, osla_err local, const char *call,
                                  const osla_argument *arguments, int count);

/* Ends all ranks with one line that carries the text of the latest error: for a failure after the
 * first RMA operation of a kernel, where a lone return would leave the peers waiting for ever. */
OSLA_API void osla_transport_abort(osla_transport *transport, osla_err err)
  __attribute__((noreturn));

/* Sets what this rank does before it ends the job (osla_transport_abort, OSLA_PATIENCE,
 * MPI_Finalize over an open window): close a log, note where it was. It runs once, behind the line
 * that says why, on each rank that finds out by itself that the job cannot go on; the others are
 * ended by MPI, without it. It may run in any thread, under locks of this library, and must call
 * neither this library nor MPI; after OSLA_END_SECONDS an alarm ends the rank. NULL takes it away.
 * One for each transport; local.
 *   arg [in] handed to it; borrowed until the transport is destroyed or another one is set */
typedef void osla_end_hook(void *arg);
enum { OSLA_END_SECONDS = 10 };
OSLA_API void osla_transport_at_end(osla_transport *transport, osla_end_hook *hook, void *arg);

/* What this rank is at: kernels call it at each step. The line that ends a job whose waits have
 * outlasted OSLA_PATIENCE (seconds; see osla(1)) names it. `kernel` must stay, a literal. Local. */
OSLA_API void osla_at_step(osla_transport *transport, const char *kernel, int64_t step);

/* Memory that this node still offers for segments. Local.
 *   shared_bytes    [out] free bytes of the shared-memory file system
 *   available_bytes [out] memory that the kernel calls available, as far as the memory limits of
 *                         this process's control groups leave it */
OSLA_API void osla_memory_available(uint64_t *shared_bytes, uint64_t *available_bytes);

/* Would bytes_per_rank (this rank's share) fit on every host, and in every control group with a
 * memory limit there? Collective. Errors, on all ranks
 * together: MEM, with the bytes that are needed and available. Allocates nothing. */
OSLA_API osla_err osla_memory_check(osla_transport *transport, uint64_t bytes_per_rank);

#ifdef __cplusplus
}
#endif
#endif
