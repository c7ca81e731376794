/* A drawing: its temporary files, its pictures, and basic gnuplot commands. See tomo_draw.h. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "apps/tomography/draw/tomo_draw_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/tomography/readers/tomo_io.h"

/* Opens a file without a name, so that a killed job leaves no file. Returns -1 if the system cannot
 * do that. */
static int open_nameless(const char *directory)
{
#ifdef O_TMPFILE
  return open(directory, O_TMPFILE | O_RDWR, 0600);
#else
  (void)directory;
  return -1;
#endif
}

static osla_err open_descriptor(int *descriptor)
{
  char path[1024];
  const char *parent = getenv("TMPDIR");
  if (!parent || !*parent) parent = "/tmp";
  const int n = snprintf(path, sizeof path, "%s/osla-draw-XXXXXX", parent);
  OSLA_CHECK(n < (int)sizeof path, OSLA_ERR_IO, "temporary file of the pictures in %.200s: no room",
             parent);
  *descriptor = open_nameless(parent);
  if (*descriptor >= 0) return OSLA_OK;
  *descriptor = mkstemp(path);
  OSLA_CHECK(*descriptor >= 0, OSLA_ERR_IO, "temporary file of the pictures in %.200s: %s", parent,
             strerror(errno));
  (void)unlink(path);
  return OSLA_OK;
}

static osla_err open_stream(FILE **file)
{
  int descriptor;
  OSLA_CALL(open_descriptor(&descriptor));
  *file = fdopen(descriptor, "w+b");
  if (!*file) close(descriptor);
  OSLA_CHECK(*file, OSLA_ERR_IO, "temporary file of the pictures: %s", strerror(errno));
  return OSLA_OK;
}

osla_err tomo_draw_create(const tomo_world *world, tomo_draw **draw)
{
  osla_err err = OSLA_OK;
  tomo_draw *d = *draw = calloc(1, sizeof *d);
  OSLA_CHECK(d, OSLA_ERR_MEM, "no memory for drawing");
  d->world = *world;
  for (int i = 0; i < 3; i++)
    d->palette[i] = -1;
  OSLA_TRY(open_stream(&d->script));
  OSLA_TRY(open_stream(&d->pixels));
  OSLA_TRY(open_stream(&d->log));
  fprintf(d->script, "set encoding utf8\nprint 'gnuplot ', GPVAL_VERSION, ' patchlevel ', "
                     "GPVAL_PATCHLEVEL\n");
  draw_world(d);
cleanup:
  if (err != OSLA_OK) tomo_draw_destroy(draw);
  return err;
}

static osla_err add_picture(tomo_draw *draw)
{
  if (draw->n_pictures == draw->room) {
    const int room = 2 * draw->room + 8;
    int *more = realloc(draw->picture, (size_t)room * sizeof *more);
    OSLA_CHECK(more, OSLA_ERR_MEM, "no memory for table of pictures");
    draw->picture = more;
    draw->room = room;
  }
  OSLA_CALL(open_descriptor(&draw->picture[draw->n_pictures]));
  draw->n_pictures++;
  return OSLA_OK;
}

osla_err tomo_draw_begin(tomo_draw *draw, tomo_draw_format format, int width, int height,
                         int *picture)
{
  FILE *out = draw->script;
  draw_end_picture(draw);
  OSLA_CALL(add_picture(draw));
  *picture = draw->n_pictures - 1;
  draw->width = width;
  draw->height = height;
  switch (format) {
    case TOMO_DRAW_PNG:
      fprintf(out,
              "if (strstrt(GPVAL_TERMINALS, ' pngcairo ')) {\n"
              "  set terminal pngcairo size %d,%d noenhanced font 'sans-serif,10' fontscale 1.5 "
              "linewidth 2\n} else {\n  set terminal png size %d,%d noenhanced\n}\n",
              2 * width, 2 * height, 2 * width, 2 * height);
      break;
    case TOMO_DRAW_SVG:
      fprintf(out,
              "set terminal svg size %d,%d noenhanced font 'sans-serif,10' background '#ffffff'\n",
              width, height);
      break;
    case TOMO_DRAW_PDF:
      fprintf(out,
              "set terminal pdfcairo size %.4fin,%.4fin noenhanced font 'sans-serif,10' fontscale "
              "0.75 linewidth 1\n",
              width / 96.0, height / 96.0);
      break;
  }
  fprintf(out, "set output '/dev/fd/%d'\nset multiplot\nunset key\n", draw->picture[*picture]);
  return OSLA_OK;
}

void draw_set_margins(tomo_draw *draw, tomo_box box)
{
  fprintf(draw->script,
          "set lmargin at screen %.6f\nset rmargin at screen %.6f\n"
          "set tmargin at screen %.6f\nset bmargin at screen %.6f\n",
          box.x / draw->width, (box.x + box.width) / draw->width, 1.0 - box.y / draw->height,
          1.0 - (box.y + box.height) / draw->height);
}

void draw_quoted(FILE *out, const char *text)
{
  putc('\'', out);
  for (; *text; text++) {
    if (*text == '\'')
      fputs("'.\"'\".'", out);
    else
      putc((unsigned char)*text < ' ' ? ' ' : *text, out);
  }
  putc('\'', out);
}

void draw_end_plot(tomo_draw *draw)
{
  fprintf(draw->script, "reset\nunset key\n");
}

void tomo_draw_text(tomo_draw *draw, double x, double y, int size, int side, const char *text)
{
  static const char *const sides[] = {"left", "center", "right"};
  fprintf(draw->script, "set label ");
  draw_quoted(draw->script, text);
  fprintf(draw->script, " at screen %.5f, screen %.5f %s font ',%d' front\n", x / draw->width,
          1.0 - y / draw->height, sides[side + 1], size);
}

osla_err tomo_draw_read_picture(tomo_draw *draw, int picture, void **bytes, size_t *size)
{
  char path[32];
  (void)snprintf(path, sizeof path, "/dev/fd/%d", draw->picture[picture]);
  OSLA_CALL(tomo_file_read(path, bytes, size));
  if (*size > 0) return OSLA_OK;
  free(*bytes);
  *bytes = NULL;
  return osla_error_set(OSLA_ERR_IO, "gnuplot made an empty picture");
}

const char *tomo_draw_version(const tomo_draw *draw)
{
  return draw->version;
}

tomo_draw_format tomo_draw_format_of(const char *file)
{
  const char *dot = strrchr(file, '.');
  if (dot && strcmp(dot, ".svg") == 0) return TOMO_DRAW_SVG;
  return dot && strcmp(dot, ".pdf") == 0 ? TOMO_DRAW_PDF : TOMO_DRAW_PNG;
}
