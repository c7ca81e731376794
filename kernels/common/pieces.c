#include "kernels/common/pieces.h"
#include "src/transport/transport_ops.h"

#include <stdlib.h>

/* CREDIT_EVERY: number of steps after which a rank sends a credit (a permission to reuse buffers).
 * It needs CREDIT_EVERY - 1 more sets of buffers than a credit in each step. Two more sets are
 * needed because a rank posts step k + look_ahead while it works on step k, when its slowest
 * consumer may still use step k - 1. */
enum { CREDIT_EVERY = 2 };
enum { PURPOSE_PIECE, PURPOSE_CREDIT, PURPOSES };

/* Puts of one step, at most one to each process of the process row or column. */
typedef struct posts {
  osla_posted *posted;
  int count;
} posts;

struct osla_pieces {
  osla_grid *grid;
  osla_segment *segment;
  bool in_row;   /* true if pieces are sent along process rows; false: along process columns */
  int64_t depth; /* number of sets of buffers */
  size_t set;    /* bytes of a set of buffers */
  posts *posts;  /* [depth] for each set of buffers, the puts in flight that read the set */
  osla_posted *posted; /* [depth * processes of a row or column] memory for the puts of all sets */
};

static size_t set_bytes(size_t bytes)
{
  enum { ALIGN = 64 };
  return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

int64_t osli_pieces_depth_for(int look_ahead)
{
  return 2 + look_ahead + CREDIT_EVERY - 1;
}

uint64_t osli_pieces_memory(size_t bytes, int look_ahead, const osla_shape *s)
{
  uint64_t depth = (uint64_t)osli_pieces_depth_for(look_ahead);
  int origins = s->nprow + s->npcol + s->per_node;
  int line = s->nprow > s->npcol ? s->nprow : s->npcol;
  return osla_segment_footprint(set_bytes(bytes) * depth, PURPOSES, origins) +
         depth * (sizeof(posts) + (uint64_t)line * sizeof(osla_posted));
}

osla_err osli_pieces_create(osla_grid *grid, size_t bytes, int look_ahead, bool in_row,
                            osla_pieces **out)
{
  osla_transport *t = osla_grid_transport(grid);
  void *memory;
  *out = NULL;
  OSLA_CALL(osli_agree_calloc(t, sizeof(osla_pieces), "state of pieces", &memory));
  osla_pieces *p = *out = memory;
  size_t line = (size_t)(in_row ? osla_grid_npcol(grid) : osla_grid_nprow(grid));
  p->grid = grid;
  p->in_row = in_row;
  p->depth = osli_pieces_depth_for(look_ahead);
  p->set = set_bytes(bytes);
  p->posts = calloc((size_t)p->depth, sizeof *p->posts);
  p->posted = calloc((size_t)p->depth * line, sizeof *p->posted);
  bool complete = p->posts && p->posted;
  for (int64_t set = 0; complete && set < p->depth; set++)
    p->posts[set].posted = p->posted + (size_t)set * line;
  osla_err err =
    osla_agree(t, complete ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "state of pieces"));
  osla_notifiers mates = osla_grid_notifiers(grid);
  if (err == OSLA_OK)
    err = osla_segment_create_for(t, p->set * (size_t)p->depth, PURPOSES, &mates, &p->segment);
  if (err != OSLA_OK) osli_pieces_destroy(out);
  return err;
}

void osli_pieces_destroy(osla_pieces **handle)
{
  osla_pieces *p = handle ? *handle : NULL;
  if (!p) return;
  for (int64_t set = 0; p->segment && set < p->depth; set++)
    (void)osli_pieces_wait_posted(p, set);
  free(p->posted);
  free(p->posts);
  osla_segment_destroy(&p->segment);
  free(p);
  *handle = NULL;
}

int64_t osli_pieces_depth(const osla_pieces *p)
{
  return p->depth;
}

static size_t set_offset(const osla_pieces *p, int64_t step)
{
  return (size_t)(step % p->depth) * p->set;
}

osla_err osli_pieces_post(osla_pieces *p, int64_t step, int target, size_t offset,
                          const void *source, size_t bytes)
{
  posts *of = &p->posts[step % p->depth];
  if (step >= p->depth)
    osla_notify_wait(p->segment, target, PURPOSE_CREDIT, (uint64_t)(step + 1 - p->depth));
  return osla_put_notify_post(p->segment, target, set_offset(p, step) + offset, source, bytes,
                              PURPOSE_PIECE, (uint64_t)step + 1, &of->posted[of->count++]);
}

osla_err osli_pieces_wait_posted(osla_pieces *p, int64_t step)
{
  posts *of = &p->posts[step % p->depth];
  while (of->count > 0)
    OSLA_CALL(osla_posted_wait(p->segment, &of->posted[--of->count]));
  return OSLA_OK;
}

void osli_pieces_wait(osla_pieces *p, int64_t step, int origin)
{
  osla_notify_wait(p->segment, origin, PURPOSE_PIECE, (uint64_t)step + 1);
}

bool osli_pieces_has_arrived(const osla_pieces *p, int64_t step, int origin)
{
  return osla_notify_read(p->segment, origin, PURPOSE_PIECE) >= (uint64_t)step + 1;
}

void *osli_pieces_buffer(const osla_pieces *p, int64_t step)
{
  return (unsigned char *)osla_segment_local(p->segment) + set_offset(p, step);
}

osla_err osli_pieces_finish(osla_pieces *p, int64_t step)
{
  int prow = osla_grid_prow(p->grid), pcol = osla_grid_pcol(p->grid);
  int length = p->in_row ? osla_grid_npcol(p->grid) : osla_grid_nprow(p->grid);
  if (prow < 0 || (step + 1) % CREDIT_EVERY != 0) return OSLA_OK;
  for (int i = 0; i < length; i++) {
    int rank =
      p->in_row ? osla_grid_rank_at(p->grid, prow, i) : osla_grid_rank_at(p->grid, i, pcol);
    if (i != (p->in_row ? pcol : prow))
      OSLA_CALL(osla_notify_post(p->segment, rank, PURPOSE_CREDIT, (uint64_t)step + 1));
  }
  return OSLA_OK;
}
