/* Reads a prior from a file (formats: tomo_prior_file.h). */
#include "apps/tomography/readers/tomo_prior_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apps/tomography/earth/tomo_sphere.h"
#include "apps/tomography/readers/tomo_io.h"
#include "apps/tomography/readers/tomo_store.h"
#include "apps/tomography/readers/tomo_text.h"

enum { TOP, BOTTOM, SIGMA, SMOOTHING, KEYS };
static const char *const keys[KEYS] = {"depth_top_km|top_km|top",
                                       "depth_bottom_km|bottom_km|bottom", "sigma_percent|sigma",
                                       "smoothing"};

/* Range of accepted standard deviations in percent; their inverse squares are finite and
 * positive. */
#define SIGMA_LEAST 1e-6
#define SIGMA_MOST  1e6

typedef struct layer {
  double top, bottom, damping, smoothing;
  int64_t line; /* line of the file that describes the layer; 0 if no layer has been read */
} layer;

/* The layer of each radial function and the deepest layer, among the layers read so far. */
typedef struct layers {
  int count;
  double depth[TOMO_RADIAL_MAX];
  layer by_function[TOMO_RADIAL_MAX];
  layer deepest;
} layers;

static osla_err read_layer(text_reader *reader, char separator, const int *column, int count,
                           layers *all)
{
  char *field[TEXT_FIELDS_MAX];
  layer this = {.line = reader->line};
  double sigma;
  OSLA_CALL(text_split_row(reader, separator, field, count));
  OSLA_CALL(text_parse_number(reader, "depth_top_km", field[column[TOP]], 0.0, TOMO_EARTH_RADIUS_KM,
                              &this.top));
  OSLA_CALL(text_parse_number(reader, "depth_bottom_km", field[column[BOTTOM]], 0.0,
                              TOMO_EARTH_RADIUS_KM, &this.bottom));
  OSLA_CALL(text_parse_number(reader, "sigma_percent", field[column[SIGMA]], SIGMA_LEAST,
                              SIGMA_MOST, &sigma));
  if (column[SMOOTHING] >= 0)
    OSLA_CALL(
      text_parse_number(reader, "smoothing", field[column[SMOOTHING]], 0.0, 1e12, &this.smoothing));
  TEXT_CHECK(reader, this.bottom > this.top, "depth_bottom_km %g is not below depth_top_km %g",
             this.bottom, this.top);
  this.damping = 1.0 / (sigma * sigma);
  if (this.bottom > all->deepest.bottom) all->deepest = this;
  for (int r = 0; r < all->count; r++) {
    if (!(all->depth[r] >= this.top && all->depth[r] < this.bottom)) continue;
    TEXT_CHECK(reader, all->by_function[r].line == 0,
               "%g to %g km overlaps the layer of line %lld at %g km", this.top, this.bottom,
               (long long)all->by_function[r].line, all->depth[r]);
    all->by_function[r] = this;
  }
  return OSLA_OK;
}

/* Assigns a radial function at the lower end of the deepest layer to that layer, and checks that
 * every radial function has a layer. */
static osla_err complete_layers(const char *file, layers *all)
{
  for (int r = 0; r < all->count; r++) {
    if (all->by_function[r].line == 0 && all->depth[r] == all->deepest.bottom)
      all->by_function[r] = all->deepest;
    OSLA_CHECK(all->by_function[r].line > 0, OSLA_ERR_IO,
               "%s: no layer holds the radial function at %g km", file, all->depth[r]);
  }
  return OSLA_OK;
}

static osla_err read_layers(text_reader *reader, layers *all, bool *smoothing)
{
  int column[KEYS], count;
  bool more;
  OSLA_CALL(text_read_content(reader, &more));
  OSLA_CHECK(more, OSLA_ERR_IO, "%s: no layer in this file", reader->file);
  const char separator = text_separator(reader->text);
  OSLA_CALL(text_parse_header(reader, separator, keys, KEYS, SMOOTHING, SMOOTHING, column, &count));
  *smoothing = column[SMOOTHING] >= 0;
  for (;;) {
    OSLA_CALL(text_read_content(reader, &more));
    if (!more) return complete_layers(reader->file, all);
    OSLA_CALL(read_layer(reader, separator, column, count, all));
  }
}

static osla_err set_factors(const layers *all, bool smoothing, int64_t knots,
                            tomo_prior_factors *factors)
{
  const size_t count = (size_t)all->count;
  factors->damping = malloc((size_t)knots * count * sizeof(double));
  if (smoothing) factors->lateral = malloc(count * sizeof(double));
  OSLA_CHECK(factors->damping && (factors->lateral || !smoothing), OSLA_ERR_MEM,
             "the prior of %lld knots", (long long)knots);
  for (int64_t i = 0; i < knots * all->count; i++)
    factors->damping[i] = all->by_function[i % all->count].damping;
  for (int r = 0; smoothing && r < all->count; r++)
    factors->lateral[r] = all->by_function[r].smoothing;
  return OSLA_OK;
}

static osla_err read_text(const char *file, int64_t knots, const tomo_radial *radial,
                          tomo_prior_factors *factors)
{
  layers all = {.count = tomo_radial_count(radial)};
  text_reader reader;
  bool smoothing = false;
  for (int r = 0; r < all.count; r++)
    all.depth[r] = tomo_radial_greville(radial, r);
  osla_err err = text_open(&reader, file);
  if (err == OSLA_OK) err = read_layers(&reader, &all, &smoothing);
  text_close(&reader);
  return err == OSLA_OK ? set_factors(&all, smoothing, knots, factors) : err;
}

/* ---- a result file ---- */

/* Reads the n deviations of a result file: an HDF5 file by the process `reader`, a plain file
 * (reader = NULL) directly. */
static osla_err read_deviations(const char *file, tomo_prior_reader *reader, int64_t n,
                                double **deviation)
{
  int64_t count = n;
  if (!reader) {
    OSLA_CALL(tomo_store_read_array(file, "deviation", deviation, &count));
    OSLA_CHECK(count == n, OSLA_ERR_IO,
               "%s: deviation has %lld values, and this model has %lld unknowns", file,
               (long long)count, (long long)n);
    return OSLA_OK;
  }
  *deviation = malloc((size_t)n * sizeof **deviation);
  OSLA_CHECK(*deviation, OSLA_ERR_MEM, "the prior of %lld unknowns", (long long)n);
  return tomo_prior_reader_receive(reader, n, *deviation);
}

static osla_err read_result(const char *file, tomo_prior_reader *reader, int64_t n,
                            tomo_prior_factors *factors)
{
  OSLA_CALL(read_deviations(file, reader, n, &factors->damping));
  for (int64_t i = 0; i < n; i++) {
    double *value = &factors->damping[i];
    OSLA_CHECK(*value >= SIGMA_LEAST && *value <= SIGMA_MOST, OSLA_ERR_IO,
               "%s: deviation of unknown %lld is %g, outside %g to %g percent", file, (long long)i,
               *value, SIGMA_LEAST, SIGMA_MOST);
    *value = 1.0 / (*value * *value);
  }
  return OSLA_OK;
}

/* True if the file begins with the signature of a plain result file (tomo_store.h); false if the
 * signature is different or cannot be read. */
static bool is_plain_result(const char *file)
{
  static const char plain[] = "OSLA-RESULT ";
  char head[sizeof plain] = "";
  FILE *stream = fopen(file, "rb");
  const size_t count = stream ? fread(head, 1, sizeof head - 1, stream) : 0;
  if (stream) (void)fclose(stream);
  return count == sizeof plain - 1 && memcmp(head, plain, count) == 0;
}

osla_err tomo_prior_read(const char *file, tomo_prior_reader *reader, int64_t knots,
                         const tomo_radial *radial, tomo_prior_factors *factors)
{
  const int64_t n = knots * tomo_radial_count(radial);
  tomo_prior_reader *own = NULL;
  *factors = (tomo_prior_factors){0};
  OSLA_CALL(tomo_file_check(file));
  if (!reader) OSLA_CALL(tomo_prior_reader_start(file, &own));
  if (!reader) reader = own;
  osla_err err = reader || is_plain_result(file) ? read_result(file, reader, n, factors)
                                                 : read_text(file, knots, radial, factors);
  tomo_prior_reader_stop(&own);
  if (err != OSLA_OK) tomo_prior_factors_free(factors);
  return err;
}

void tomo_prior_factors_free(tomo_prior_factors *factors)
{
  free(factors->damping);
  free(factors->lateral);
  *factors = (tomo_prior_factors){0};
}
