/* Writes a trace. Rank 0 receives the events of one rank after the other, in pieces, and writes
 * them in the trace event format of Chrome, a JSON array ("Trace Event Format", a document of the
 * Chromium project). It needs memory for one piece. */
#include "src/base/new_file.h"
#include "src/base/signal_guard.h"
#include "src/transport/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Properties of a rank that rank 0 needs to write its events. */
typedef struct header {
  int64_t count, dropped;
  int32_t node, n_threads;
  double offset, stop;
} header;

typedef struct writer {
  FILE *file;
  double origin;
  int size;
  int64_t written; /* number of events in the file so far */
} writer;

/* --- writing of one event --- */

/* Nanoseconds since the start of the trace. Each time is rounded once, so that nested events stay
 * nested. */
static int64_t trace_nanoseconds(const writer *w, const header *h, double time)
{
  return llround((time + h->offset - w->origin) * 1e9);
}

static void write_time(const writer *w, const char *key, int64_t ns)
{
  (void)fprintf(w->file, ",\"%s\":%s%" PRId64 ".%03d", key, ns < 0 ? "-" : "",
                (ns < 0 ? -ns : ns) / 1000, (int)((ns < 0 ? -ns : ns) % 1000));
}

/* Writes the JSON members that all events have. The caller writes the remaining members and closes
 * the event with "}".
 */
static void write_head(writer *w, const char *name, const char *phase, int node, int thread)
{
  (void)fprintf(w->file, "%s{\"name\":\"%s\",\"ph\":\"%s\",\"pid\":%d,\"tid\":%d",
                w->written++ > 0 ? ",\n" : "", name, phase, node, thread);
}

static void write_amount(const writer *w, const trace_kind *kind, int rank, double amount)
{
  (void)fprintf(w->file, ",\"args\":{\"rank\":%d", rank);
  if (kind->unit[0] && isfinite(amount))
    (void)fprintf(w->file, ",\"%s\":%.15g", kind->unit, amount);
  (void)fputs("}}", w->file);
}

static void write_event(writer *w, const header *h, int rank, int64_t number,
                        const trace_event *event)
{
  const trace_kind *kind = &osli_trace_kinds[event->kind];
  int64_t start = trace_nanoseconds(w, h, event->start), end = trace_nanoseconds(w, h, event->end);
  int thread = rank + event->thread * w->size;
  if (kind->role != TRACE_FLIGHT) {
    write_head(w, kind->name, "X", h->node, thread);
    (void)fprintf(w->file, ",\"cat\":\"%s\"", kind->category);
    write_time(w, "ts", start);
    write_time(w, "dur", end - start);
    write_amount(w, kind, rank, event->amount);
    return;
  }
  /* Overlapping transfers must not lie on the rank's own row, so each is an asynchronous pair of
   * begin and end with one id. */
  for (int last = 0; last < 2; last++) {
    write_head(w, kind->name, last ? "e" : "b", h->node, thread);
    (void)fprintf(w->file, ",\"cat\":\"%s\",\"id\":\"%d.%" PRId64 "\"", kind->category, rank,
                  number);
    write_time(w, "ts", last ? end : start);
    write_amount(w, kind, rank, event->amount);
  }
}

/* Writes the names of a rank's rows, and the number of its dropped events if there are any. */
static void write_names(writer *w, const header *h, int rank)
{
  write_head(w, "process_name", "M", h->node, rank);
  (void)fprintf(w->file, ",\"args\":{\"name\":\"node %d%s\"}}", h->node,
                osla_simulated_machine() ? " (simulated)" : "");
  for (int i = 0; i < h->n_threads; i++) {
    int thread = rank + i * w->size;
    write_head(w, "thread_name", "M", h->node, thread);
    (void)fprintf(w->file, ",\"args\":{\"name\":\"rank %d", rank);
    if (i > 0) (void)fprintf(w->file, ", thread %d", i);
    (void)fputs("\"}}", w->file);
    write_head(w, "thread_sort_index", "M", h->node, thread);
    (void)fprintf(w->file, ",\"args\":{\"sort_index\":%d}}", rank * TRACE_THREADS + i);
  }
  if (h->dropped == 0) return;
  write_head(w, "events dropped", "i", h->node, rank);
  write_time(w, "ts", trace_nanoseconds(w, h, h->stop));
  (void)fprintf(w->file, ",\"s\":\"t\",\"args\":{\"events\":%" PRId64 "}}", h->dropped);
}

/* --- writing of the events of one rank --- */

static int64_t piece_events(const header *h, int64_t first)
{
  return h->count - first < TRACE_PIECE ? h->count - first : TRACE_PIECE;
}

static osla_err send_events(osla_transport *t, const header *h)
{
  OSLA_CALL(osli_send(t, 0, h, sizeof *h));
  for (int64_t first = 0; first < h->count; first += TRACE_PIECE)
    OSLA_CALL(osli_send(t, 0, trace_at(t->trace, first),
                        (int)((size_t)piece_events(h, first) * sizeof(trace_event))));
  return OSLA_OK;
}

/* Receives and writes the events of a rank. They are received even after a write error, so that no
 * rank blocks in its send. */
static osla_err write_rank(osla_transport *t, writer *w, int rank, header *h, trace_event *room)
{
  if (rank != 0) OSLA_CALL(osli_receive(t, rank, h, sizeof *h));
  write_names(w, h, rank);
  for (int64_t first = 0; first < h->count; first += TRACE_PIECE) {
    int64_t count = piece_events(h, first);
    const trace_event *events = room;
    if (rank == 0)
      events = trace_at(t->trace, first);
    else
      OSLA_CALL(osli_receive(t, rank, room, (int)((size_t)count * sizeof *room)));
    for (int64_t i = 0; i < count; i++)
      write_event(w, h, rank, first + i, &events[i]);
  }
  return OSLA_OK;
}

/* --- opening and closing of the file --- */

/* Opens the file under a temporary name. A pipe or device is opened itself, because a file must not
 * replace it. */
static osla_err open_file(const char *path, FILE **stream, osla_new_file **file)
{
  OSLA_CHECK(path, OSLA_ERR_IO, "the name of the trace file is empty");
  OSLA_CALL(osli_new_file_begin(path, OSLA_NEW_FILE_ANY, file));
  int copy = dup(osli_new_file_fd(*file));
  *stream = copy >= 0 ? fdopen(copy, "w") : NULL;
  if (*stream) return OSLA_OK;
  osla_err err = osla_error_set(OSLA_ERR_IO, "%.200s: %s", path, strerror(errno));
  if (copy >= 0) (void)close(copy);
  osli_new_file_drop(file);
  return err;
}

/* Closes the file, and gives it its final name if err is OSLA_OK and all data were written;
 * otherwise removes it. */
static osla_err close_file(const char *path, FILE *stream, osla_new_file *file, osla_err err)
{
  errno = 0;
  bool complete = !ferror(stream);
  if (fclose(stream) != 0) complete = false;
  if (err == OSLA_OK && !complete)
    err = osla_error_set(OSLA_ERR_IO, "%.200s: %s", path, strerror(errno ? errno : EIO));
  if (err == OSLA_OK) err = osli_new_file_sync(file);
  if (err == OSLA_OK) return osli_new_file_place(&file);
  osli_new_file_drop(&file);
  return err;
}

static osla_err write_all(osla_transport *t, writer *w, header *mine, trace_event *room)
{
  osla_err err = OSLA_OK;
  (void)fputs("[", w->file);
  for (int rank = 0; rank < t->size && err == OSLA_OK; rank++) {
    header h = *mine;
    err = write_rank(t, w, rank, &h, room);
  }
  (void)fputs("]\n", w->file);
  return err;
}

osla_err osla_trace_write(osla_transport *t, const char *path)
{
  writer w = {.size = t->size};
  trace_event *room = NULL;
  osla_new_file *file = NULL;
  osla_signal_guard guard; /* turns SIGPIPE and SIGXFSZ of the writes into errors */
  osla_err err = OSLA_OK;
  OSLA_CALL(osli_trace_finish(t));
  if (t->rank == 0) {
    room = malloc(TRACE_PIECE * sizeof *room);
    err = room ? open_file(path, &w.file, &file)
               : osla_error_set(OSLA_ERR_MEM, "room for %d events", TRACE_PIECE);
  }
  err = osla_agree(t, err);
  if (err != OSLA_OK) { /* only rank 0 can have failed here, and rank 0 has no open file */
    free(room);
    return err;
  }
  const struct osla_trace *trace = t->trace;
  header mine = {trace->count,     trace->dropped, t->node,
                 trace->n_threads, trace->offset,  trace->stop};
  w.origin = trace->origin;
  osli_signal_guard_begin(&guard);
  if (t->rank == 0)
    err = close_file(path, w.file, file, write_all(t, &w, &mine, room));
  else
    err = send_events(t, &mine);
  osli_signal_guard_end(&guard);
  free(room);
  return osla_agree(t, err);
}
