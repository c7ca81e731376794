/* Columns and cells of a table of measurements, the same for CSV and HDF5. Private to the reader of
 * measurements. Local. doc/measurements.md has the columns. */
#ifndef TOMO_TABLE_H
#define TOMO_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "apps/tomography/earth/tomo_reference.h"
#include "apps/tomography/earth/tomo_sphere.h"
#include "apps/tomography/readers/tomo_text.h"

typedef enum table_key {
  KEY_EVENT,
  KEY_STATION,
  KEY_NETWORK,
  KEY_STATION2,
  KEY_NETWORK2,
  KEY_PERIOD,
  KEY_BRANCH,
  KEY_WAVE,
  KEY_OBSERVABLE,
  KEY_DELAY,
  KEY_ANOMALY,
  KEY_SIGMA,
  KEY_ARC,
  KEY_CORRECTION,
  N_KEYS
} table_key;

typedef enum table_unit { UNIT_OF_DATUM, UNIT_SECONDS, UNIT_PERCENT } table_unit;

typedef struct table_header {
  const char *file;              /* as text_reader has it */
  bool there[N_KEYS];            /* has the table this column? */
  char name[N_KEYS][TEXT_SHOWN]; /* what it calls it */
  table_unit sigma;
} table_header;

/* Takes a column's name. `line` is that of the header, 0: HDF5. Errors: IO: unknown, a unit that is
 * not known, twice. */
osla_err table_add_column(table_header *header, int64_t line, const char *name, table_key *key);
/* When all are in: are those there that must be? Errors: IO. */
osla_err table_check_header(const table_header *header, int64_t line);

/* A cell is a text, or (text NULL) a number. */
typedef struct table_cell {
  const char *text;
  double number;
} table_cell;

typedef struct table_line {
  const table_header *header;
  bool elements;           /* of HDF5 */
  int64_t place;           /* line, or element */
  table_cell cell[N_KEYS]; /* of columns that are there */
} table_line;

typedef struct table_row {
  const char *event, *network, *station, *network2, *station2; /* "": not given */
  tomo_measure measure;
  tomo_arc_kind arc;
  double value, sigma; /* sigma 0: not given */
  bool percent, sigma_percent;
  double correction_s;
} table_row;

/* Texts of the row are those of the cells. Errors: IO. */
osla_err table_parse(const table_line *line, table_row *row);

/* "FILE:LINE: column NAME", "FILE: NAME[ELEMENT]". */
enum { TABLE_PLACE = 300 };
const char *table_place(const table_line *line, table_key key, char place[TABLE_PLACE]);

/* Calls `take` for each row of a file. */
typedef osla_err table_take(void *arg, const table_line *line);
osla_err table_read_csv(const char *file, table_take *take, void *arg);
/* By a process of its own (tomo_data_reader_start), once; a text may have TABLE_TEXT - 1 bytes. */
struct tomo_data_reader;
osla_err table_read_hdf5(struct tomo_data_reader *reader, table_take *take, void *arg);

/* What that process does. */
enum { TABLE_TEXT = 512 };
osla_err table_read_hdf5_here(const char *file, table_take *take, void *arg);

#endif
