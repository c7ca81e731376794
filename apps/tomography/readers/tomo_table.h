/* Columns and cells of a table of measurements, for CSV and HDF5 (private to the reader of
 * measurements). Local. doc/measurements.md lists the columns. */
#ifndef TOMO_TABLE_H
#define TOMO_TABLE_H

#include "apps/tomography/readers/tomo_data.h"
#include "apps/tomography/readers/tomo_io.h"
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
  const char *file;              /* name of the file, for messages */
  bool has_column[N_KEYS];       /* has_column[key]: true if the table has the column */
  char name[N_KEYS][TEXT_SHOWN]; /* name[key]: the column's name in the file, for messages */
  table_unit sigma;
} table_header;

/* Adds a column by its name. `line` is the line of the header, or 0 for HDF5. Errors: IO for a name
 * or unit that is unknown, or a column that occurs twice. */
osla_err table_add_column(table_header *header, int64_t line, const char *name, table_key *key);
/* Checks that all required columns have been added. Errors: IO. */
osla_err table_check_header(const table_header *header, int64_t line);

/* A cell is a text or, with text = NULL, a number. */
typedef struct table_cell {
  const char *text;
  double number;
} table_cell;

typedef struct table_line {
  const table_header *header;
  bool elements; /* true if `place` is the index of an HDF5 element, false if it is a line number */
  int64_t place; /* line number (from 1) in a CSV file, or index (from 0) in an HDF5 data set */
  table_cell cell[N_KEYS]; /* cells of the columns that the table has */
} table_line;

typedef struct table_row {
  /* texts of the row; "" if the column is missing or the cell is empty */
  const char *event, *network, *station, *network2, *station2;
  tomo_measure measure;
  tomo_arc_kind arc;
  /* the datum and its standard deviation; sigma is 0 if the table gives none */
  double value, sigma;
  bool percent, sigma_percent;
  double correction_s;
} table_row;

/* Parses a row. The texts of *row point into the cells of *line. Errors: IO. */
osla_err table_parse(const table_line *line, table_row *row);

/* Writes the location of a cell for messages, "FILE:LINE: column NAME" or "FILE: NAME[ELEMENT]". */
enum { TABLE_LOCATION = 300 };
const char *table_location(const table_line *line, table_key key, char location[TABLE_LOCATION]);

/* Calls `callback` for each row of a file. */
typedef osla_err table_row_callback(void *arg, const table_line *line);
osla_err table_read_csv(const char *file, table_row_callback *callback, void *arg);
/* Calls `callback` for each row that the reading process sends (tomo_data_reader_start); can be
 * called once. Texts have at most TABLE_TEXT - 1 bytes. */
struct tomo_data_reader;
osla_err table_read_hdf5(struct tomo_data_reader *reader, table_row_callback *callback, void *arg);

/* Calls `callback` for each row of an HDF5 file. A damaged file may crash HDF5, so the separate
 * process that reads the file makes this call. */
enum { TABLE_TEXT = 512 };
osla_err table_read_hdf5_here(const char *file, table_row_callback *callback, void *arg);

/* Turns the rows of a table into paths and their data (tomo_data.h). tomo_datum_list.c reads rows
 * into data, in the order of the file. tomo_data_sets.c sorts the data by path and measure, and
 * gives one set to all paths with equal measures and deviations. Time: O(n log n) for n rows.
 * Memory: 40 bytes for each row while rows are read, about 20 bytes for each row afterwards. */

/* The datum of a row that is not excluded. */
typedef struct datum {
  int64_t path_id, place;
  double delay, sigma;
  int32_t measure;
} datum;

typedef struct datum_list {
  const tomo_data_lists *lists;
  tomo_data_notes *notes;
  tomo_ids *stations, *events;
  const char *file; /* name of the table's file, for messages */
  bool elements;
  datum *datum;
  int64_t count, capacity;
  /* [n_measures] different measures, in the order in which the file first has them */
  tomo_measure *measure;
  int32_t n_measures, measures_capacity;
  int32_t *slot; /* hash table of indices into `measure`; -1 marks a free slot */
  uint32_t slots;
} datum_list;

/* Fills *data, which the caller must free even after an error. Errors: IO (two rows with the same
 * path and measure), MEM. */
osla_err datum_list_to_table(datum_list *in, tomo_data *data);

#endif
