/* Reads the deviations of a result file in HDF5 in a separate process (reader_process.h). The
 * process sends an answer and, if its code is OSLA_OK, the deviations as doubles. Everything
 * received is checked, because HDF5 may have corrupted the process's memory. */
#include "apps/tomography/readers/tomo_prior_file.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "apps/tomography/readers/tomo_io.h"
#include "apps/tomography/readers/tomo_store.h"
#include "tools/common/reader_process.h"

enum { TEXT = 512 };

typedef struct reply {
  int64_t code; /* error code of the read, an osla_err */
  int64_t count;
  char text[TEXT];
} reply;

/* --- the reading process --- */

static void send_all(int socket, const void *what, size_t bytes)
{
  const char *from = what;
  while (bytes > 0) {
    const ssize_t sent = send(socket, from, bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) _exit(EXIT_FAILURE); /* the parent has closed the socket */
    from += sent;
    bytes -= (size_t)sent;
  }
}

static void serve(int socket, void *arg)
{
  const char *path = arg;
  reply a = {0};
  double *data;
  reader_process_limit_time(path);
  a.code = tomo_store_read_array(path, "deviation", &data, &a.count);
  if (a.code != OSLA_OK) (void)snprintf(a.text, sizeof a.text, "%s", osla_error_text());
  send_all(socket, &a, sizeof a);
  if (a.code == OSLA_OK) send_all(socket, data, (size_t)a.count * sizeof *data);
}

/* --- the parent process --- */

struct tomo_prior_reader {
  const char *path;
  reader_process process;
};

static osla_err receive_all(tomo_prior_reader *r, void *what, size_t bytes)
{
  char *to = what;
  while (bytes > 0) {
    const ssize_t got = recv(r->process.socket, to, bytes, MSG_WAITALL);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return reader_process_death(&r->process, r->path);
    to += got;
    bytes -= (size_t)got;
  }
  return OSLA_OK;
}

static osla_err receive_deviations(tomo_prior_reader *r, int64_t n, double *data)
{
  reply a;
  OSLA_CALL(receive_all(r, &a, sizeof a));
  if (a.code < OSLA_OK || a.code > OSLA_ERR_UNSUPPORTED || !memchr(a.text, '\0', sizeof a.text))
    return reader_process_spoilt(&r->process, r->path);
  if (a.code != OSLA_OK) return osla_error_set((osla_err)a.code, "%s", a.text);
  OSLA_CHECK(a.count == n, OSLA_ERR_IO,
             "%s: deviation has %lld values, and this model has %lld unknowns", r->path,
             (long long)a.count, (long long)n);
  return receive_all(r, data, (size_t)n * sizeof *data);
}

osla_err tomo_prior_reader_receive(tomo_prior_reader *r, int64_t n, double *data)
{
  osla_err err = receive_deviations(r, n, data);
  reader_process_stop(&r->process);
  return err;
}

osla_err tomo_prior_reader_start(const char *file, tomo_prior_reader **out)
{
  *out = NULL;
  if (tomo_file_check(file) != OSLA_OK || !tomo_file_is_hdf5(file)) return OSLA_OK;
  tomo_prior_reader *r = malloc(sizeof *r);
  OSLA_CHECK(r, OSLA_ERR_MEM, "no memory to read %.200s", file);
  *r = (tomo_prior_reader){.path = file};
  osla_err err = reader_process_start(&r->process, SOCK_STREAM, serve, (void *)(uintptr_t)file);
  *out = r;
  if (err != OSLA_OK) tomo_prior_reader_stop(out);
  return err;
}

void tomo_prior_reader_stop(tomo_prior_reader **reader)
{
  if (!*reader) return;
  reader_process_stop(&(*reader)->process);
  free(*reader);
  *reader = NULL;
}
