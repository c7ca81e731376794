/* Private to tomo_draw. */
#ifndef TOMO_DRAW_PARTS_H
#define TOMO_DRAW_PARTS_H

#include <stdio.h>
#include <sys/types.h>

#include "apps/tomography/draw/tomo_draw.h"

/* Nameless files: gnuplot inherits them open and reads or writes them as /dev/fd/N. */
struct tomo_draw {
  tomo_world world;
  FILE *script, *pixels;         /* written by us */
  int script_fd, pixels_fd, log; /* the same files; what gnuplot says */
  int *picture;                  /* [n_pictures] their files */
  int n_pictures, room;
  int width, height;  /* of the picture that is being drawn */
  int64_t offset;     /* in pixels: bytes written */
  int n_blocks;       /* of data in the script */
  int64_t palette[3]; /* where their colours are in pixels; -1: not yet */
  bool has_coast, lacks_memory;
  pid_t child; /* 0: none runs */
  char version[32];
};

/* Margins of the next plot, so that its axes enclose the box. */
void draw_place(tomo_draw *draw, tomo_box box);
/* A text in quotes, without control characters. Each quote in it is a string of its own, because
 * gnuplot 5.4 takes '' as a quote only where no other quote is beside it. */
void draw_quoted(FILE *out, const char *text);

/* The last picture so far, if there is one, is complete. */
void draw_end_picture(tomo_draw *draw);
/* Ends a plot: labels and objects are of one. */
void draw_done(tomo_draw *draw);

/* tomo_draw_lines.c: the blocks $coast, $grid, $frame, $mask, $stations, $events at the head of the
 * script; a track as $trackN, with $dotsN every 30 degrees. */
void draw_world(tomo_draw *draw);
void draw_track(tomo_draw *draw, int block, const tomo_track *track);

/* tomo_draw_region.c: $grid and $frame of a region; degrees and scale bar. */
void draw_region_grid(tomo_draw *draw);
void draw_region_frame(const tomo_draw *draw);
void draw_region_words(const tomo_draw *draw);

/* tomo_draw_pixels.c: colours of values into the raster file; returns where they begin. */
typedef struct draw_image {
  int width, height;
  const float *value;
  const float *density; /* [width * height], or of each column; NULL */
  bool by_column;
  double least_density;
  bool widen; /* colours go on a little beyond the edge, which is drawn over */
} draw_image;
int64_t draw_pixels(tomo_draw *draw, const draw_image *image, const tomo_scale *scale);
int64_t draw_palette(tomo_draw *draw, tomo_palette palette);

#endif
