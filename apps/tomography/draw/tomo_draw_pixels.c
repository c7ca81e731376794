/* Converts values to colours, which are stored as red, green, blue and opacity. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apps/tomography/draw/tomo_draw_parts.h"

typedef unsigned char rgba[4];

static void colour_pixel(const draw_image *image, const tomo_scale *scale, tomo_colour *table,
                         int row, int column, rgba out)
{
  const size_t at = (size_t)row * (size_t)image->width + (size_t)column;
  const float value = image->value[at];
  const unsigned char *colour = tomo_colours_grey;
  memset(out, 0, sizeof(rgba));
  if (isnan(value)) return;
  const float density =
    image->density ? image->density[image->by_column ? (size_t)column : at] : 0.0F;
  if (!image->density || (double)density >= image->least_density)
    colour = table[lround(tomo_scale_position(scale, (double)value) * (TOMO_COLOURS - 1))];
  memcpy(out, colour, sizeof(tomo_colour));
  out[3] = 255;
}

/* Copies the colours at both ends of a line of pixels to the empty pixels beyond the ends. `step`
 * is the distance of neighbouring pixels in memory. */
static void widen(rgba *pixel, int count, size_t step)
{
  enum { BEYOND = 4 };
  int first = 0, last = count - 1;
  while (first < count && !pixel[(size_t)first * step][3])
    first++;
  while (last > first && !pixel[(size_t)last * step][3])
    last--;
  if (first == count) return;
  for (int i = 1; i <= BEYOND; i++) {
    if (first - i >= 0)
      memcpy(pixel[(size_t)(first - i) * step], pixel[(size_t)first * step], sizeof(rgba));
    if (last + i < count)
      memcpy(pixel[(size_t)(last + i) * step], pixel[(size_t)last * step], sizeof(rgba));
  }
}

int64_t draw_pixels(tomo_draw *draw, const draw_image *image, const tomo_scale *scale)
{
  const size_t width = (size_t)image->width, height = (size_t)image->height;
  const int64_t begin = draw->offset;
  tomo_colour table[TOMO_COLOURS];
  tomo_colours_make(scale->palette, table);
  rgba *pixel = malloc(width * height * sizeof *pixel);
  if (!pixel) {
    draw->lacks_memory = true;
    return 0;
  }
  for (int row = 0; row < image->height; row++)
    for (int column = 0; column < image->width; column++)
      colour_pixel(image, scale, table, row, column, pixel[(size_t)row * width + (size_t)column]);
  for (int row = 0; image->widen && row < image->height; row++)
    widen(pixel + (size_t)row * width, image->width, 1);
  for (int column = 0; image->widen && column < image->width; column++)
    widen(pixel + column, image->height, width);
  fwrite(pixel, sizeof *pixel, width * height, draw->pixels);
  draw->offset += (int64_t)(width * height * sizeof *pixel);
  free(pixel);
  return begin;
}

/* The palette is written as two rows, because gnuplot draws no image of height 1. */
int64_t draw_palette(tomo_draw *draw, tomo_palette palette)
{
  tomo_colour table[TOMO_COLOURS];
  if (draw->palette[palette] >= 0) return draw->palette[palette];
  draw->palette[palette] = draw->offset;
  tomo_colours_make(palette, table);
  for (int row = 0; row < 2; row++)
    fwrite(table, sizeof *table, TOMO_COLOURS, draw->pixels);
  draw->offset += (int64_t)(2 * TOMO_COLOURS * sizeof *table);
  return draw->palette[palette];
}
