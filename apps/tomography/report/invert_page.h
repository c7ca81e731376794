/* Private parts of the HTML report: pictures, HTML, sections of the page. All functions are local
 * calls of rank 0. */
#ifndef INVERT_PAGE_H
#define INVERT_PAGE_H

#include <stdio.h>

#include "apps/tomography/draw/tomo_views.h"
#include "apps/tomography/invert/invert.h"

enum { PAGE_DEPTHS_MAX = 4, PAGE_POINTS_MAX = 4, PAGE_CHARTS_MAX = 4 };

/* A picture in one of the two drawings of the page; width is 0 if there is no picture. */
typedef struct page_picture {
  int drawing, number, width, height;
} page_picture;

/* A map of the model, and the fraction of its area whose values are beyond the colour scale. */
typedef struct page_map {
  page_picture picture;
  double depth_km;
  double clipped;
} page_map;

enum { PAGE_MODEL, PAGE_TRUE, PAGE_DEVIATION, PAGE_RESOLUTION, PAGE_KINDS };

typedef struct report_page {
  const invert_job *job;
  const invert_phase_times *times;
  FILE *out;
  int depths;
  page_map map[PAGE_KINDS][PAGE_DEPTHS_MAX];
  tomo_scale scale[PAGE_KINDS];
  page_picture density, tracks;
  int n_tracks;
  tomo_track track[INVERT_SECTIONS_MAX];
  /* vertical sections of the recovered model, and of the true model */
  page_picture section[2][INVERT_SECTIONS_MAX];
  double exaggeration[INVERT_SECTIONS_MAX];
  page_picture point[PAGE_POINTS_MAX]; /* maps of the rows of the resolution matrix */
  page_picture misfit[PAGE_CHARTS_MAX];
  const char *misfit_name[PAGE_CHARTS_MAX];
  page_picture curve, gcv;
  tomo_frame frame; /* frame that all maps have in common */
  tomo_views *views;
  tomo_draw *draw[2]; /* two drawings; their gnuplot processes run at the same time */
  char missing[300];  /* reason why the page has no pictures; "" if it has pictures */
} report_page;

/* Draw the maps, the vertical sections and the charts (invert_page_maps.c, invert_page_charts.c).
 */
osla_err page_draw_maps(report_page *p);
osla_err page_draw_sections(report_page *p);
osla_err page_draw_charts(report_page *p);

/* Write HTML (invert_page_html.c). page_text escapes the text, and replaces bytes that are not
 * UTF-8. */
void page_text(FILE *out, const char *text);
/* Writes a number with narrow spaces between groups of three digits, such as 12 345. */
void page_count(FILE *out, int64_t count);
/* Writes the table cell <td class=n> with the value in `digits` digits, or with a dash if the value
 * is not finite. */
void page_cell(FILE *out, double value, int digits);
void page_head(FILE *out);
/* Begins a picture in drawing 0 or 1. */
osla_err page_begin_picture(report_page *p, int drawing, int width, int height,
                            page_picture *picture);
/* Writes the picture as <figure>, if the picture exists. `alt` and `caption` are plain text. */
osla_err page_figure(report_page *p, const page_picture *picture, const char *alt,
                     const char *caption);

/* Write the sections of the page, in this order (invert_page_parts.c, invert_page_tables.c). */
osla_err page_put_summary(report_page *p);
osla_err page_put_maps(report_page *p);
osla_err page_put_sections(report_page *p);
osla_err page_put_posterior(report_page *p);
osla_err page_put_misfit(report_page *p);
osla_err page_put_scan(report_page *p);
osla_err page_put_tables(report_page *p);

/* Makes the arcs of the vertical sections, named A, B, ... If `count` is 0, it chooses three arcs
 * where the paths are densest: 120 degrees long or, on a regional map, within the frame; the arcs
 * cross at angles of at least 40 degrees. density[knots] is the length of paths at each knot in km.
 * Returns the number of arcs. */
int invert_section_tracks(const invert_section *section, int count, const tomo_mesh *mesh,
                          const double *density, const tomo_frame *frame,
                          tomo_track track[INVERT_SECTIONS_MAX]);

/* Charts of a scan of priors, for the HTML report and for --scan-plot. */
/* maximum number of curves; a scan with more lines of priors is drawn without the excess */
enum { SCAN_CURVES = 8 };

typedef struct scan_chart {
  tomo_chart chart; /* the chart; its pointers lead to the arrays below */
  tomo_curve curve[SCAN_CURVES];
  char name[SCAN_CURVES][40];
  tomo_mark mark[SCAN_CURVES];
} scan_chart;

/* Make charts of a scan. invert_chart_corners draws the misfit over the norm of the model, with
 * rings at the corners. invert_chart_validation draws the cross-validation over the weight that is
 * scanned, with a ring at the minimum. The chart borrows the scan until it is drawn. Local. */
void invert_chart_corners(const invert_scan *scan, scan_chart *out);
void invert_chart_validation(const invert_scan *scan, scan_chart *out);

#endif
