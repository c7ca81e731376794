/* The frame of the maps: the region that the paths cross if it is a small part of the Earth, else
 * the world. Local, on rank 0. */
#include "apps/tomography/invert/invert.h"

#include <stdlib.h>

enum { PATHS = 20000, PLACES = 5 }; /* limits: number of paths, points on each path */

/* Unit vectors of points on the paths from end to end; with more than PATHS paths, of every
 * `step`-th path. */
static int64_t list_places(const invert_job *job, double (*place)[3])
{
  const int64_t step = job->n_paths / PATHS + 1;
  int64_t n = 0;
  for (int64_t i = 0; i < job->n_paths; i += step) {
    tomo_arc arc;
    if (!invert_arc(job, job->path_ids[i], &arc)) continue;
    for (int k = 0; k < PLACES; k++)
      tomo_arc_point(&arc, arc.angle * k / (PLACES - 1), place[n++]);
  }
  return n;
}

tomo_frame invert_choose_frame(const invert_job *job)
{
  const invert_options *o = job->options;
  const tomo_frame world = tomo_frame_world(o->centre);
  tomo_frame region;
  if (o->world || job->n_paths == 0) return world;
  double(*place)[3] = malloc((size_t)PATHS * PLACES * sizeof *place);
  const bool found =
    place && tomo_frame_region(list_places(job, place), (const double(*)[3])place, &region);
  free(place);
  return found ? region : world;
}
