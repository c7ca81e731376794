#include "panels.h"

#include <stdlib.h>

/* A rank publishes step k + look_ahead while it works on step k, and its slowest consumer may still
 * hold step k - 1. Credits go out every CREDIT_EVERY steps, which adds as many sets. */
enum { CREDIT_EVERY = 2, PURPOSE_CREDIT = PANEL_KINDS, PURPOSES };

/* Posts of a step: at most one to each rank of the grid. */
typedef struct posts {
  osla_posted *posted;
  int count;
} posts;

struct osla_panels {
  osla_grid *grid;
  osla_panels_publisher *publishes;
  osla_segment *segment;
  size_t start[PANEL_KINDS]; /* of a kind inside a set of buffers */
  int64_t depth;             /* sets of buffers */
  posts *posts;              /* [depth] */
  osla_posted *posted;       /* [depth * ranks of the grid] where they are */
  size_t set;                /* bytes of a set; 0: no buffers, no credits */
};

bool osla_panels_row_or_column(const osla_grid *grid, int prow, int pcol)
{
  return prow == osla_grid_prow(grid) || pcol == osla_grid_pcol(grid);
}

bool osla_panels_other_node(const osla_grid *grid, int prow, int pcol)
{
  return !osla_transport_same_node(osla_grid_transport(grid), osla_grid_rank_at(grid, prow, pcol));
}

osla_err osla_panels_create(osla_grid *grid, const size_t bytes[PANEL_KINDS],
                            osla_panels_publisher *publishes, int look_ahead, osla_panels **out)
{
  enum { ALIGN = 64 };
  osla_transport *t = osla_grid_transport(grid);
  osla_panels *panels = calloc(1, sizeof *panels);
  *out = NULL;
  osla_err err = osla_agree(t, panels ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "panels object"));
  if (err == OSLA_OK) {
    panels->grid = grid;
    panels->publishes = publishes;
    panels->depth = 2 + look_ahead + CREDIT_EVERY - 1;
    for (int kind = 0; kind < PANEL_KINDS; kind++) {
      panels->start[kind] = panels->set;
      panels->set += (bytes[kind] + ALIGN - 1) / ALIGN * ALIGN;
    }
    size_t ranks = (size_t)osla_grid_nprow(grid) * (size_t)osla_grid_npcol(grid);
    panels->posts = calloc((size_t)panels->depth, sizeof *panels->posts);
    panels->posted = calloc((size_t)panels->depth * ranks, sizeof *panels->posted);
    bool complete = panels->posts && panels->posted;
    for (int64_t set = 0; complete && set < panels->depth; set++)
      panels->posts[set].posted = panels->posted + (size_t)set * ranks;
    err = osla_agree(t, complete ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "panels object"));
  }
  if (err == OSLA_OK)
    err = osla_segment_create(t, panels->set * (size_t)panels->depth, PURPOSES, &panels->segment);
  if (err != OSLA_OK) {
    if (panels) free(panels->posted);
    if (panels) free(panels->posts);
    free(panels);
    return err;
  }
  *out = panels;
  return OSLA_OK;
}

void osla_panels_destroy(osla_panels **handle)
{
  osla_panels *panels = handle ? *handle : NULL;
  if (!panels) return;
  for (int64_t set = 0; set < panels->depth; set++)
    (void)osla_panels_posted(panels, set);
  free(panels->posted);
  free(panels->posts);
  osla_segment_destroy(&panels->segment);
  free(panels);
  *handle = NULL;
}

int64_t osla_panels_depth(const osla_panels *panels)
{
  return panels->depth;
}

static size_t place(const osla_panels *panels, panel_kind kind, int64_t step)
{
  return (size_t)(step % panels->depth) * panels->set + panels->start[kind];
}

osla_err osla_panels_publish(osla_panels *panels, panel_kind kind, int64_t step, int target,
                             size_t offset, const void *source, size_t bytes)
{
  uint64_t value = (uint64_t)step + 1;
  if (bytes == 0) return osla_notify(panels->segment, target, (int)kind, value);
  if (step >= panels->depth)
    osla_notify_wait(panels->segment, target, PURPOSE_CREDIT, (uint64_t)(step + 1 - panels->depth));
  return osla_put_notify(panels->segment, target, place(panels, kind, step) + offset, source, bytes,
                         (int)kind, value);
}

osla_err osla_panels_post(osla_panels *panels, panel_kind kind, int64_t step, int target,
                          size_t offset, const void *source, size_t bytes)
{
  posts *p = &panels->posts[step % panels->depth];
  uint64_t value = (uint64_t)step + 1;
  if (bytes == 0) return osla_notify_post(panels->segment, target, (int)kind, value);
  if (step >= panels->depth)
    osla_notify_wait(panels->segment, target, PURPOSE_CREDIT, (uint64_t)(step + 1 - panels->depth));
  return osla_put_notify_post(panels->segment, target, place(panels, kind, step) + offset, source,
                              bytes, (int)kind, value, &p->posted[p->count++]);
}

osla_err osla_panels_posted(osla_panels *panels, int64_t step)
{
  posts *p = &panels->posts[step % panels->depth];
  while (p->count > 0)
    OSLA_CALL(osla_posted_wait(panels->segment, &p->posted[--p->count]));
  return OSLA_OK;
}

void osla_panels_wait(osla_panels *panels, panel_kind kind, int64_t step, int origin)
{
  osla_notify_wait(panels->segment, origin, (int)kind, (uint64_t)step + 1);
}

void *osla_panels_buffer(const osla_panels *panels, panel_kind kind, int64_t step)
{
  return (unsigned char *)osla_segment_local(panels->segment) + place(panels, kind, step);
}

osla_err osla_panels_finish(osla_panels *panels, int64_t step)
{
  osla_grid *grid = panels->grid;
  int prow = osla_grid_prow(grid), pcol = osla_grid_pcol(grid);
  if (panels->set == 0 || prow < 0 || (step + 1) % CREDIT_EVERY != 0) return OSLA_OK;
  uint64_t value = (uint64_t)step + 1;
  for (int i = 0; i < osla_grid_nprow(grid); i++)
    for (int j = 0; j < osla_grid_npcol(grid); j++) {
      if ((i == prow && j == pcol) || !panels->publishes(grid, i, j)) continue;
      OSLA_CALL(
        osla_notify_post(panels->segment, osla_grid_rank_at(grid, i, j), PURPOSE_CREDIT, value));
    }
  return OSLA_OK;
}
