/* Pictures by gnuplot: maps, vertical sections and charts; one gnuplot process makes many
 * pictures.
 *
 * A drawing is a list of pictures. A picture has parts in boxes that the caller chooses, in pixels
 * of 1/96 inch from the upper left corner. One gnuplot process, found in PATH and started by
 * posix_spawnp, makes all pictures of a drawing; several drawings may run at the same time.
 * Script, rasters and pictures are files without names in $TMPDIR or /tmp, so that a killed
 * process leaves no file.
 *
 * Maps are equal-area (tomo_frame.h). Source of the coastlines: data/README.md.
 *
 *   tomo_draw_create(&world, &draw); tomo_draw_begin(draw, TOMO_DRAW_SVG, 560, 340, &picture);
 *   tomo_draw_map(draw, ...); tomo_draw_bar(draw, ...); ...; tomo_draw_start(draw);
 *   tomo_draw_wait(draw); tomo_draw_read_picture(draw, picture, &bytes, &size);
 * tomo_draw_destroy(&draw);
 *
 * Local. Errors of all calls: OSLA_ERR_IO, OSLA_ERR_MEM; of tomo_draw_start and tomo_draw_wait
 * also OSLA_ERR_UNSUPPORTED if gnuplot is not installed.
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

/* Frame, coastlines and sites that all maps of a drawing have in common. */
typedef struct tomo_world {
  tomo_frame frame;
  /* directory of coastlines.txt; without that file the maps have no coastlines */
  const char *data_directory;
  const tomo_site *stations, *events;
  int64_t n_stations, n_events;
} tomo_world;

typedef enum tomo_draw_format {
  TOMO_DRAW_PNG, /* 192 pixels per inch; the unit of coordinates in tomo_box is 1/96 inch */
  TOMO_DRAW_SVG,
  TOMO_DRAW_PDF
} tomo_draw_format;

/* Returns the picture format that the suffix of the file name means: SVG for .svg, PDF for .pdf,
 * else PNG. */
tomo_draw_format tomo_draw_format_of(const char *file);

typedef struct tomo_box {
  double x, y, width, height;
} tomo_box;

osla_err tomo_draw_create(const tomo_world *world, tomo_draw **draw);
/* Ends the current picture, if any, and begins a new one. Sets *picture to the number of the new
 * picture. */
osla_err tomo_draw_begin(tomo_draw *draw, tomo_draw_format format, int width, int height,
                         int *picture);

/* Writes a line of text. If side is -1, 0 or 1, the left end, the middle or the right end of the
 * text is at x. */
void tomo_draw_text(tomo_draw *draw, double x, double y, int size, int side, const char *text);

/* An arc on the sphere, drawn with the labels NAME and NAME' at its ends. */
typedef struct tomo_track {
  tomo_arc arc;
  char name[8];
} tomo_track;

/* A map: colours, coastlines, a graticule with labels, a scale bar if the map is regional, and
 * optionally stations (triangles) and events (stars) or tracks. The box has the aspect ratio of
 * the frame. The labels of a regional map take TOMO_DRAW_BELOW pixels below the box. */
enum { TOMO_DRAW_BELOW = 14 };
typedef struct tomo_draw_panel {
  const tomo_raster *raster; /* raster of a map, made with the frame of `world` */
  const float *value;        /* [pixels] values that the colours show */
  const float *density;      /* [pixels] ray density; NULL: no pixel is grey */
  double least_density;      /* pixels with a lower density are grey */
  tomo_scale scale;
  bool sites;
  const tomo_track *tracks;
  int n_tracks;
} tomo_draw_panel;
void tomo_draw_map(tomo_draw *draw, const tomo_draw_panel *panel, tomo_box box);

/* A vertical section: depth downward, distance along the arc to the right. */
typedef struct tomo_draw_section_panel {
  int width, height; /* size of the raster `value` in pixels; the first row is at the surface */
  const float *value;
  const float *density; /* [width] ray density; NULL: no column is grey */
  double least_density;
  double angle, /* length of the arc, radians */
    depth_km;   /* depth of the lower edge of the section */
  /* name of the section; the labels at its ends are this name without and with a prime */
  const char *name;
  tomo_scale scale;
} tomo_draw_section_panel;
void tomo_draw_section(tomo_draw *draw, const tomo_draw_section_panel *panel, tomo_box box);

/* A horizontal colour bar; ticks and label are below it. */
void tomo_draw_bar(tomo_draw *draw, const tomo_scale *scale, tomo_box box);

typedef struct tomo_curve {
  const char *name; /* name of the curve in the legend; NULL: the legend omits the curve */
  int n;
  const double *x, /* [n] horizontal coordinates of the points */
    *y,            /* [n] vertical coordinates of the points */
    *error;   /* [n] half the length of each point's error bar; NULL: there are no error bars */
  int colour; /* index of the curve's colour among eight colours (Okabe and Ito 2008) */
  bool faint; /* true: the curve is dashed and its symbols are open */
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

/* tomo_draw_start ends the last picture and starts gnuplot. tomo_draw_wait waits for gnuplot to
 * end. tomo_draw_read_picture returns the bytes of a picture, which the caller frees; after an
 * error there are no bytes to free. */
osla_err tomo_draw_start(tomo_draw *draw);
osla_err tomo_draw_wait(tomo_draw *draw);
osla_err tomo_draw_read_picture(tomo_draw *draw, int picture, void **bytes, size_t *size);
void tomo_draw_destroy(tomo_draw **draw);

/* Returns the version of the gnuplot that made the pictures, "5.4 patchlevel 4", or "" if it is
 * unknown. Call it after tomo_draw_wait. */
const char *tomo_draw_version(const tomo_draw *draw);

#endif
