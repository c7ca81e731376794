/* Both sides of the socket between this process and the child process that reads files of updates
 * (updates.h). The parent checks every answer of the child, because HDF5 may have damaged the
 * child's memory. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "src/base/memory_file.h"
#include "tools/assemble/updates.h"
#include "tools/common/reader_process.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

struct updates_reader {
  reader_process process;
  updates_memory memory; /* memory that the process has allocated, mapped into this process */
  const char *path;
};

/* Message to the reader process: open a file, or read updates from the open file. */
typedef struct request {
  char path[PATH_MAX]; /* path of the file to open; "": read from the open file */
  int64_t first, count;
  osla_dtype dtype;
} request;

typedef struct answer {
  osla_err err;
  char text[512]; /* text of the error, if any */
  int64_t count;  /* number of updates in the file */
  updates_layout layout;
  int64_t room; /* size of the process's memory in bytes */
} answer;

/* Sends one whole message. Returns false if that failed. */
static bool send_message(int socket, const void *message, size_t size)
{
  ssize_t sent;
  do {
    sent = send(socket, message, size, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == (ssize_t)size;
}

static bool receive_message(int socket, void *message, size_t size)
{
  ssize_t received;
  do {
    received = recv(socket, message, size, 0);
  } while (received < 0 && errno == EINTR);
  return received == (ssize_t)size;
}

static updates_layout layout_of(const updates_batch *b, size_t element)
{
  updates_layout l = {.count = b->count,
                      .k = b->k,
                      .indices = b->offset[b->count] - b->offset[0],
                      .element = element,
                      .w = b->w != NULL,
                      .r = b->r != NULL,
                      .g = b->g != NULL};
  for (int64_t u = 0; u < b->count; u++) {
    const int64_t n = b->offset[u + 1] - b->offset[u];
    l.values += n * (b->k > 0 ? b->k : n);
  }
  return l;
}

static void serve(int socket, void *arg)
{
  const updates_reader *of = arg;
  updates *file = NULL;
  updates_batch batch = {.memory = {.shared = true, .fd = of->memory.fd}};
  char path[PATH_MAX] = "";
  request r;
  while (receive_message(socket, &r, sizeof r)) {
    answer a = {.err = OSLA_OK};
    if (r.path[0] != '\0') {
      updates_close(&file);
      memcpy(path, r.path, sizeof path);
      reader_process_limit_time(path);
      a.err = updates_open(path, &file);
      if (a.err == OSLA_OK) a.count = updates_count(file);
    } else {
      reader_process_limit_time(path);
      a.err = updates_read(file, r.first, r.count, r.dtype, &batch);
      if (a.err == OSLA_OK) a.layout = layout_of(&batch, osla_dtype_size(r.dtype));
      a.room = batch.memory.room;
    }
    if (a.err != OSLA_OK) (void)snprintf(a.text, sizeof a.text, "%s", osla_error_text());
    if (!send_message(socket, &a, sizeof a)) break;
  }
}

osla_err updates_reader_start(updates_reader **out)
{
  updates_reader *r = malloc(sizeof *r);
  *out = r;
  OSLA_CHECK(r, OSLA_ERR_MEM, "no memory for reader of updates");
  *r = (updates_reader){READER_PROCESS_NONE, {.shared = true, .fd = -1}, NULL};
  r->memory.fd = osli_memory_file_create("osla-updates");
  osla_err err = OSLA_OK;
  if (r->memory.fd < 0) err = osla_error_set(OSLA_ERR_MEM, "memfd_create: %s", strerror(errno));
  if (err == OSLA_OK) err = reader_process_start(&r->process, SOCK_SEQPACKET, serve, r);
  if (err != OSLA_OK) updates_reader_stop(out);
  return err;
}

void updates_reader_stop(updates_reader **reader)
{
  updates_reader *r = *reader;
  if (!r) return;
  reader_process_stop(&r->process);
  updates_memory_free(&r->memory);
  if (r->memory.fd >= 0) (void)close(r->memory.fd);
  free(r);
  *reader = NULL;
}

static osla_err send_request(updates_reader *r, const request *q, answer *a)
{
  OSLA_CHECK(r->process.process > 0, OSLA_ERR_STATE, "%.200s: the process that read it has ended",
             r->path);
  if (!send_message(r->process.socket, q, sizeof *q) ||
      !receive_message(r->process.socket, a, sizeof *a))
    return reader_process_death(&r->process, r->path);
  a->text[sizeof a->text - 1] = '\0';
  if (a->err < OSLA_OK || a->err > OSLA_ERR_UNSUPPORTED || a->count < 0)
    return reader_process_spoilt(&r->process, r->path);
  OSLA_CHECK(a->err == OSLA_OK, a->err, "%s", a->text);
  return OSLA_OK;
}

osla_err updates_reader_open(updates_reader *r, const char *path, int64_t *count)
{
  request q = {.first = 0};
  answer a;
  OSLA_CHECK(path[0] != '\0' && strlen(path) < sizeof q.path, OSLA_ERR_IO, "%.200s: %s", path,
             strerror(path[0] != '\0' ? ENAMETOOLONG : ENOENT));
  (void)strcpy(q.path, path);
  r->path = path;
  OSLA_CALL(send_request(r, &q, &a));
  *count = a.count;
  return OSLA_OK;
}

/* Checks the sizes that the process has sent, and maps the memory of the process again if it has
 * grown. */
static osla_err map_batch(updates_reader *r, const request *q, const answer *a)
{
  struct stat status;
  const bool sound = fstat(r->memory.fd, &status) == 0 && a->room > 0 &&
                     a->room <= status.st_size &&
                     updates_layout_fits(&a->layout, q->count, osla_dtype_size(q->dtype), a->room);
  if (!sound) return reader_process_spoilt(&r->process, r->path);
  if (a->room != r->memory.room) OSLA_CALL(updates_memory_map(&r->memory, a->room));
  return OSLA_OK;
}

osla_err updates_reader_read(updates_reader *r, int64_t first, int64_t count, osla_dtype dtype,
                             updates_batch *batch)
{
  request q = {.first = first, .count = count, .dtype = dtype};
  answer a;
  OSLA_CALL(send_request(r, &q, &a));
  OSLA_CALL(map_batch(r, &q, &a));
  *batch = (updates_batch){.first = first, .memory = r->memory};
  updates_layout_assign(&a.layout, batch);
  if (!updates_layout_agrees(&a.layout, batch->offset))
    return reader_process_spoilt(&r->process, r->path);
  return OSLA_OK;
}
