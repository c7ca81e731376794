/* Tables of measurements as CSV with a header (contract: tomo_table.h). */
#include "apps/tomography/readers/tomo_table.h"

#include <string.h>

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
