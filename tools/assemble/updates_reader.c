/* Both sides of the process that reads files of updates. See updates_reader.h. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "memory_file.h"
#include "osla_blas.h"
#include "updates_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct updates_reader {
  pid_t process;
  int socket;
  updates_memory memory; /* the process's, mapped here */
  const char *path;
};

/* To the process: a file to open, or updates of the open one. */
typedef struct request {
  char path[PATH_MAX]; /* "": read */
  int64_t first, count;
  osla_dtype dtype;
} request;

typedef struct answer {
  osla_err err;
  char text[512]; /* of the error */
  int64_t count;  /* updates of the file */
  updates_batch batch;
} answer;

/* One message, whole. */
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

/* --- the process --- */

/* CPU time from now on; the system ends the process that takes more. */
static void limit_time(const char *path)
{
  enum { AT_LEAST = 20 };
  struct rusage used;
  struct rlimit limit;
  struct stat status;
  rlim_t seconds = AT_LEAST;
  if (stat(path, &status) == 0) seconds += (rlim_t)(status.st_size >> 20);
  if (getrusage(RUSAGE_SELF, &used) != 0 || getrlimit(RLIMIT_CPU, &limit) != 0) return;
  seconds += (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec);
  limit.rlim_cur = seconds < limit.rlim_max ? seconds : limit.rlim_max;
  (void)setrlimit(RLIMIT_CPU, &limit);
}

/* Dies with its parent, and without a word: neither the C library nor UCX's handlers of signals
 * write to the user's terminal; no core file. */
static void become_quiet(pid_t parent)
{
  static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTERM, SIGINT, SIGHUP};
  const struct rlimit none = {0, 0};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
    (void)signal(signals[i], SIG_DFL);
  (void)signal(SIGXFSZ, SIG_IGN); /* an error code instead, where the memory may not grow */
  (void)setrlimit(RLIMIT_CORE, &none);
  int null = open("/dev/null", O_RDWR);
  for (int fd = 0; fd <= 2; fd++)
    (void)dup2(null, fd);
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(EXIT_FAILURE); /* it has died before that */
}

static void serve(int socket, int memory)
{
  updates *file = NULL;
  updates_batch batch = {.memory = {.shared = true, .fd = memory}};
  char path[PATH_MAX] = "";
  request r;
  while (receive_message(socket, &r, sizeof r)) {
    answer a = {.err = OSLA_OK};
    if (r.path[0] != '\0') {
      updates_close(&file);
      memcpy(path, r.path, sizeof path);
      limit_time(path);
      a.err = updates_open(path, &file);
      if (a.err == OSLA_OK) a.count = updates_count(file);
    } else {
      limit_time(path);
      a.err = updates_read(file, r.first, r.count, r.dtype, &batch);
      a.batch = batch;
    }
    if (a.err != OSLA_OK) (void)snprintf(a.text, sizeof a.text, "%s", osla_error_text());
    if (!send_message(socket, &a, sizeof a)) break;
  }
  _exit(EXIT_SUCCESS);
}

/* --- this process --- */

static osla_err start(updates_reader *r)
{
  int ends[2];
  pid_t parent = getpid();
  r->memory.fd = osla_memory_file("osla-updates");
  OSLA_CHECK(r->memory.fd >= 0, OSLA_ERR_MEM, "memfd_create: %s", strerror(errno));
  OSLA_CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0, OSLA_ERR_MEM,
             "socketpair: %s", strerror(errno));
  r->socket = ends[0];
  /* In fork OpenBLAS waits for the end of its threads, and without room these try for ever. */
  bool ends_threads = osla_blas_threads() < 2 || osla_blas_has_room(1);
  if (ends_threads) r->process = fork();
  if (r->process == 0) {
    (void)close(ends[0]);
    become_quiet(parent);
    serve(ends[1], r->memory.fd);
  }
  (void)close(ends[1]);
  OSLA_CHECK(
    ends_threads, OSLA_ERR_MEM,
    "no memory for OpenBLAS's buffer: address space is needed for each thread (ulimit -v)");
  OSLA_CHECK(r->process > 0, OSLA_ERR_MEM, "no process to read files: %s", strerror(errno));
  return OSLA_OK;
}

osla_err updates_reader_start(updates_reader **out)
{
  updates_reader *r = malloc(sizeof *r);
  *out = r;
  OSLA_CHECK(r, OSLA_ERR_MEM, "reader of updates");
  *r = (updates_reader){.process = -1, .socket = -1, .memory = {.shared = true, .fd = -1}};
  osla_err err = start(r);
  if (err != OSLA_OK) updates_reader_stop(out);
  return err;
}

/* Waits for the end of the process. */
static int reap(updates_reader *r)
{
  int status = 0;
  while (r->process > 0 && waitpid(r->process, &status, 0) < 0 && errno == EINTR) {
  }
  r->process = -1;
  return status;
}

void updates_reader_stop(updates_reader **reader)
{
  updates_reader *r = *reader;
  if (!r) return;
  if (r->socket >= 0) (void)close(r->socket); /* the process sees that, and ends */
  (void)reap(r);
  updates_memory_free(&r->memory);
  if (r->memory.fd >= 0) (void)close(r->memory.fd);
  free(r);
  *reader = NULL;
}

static osla_err report_death(updates_reader *r)
{
  int status = reap(r), signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  OSLA_CHECK(signal != SIGKILL, OSLA_ERR_IO,
             "%.200s: the process that reads it was killed (no memory?)", r->path);
  OSLA_CHECK(signal != SIGXCPU, OSLA_ERR_IO,
             "%.200s: damaged: HDF5 does not come to an end with it", r->path);
  return osla_error_set(OSLA_ERR_IO, "%.200s: damaged: HDF5 crashes while it reads it (%s)",
                        r->path, signal > 0 ? strsignal(signal) : "it ends by itself");
}

static osla_err ask(updates_reader *r, const request *q, answer *a)
{
  OSLA_CHECK(r->process > 0, OSLA_ERR_STATE, "%.200s: the process that read it has ended", r->path);
  if (!send_message(r->socket, q, sizeof *q) || !receive_message(r->socket, a, sizeof *a))
    return report_death(r);
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
  OSLA_CALL(ask(r, &q, &a));
  *count = a.count;
  return OSLA_OK;
}

/* Where an array of the process's memory is in this one. */
static void *here(const updates_reader *r, const answer *a, const void *there)
{
  const char *start = a->batch.memory.start;
  return there ? (char *)r->memory.start + ((const char *)there - start) : NULL;
}

osla_err updates_reader_read(updates_reader *r, int64_t first, int64_t count, osla_dtype dtype,
                             updates_batch *batch)
{
  request q = {.first = first, .count = count, .dtype = dtype};
  answer a;
  OSLA_CALL(ask(r, &q, &a));
  if (a.batch.memory.room != r->memory.room)
    OSLA_CALL(updates_memory_map(&r->memory, a.batch.memory.room));
  *batch = a.batch;
  batch->offset = here(r, &a, a.batch.offset);
  batch->ix = here(r, &a, a.batch.ix);
  batch->values = here(r, &a, a.batch.values);
  batch->w = here(r, &a, a.batch.w);
  batch->r = here(r, &a, a.batch.r);
  batch->g = here(r, &a, a.batch.g);
  batch->memory = r->memory;
  return OSLA_OK;
}
