/* --report: makes the HTML page in memory and writes it atomically. */
#include "apps/tomography/report/invert_page.h"
#include "tools/common/report_directory.h"
#include <math.h>
#include <stdio.h>

#include <stdlib.h>
#include <string.h>

/* Chooses the depths of the maps, ascending: --map-depth, and rounded quarters of the model's depth
 * that are not close to --map-depth. */
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

/* Handles the error that gnuplot is missing: stores its text in page->missing, so that the page is
 * made without pictures. */
static osla_err ignore_missing_gnuplot(report_page *p, osla_err err)
{
  if (err != OSLA_ERR_UNSUPPORTED) return err;
  if (!p->missing[0]) (void)snprintf(p->missing, sizeof p->missing, "%s", osla_error_text());
  return OSLA_OK;
}

/* Begins all pictures of the page and starts gnuplot. Without gnuplot it succeeds, and
 * page->missing is the reason why there are no pictures. */
static osla_err draw_pictures(report_page *p)
{
  const invert_job *job = p->job;
  const tomo_world world = invert_world(job);
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

static osla_err wait_for_pictures(report_page *p)
{
  for (int i = 0; i < 2; i++)
    OSLA_CALL(ignore_missing_gnuplot(p, tomo_draw_wait(p->draw[i])));
  return OSLA_OK;
}

static osla_err write_parts(report_page *p)
{
  page_head(p->out);
  OSLA_CALL(page_put_summary(p));
  OSLA_CALL(page_put_maps(p));
  OSLA_CALL(page_put_sections(p));
  OSLA_CALL(page_put_posterior(p));
  OSLA_CALL(page_put_misfit(p));
  OSLA_CALL(page_put_scan(p));
  OSLA_CALL(page_put_tables(p));
  fputs("</main>\n</body>\n</html>\n", p->out);
  return OSLA_OK;
}

osla_err invert_write_page(const invert_job *job, const invert_phase_times *times)
{
  report_page p = {.job = job, .times = times};
  char *text = NULL;
  size_t size = 0;
  osla_err err = OSLA_OK;
  OSLA_TRY(draw_pictures(&p));
  OSLA_TRY(wait_for_pictures(&p));
  p.out = open_memstream(&text, &size);
  if (!p.out) OSLA_TRY(osla_error_set(OSLA_ERR_MEM, "no memory for page of the report"));
  OSLA_TRY(write_parts(&p));
  if (ferror(p.out) || fclose(p.out) != 0) {
    p.out = NULL;
    OSLA_TRY(osla_error_set(OSLA_ERR_MEM, "no memory for page of the report"));
  }
  p.out = NULL;
  OSLA_TRY(report_directory_write(job->options->report, text, size));
cleanup:
  if (p.out) fclose(p.out);
  free(text);
  for (int i = 0; i < 2; i++)
    tomo_draw_destroy(&p.draw[i]);
  tomo_views_destroy(&p.views);
  return err;
}
