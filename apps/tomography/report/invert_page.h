/* Private to the page of --report: pictures, HTML, parts. All calls are local, on rank 0. */
#ifndef INVERT_PAGE_H
#define INVERT_PAGE_H

#include <stdio.h>

#include "apps/tomography/draw/tomo_views.h"
#include "apps/tomography/invert/invert.h"
#include "apps/tomography/report/invert_section.h"

enum { PAGE_DEPTHS_MAX = 4, PAGE_POINTS_MAX = 4, PAGE_CHARTS_MAX = 4 };

/* A picture of one of the drawings; drawing -1: there is none. */
typedef struct page_picture {
  int drawing, number, width, height;
} page_picture;

/* A map or a section of the model, and how much of its area is beyond the colours. */
typedef struct page_map {
  page_picture picture;
  double depth_km;
  double clipped;
} page_map;

enum { PAGE_MODEL, PAGE_TRUE, PAGE_DEVIATION, PAGE_RESOLUTION, PAGE_KINDS };

typedef struct report_page {
  const invert_job *job;
  const invert_spread *spread;
  FILE *out;
  int depths;
  page_map map[PAGE_KINDS][PAGE_DEPTHS_MAX]; /* drawing -1 where there is no such kind */
  tomo_scale scale[PAGE_KINDS];
  page_picture density, tracks;
  int n_tracks;
  tomo_track track[INVERT_SECTIONS_MAX];
  page_picture section[2][INVERT_SECTIONS_MAX]; /* of the model, of the true one */
  double exaggeration[INVERT_SECTIONS_MAX];
  page_picture point[PAGE_POINTS_MAX]; /* rows of the resolution matrix */
  page_picture misfit[PAGE_CHARTS_MAX];
  const char *misfit_name[PAGE_CHARTS_MAX];
  page_picture curve, gcv;
  tomo_frame frame; /* of all maps */
  tomo_views *views;
  tomo_draw *draw[2]; /* they run side by side */
  char missing[300];  /* why there are no pictures; "": there are */
} report_page;

/* invert_page_draw.c: begins all pictures and starts gnuplot; waits for it. Without gnuplot both
 * succeed, and page->missing says so. */
osla_err page_draw(report_page *p);
osla_err page_wait(report_page *p);
/* invert_page_maps.c, invert_page_charts.c: their parts of it. */
osla_err page_draw_maps(report_page *p);
osla_err page_draw_sections(report_page *p);
osla_err page_draw_charts(report_page *p);
osla_err page_begin(report_page *p, int drawing, int width, int height, page_picture *picture);

/* invert_page_html.c. Text from elsewhere is escaped, and what is not UTF-8 replaced. */
void page_text(FILE *out, const char *text);
void page_count(FILE *out, int64_t count); /* 12 345 with narrow spaces */
/* <td class=n> with the number in so many digits; a dash where it is not finite. */
void page_cell(FILE *out, double value, int digits);
void page_head(FILE *out);
/* <figure>, if there is such a picture. `alt` and `caption` are plain text. */
osla_err page_figure(report_page *p, const page_picture *picture, const char *alt,
                     const char *caption);

/* invert_page_parts.c, invert_page_tables.c: the page's parts, in order. */
osla_err page_put_summary(report_page *p);
osla_err page_put_maps(report_page *p);
osla_err page_put_sections(report_page *p);
osla_err page_put_posterior(report_page *p);
osla_err page_put_misfit(report_page *p);
osla_err page_put_scan(report_page *p);
osla_err page_put_tables(report_page *p);

#endif
