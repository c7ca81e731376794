/* --scan-plot: L-curve and cross-validation side by side in one picture. */
#include "apps/tomography/invert/invert.h"
#include "apps/tomography/report/invert_scan_chart.h"
#include "osla_log.h"
#include "tools/common/library_files.h"

#include <stdlib.h>

enum { WIDTH = 1120, HEIGHT = 420 };

static osla_err draw_charts(const invert_scan *scan, const char *file, tomo_draw **draw)
{
  const tomo_box left = {94, 14, 452, 290}, right = {94 + WIDTH / 2, 14, 452, 290};
  const tomo_world world = {.frame = tomo_frame_world(0.0)};
  scan_chart chart;
  int picture;
  void *bytes = NULL;
  size_t size;
  OSLA_CALL(osli_new_file_check(file, 0));
  OSLA_CALL(tomo_draw_create(&world, draw));
  OSLA_CALL(tomo_draw_begin(*draw, tomo_draw_format_of(file), WIDTH, HEIGHT, &picture));
  invert_chart_corners(scan, &chart);
  tomo_draw_chart(*draw, &chart.chart, left);
  invert_chart_validation(scan, &chart);
  tomo_draw_chart(*draw, &chart.chart, right);
  OSLA_CALL(tomo_draw_start(*draw));
  OSLA_CALL(tomo_draw_wait(*draw));
  osla_err err = tomo_draw_read_picture(*draw, picture, &bytes, &size);
  if (err == OSLA_OK) err = osli_new_file_write(file, bytes, size);
  free(bytes);
  return err;
}

osla_err invert_plot_scan(const invert_job *job)
{
  tomo_draw *drawing = NULL;
  const char *file = job->options->scan_plot;
  osla_err err = draw_charts(&job->scan, file, &drawing);
  tomo_draw_destroy(&drawing);
  if (err != OSLA_ERR_UNSUPPORTED) return err;
  osla_log(-1, "%s: no picture of the scan: %s", file, osla_error_text());
  return OSLA_OK;
}
