/* Reads tables of measurements as HDF5 in a separate process (reader_process.h). The process sends
 * COLUMN and a name for each column; then, for each row, ROW and the cells in the order of the
 * columns; at last END, or ERROR with a code and a text. A text is its length (16 bits) and its
 * bytes. A cell is a text, or the mark IS_NUMBER (in place of a length) followed by a double.
 * Everything received is checked, because HDF5 may have corrupted the process's memory. */
#include "apps/tomography/readers/tomo_data.h"
#include "apps/tomography/readers/tomo_io.h"
#include "apps/tomography/readers/tomo_table.h"
#include "tools/common/reader_process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { COLUMN = 'C', ROW = 'R', ERROR = 'E', END = '.' };
enum { IS_NUMBER = 0xffff };

/* --- the reading process --- */

typedef struct sender {
  const char *path;
  FILE *out;
  bool has_sent_columns; /* true once the columns have been sent */
} sender;

static void send_text(FILE *out, const char *text)
{
  const uint16_t length = (uint16_t)strlen(text);
  (void)fwrite(&length, sizeof length, 1, out);
  (void)fwrite(text, 1, length, out);
}

static void send_columns(sender *s, const table_header *header)
{
  for (int key = 0; key < N_KEYS; key++) {
    if (!header->has_column[key]) continue;
    (void)fputc(COLUMN, s->out);
    send_text(s->out, header->name[key]);
  }
  s->has_sent_columns = true;
}

static osla_err check_texts(const table_line *line)
{
  char location[TABLE_LOCATION];
  for (table_key key = 0; key < N_KEYS; key++) {
    const char *text = line->header->has_column[key] ? line->cell[key].text : NULL;
    OSLA_CHECK(!text || strnlen(text, TABLE_TEXT) < TABLE_TEXT, OSLA_ERR_IO,
               "%s: a text of %d bytes or more", table_location(line, key, location), TABLE_TEXT);
  }
  return OSLA_OK;
}

static osla_err send_row(void *arg, const table_line *line)
{
  sender *s = arg;
  const uint16_t number = IS_NUMBER;
  OSLA_CALL(check_texts(line));
  if (!s->has_sent_columns) send_columns(s, line->header);
  (void)fputc(ROW, s->out);
  for (int key = 0; key < N_KEYS; key++) {
    const table_cell *cell = &line->cell[key];
    if (!line->header->has_column[key]) continue;
    if (cell->text) {
      send_text(s->out, cell->text);
    } else {
      (void)fwrite(&number, sizeof number, 1, s->out);
      (void)fwrite(&cell->number, sizeof cell->number, 1, s->out);
    }
  }
  if (ferror(s->out)) _exit(EXIT_FAILURE); /* the parent has closed the socket */
  return OSLA_OK;
}

static void serve(int socket, void *arg)
{
  sender *s = arg;
  s->out = fdopen(socket, "w");
  if (!s->out) _exit(EXIT_FAILURE);
  reader_process_limit_time(s->path);
  osla_err err = table_read_hdf5_here(s->path, send_row, s);
  (void)fputc(err == OSLA_OK ? END : ERROR, s->out);
  if (err != OSLA_OK) {
    (void)fputc((int)err, s->out);
    send_text(s->out, osla_error_text());
  }
  (void)fclose(s->out);
}

/* --- the parent process --- */

struct tomo_data_reader {
  const char *path;
  reader_process process;
  FILE *in;
  table_header header;
  table_line line;
  char text[N_KEYS][TABLE_TEXT];
};

/* Returns the error for unexpected bytes from the reading process, which has ended or whose memory
 * is corrupted. */
static osla_err protocol_error(tomo_data_reader *r)
{
  if (feof(r->in)) return reader_process_death(&r->process, r->path);
  return reader_process_spoilt(&r->process, r->path);
}

static bool receive(tomo_data_reader *r, void *what, size_t bytes)
{
  size_t got = 0;
  for (;;) {
    got += fread((char *)what + got, 1, bytes - got, r->in);
    if (got == bytes) return true;
    if (!ferror(r->in) || errno != EINTR) return false;
    clearerr(r->in);
  }
}

/* Returns the next byte, or -1 at the end. */
static int receive_byte(tomo_data_reader *r)
{
  unsigned char byte;
  return receive(r, &byte, 1) ? byte : -1;
}

/* Receives a text. If is_number is not NULL, a number may come instead: *is_number is then true and
 * the number follows. */
static bool receive_text(tomo_data_reader *r, char text[TABLE_TEXT], bool *is_number)
{
  uint16_t length = 0;
  if (!receive(r, &length, sizeof length)) return false;
  if (is_number) *is_number = length == IS_NUMBER;
  if (is_number && *is_number) return true;
  text[length < TABLE_TEXT ? length : 0] = '\0';
  return length < TABLE_TEXT && receive(r, text, length);
}

static osla_err receive_column(tomo_data_reader *r)
{
  char name[TABLE_TEXT];
  table_key key;
  if (!receive_text(r, name, NULL)) return protocol_error(r);
  return table_add_column(&r->header, 0, name, &key);
}

static osla_err receive_row(tomo_data_reader *r, table_row_callback *callback, void *arg)
{
  if (r->line.place == 0) OSLA_CALL(table_check_header(&r->header, 0));
  for (int key = 0; key < N_KEYS; key++) {
    table_cell *cell = &r->line.cell[key];
    bool is_number;
    if (!r->header.has_column[key]) continue;
    if (!receive_text(r, r->text[key], &is_number)) return protocol_error(r);
    cell->text = is_number ? NULL : r->text[key];
    if (is_number && !receive(r, &cell->number, sizeof cell->number)) return protocol_error(r);
  }
  OSLA_CALL(callback(arg, &r->line));
  r->line.place++;
  return OSLA_OK;
}

static osla_err receive_error(tomo_data_reader *r)
{
  char text[TABLE_TEXT];
  const int err = receive_byte(r);
  if (err <= OSLA_OK || err > OSLA_ERR_UNSUPPORTED || !receive_text(r, text, NULL))
    return protocol_error(r);
  return osla_error_set((osla_err)err, "%s", text);
}

osla_err table_read_hdf5(tomo_data_reader *r, table_row_callback *callback, void *arg)
{
  for (;;) {
    switch (receive_byte(r)) {
      case COLUMN: OSLA_CALL(receive_column(r)); break;
      case ROW: OSLA_CALL(receive_row(r, callback, arg)); break;
      case ERROR: return receive_error(r);
      case END: return OSLA_OK;
      default: return protocol_error(r);
    }
  }
}

static osla_err start(tomo_data_reader *r, const char *file)
{
  const size_t length = strlen(file);
  sender process = {.path = file};
  *r = (tomo_data_reader){.path = file,
                          .process = READER_PROCESS_NONE,
                          .header.file = length > 200 ? file + length - 200 : file};
  r->line = (table_line){.header = &r->header, .elements = true};
  OSLA_CALL(reader_process_start(&r->process, SOCK_STREAM, serve, &process));
  r->in = fdopen(r->process.socket, "r");
  OSLA_CHECK(r->in, OSLA_ERR_MEM, "no memory to read %.200s", file);
  r->process.socket = -1; /* fclose closes the socket */
  return OSLA_OK;
}

osla_err tomo_data_reader_start(const char *file, tomo_data_reader **out)
{
  *out = NULL;
  if (tomo_file_check(file) != OSLA_OK || !tomo_file_is_hdf5(file)) return OSLA_OK;
  tomo_data_reader *r = malloc(sizeof *r);
  OSLA_CHECK(r, OSLA_ERR_MEM, "no memory to read %.200s", file);
  osla_err err = start(r, file);
  *out = r;
  if (err != OSLA_OK) tomo_data_reader_stop(out);
  return err;
}

void tomo_data_reader_stop(tomo_data_reader **reader)
{
  tomo_data_reader *r = *reader;
  if (!r) return;
  if (r->in) (void)fclose(r->in);
  reader_process_stop(&r->process);
  free(r);
  *reader = NULL;
}
