/* The frame of the maps: the region that the paths cross if it is a small part of the Earth, else
 * the world. Local, on rank 0. */
#include "apps/tomography/invert/invert.h"

#include <stdlib.h>

enum { PATHS = 20000, POINTS_OF_PATH = 5 }; /* limit of the number of paths; points on each path */

/* Unit vectors of points on the paths from end to end; with more than PATHS paths, of every
 * `step`-th path. */
static int64_t list_points(const invert_job *job, double (*point)[3])
{
  const int64_t step = job->n_paths / PATHS + 1;
  int64_t n = 0;
  for (int64_t i = 0; i < job->n_paths; i += step) {
    tomo_arc arc;
    if (!invert_path_arc(job, job->path_ids[i], &arc)) continue;
    for (int k = 0; k < POINTS_OF_PATH; k++)
      tomo_arc_point(&arc, arc.angle * k / (POINTS_OF_PATH - 1), point[n++]);
  }
  return n;
}

tomo_frame invert_choose_frame(const invert_job *job)
{
  const invert_options *o = job->options;
  const tomo_frame world = tomo_frame_world(o->centre);
  tomo_frame region;
  if (o->world || job->n_paths == 0) return world;
  double(*point)[3] = malloc((size_t)PATHS * POINTS_OF_PATH * sizeof *point);
  const bool found =
    point && tomo_frame_region(list_points(job, point), (const double(*)[3])point, &region);
  free(point);
  return found ? region : world;
}
