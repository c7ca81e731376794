/* Regions and posts of the MPI backend (layer 0, internal). */
#ifndef OSLA_REGION_MPI_H
#define OSLA_REGION_MPI_H

#include "src/transport/transport_ops.h"

extern const osla_transport_ops osli_transport_mpi;

struct osla_region {
  osla_transport *t;
  MPI_Win shared_win; /* owns the node's memory if memory_by_mpi; else MPI_WIN_NULL */
  MPI_Win win;        /* reaches all ranks; MPI_WIN_NULL if the job has one node */
  size_t bytes;       /* size of this rank's memory */
  size_t largest;     /* largest size of all ranks */
  osla_region *next;  /* next in the list of cached regions */
  bool *unflushed;    /* [size] this rank has put to that rank since its last flush; guarded by the
                         mutex */
  struct eager_last *last; /* [size] latest message to each rank; NULL if messages are not used */
  osla_post_queue *posts;  /* [size] queue of posts to each rank; NULL before the first post */
  size_t *mapped; /* [node_size] bytes that are mapped here for each rank of the node; 0 if none */
  int number;    /* id of the region in messages, equal on all ranks; -1 if messages are not used */
  bool attached; /* the memory belongs to the caller */
  bool dynamic;  /* this rank's memory is attached to a dynamic window */
  unsigned char **peer; /* [node_size] addresses of the node's memory, see osla_region_peer */
  const int *near; /* equal to the transport's node_rank_of; NULL if the node's ranks are the n_near
                      ranks from `first` on */
  int first, n_near;
  size_t *shift; /* [size] added to displacements; NULL if all are 0 */
  void *own;     /* state of another backend that allocated the memory; else NULL */
  /* frees `own`; called without the mutex; collective if memory was allocated */
  void (*free_own)(osla_region *region);
};

/* Address of a rank's memory; NULL if it is not mapped here. */
static inline unsigned char *osla_region_peer(const osla_region *region, int rank)
{
  int near = region->near ? region->near[rank] : rank - region->first;
  return (unsigned)near < (unsigned)region->n_near ? region->peer[near] : NULL;
}

static inline unsigned char *osla_region_mine(const osla_region *region)
{
  return region->peer[region->t->node_rank];
}

/* Displacement in the window of an offset in a rank's memory. */
static inline MPI_Aint osla_region_disp(const osla_region *region, int rank, size_t offset)
{
  return (MPI_Aint)(region->shift ? offset + region->shift[rank] : offset);
}

/* Creates the object without memory and windows, or frees it. Local. Errors: MEM; the object may
 * then be incomplete and must be discarded. */
osla_err osli_mpi_region_new(osla_transport *t, size_t bytes, osla_region **out);
void osli_mpi_region_discard(osla_region **region);

/* Opens the window on the memory of all ranks, and its passive epoch, or closes both. Closing a
 * window that is not open does nothing. Collective. */
osla_err osli_mpi_open_window(osla_region *region, void *base, size_t bytes);
void osli_mpi_close_window(osla_region *region);

/* Returns a cached region, or a new one whose memory comes from `allocate`. Collective. Errors:
 * MEM, MPI. */
osla_err osli_region_make(osla_transport *t, size_t bytes, osla_region_allocate *allocate,
                          osla_region **out);

/* The operations start and finish of osla_transport_ops. */
osla_err osli_mpi_start(osla_transport *t);
void osli_mpi_finish(osla_transport *t);

osla_err osli_mpi_region_alloc(osla_transport *t, size_t bytes, osla_region **out);
osla_err osli_mpi_region_attach(osla_transport *t, void *base, size_t bytes, osla_region **out);
void osli_mpi_region_free(osla_region **region); /* may cache the region */
void osli_mpi_region_release(osla_region **region);

/* ---- cached regions (region_cache.c) ---- */

/* Freed regions are cached, because factorisations and solves make a few small ones in each call. A
 * new region takes eight collective calls on a node, and a window across nodes, whose creation
 * spins; a cached one takes one call and a barrier. The cache holds the latest 16 regions, with at
 * most 128 MiB, and at most 1/32 of a rank's share of the host's memory, on the rank with the
 * largest part. */

/* Finds a cached region with at least `bytes` bytes on each rank, zeroes these bytes, and removes
 * it from the cache. *out = NULL if there is none.
 *   largest [out] largest `bytes` of all ranks
 * Collective. Errors: MPI. */
osla_err osli_region_cache_reuse(osla_transport *t, size_t bytes, size_t *largest,
                                 osla_region **out);

/* Adds a region that is no longer used to the cache. Returns false if it is too large. Collective;
 * a barrier if it returns true and the job has several nodes. */
bool osli_region_cache_add(osla_region *region);

/* Frees all cached regions; returns whether there were any. Collective. */
bool osli_region_cache_clear(osla_transport *t);

/* ---- posts (post_mpi.c) ---- */

/* The operations post, post_wait and post_test of osla_transport_ops, for a rank whose memory is
 * not mapped here. */
osla_err osli_mpi_post(osla_region *region, int rank, size_t offset, const void *source,
                       size_t bytes, size_t word_offset, uint64_t word, osla_post **out);
osla_err osli_mpi_post_wait(osla_transport *t, osla_post **post);
osla_err osli_mpi_post_test(osla_transport *t, osla_post **post, bool *done);

/* Advances all posts of a transport by one step. The caller holds the mutex. */
void osli_mpi_posts_step(osla_transport *t);

/* Waits until no post of this rank to `rank` of a region is under way; rank < 0 stands for all
 * ranks. Local. */
void osli_mpi_posts_finish(osla_region *region, int rank);

#endif
