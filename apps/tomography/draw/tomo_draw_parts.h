/* Private parts of tomo_draw*.c: the drawing and basic gnuplot commands. */
#ifndef TOMO_DRAW_PARTS_H
#define TOMO_DRAW_PARTS_H

#include <stdio.h>
#include <sys/types.h>

#include "apps/tomography/draw/tomo_draw.h"

/* A drawing. Its files have no names: gnuplot inherits the descriptors and opens them as /dev/fd/N.
 */
struct tomo_draw {
  tomo_world world;
  FILE *script, /* open file without a name: input of gnuplot */
    *pixels,    /* open file without a name: data of the pictures */
    *log;       /* open file without a name: output of gnuplot */
  int *picture; /* [n_pictures] descriptors of the picture files */
  int n_pictures, room;
  int width, height;  /* size of the current picture in pixels */
  int64_t offset;     /* number of bytes written to `pixels` */
  int n_blocks;       /* number of data blocks in the script */
  int64_t palette[3]; /* offset of each palette in `pixels`; -1: not written yet */
  bool has_coast, lacks_memory;
  pid_t child; /* gnuplot's process id; 0: not running */
  char version[32];
};

/* Sets the margins of the next plot so that its axes enclose the box. */
void draw_set_margins(tomo_draw *draw, tomo_box box);
/* Writes a text in single quotes, without control characters. Each single quote in the text
 * becomes a separate string in double quotes, because gnuplot 5.4 reads '' as a quote only if no
 * other quote is next to it. */
void draw_quoted(FILE *out, const char *text);

/* Ends a plot of gnuplot, and removes the labels and objects of the plot. */
void draw_end_plot(tomo_draw *draw);

/* Ends the current picture, if there is one (tomo_draw_run.c). */
void draw_end_picture(tomo_draw *draw);

/* Write data blocks of maps (tomo_draw_lines.c). draw_world writes $coast, $grid, $frame, $mask,
 * $stations and $events. draw_track writes track N as $trackN, and as $dotsN a point every 30
 * degrees of the track. */
void draw_world(tomo_draw *draw);
void draw_track(tomo_draw *draw, int block, const tomo_track *track);

/* Draw parts of a regional map (tomo_draw_region.c): the graticule as data block $grid, the edge as
 * $frame, labels and scale bar. */
void draw_region_grid(tomo_draw *draw);
void draw_region_frame(const tomo_draw *draw);
void draw_region_labels(const tomo_draw *draw);

/* Colours as pixels (tomo_draw_pixels.c): draw_pixels writes the colours of an image to the file
 * `pixels`, and draw_palette writes the colours of a palette. Both return the offset of these
 * colours in the file. */
typedef struct draw_image {
  int width, height;
  const float *value;
  /* ray density, [width * height], or [width] if by_column; NULL: no pixel is grey */
  const float *density;
  bool by_column;
  double least_density;
  /* true: extend the colours a little beyond the map's edge; the mask covers the excess */
  bool widen;
} draw_image;
int64_t draw_pixels(tomo_draw *draw, const draw_image *image, const tomo_scale *scale);
int64_t draw_palette(tomo_draw *draw, tomo_palette palette);

#endif
