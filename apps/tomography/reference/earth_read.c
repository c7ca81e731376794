/* Reads Earth models in Mineos' format (contract: earth_model.h). */
#include "apps/tomography/readers/tomo_text.h"
#include "apps/tomography/reference/earth_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Columns of a line in Mineos' format. */
enum { RADIUS, DENSITY, VPV, VSV, Q_KAPPA, Q_MU, VPH, VSH, ETA, COLUMNS };
enum { LINES_MAX = 10000 };

static const struct {
  const char *name;
  double low, high;
} column[COLUMNS] = {
  {"radius", 0.0, 1e8}, {"density", 1.0, 1e5}, {"vpv", 1.0, 1e5},
  {"vsv", 0.0, 1e5},    {"Qkappa", 0.0, 1e9},  {"Qmu", 0.0, 1e9},
  {"vph", 1.0, 1e5},    {"vsh", 0.0, 1e5},     {"eta", 0.1, 10.0},
};

/* Reads the next line, which must have at least `least` fields. */
static osla_err next_fields(text_reader *reader, int least, const char *what,
                            char *field[TEXT_FIELDS_MAX])
{
  int count = 0;
  bool more;
  OSLA_CALL(text_read_line(reader, &more));
  if (more) OSLA_CALL(text_split_blanks(reader, field, &count));
  TEXT_CHECK(reader, count >= least, "%s expected", what);
  return OSLA_OK;
}

/* Reads the three lines of the head. The first is a title; the second has anisotropy, reference
 * period (s) and form. The third has the number of lines and two boundaries, which are ignored
 * because the velocities determine them. */
static osla_err read_head(text_reader *reader, earth_model *model, int *lines, bool *anisotropic)
{
  char *field[TEXT_FIELDS_MAX];
  double value;
  bool more;
  OSLA_CALL(text_read_line(reader, &more));
  OSLA_CHECK(more, OSLA_ERR_IO, "%s: the file is empty", reader->file);
  const char *title = reader->text + strspn(reader->text, " \t");
  (void)snprintf(model->title, sizeof model->title, "%.150s", *title ? title : "a model");
  (void)snprintf(model->source, sizeof model->source, "%.190s", reader->file);
  OSLA_CALL(next_fields(reader, 3, "anisotropy, reference period and form (1: table) were", field));
  OSLA_CALL(text_parse_number(reader, "anisotropy (0 or 1)", field[0], 0.0, 1.0, &value));
  *anisotropic = value > 0.0;
  OSLA_CALL(
    text_parse_number(reader, "reference period", field[1], -1.0, 1e5, &model->reference_period));
  OSLA_CALL(text_parse_number(reader, "form", field[2], 1.0, 1.0, &value));
  /* a period <= 0 means no dispersion, as in Mineos */
  model->dispersive = model->reference_period > 0.0;
  OSLA_CALL(next_fields(reader, 1, "the number of lines was", field));
  OSLA_CALL(text_parse_number(reader, "number of lines", field[0], 2.0, LINES_MAX, &value));
  *lines = (int)value;
  TEXT_CHECK(reader, value == (double)*lines, "number of lines: '%s' is not whole", field[0]);
  return OSLA_OK;
}

/* Reads a line of the table. In an isotropic table vph, vsh and eta are ignored, as in Mineos. */
static osla_err read_line(text_reader *reader, bool anisotropic, double line[COLUMNS])
{
  char *field[TEXT_FIELDS_MAX];
  int count;
  bool more;
  OSLA_CALL(text_read_line(reader, &more));
  TEXT_CHECK(reader, more, "the table ends too early");
  OSLA_CALL(text_split_blanks(reader, field, &count));
  TEXT_CHECK(reader, count == COLUMNS, "%d columns, but there are %d", count, COLUMNS);
  for (int i = 0; i < (anisotropic ? COLUMNS : VPH); i++)
    OSLA_CALL(
      text_parse_number(reader, column[i].name, field[i], column[i].low, column[i].high, &line[i]));
  if (!anisotropic) {
    line[VPH] = line[VPV];
    line[VSH] = line[VSV];
    line[ETA] = 1.0;
  }
  TEXT_CHECK(reader, (line[VSV] > 0.0) == (line[VSH] > 0.0),
             "vsv is %g and vsh %g: neither solid nor fluid", line[VSV], line[VSH]);
  return OSLA_OK;
}

/* Sets the polynomial in r / radius to the straight line through two values. */
static void set_linear(double polynomial[EARTH_TERMS], double radius, const double *below,
                       const double *above, int which, double unit)
{
  const double slope = (above[which] - below[which]) / (above[RADIUS] - below[RADIUS]);
  polynomial[0] = unit * (below[which] - slope * below[RADIUS]);
  polynomial[1] = unit * slope * radius;
}

static double mean_loss(double q_below, double q_above)
{
  return 0.5 * ((q_below > 0.0 ? 1.0 / q_below : 0.0) + (q_above > 0.0 ? 1.0 / q_above : 0.0));
}

static void set_shell(earth_shell *s, double radius, const double *below, const double *above)
{
  *s = (earth_shell){.bottom = 1e-3 * below[RADIUS], .top = 1e-3 * above[RADIUS]};
  set_linear(s->rho, radius, below, above, DENSITY, 1e-3);
  set_linear(s->vpv, radius, below, above, VPV, 1e-3);
  set_linear(s->vph, radius, below, above, VPH, 1e-3);
  set_linear(s->eta, radius, below, above, ETA, 1.0);
  if (above[VSV] > 0.0) {
    set_linear(s->vsv, radius, below, above, VSV, 1e-3);
    set_linear(s->vsh, radius, below, above, VSH, 1e-3);
  }
  s->q_mu = mean_loss(below[Q_MU], above[Q_MU]);
  s->q_kappa = mean_loss(below[Q_KAPPA], above[Q_KAPPA]);
}

static osla_err read_shells(text_reader *reader, int lines, bool anisotropic,
                            double (*line)[COLUMNS], earth_model *model)
{
  model->shell = calloc((size_t)lines, sizeof *model->shell);
  OSLA_CHECK(model->shell, OSLA_ERR_MEM, "no memory for %d shells", lines);
  for (int i = 0; i < lines; i++) {
    OSLA_CALL(read_line(reader, anisotropic, line[i]));
    const double above = line[i][RADIUS], below = i > 0 ? line[i - 1][RADIUS] : 0.0;
    TEXT_CHECK(reader, i == 0 ? above == 0.0 : above >= below,
               "radius %g m, but radii ascend from 0", above);
    TEXT_CHECK(reader, i == 0 || above == below || (line[i][VSV] > 0.0) == (line[i - 1][VSV] > 0.0),
               "vsv changes between 0 and %g, but the radius is given only once",
               fmax(line[i][VSV], line[i - 1][VSV]));
  }
  const double radius = line[lines - 1][RADIUS];
  TEXT_CHECK(reader, radius >= 1e5, "the surface is at %g m", radius);
  bool more;
  OSLA_CALL(text_read_content(reader, &more));
  TEXT_CHECK(reader, !more, "more than the %d lines given in the head", lines);
  for (int i = 1; i < lines; i++)
    if (line[i][RADIUS] > line[i - 1][RADIUS])
      set_shell(&model->shell[model->n_shells++], radius, line[i - 1], line[i]);
  return earth_set_masses(model);
}

static osla_err read_model(text_reader *reader, earth_model *model)
{
  bool anisotropic = false;
  int lines = 0;
  OSLA_CALL(read_head(reader, model, &lines, &anisotropic));
  double(*line)[COLUMNS] = malloc((size_t)lines * sizeof *line);
  OSLA_CHECK(line, OSLA_ERR_MEM, "no memory for %d lines", lines);
  osla_err err = read_shells(reader, lines, anisotropic, line, model);
  free(line);
  return err;
}

osla_err earth_read(const char *file, earth_model **out)
{
  text_reader reader;
  *out = NULL;
  earth_model *model = calloc(1, sizeof *model);
  OSLA_CHECK(model, OSLA_ERR_MEM, "no memory for a model");
  osla_err err = text_open(&reader, file);
  if (err == OSLA_OK) err = read_model(&reader, model);
  text_close(&reader);
  if (err != OSLA_OK) earth_destroy(&model);
  *out = model;
  return err;
}
