/* Lines: messages to a rank that says beforehand where each of them goes. See lines_mpi.h.
 *
 * Each has a tag of its own and its requests in a ring, so that its messages come in the order in
 * which they were sent (MPI-3.1, section 3.5). A turn of progress looks at the oldest requests of
 * up to LOOK lines, in turn, together with the receive that eager_take.c waits for: MPICH's
 * MPI_Testany polls the network once, and once more at each eighth request. So a turn costs what it
 * costs without lines, and a step of progress takes as many turns as it needs to look at all.
 *
 * Libraries tell of the first request that is over. So every other turn the receive comes last, and
 * the next line is the one behind the line of which there was news.
 */
#include "lines_mpi.h"
#include "eager_state.h"
#include "request_pool.h"

#include <stdlib.h>

enum { MOST_BYTES = 1 << 30, LINES = 512 /* of a rank and region */, LOOK = 6 };

struct osla_line {
  osla_transport *t;
  int peer, tag;
  bool receives, watched;
  int most;
  MPI_Request *requests;  /* [most] of message s, from 0 on, at s mod most */
  uint64_t started;       /* messages */
  _Atomic uint64_t *done; /* the caller's */
};

static bool is_tag(int64_t tag)
{
  int found = 0;
  const int *most = NULL;
  return MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &found) == MPI_SUCCESS && found &&
         tag <= *most;
}

static osla_err make_room(osla_eager *e)
{
  osla_line **lines = realloc(e->lines, ((size_t)e->n_open + 1) * sizeof *lines);
  OSLA_CHECK(lines, OSLA_ERR_MEM, "%d lines", e->n_open + 1);
  e->lines = lines;
  e->n_open++;
  return OSLA_OK;
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
                        .watched = true,
                        .most = end->most,
                        .requests = requests,
                        .done = end->done};
    (void)pthread_mutex_lock(&region->t->mutex);
    err = make_room(region->t->eager);
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

/* Open MPI's MPI_Testany looks first and makes progress then: the next turn sees what has come.
 */
#ifdef OPEN_MPI
enum { TURNS_BEHIND = 1 };
#else
enum { TURNS_BEHIND = 0 };
#endif

/* The number of lines with a request has changed. */
static void set_turns(osla_transport *t)
{
  const int turns = (t->eager->n_lines + LOOK - 1) / LOOK + TURNS_BEHIND;
  const int most = turns < MOST_TURNS ? turns : MOST_TURNS;
  const int more = t->eager->n_lines > 0 ? most - 1 : 0;
  atomic_store_explicit(&t->more_turns, more, memory_order_relaxed);
}

static void enter(osla_line *line)
{
  osla_eager *e = line->t->eager;
  e->lines[e->n_lines++] = line;
  set_turns(line->t);
}

static void leave(osla_transport *t, int place)
{
  osla_eager *e = t->eager;
  e->lines[place] = e->lines[--e->n_lines];
  set_turns(t);
}

static void look_away(osla_line *line)
{
  const osla_eager *e = line->t->eager;
  for (int i = 0; i < e->n_lines; i++)
    if (e->lines[i] == line) leave(line->t, i);
}

osla_err osla_mpi_line_start(osla_line *line, void *message, size_t bytes)
{
  const int n = (int)bytes;
  (void)pthread_mutex_lock(&line->t->mutex);
  MPI_Request *r = request_of(line, line->started);
  const int code = line->receives
                     ? MPI_Irecv(message, n, MPI_BYTE, line->peer, line->tag, line->t->comm, r)
                     : MPI_Isend(message, n, MPI_BYTE, line->peer, line->tag, line->t->comm, r);
  if (code == MPI_SUCCESS && line->started++ == done(line) && line->watched) enter(line);
  (void)pthread_mutex_unlock(&line->t->mutex);
  if (code == MPI_SUCCESS) return OSLA_OK;
  return osla_error_set_mpi(code, line->receives ? "MPI_Irecv" : "MPI_Isend");
}

void osla_mpi_line_watch(osla_line *line, bool watched)
{
  (void)pthread_mutex_lock(&line->t->mutex);
  const bool changes = line->watched != watched && done(line) < line->started;
  line->watched = watched;
  if (changes && watched) enter(line);
  if (changes && !watched) look_away(line);
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

/* The oldest request of the next line is over. */
static void count(osla_transport *t)
{
  osla_eager *e = t->eager;
  osla_line *line = e->lines[e->next_line];
  *request_of(line, done(line)) = MPI_REQUEST_NULL;
  atomic_store_explicit(line->done, done(line) + 1, memory_order_release);
  osla_pool_count(t->pool);
  if (done(line) < line->started)
    e->next_line++;
  else
    leave(t, e->next_line);
}

bool osla_mpi_lines_look(osla_transport *t, MPI_Request *other, MPI_Status *status)
{
  osla_eager *e = t->eager;
  MPI_Request looked[LOOK + 1];
  const int n = e->n_lines < LOOK ? e->n_lines : LOOK;
  const bool has_other = *other != MPI_REQUEST_NULL;
  const int others = !has_other ? -1 : e->lines_first ? n : 0; /* place */
  const int first = others == 0 ? 1 : 0;                       /* place of a line */
  int which = MPI_UNDEFINED, over = 0;
  e->lines_first = !e->lines_first;
  if (has_other) looked[others] = *other;
  for (int k = 0; k < n; k++) {
    const osla_line *line = e->lines[(e->next_line + k) % e->n_lines];
    looked[first + k] = *request_of(line, done(line));
  }
  const int code = MPI_Testany(n + has_other, looked, &which, &over, status);
  if (code != MPI_SUCCESS)
    osla_transport_abort(t, osla_error_set_mpi(code, "MPI_Testany of messages"));
  over = over && which != MPI_UNDEFINED;
  if (over && which == others) {
    *other = MPI_REQUEST_NULL;
    return true;
  }
  e->next_line = (e->next_line + (over ? which - first : n)) % e->n_lines;
  if (over) count(t);
  return over;
}
