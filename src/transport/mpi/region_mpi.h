/* Regions and posts of the MPI backend (layer 0, internal). */
#ifndef OSLA_REGION_MPI_H
#define OSLA_REGION_MPI_H

#include "src/transport/transport_ops.h"

extern const osla_transport_ops osli_transport_mpi;

struct osla_region {
  osla_transport *t;
  /* window of the node's memory, which it owns, if MPI allocated that memory (memory_by_mpi); else
   * MPI_WIN_NULL */
  MPI_Win shared_win;
  MPI_Win win;       /* window on the memory of all ranks; MPI_WIN_NULL if the job has one node */
  size_t bytes;      /* size of this rank's memory */
  size_t largest;    /* largest size of the memory of any rank in the region */
  osla_region *next; /* next region in the list of cached regions */
  /* [size] true if this rank has put data to that rank since its last flush; guarded by the
   * transport's mutex */
  bool *unflushed;
  /* [size] for each rank, the latest message to it with data or a word for this region; NULL if
   * messages are not used */
  struct eager_last *last;
  /* [size] queue of this rank's posts to each rank; NULL before the first post */
  osla_post_queue *posts;
  /* [node_size] number of bytes of each rank of the node that this process has mapped; 0 if none */
  size_t *mapped;
  /* id of the region in messages, equal on all ranks; -1 if puts do not travel as messages */
  int number;
  bool attached;        /* true if the memory belongs to the caller of the library */
  bool dynamic;         /* true if this rank's memory is attached to a dynamic window */
  unsigned char **peer; /* [node_size] addresses of the node's memory, see osla_region_peer */
  /* [size] index of each rank on this node, equal to the transport's node_rank_of; NULL if the
   * node's ranks are the n_near ranks from `first` on */
  const int *near;
  int first, n_near;
  /* [size] bytes to add to the displacement of each rank's memory in the window; NULL if all are 0
   */
  size_t *shift;
  void *own; /* state of another backend that allocated the memory; else NULL */
  /* Function of the other backend that frees its state, `own`. It is called without the mutex, and
   * on all ranks if the memory was allocated. */
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

/* osli_mpi_region_new creates a region object without memory and windows; osli_mpi_region_discard
 * frees it. Local. Errors: MEM; the object may then be incomplete and must be discarded. */
osla_err osli_mpi_region_new(osla_transport *t, size_t bytes, osla_region **out);
void osli_mpi_region_discard(osla_region **region);

/* osli_mpi_open_window opens the window on the memory of all ranks, and its passive epoch;
 * osli_mpi_close_window closes both, and does nothing if the window is not open. Collective. */
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
/* Frees the memory and the window of a region, or caches the region for reuse. */
void osli_mpi_region_free(osla_region **region);
void osli_mpi_region_release(osla_region **region);

/* Frees all cached regions; returns whether there were any. Collective. */
bool osli_region_cache_clear(osla_transport *t);

/* ---- posts, that is puts with notify in progress steps (post_mpi.c) ---- */

/* The operations post, post_wait and post_test of osla_transport_ops, for a rank whose memory is
 * not mapped here. */
osla_err osli_mpi_post(osla_region *region, int rank, size_t offset, const void *source,
                       size_t bytes, size_t word_offset, uint64_t word, osla_post **out);
osla_err osli_mpi_post_wait(osla_transport *t, osla_post **post);
osla_err osli_mpi_post_test(osla_transport *t, osla_post **post, bool *done);

/* Advances all posts of a transport by one step. The caller holds the mutex. */
void osli_mpi_posts_step(osla_transport *t);

/* Waits until this rank has no post to `rank` under way in the region; rank < 0 stands for all
 * ranks. Local. */
void osli_mpi_posts_finish(osla_region *region, int rank);

/* ---- message lines (lines_mpi.c) ---- */

/* The usual message of a put with notify is copied by the target to its final address, or announces
 * a second message. If a receiver knows the address of the next message in advance, it posts the
 * receive there, and one message arrives without a copy. Lines exist if puts travel as messages
 * (eager_mpi.h), for the first 512 lines of a rank and region, and for messages up to 1 GiB. So a
 * line may exist in one direction and not in the other. */

/* The operations of osla_transport_ops on message lines. */
osla_err osli_mpi_line_open(osla_region *region, const osla_line_end *end, osla_line **out);
osla_err osli_mpi_line_start(osla_line *line, void *message, size_t bytes);
void osli_mpi_line_watch(osla_line *line, bool watched);
void osli_mpi_line_close(osla_line **line);

/* Number of consecutive progress turns without news after which all arrived messages have been
 * seen. The caller holds the mutex. */
int osli_mpi_lines_idle_turns(const osla_transport *t);

/* Tests, in one MPI call, another request (which may be MPI_REQUEST_NULL) and the oldest request of
 * each active line; there must be an active line. Returns whether any completed; *other is
 * MPI_REQUEST_NULL if it completed. The caller holds the mutex. */
bool osli_mpi_lines_test(osla_transport *t, MPI_Request *other, MPI_Status *status);

/* osli_mpi_lines_init prepares the state of message lines; osli_mpi_lines_free frees it when all
 * lines are closed. */
void osli_mpi_lines_init(const osla_transport *t, struct osla_eager *e);
void osli_mpi_lines_free(struct osla_eager *e);

/* ---- windows of MPI (window_mpi.c) ---- */

/* All windows have displacements in bytes and one passive epoch during their lifetime, and return
 * errors. Info keys tell MPI how they are used, so that a network may serve words and fetches
 * without the target's processor. window_mpi.c lists the promised use and its sources;
 * test_window.c checks the calls of a job against it. With OSLA_WINDOW_INFO=off there are no keys.
 */

/* Creates a window on `bytes` bytes at `base` of every rank. If is_dynamic is true, creates a
 * dynamic window and attaches these bytes. *win is MPI_WIN_NULL, or must be freed by
 * osli_window_free, even after an error. Collective. Errors: UNSUPPORTED, with MPI's reason and a
 * setting that may help, if MPI provides no window, or only one with separate public and private
 * copies; MPI. */
osla_err osli_window_create(osla_transport *t, bool is_dynamic, void *base, size_t bytes,
                            MPI_Win *win);

/* Frees a window; accepts MPI_WIN_NULL. Collective. */
void osli_window_free(MPI_Win *win);

/* Returns the info keys of windows as a new object, which the caller frees. The object must be used
 * for one window only, because MPICH 4.0.2 destroys lists in it while it reads them. Local. Errors:
 * MPI. */
osla_err osli_window_info(const osla_transport *t, MPI_Info *out);

#endif
