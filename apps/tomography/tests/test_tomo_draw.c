/* Tests of the colours, scales, texts and rasters of the pictures, and of the maps' edge. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/tomography/draw/tomo_draw_parts.h"
#include "apps/tomography/draw/tomo_frame.h"
#include "apps/tomography/draw/tomo_views.h"
#include "tests/osla_test.h"

static double root_of(double t)
{
  const double d = 6.0 / 29.0;
  return t > d * d * d ? cbrt(t) : t / (3.0 * d * d) + 4.0 / 29.0;
}

/* Converts an sRGB colour to L*, a*, b* (white point D65). */
static void colours_lab(const tomo_colour colour, double lab[3])
{
  static const double white[3] = {0.95047, 1.0, 1.08883};
  double rgb[3];
  for (int i = 0; i < 3; i++) {
    const double s = colour[i] / 255.0;
    rgb[i] = s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4);
  }
  const double x = 0.4124564 * rgb[0] + 0.3575761 * rgb[1] + 0.1804375 * rgb[2];
  const double y = 0.2126729 * rgb[0] + 0.7151522 * rgb[1] + 0.0721750 * rgb[2];
  const double z = 0.0193339 * rgb[0] + 0.1191920 * rgb[1] + 0.9503041 * rgb[2];
  const double f = root_of(y / white[1]);
  lab[0] = 116.0 * f - 16.0;
  lab[1] = 500.0 * (root_of(x / white[0]) - f);
  lab[2] = 200.0 * (f - root_of(z / white[2]));
}

static double lightness(const tomo_colour colour)
{
  double lab[3];
  colours_lab(colour, lab);
  return lab[0];
}

/* Computes the least and greatest distance in CIELAB between neighbouring colours of the table,
 * from `first` to `last`. */
static void measure_steps(tomo_colour *table, int first, int last, double *least, double *most)
{
  *least = DBL_MAX;
  *most = 0.0;
  /* compares colours eight steps apart, because eight-bit values are too coarse for single steps */
  for (int i = first + 8; i <= last; i += 8) {
    double a[3], b[3], sum = 0.0;
    colours_lab(table[i - 8], a);
    colours_lab(table[i], b);
    for (int k = 0; k < 3; k++)
      sum += (a[k] - b[k]) * (a[k] - b[k]);
    *least = fmin(*least, sqrt(sum));
    *most = fmax(*most, sqrt(sum));
  }
}

static void test_sequential(void)
{
  static const tomo_palette palettes[] = {TOMO_PALETTE_AMOUNT, TOMO_PALETTE_DOUBT};
  for (int p = 0; p < 2; p++) {
    tomo_colour table[TOMO_COLOURS];
    double least, most;
    tomo_colours_make(palettes[p], table);
    for (int i = 16; i < TOMO_COLOURS; i++)
      OSLA_ASSERT_CLOSE(lightness(table[i - 16]) - lightness(table[i]), 16.0 * 75.0 / 255.0, 0.9);
    measure_steps(table, 0, TOMO_COLOURS - 1, &least, &most);
    OSLA_ASSERT_MSG(most < 2.2 * least, "steps %g to %g", least, most);
  }
}

static void test_anomaly(void)
{
  tomo_colour table[TOMO_COLOURS];
  double least, most, slow[3], fast[3], middle[3];
  tomo_colours_make(TOMO_PALETTE_ANOMALY, table);
  for (int i = 8; i < 128; i++) {
    CU_ASSERT(lightness(table[i]) > lightness(table[i - 8]));
    CU_ASSERT(lightness(table[255 - i]) > lightness(table[255 - i + 8]));
    OSLA_ASSERT_CLOSE(lightness(table[i]), lightness(table[255 - i]), 1.0);
  }
  measure_steps(table, 0, 127, &least, &most);
  OSLA_ASSERT_MSG(most < 2.5 * least, "steps %g to %g", least, most);
  colours_lab(table[32], slow);
  colours_lab(table[223], fast);
  colours_lab(table[127], middle);
  CU_ASSERT(slow[1] > 20.0 && slow[2] > 10.0); /* slow is red */
  CU_ASSERT(fast[2] < -20.0);                  /* fast is blue */
  /* the colours also differ for readers who cannot distinguish red and green */
  CU_ASSERT(slow[2] - fast[2] > 40.0);
  CU_ASSERT(middle[0] > 95.0 && hypot(middle[1], middle[2]) < 3.0);
}

static void test_scale(void)
{
  double tick[TOMO_TICKS_MAX];
  const tomo_scale linear = {.low = -3.0, .high = 3.0};
  CU_ASSERT(tomo_scale_ticks(&linear, tick) == 7 && tick[0] == -3.0 && tick[3] == 0.0);
  const tomo_scale decades = {.low = 3.0, .high = 300.0, .logarithmic = true};
  CU_ASSERT(tomo_scale_ticks(&decades, tick) == 6 && tick[0] == 5.0 && tick[5] == 200.0);
  OSLA_ASSERT_CLOSE(tomo_scale_position(&decades, 30.0), 0.5, 1e-12);
  CU_ASSERT(tomo_scale_position(&decades, -1.0) == 0.0 &&
            tomo_scale_position(&decades, 1e9) == 1.0);
  const tomo_scale wide = {.low = 1e-300, .high = 1e300, .logarithmic = true};
  CU_ASSERT(tomo_scale_ticks(&wide, tick) == TOMO_TICKS_MAX);
  CU_ASSERT(tomo_scale_round(3.0) == 3.0 && tomo_scale_round(3.01) == 4.0);
  OSLA_ASSERT_CLOSE(tomo_scale_round(0.081), 0.1, 1e-15);
  CU_ASSERT(tomo_scale_round(0.0) == 1.0 && tomo_scale_round(NAN) == 1.0);
  float value[5] = {5.0F, NAN, 1.0F, 3.0F, 2.0F};
  CU_ASSERT(tomo_scale_quantile(value, 5, 0.5) == 2.0 && tomo_scale_quantile(value, 5, 1.0) == 5.0);
  CU_ASSERT(strcmp(tomo_number_text(-2.5, 3).s, "\u22122.5") == 0);
  CU_ASSERT(strcmp(tomo_number_text(-1e-9, 3).s, "\u221210\u207b\u2079") == 0);
  CU_ASSERT(strcmp(tomo_number_text(123456.0, 3).s, "1.23\u00d710\u2075") == 0);
  const tomo_scale narrow = {.low = 1.0, .high = 1.6, .logarithmic = true};
  CU_ASSERT(tomo_scale_ticks(&narrow, tick) == 7 && fabs(tick[1] - 1.1) < 1e-12);
}

/* A field that equals the cosine of the longitude is drawn at the right place for any centre. */
static void test_centre(void)
{
  static const double centres[] = {0.0, 150.0, -75.0};
  tomo_mesh *mesh = NULL;
  OSLA_ASSERT_OK(tomo_mesh_create(16, &mesh));
  const int64_t knots = tomo_mesh_knots(mesh);
  double *field = malloc((size_t)knots * sizeof *field);
  float *value = malloc(80 * 40 * sizeof *value);
  for (int64_t l = 0; field && l < knots; l++)
    field[l] = tomo_mesh_knot(mesh, l)[0];
  for (int c = 0; c < 3 && field && value; c++) {
    tomo_raster *raster = NULL;
    const tomo_frame frame = tomo_frame_world(centres[c]);
    OSLA_ASSERT_OK(tomo_raster_of_map(mesh, &frame, 80, &raster));
    tomo_raster_fill(raster, field, value);
    CU_ASSERT(isnan(value[0]) && isnan(value[79]) && !isnan(value[20 * 80]));
    for (int pixel = 0; pixel < 80 * 40; pixel++) {
      double latitude, longitude, v[3];
      const tomo_frame world = tomo_frame_world(centres[c]);
      if (!tomo_frame_inverse(&world, -2.0 + (pixel % 80 + 0.5) / 20.0,
                              -1.0 + (pixel / 80 + 0.5) / 20.0, &latitude, &longitude))
        continue;
      tomo_unit_vector(latitude, longitude, v);
      OSLA_ASSERT_CLOSE((double)value[pixel], v[0], 0.02);
      OSLA_ASSERT_CLOSE(projection_relative(longitude, centres[c]),
                        remainder(longitude - centres[c], 360.0), 1e-9);
    }
    tomo_raster_destroy(&raster);
  }
  tomo_raster *none = NULL;
  const tomo_frame world = tomo_frame_world(0.0);
  OSLA_ASSERT_ERR(tomo_raster_of_map(mesh, &world, 1 << 20, &none), OSLA_ERR_ARG);
  CU_ASSERT(none == NULL);
  free(field);
  free(value);
  tomo_mesh_destroy(&mesh);
}

/* Draws a model with paths on one half of the Earth only: the other half is grey, and a few extreme
 * values do not determine the scale. */
static void test_views(void)
{
  tomo_mesh *mesh = NULL;
  tomo_radial *radial = NULL;
  tomo_views *views = NULL;
  tomo_scale scale;
  OSLA_ASSERT_OK(tomo_mesh_create(10, &mesh));
  OSLA_ASSERT_OK(tomo_radial_create(1, 100.0, 0.0, &radial));
  const int64_t knots = tomo_mesh_knots(mesh);
  double *density = calloc((size_t)knots, sizeof *density);
  double *m = calloc((size_t)knots, sizeof *m);
  for (int64_t l = 0; density && m && l < knots; l++) {
    const double *v = tomo_mesh_knot(mesh, l);
    density[l] = v[2] > 0.0 ? 1e4 : 0.0;
    m[l] = v[2] > 0.0 ? 1.9 * v[0] : 50.0;
  }
  if (density && m) {
    int64_t pole = 0;
    for (int64_t l = 0; l < knots; l++)
      if (tomo_mesh_knot(mesh, l)[2] > tomo_mesh_knot(mesh, pole)[2]) pole = l;
    m[pole] = 200.0;
    const tomo_frame world = tomo_frame_world(0.0);
    OSLA_ASSERT_OK(tomo_views_create(mesh, radial, density, &world, 200, &views));
    OSLA_ASSERT_CLOSE(tomo_views_grey(views), 0.5, 0.1);
    CU_ASSERT(views->least_density > 0.0);
    float *value = malloc((size_t)views->pixels * sizeof *value);
    tomo_views_fill(views, m, 50.0, value);
    /* excludes pixels at the edge of the half with paths, which mix in the value 50 of the other
     * half */
    float most = 0.0F;
    for (int64_t p = 0; p < views->pixels; p++)
      most = fmaxf(most, views->density[p]);
    for (int64_t p = 0; p < views->pixels; p++)
      if (views->density[p] < 0.999F * most && (double)views->density[p] >= views->least_density)
        value[p] = 0.0F;
    OSLA_ASSERT_OK(tomo_views_anomaly_scale(views, &value, 1, "x", &scale));
    OSLA_ASSERT_MSG(scale.high == 2.0, "%g", scale.high);
    CU_ASSERT(scale.low == -2.0 && scale.above && !scale.below);
    const double clipped = tomo_views_clipped(views, value, &scale);
    OSLA_ASSERT_MSG(clipped > 0.0 && clipped < 0.02, "%g", clipped);
    free(value);
  }
  tomo_views_destroy(&views);
  free(density);
  free(m);
  tomo_radial_destroy(&radial);
  tomo_mesh_destroy(&mesh);
}

/* gnuplot reads '' as one quote only if no third quote is next to it. */
static void test_quoted(void)
{
  char text[128] = "";
  FILE *out = fmemopen(text, sizeof text, "w");
  CU_ASSERT_PTR_NOT_NULL_FATAL(out);
  draw_quoted(out, "''a'b\n`c`");
  CU_ASSERT(fclose(out) == 0);
  OSLA_ASSERT_MSG(strcmp(text, "''.\"'\".''.\"'\".'a'.\"'\".'b `c`'") == 0, "%s", text);
}

static const osla_test_case cases[] = {{"sequential colours", test_sequential},
                                       {"colours of anomalies", test_anomaly},
                                       {"scale", test_scale},
                                       {"centre", test_centre},
                                       {"views", test_views},
                                       {"quoted texts", test_quoted},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_tomo_draw, cases);
