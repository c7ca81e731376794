/* Lines: messages to a rank that says beforehand where each of them goes. See lines_mpi.h.
 *
 * Each has a tag of its own and its requests in a ring, so that its messages come in the order in
 * which they were sent (MPI-3.1, section 3.5). The oldest request of every line that sends, or that
 * is watched, is looked at together with the receive that eager_take.c waits for, in one call: so a
 * turn of progress costs what it costs without lines.
 */
#include "lines_mpi.h"
#include "eager_state.h"
#include "request_pool.h"

#include <stdlib.h>

enum { MOST_BYTES = 1 << 30, LINES = 512 }; /* of a rank and region */

struct osla_line {
  osla_transport *t;
  int peer, tag;
  bool receives;
  int most;
  MPI_Request *requests;  /* [most] of message s, from 0 on, at s mod most */
  uint64_t started;       /* messages */
  _Atomic uint64_t *done; /* the caller's */
  int place;              /* among those that are looked at; -1: it is not */
};

static bool is_tag(int64_t tag)
{
  int found = 0;
  const int *most = NULL;
  return MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &found) == MPI_SUCCESS && found &&
         tag <= *most;
}

/* Room to look at one more. */
static osla_err make_room(osla_eager *e)
{
  const size_t n = (size_t)e->n_open + 2;
  MPI_Request *looked = realloc(e->looked, n * sizeof *looked);
  if (looked) e->looked = looked;
  osla_line **lines = realloc(e->lines, n * sizeof *lines);
  if (lines) e->lines = lines;
  return looked && lines ? OSLA_OK : OSLA_ERR_MEM;
}

static void look_at(osla_line *line)
{
  osla_eager *e = line->t->eager;
  if (line->place >= 0) return;
  line->place = e->n_lines;
  e->lines[e->n_lines++] = line;
}

static void look_away(osla_line *line)
{
  osla_eager *e = line->t->eager;
  if (line->place < 0) return;
  osla_line *last = e->lines[--e->n_lines];
  e->lines[line->place] = last;
  last->place = line->place;
  line->place = -1;
}

osla_err osla_mpi_line_open(osla_region *region, const osla_line_end *end, osla_line **out)
{
  const int64_t tag = FIRST_LINE_TAG + (int64_t)region->number * LINES + end->number;
  *out = NULL;
  if (region->number < 0 || end->number >= LINES || end->bytes > MOST_BYTES || !is_tag(tag))
    return OSLA_OK;
  osla_line *line = malloc(sizeof *line);
  MPI_Request *requests = malloc((size_t)end->most * sizeof *requests);
  osla_err err = OSLA_ERR_MEM;
  if (line && requests) {
    *line = (osla_line){.t = region->t,
                        .peer = end->peer,
                        .tag = (int)tag,
                        .receives = end->receives,
                        .most = end->most,
                        .requests = requests,
                        .done = end->done,
                        .place = -1};
    (void)pthread_mutex_lock(&region->t->mutex);
    err = make_room(region->t->eager);
    if (err == OSLA_OK) region->t->eager->n_open++;
    if (err == OSLA_OK && line->receives) look_at(line);
    (void)pthread_mutex_unlock(&region->t->mutex);
  }
  if (err != OSLA_OK) {
    free(requests);
    free(line);
    return osla_error_set(OSLA_ERR_MEM, "line of %d messages to rank %d", end->most, end->peer);
  }
  *out = line;
  return OSLA_OK;
}

static uint64_t done(const osla_line *line)
{
  return atomic_load_explicit(line->done, memory_order_relaxed);
}

static MPI_Request *request_of(const osla_line *line, uint64_t message)
{
  return &line->requests[message % (uint64_t)line->most];
}

osla_err osla_mpi_line_start(osla_line *line, void *message, size_t bytes)
{
  const int n = (int)bytes;
  (void)pthread_mutex_lock(&line->t->mutex);
  MPI_Request *r = request_of(line, line->started);
  const int code = line->receives
                     ? MPI_Irecv(message, n, MPI_BYTE, line->peer, line->tag, line->t->comm, r)
                     : MPI_Isend(message, n, MPI_BYTE, line->peer, line->tag, line->t->comm, r);
  if (code == MPI_SUCCESS) line->started++;
  if (code == MPI_SUCCESS && !line->receives) look_at(line);
  (void)pthread_mutex_unlock(&line->t->mutex);
  if (code == MPI_SUCCESS) return OSLA_OK;
  return osla_error_set_mpi(code, line->receives ? "MPI_Irecv" : "MPI_Isend");
}

void osla_mpi_line_watch(osla_line *line, bool watched)
{
  (void)pthread_mutex_lock(&line->t->mutex);
  if (watched)
    look_at(line);
  else
    look_away(line);
  (void)pthread_mutex_unlock(&line->t->mutex);
}

void osla_mpi_line_close(osla_line **handle)
{
  osla_line *line = *handle;
  if (!line) return;
  osla_eager *e = line->t->eager;
  (void)pthread_mutex_lock(&line->t->mutex);
  for (uint64_t s = done(line); s < line->started; s++) { /* receives; of sends none is left */
    if (line->receives) (void)MPI_Cancel(request_of(line, s));
    (void)MPI_Wait(request_of(line, s), MPI_STATUS_IGNORE);
  }
  look_away(line);
  e->n_open--;
  (void)pthread_mutex_unlock(&line->t->mutex);
  free(line->requests);
  free(line);
  *handle = NULL;
}

static void count(osla_line *line)
{
  *request_of(line, done(line)) = MPI_REQUEST_NULL;
  atomic_store_explicit(line->done, done(line) + 1, memory_order_release);
  osla_pool_count(line->t->pool);
  if (!line->receives && done(line) == line->started) look_away(line);
}

bool osla_mpi_lines_look(osla_transport *t, MPI_Request *other, MPI_Status *status)
{
  const osla_eager *e = t->eager;
  int n = 1, which = MPI_UNDEFINED, over = 0;
  e->looked[0] = *other;
  for (; n <= e->n_lines; n++) {
    const osla_line *line = e->lines[n - 1];
    e->looked[n] = done(line) < line->started ? *request_of(line, done(line)) : MPI_REQUEST_NULL;
  }
  const int code = MPI_Testany(n, e->looked, &which, &over, status);
  if (code != MPI_SUCCESS)
    osla_transport_abort(t, osla_error_set_mpi(code, "MPI_Testany of messages"));
  if (!over || which == MPI_UNDEFINED) return false;
  if (which == 0)
    *other = MPI_REQUEST_NULL;
  else
    count(e->lines[which - 1]);
  return true;
}
