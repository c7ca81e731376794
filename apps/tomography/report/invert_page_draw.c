/* The pictures of the HTML report, in two drawings whose gnuplot processes run at the same time:
 * first the maps of the model, then all other pictures. */
#include "apps/tomography/report/invert_page.h"

#include <math.h>
#include <stdio.h>

/* Chooses the depths of the maps: --map-depth and rounded quarters of the model's depth,
 * ascending, without depths that are close to --map-depth. */
static void choose_depths(report_page *p)
{
  const invert_options *o = p->job->options;
  const double unit = 5.0 * pow(10.0, floor(log10(o->depth_km / 40.0)));
  const double first = fmin(o->map_depth_km, o->depth_km);
  double depth[PAGE_DEPTHS_MAX];
  int n = 0;
  depth[n++] = first;
  for (int quarter = 1; quarter <= 3; quarter++) {
    const double d = unit * round(0.25 * quarter * o->depth_km / unit);
    if (d > 0.0 && d < o->depth_km && fabs(d - first) > 0.08 * o->depth_km) depth[n++] = d;
  }
  for (int i = 1; i < n; i++)
    for (int k = i; k > 0 && depth[k] < depth[k - 1]; k--) {
      const double swap = depth[k];
      depth[k] = depth[k - 1];
      depth[k - 1] = swap;
    }
  p->depths = n;
  for (int k = 0; k < PAGE_KINDS; k++)
    for (int i = 0; i < n; i++)
      p->map[k][i].depth_km = depth[i];
}

/* Turns the missing gnuplot into page->missing, so that the page is made without pictures. */
static osla_err ignore_missing_gnuplot(report_page *p, osla_err err)
{
  if (err != OSLA_ERR_UNSUPPORTED) return err;
  if (!p->missing[0]) (void)snprintf(p->missing, sizeof p->missing, "%s", osla_error_text());
  return OSLA_OK;
}

osla_err page_draw(report_page *p)
{
  const invert_job *job = p->job;
  const tomo_world world = {.frame = invert_choose_frame(job),
                            .data_directory = job->options->data_directory,
                            .stations = job->stations,
                            .events = job->events,
                            .n_stations = job->n_stations,
                            .n_events = job->n_events};
  enum { RASTER = 560 };
  choose_depths(p);
  p->frame = world.frame;
  p->n_tracks = invert_section_tracks(job->options->section, job->options->n_sections, job->mesh,
                                      job->density, &p->frame, p->track);
  OSLA_CALL(
    tomo_views_create(job->mesh, job->radial, job->density, &world.frame, RASTER, &p->views));
  for (int i = 0; i < 2; i++)
    OSLA_CALL(tomo_draw_create(&world, &p->draw[i]));
  OSLA_CALL(page_draw_maps(p));
  OSLA_CALL(ignore_missing_gnuplot(p, tomo_draw_start(p->draw[0])));
  if (p->missing[0]) return OSLA_OK;
  OSLA_CALL(page_draw_sections(p));
  OSLA_CALL(page_draw_charts(p));
  return ignore_missing_gnuplot(p, tomo_draw_start(p->draw[1]));
}

osla_err page_wait(report_page *p)
{
  for (int i = 0; i < 2; i++)
    OSLA_CALL(ignore_missing_gnuplot(p, tomo_draw_wait(p->draw[i])));
  return OSLA_OK;
}
