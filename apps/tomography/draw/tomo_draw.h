/* Pictures by gnuplot: maps, vertical sections, charts, several of them in one run.
 *
 * A drawing is a list of pictures, each made of parts at places that the caller chooses, in pixels
 * of 1/96 inch from the upper left. All pictures of a drawing are made by one gnuplot, found in
 * PATH and run by posix_spawnp; drawings may run at the same time. Script, rasters and pictures are
 * nameless files in $TMPDIR or /tmp, which a killed process leaves not behind either.
 *
 * Maps keep areas (tomo_frame.h). Source of the coastlines: data/README.md.
 *
 *   tomo_draw_create(&world, &draw); tomo_draw_begin(draw, TOMO_DRAW_SVG, 560, 340, &picture);
 *   tomo_draw_map(draw, ...); tomo_draw_bar(draw, ...); ...; tomo_draw_start(draw);
 *   tomo_draw_wait(draw); tomo_draw_take(draw, picture, &bytes, &size); tomo_draw_destroy(&draw);
 *
 * Local. Errors of all calls: OSLA_ERR_IO, OSLA_ERR_MEM, and of start and wait
 * OSLA_ERR_UNSUPPORTED: gnuplot is not installed (one line says so).
 */
#ifndef TOMO_DRAW_H
#define TOMO_DRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apps/tomography/draw/tomo_raster.h"
#include "apps/tomography/draw/tomo_scale.h"
#include "apps/tomography/readers/tomo_io.h"

typedef struct tomo_draw tomo_draw;

/* What all maps of a drawing have in common. */
typedef struct tomo_world {
  tomo_frame frame;
  const char *data_directory; /* holds coastlines.txt; NULL or missing file: no coastlines */
  const tomo_site *stations, *events;
  int64_t n_stations, n_events;
} tomo_world;

typedef enum tomo_draw_format {
  TOMO_DRAW_PNG, /* two pixels for each: 192 per inch */
  TOMO_DRAW_SVG,
  TOMO_DRAW_PDF
} tomo_draw_format;

/* By the ending of a file's name: .svg, .pdf, else PNG. */
tomo_draw_format tomo_draw_format_of(const char *file);

typedef struct tomo_box {
  double x, y, width, height;
} tomo_box;

osla_err tomo_draw_create(const tomo_world *world, tomo_draw **draw);
/* Ends the picture before it, if any, and begins the next. *picture is its number. */
osla_err tomo_draw_begin(tomo_draw *draw, tomo_draw_format format, int width, int height,
                         int *picture);

/* One line of text, left of, about or right of x (-1, 0, 1: where x is of the text). */
void tomo_draw_text(tomo_draw *draw, double x, double y, int size, int side, const char *text);

/* A line on the sphere, with a name at each end: NAME and NAME'. */
typedef struct tomo_track {
  tomo_arc arc;
  char name[8];
} tomo_track;

/* Colours, coastlines, a graticule with its degrees, of a region also a scale bar, and on request
 * stations (triangles) and events (stars) or tracks. The box holds the frame and has its shape; a
 * region's degrees stand below it in TOMO_DRAW_BELOW pixels. */
enum { TOMO_DRAW_BELOW = 14 };
typedef struct tomo_draw_panel {
  const tomo_raster *raster; /* of a map with the world's frame */
  const float *value;        /* of its pixels */
  const float *density;      /* of the same; NULL: nothing is grey */
  double least_density;      /* below it the map is grey */
  tomo_scale scale;
  bool sites;
  const tomo_track *tracks;
  int n_tracks;
} tomo_draw_panel;
void tomo_draw_map(tomo_draw *draw, const tomo_draw_panel *panel, tomo_box box);

/* A vertical section: depth downward, distance along the arc to the right. */
typedef struct tomo_draw_section_panel {
  int width, height; /* pixels of value, rows from the surface */
  const float *value;
  const float *density; /* [width]; NULL: nothing is grey */
  double least_density;
  double angle, depth_km; /* radians; of the lower end */
  const char *name;       /* at the ends: NAME and NAME' */
  tomo_scale scale;
} tomo_draw_section_panel;
void tomo_draw_section(tomo_draw *draw, const tomo_draw_section_panel *panel, tomo_box box);

/* A horizontal colour bar, its ticks and label below it. */
void tomo_draw_bar(tomo_draw *draw, const tomo_scale *scale, tomo_box box);

typedef struct tomo_curve {
  const char *name; /* in the key; NULL: not there */
  int n;
  const double *x, *y, *error; /* error NULL: no bars */
  int colour;                  /* 0, 1, ...: of a set of eight (Okabe and Ito 2008) */
  bool faint;                  /* dashed, open points */
} tomo_curve;
typedef struct tomo_mark { /* a ring around a point */
  double x, y;
} tomo_mark;
typedef struct tomo_chart {
  const char *x_label, *y_label;
  bool log_x, log_y;
  const tomo_curve *curves;
  int n_curves;
  const tomo_mark *marks;
  int n_marks;
} tomo_chart;
void tomo_draw_chart(tomo_draw *draw, const tomo_chart *chart, tomo_box box);

/* Ends the last picture and starts gnuplot; waits for its end; the bytes of a picture, the
 * caller's to free; where it failed nothing is left. */
osla_err tomo_draw_start(tomo_draw *draw);
osla_err tomo_draw_wait(tomo_draw *draw);
osla_err tomo_draw_take(tomo_draw *draw, int picture, void **bytes, size_t *size);
void tomo_draw_destroy(tomo_draw **draw);

/* The version of the gnuplot that drew, "5.4 patchlevel 4"; "": not known. After wait. */
const char *tomo_draw_version(const tomo_draw *draw);

#endif
