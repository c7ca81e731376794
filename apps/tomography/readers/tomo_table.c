/* Columns and cells of a table of measurements (contract: tomo_table.h). */
#include "apps/tomography/readers/tomo_table.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "apps/tomography/earth/tomo_reference.h"

/* Accepted names of each column. A column with a unit also has the name of its quantity and the
 * list of its units, for the error message about a name with an unknown unit. */
static const struct column {
  const char *names, *quantity, *unit;
} columns[N_KEYS] = {[KEY_EVENT] = {"event|event_id|eventid|evid|id", NULL, NULL},
                     [KEY_STATION] = {"station|sta|code|receiver", NULL, NULL},
                     [KEY_NETWORK] = {"network|net", NULL, NULL},
                     [KEY_STATION2] = {"station2|sta2|source_station", NULL, NULL},
                     [KEY_NETWORK2] = {"network2|net2|source_network", NULL, NULL},
                     [KEY_PERIOD] = {"period|period_s", "period", "s"},
                     [KEY_BRANCH] = {"branch|overtone", NULL, NULL},
                     [KEY_WAVE] = {"wave", NULL, NULL},
                     [KEY_OBSERVABLE] = {"observable", NULL, NULL},
                     [KEY_DELAY] = {"delay|delay_s", "delay", "s"},
                     [KEY_ANOMALY] = {"anomaly_percent", "anomaly", "percent"},
                     [KEY_SIGMA] = {"sigma|sigma_s|sigma_percent", "sigma", "s or percent"},
                     [KEY_ARC] = {"arc|orbit", NULL, NULL},
                     [KEY_CORRECTION] = {"correction|correction_s", "correction", "s"}};

/* Writes the location of a header's name for messages: "FILE:LINE: column", or "FILE: data set" if
 * line is 0. */
static void header_location(const table_header *h, int64_t line, char location[TABLE_LOCATION])
{
  if (line > 0)
    (void)snprintf(location, TABLE_LOCATION, "%s:%" PRId64 ": column", h->file, line);
  else
    (void)snprintf(location, TABLE_LOCATION, "%s: data set", h->file);
}

/* Returns the error for a name that is not a known column. */
static osla_err refuse_name(const char *location, const char *shown, const char *name)
{
  for (int key = 0; key < N_KEYS; key++) {
    const char *quantity = columns[key].quantity;
    const size_t n = quantity ? strlen(quantity) : 0;
    if (n == 0 || strncasecmp(name, quantity, n) != 0 || isalnum((unsigned char)name[n])) continue;
    return osla_error_set(OSLA_ERR_IO, "%s %s: unit \"%s\" is not known, it is %s", location, shown,
                          name[n] ? shown + n + 1 : "", columns[key].unit);
  }
  return osla_error_set(OSLA_ERR_IO,
                        "%s %s is not known (event, station, network, station2, network2, "
                        "period_s, branch, wave, observable, delay_s, anomaly_percent, sigma, arc, "
                        "correction_s)",
                        location, shown);
}

osla_err table_add_column(table_header *h, int64_t line, const char *name, table_key *key)
{
  char location[TABLE_LOCATION], shown[TEXT_SHOWN];
  header_location(h, line, location);
  text_printable(name, shown);
  OSLA_CHECK(*name, OSLA_ERR_IO, "%s without a name", location);
  int k = 0;
  while (k < N_KEYS && !text_is_one_of(name, columns[k].names))
    k++;
  if (k == N_KEYS) return refuse_name(location, shown, name);
  OSLA_CHECK(!h->has_column[k], OSLA_ERR_IO, "%s %s: repeats %s", location, shown, h->name[k]);
  h->has_column[k] = true;
  memcpy(h->name[k], shown, sizeof shown);
  if (k == KEY_SIGMA)
    h->sigma = strcasecmp(name, "sigma_s") == 0         ? UNIT_SECONDS
               : strcasecmp(name, "sigma_percent") == 0 ? UNIT_PERCENT
                                                        : UNIT_OF_DATUM;
  *key = (table_key)k;
  return OSLA_OK;
}

osla_err table_check_header(const table_header *h, int64_t line)
{
  const bool *has = h->has_column;
  char location[TABLE_LOCATION];
  header_location(h, line, location);
  OSLA_CHECK(has[KEY_STATION], OSLA_ERR_IO, "%s station is missing", location);
  OSLA_CHECK(has[KEY_EVENT] || has[KEY_STATION2], OSLA_ERR_IO, "%s event, or station2, is missing",
             location);
  OSLA_CHECK(has[KEY_PERIOD], OSLA_ERR_IO, "%s period_s is missing", location);
  OSLA_CHECK(has[KEY_DELAY] || has[KEY_ANOMALY], OSLA_ERR_IO,
             "%s delay_s, or anomaly_percent, is missing", location);
  OSLA_CHECK(!has[KEY_DELAY] || !has[KEY_ANOMALY], OSLA_ERR_IO,
             "%s %s: given together with %s; give one of them", location, h->name[KEY_ANOMALY],
             h->name[KEY_DELAY]);
  return OSLA_OK;
}

const char *table_location(const table_line *line, table_key key, char location[TABLE_LOCATION])
{
  const table_header *h = line->header;
  if (line->elements)
    (void)snprintf(location, TABLE_LOCATION, "%s: %s[%" PRId64 "]", h->file, h->name[key],
                   line->place);
  else
    (void)snprintf(location, TABLE_LOCATION, "%s:%" PRId64 ": column %s", h->file, line->place,
                   h->name[key]);
  return location;
}

/* ---- cells ---- */

static bool is_empty(const table_line *line, table_key key)
{
  const table_cell *c = &line->cell[key];
  return !line->header->has_column[key] || (c->text && c->text[0] == '\0');
}

/* Reads the text of a cell; sets *text to "" if the table has no such column. */
static osla_err read_text(const table_line *line, table_key key, const char **text)
{
  char location[TABLE_LOCATION];
  *text = "";
  if (!line->header->has_column[key]) return OSLA_OK;
  OSLA_CHECK(line->cell[key].text, OSLA_ERR_IO, "%s: %g is a number, not a text",
             table_location(line, key, location), line->cell[key].number);
  *text = line->cell[key].text;
  return OSLA_OK;
}

/* Reads a finite number from a cell. If the cell is empty, sets *value to `otherwise`, or returns
 * an error if `otherwise` is NaN. */
static osla_err read_number(const table_line *line, table_key key, double otherwise, double *value)
{
  char location[TABLE_LOCATION], shown[TEXT_SHOWN], *end;
  const table_cell *c = &line->cell[key];
  *value = otherwise;
  if (is_empty(line, key)) {
    OSLA_CHECK(!isnan(otherwise), OSLA_ERR_IO, "%s: is empty", table_location(line, key, location));
    return OSLA_OK;
  }
  double x = c->text ? strtod(c->text, &end) : c->number;
  if (c->text) {
    text_printable(c->text, shown);
    OSLA_CHECK(*end == '\0' && !isspace((unsigned char)c->text[0]) && !strpbrk(c->text, "xX"),
               OSLA_ERR_IO, "%s: \"%s\" is not a number", table_location(line, key, location),
               shown);
  }
  OSLA_CHECK(isfinite(x), OSLA_ERR_IO, "%s: %g is not finite", table_location(line, key, location),
             x);
  *value = x;
  return OSLA_OK;
}

/* Reads a cell that holds one of two words or a word's first letter; *which is set to the index of
 * the word, or 0 for an empty cell. */
static osla_err read_word(const table_line *line, table_key key, const char *const words[2],
                          int *which)
{
  char location[TABLE_LOCATION], shown[TEXT_SHOWN];
  const char *text;
  OSLA_CALL(read_text(line, key, &text));
  *which = 0;
  if (!*text) return OSLA_OK;
  for (; *which < 2; ++*which)
    if (strcasecmp(text, words[*which]) == 0 ||
        (text[1] == '\0' && tolower((unsigned char)text[0]) == words[*which][0]))
      return OSLA_OK;
  text_printable(text, shown);
  return osla_error_set(OSLA_ERR_IO, "%s: \"%s\" is neither %s nor %s",
                        table_location(line, key, location), shown, words[0], words[1]);
}

/* Reads the arc of a path: "minor", "major", or the name of a phase. R1 and G1 are minor arcs, R2
 * and G2 major arcs; R means a Rayleigh wave, G a Love wave, and sets the wave of the row. */
static osla_err read_arc(const table_line *line, table_row *row)
{
  char location[TABLE_LOCATION], shown[TEXT_SHOWN];
  const char *text;
  OSLA_CALL(read_text(line, KEY_ARC, &text));
  row->arc = TOMO_ARC_MINOR;
  if (!*text || strcasecmp(text, "minor") == 0) return OSLA_OK;
  row->arc = TOMO_ARC_MAJOR;
  if (strcasecmp(text, "major") == 0) return OSLA_OK;
  text_printable(text, shown);
  const char letter = (char)toupper((unsigned char)text[0]);
  const tomo_wave wave = letter == 'G' ? TOMO_LOVE : TOMO_RAYLEIGH;
  OSLA_CHECK((letter == 'R' || letter == 'G') && (text[1] == '1' || text[1] == '2') &&
               text[2] == '\0',
             OSLA_ERR_IO, "%s: \"%s\" is none of minor, major, R1, R2, G1, G2",
             table_location(line, KEY_ARC, location), shown);
  OSLA_CHECK(is_empty(line, KEY_WAVE) || row->measure.wave == wave, OSLA_ERR_IO,
             "%s: \"%s\" is not of a %s wave", table_location(line, KEY_ARC, location), shown,
             tomo_wave_name(row->measure.wave));
  row->measure.wave = wave;
  row->arc = text[1] == '2' ? TOMO_ARC_MAJOR : TOMO_ARC_MINOR;
  return OSLA_OK;
}

static osla_err read_measure(const table_line *line, table_row *row)
{
  static const char *const waves[2] = {"rayleigh", "love"}, *const kinds[2] = {"phase", "group"};
  char location[TABLE_LOCATION];
  double branch;
  int which;
  tomo_measure *m = &row->measure;
  OSLA_CALL(read_number(line, KEY_PERIOD, NAN, &m->period_s));
  OSLA_CHECK(m->period_s > 0.0, OSLA_ERR_IO, "%s: %g is not positive",
             table_location(line, KEY_PERIOD, location), m->period_s);
  OSLA_CHECK(m->period_s <= TOMO_PERIOD_MAX, OSLA_ERR_IO, "%s: %g is more than %g",
             table_location(line, KEY_PERIOD, location), m->period_s, TOMO_PERIOD_MAX);
  OSLA_CALL(read_number(line, KEY_BRANCH, 0.0, &branch));
  OSLA_CHECK(branch >= 0.0 && branch <= TOMO_BRANCH_MAX && branch <= floor(branch), OSLA_ERR_IO,
             "%s: %g is not a whole number from 0 (the fundamental mode) to %d",
             table_location(line, KEY_BRANCH, location), branch, TOMO_BRANCH_MAX);
  m->branch = (int)branch;
  OSLA_CALL(read_word(line, KEY_WAVE, waves, &which));
  m->wave = which ? TOMO_LOVE : TOMO_RAYLEIGH;
  OSLA_CALL(read_word(line, KEY_OBSERVABLE, kinds, &which));
  m->observable = which ? TOMO_GROUP : TOMO_PHASE;
  return read_arc(line, row);
}

static osla_err read_datum(const table_line *line, table_row *row)
{
  char location[TABLE_LOCATION];
  const table_header *h = line->header;
  row->percent = h->has_column[KEY_ANOMALY];
  OSLA_CALL(read_number(line, row->percent ? KEY_ANOMALY : KEY_DELAY, NAN, &row->value));
  OSLA_CALL(read_number(line, KEY_CORRECTION, 0.0, &row->correction_s));
  row->sigma_percent = h->sigma == UNIT_OF_DATUM ? row->percent : h->sigma == UNIT_PERCENT;
  OSLA_CALL(read_number(line, KEY_SIGMA, 0.0, &row->sigma));
  OSLA_CHECK(is_empty(line, KEY_SIGMA) || row->sigma > 0.0, OSLA_ERR_IO, "%s: %g is not positive",
             table_location(line, KEY_SIGMA, location), row->sigma);
  return OSLA_OK;
}

osla_err table_parse(const table_line *line, table_row *row)
{
  char location[TABLE_LOCATION];
  *row = (table_row){0};
  OSLA_CALL(read_text(line, KEY_EVENT, &row->event));
  OSLA_CALL(read_text(line, KEY_NETWORK, &row->network));
  OSLA_CALL(read_text(line, KEY_STATION, &row->station));
  OSLA_CALL(read_text(line, KEY_NETWORK2, &row->network2));
  OSLA_CALL(read_text(line, KEY_STATION2, &row->station2));
  const table_key source = line->header->has_column[KEY_EVENT] ? KEY_EVENT : KEY_STATION2;
  OSLA_CHECK(*row->station, OSLA_ERR_IO, "%s: is empty",
             table_location(line, KEY_STATION, location));
  OSLA_CHECK(*row->event || *row->station2, OSLA_ERR_IO, "%s: is empty: the path has no source",
             table_location(line, source, location));
  OSLA_CHECK(!*row->event || !*row->station2, OSLA_ERR_IO,
             "%s: the row also has an event; give one source",
             table_location(line, KEY_STATION2, location));
  OSLA_CALL(read_measure(line, row));
  return read_datum(line, row);
}

/* ---- CSV ---- */

static osla_err read_header(text_reader *reader, table_header *header, table_key *key, int *count,
                            char *separator)
{
  char *field[TEXT_FIELDS_MAX];
  bool more;
  OSLA_CALL(text_read_content(reader, &more));
  OSLA_CHECK(more, OSLA_ERR_IO, "%s: no measurement in this file", reader->file);
  *separator = text_separator(reader->text);
  OSLA_CALL(text_split(reader, *separator, field, count));
  OSLA_CALL(text_check_header(reader, field, *count));
  for (int i = 0; i < *count; i++)
    OSLA_CALL(table_add_column(header, reader->line, field[i], &key[i]));
  return table_check_header(header, reader->line);
}

static osla_err read_rows(text_reader *reader, table_row_callback *callback, void *arg)
{
  table_header header = {.file = reader->file};
  table_line line = {.header = &header};
  table_key key[TEXT_FIELDS_MAX];
  char *field[TEXT_FIELDS_MAX], separator = ',';
  int count;
  bool more;
  OSLA_CALL(read_header(reader, &header, key, &count, &separator));
  for (;;) {
    OSLA_CALL(text_read_content(reader, &more));
    if (!more) return OSLA_OK;
    OSLA_CALL(text_split_row(reader, separator, field, count));
    line.place = reader->line;
    for (int i = 0; i < count; i++)
      line.cell[key[i]].text = field[i];
    OSLA_CALL(callback(arg, &line));
  }
}

osla_err table_read_csv(const char *file, table_row_callback *callback, void *arg)
{
  text_reader reader;
  osla_err err = text_open(&reader, file);
  if (err == OSLA_OK) err = read_rows(&reader, callback, arg);
  text_close(&reader);
  return err;
}
