/* A region of the MPI backend, and what others share of it (floor 0, internal). */
#ifndef OSLA_REGION_MPI_H
#define OSLA_REGION_MPI_H

#include "src/transport/transport_ops.h"

extern const osla_transport_ops osli_transport_mpi;

struct osla_region {
  osla_transport *t;
  MPI_Win shared_win;      /* owns the memory of the node if memory_by_mpi; else MPI_WIN_NULL */
  MPI_Win win;             /* reaches all ranks; MPI_WIN_NULL where the node is the whole job */
  size_t bytes;            /* mine */
  size_t largest;          /* the most of any rank */
  osla_region *next;       /* of those that are kept, see region_cache.h */
  bool *unflushed;         /* [size] puts of mine that no flush has followed; under the t's mutex */
  struct eager_last *last; /* [size] the latest of my messages; NULL: no messages */
  osla_post_queue *posts;  /* [size] under way to each rank; NULL: there was none yet */
  size_t *mapped;          /* [node_size] bytes that shared_memory.h mapped here */
  int number;              /* in messages, the same on all ranks; -1: see eager_mpi.h */
  bool attached;           /* the caller's memory */
  bool dynamic;            /* this rank's memory is attached to a dynamic window */
  unsigned char **peer;    /* [node_size] of my node's ranks, see osla_region_peer */
  const int *near;         /* the transport's node_rank_of; NULL: they are those from `first` on */
  int first, n_near;
  size_t *shift; /* [size] added to displacements; NULL: all 0, as where not attached */
  void *own;     /* of another backend, which made the memory; NULL: MPI or mmap did */
  void (*free_own)(osla_region *region); /* under no mutex; collective where there is memory */
};

/* Address of a rank's memory, NULL when it is not mapped here. */
static inline unsigned char *osla_region_peer(const osla_region *region, int rank)
{
  int near = region->near ? region->near[rank] : rank - region->first;
  return (unsigned)near < (unsigned)region->n_near ? region->peer[near] : NULL;
}

static inline unsigned char *osla_region_mine(const osla_region *region)
{
  return region->peer[region->t->node_rank];
}

/* What the window wants for an offset in a rank's memory. */
static inline MPI_Aint osla_region_disp(const osla_region *region, int rank, size_t offset)
{
  return (MPI_Aint)(region->shift ? offset + region->shift[rank] : offset);
}

/* The object, without memory and windows. Local. Errors: MEM (the object may be incomplete). */
osla_err osli_mpi_region_new(osla_transport *t, size_t bytes, osla_region **out);
void osli_mpi_region_discard(osla_region **region);

/* The window on all ranks' memory and its epoch; closing takes one that is not open. Collective. */
osla_err osli_mpi_open_window(osla_region *region, void *base, size_t bytes);
void osli_mpi_close_window(osla_region *region);

/* Makes a region: an old one, or a new one whose memory comes from `allocate`. Collective. Errors:
 * MEM, MPI. */
osla_err osli_region_make(osla_transport *t, size_t bytes, osla_region_allocate *allocate,
                          osla_region **out);

/* start and finish of osla_transport_ops. */
osla_err osli_mpi_start(osla_transport *t);
void osli_mpi_finish(osla_transport *t);

osla_err osli_mpi_region_alloc(osla_transport *t, size_t bytes, osla_region **out);
osla_err osli_mpi_region_attach(osla_transport *t, void *base, size_t bytes, osla_region **out);
void osli_mpi_region_free(osla_region **region); /* or keeps it */
void osli_mpi_region_release(osla_region **region);

/* ---- cached regions (region_cache.c) ---- */

/* Factorisations and solves make a few small regions each time they are called. To map memory on
 * the node takes eight collective calls, and a window across nodes spins; one that is kept takes
 * one call and a barrier. Kept are the latest 16 regions and, on the rank with most, at most
 * 128 MiB or 1/32 of its share of the host's memory.
 */

/* *out := a kept region with room for `bytes` on each rank, those zeroed; or NULL.
 *   largest [out] the largest `bytes` of all ranks
 * Collective. Errors: MPI. */
osla_err osli_region_cache_reuse(osla_transport *t, size_t bytes, size_t *largest,
                                 osla_region **out);

/* Keeps a region that nobody uses any more. False: it does not fit. Collective; a barrier if true
 * and there are several nodes. */
bool osli_region_cache_add(osla_region *region);

/* Frees what is kept; were there any? Collective. */
bool osli_region_cache_clear(osla_transport *t);

/* ---- posts (post_mpi.c) ---- */

/* As post, post_wait and post_test of osla_transport_ops, for a rank that is not mapped here. */
osla_err osli_mpi_post(osla_region *region, int rank, size_t offset, const void *source,
                       size_t bytes, size_t word_offset, uint64_t word, osla_post **out);
osla_err osli_mpi_post_wait(osla_transport *t, osla_post **post);
osla_err osli_mpi_post_test(osla_transport *t, osla_post **post, bool *done);

/* One step of all posts of a transport. Its mutex is held. */
void osli_mpi_posts_step(osla_transport *t);

/* Waits until this rank has no post under way to `rank` of a region; rank < 0: to any. Local. */
void osli_mpi_posts_finish(osla_region *region, int rank);

#endif
