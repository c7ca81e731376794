/* Message lines.
 *
 * Each line has its own tag, and its requests form a ring, so messages complete in the order of
 * sending (MPI-3.1, section 3.5). A turn of progress tests the oldest requests of all lines
 * together with the receive of eager_receive.c, in one MPI call that polls the network once: 0.3 us
 * and about 6 ns for each line. */
#include "src/transport/mpi/eager_state.h"
#include "src/transport/mpi/region_mpi.h"
#include "src/transport/request_pool.h"

#include <limits.h>
#include <stdlib.h>

enum {
  MOST_BYTES = 1 << 30,
  MAX_LINES = 512 /* greatest number of message lines of one rank in one region */
};

/* ---- how often MPI polls the network in one call ---- */

/* When MPICH, or an MPI derived from it, tests many requests in one call, it polls the network
 * once, and again at each eighth request: 161 requests take 5.8 us instead of 1.2 us
 * (results/asynchronous). A control variable of MPI's tool interface (MPI-3.1, section 14.3)
 * sets that distance. The variable belongs to the program, so the library changes it only around
 * one call. Meanwhile calls of other threads may poll less, too. */
typedef struct poll_control {
  /* number of requests that MPI tests between two polls of the network in one call */
  MPI_T_cvar_handle variable;
  int default_value;
} poll_control;

static bool find_variable(poll_control *p)
{
  int index, count;
  if (MPI_T_cvar_get_index("MPIR_CVAR_REQUEST_POLL_FREQ", &index) != MPI_SUCCESS ||
      MPI_T_cvar_handle_alloc(index, NULL, &p->variable, &count) != MPI_SUCCESS)
    return false;
  if (count == 1 && MPI_T_cvar_read(p->variable, &p->default_value) == MPI_SUCCESS) return true;
  (void)MPI_T_cvar_handle_free(&p->variable);
  return false;
}

/* The variable is not used with Open MPI, which polls the network once in any case, and whose tool
 * interface takes milliseconds to start. */
#ifdef OPEN_MPI
enum { HAS_VARIABLE = 0 };
#else
enum { HAS_VARIABLE = 1 };
#endif

/* Opens the control variable. Returns NULL if MPI has no such variable, or if memory is lacking. */
static poll_control *open_poll_control(int thread_level)
{
  int provided;
  poll_control *p = HAS_VARIABLE ? malloc(sizeof *p) : NULL;
  if (!p) return NULL;
  if (MPI_T_init_thread(thread_level, &provided) == MPI_SUCCESS) {
    if (find_variable(p)) return p;
    (void)MPI_T_finalize();
  }
  free(p);
  return NULL;
}

static void set_poll_distance(const poll_control *p, int requests)
{
  if (p) (void)MPI_T_cvar_write(p->variable, &requests);
}

void osli_mpi_lines_init(const osla_transport *t, osla_eager *e)
{
  e->poll_control = open_poll_control(t->thread_level);
}

void osli_mpi_lines_free(osla_eager *e)
{
  if (e->poll_control) {
    (void)MPI_T_cvar_handle_free(&e->poll_control->variable);
    (void)MPI_T_finalize();
  }
  free(e->poll_control);
  free(e->lines);
  free(e->tested);
  free(e->statuses);
  free(e->over);
}

/* ---- message lines ---- */

struct osla_line {
  osla_transport *t;
  int peer, tag;
  bool receives, watched;
  int most;
  /* [most] requests; message s, counted from 0, has the request with index s mod most */
  MPI_Request *requests;
  uint64_t started;       /* number of started messages */
  _Atomic uint64_t *done; /* the caller's count of complete messages */
};

static bool is_tag(int64_t tag)
{
  int found = 0;
  const int *most = NULL;
  return MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &found) == MPI_SUCCESS && found &&
         tag <= *most;
}

static osla_err reserve_tables(osla_eager *e)
{
  const size_t n = (size_t)e->n_open + 2;
  osla_line **lines = realloc(e->lines, n * sizeof *lines);
  if (lines) e->lines = lines;
  MPI_Request *tested = realloc(e->tested, n * sizeof *tested);
  if (tested) e->tested = tested;
  MPI_Status *statuses = realloc(e->statuses, n * sizeof *statuses);
  if (statuses) e->statuses = statuses;
  int *over = realloc(e->over, n * sizeof *over);
  if (over) e->over = over;
  OSLA_CHECK(lines && tested && statuses && over, OSLA_ERR_MEM, "%d lines", e->n_open + 1);
  e->n_open++;
  return OSLA_OK;
}

osla_err osli_mpi_line_open(osla_region *region, const osla_line_end *end, osla_line **out)
{
  const int64_t tag = FIRST_LINE_TAG + (int64_t)region->number * MAX_LINES + end->number;
  *out = NULL;
  if (region->number < 0 || end->number >= MAX_LINES || end->bytes > MOST_BYTES || !is_tag(tag))
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
    err = reserve_tables(region->t->eager);
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

/* In Open MPI, MPI_Testsome tests the requests before it makes progress, so a message that arrives
 * during one progress turn is seen in the next turn. */
int osli_mpi_lines_idle_turns(const osla_transport *t)
{
#ifdef OPEN_MPI
  if (t->eager && t->eager->n_lines > 0) return 2;
#endif
  (void)t;
  return 1;
}

static void activate(osla_line *line)
{
  osla_eager *e = line->t->eager;
  e->lines[e->n_lines++] = line;
  e->tested[e->n_lines] = *request_of(line, done(line));
}

static void deactivate_at(osla_eager *e, int place)
{
  e->tested[1 + place] = e->tested[e->n_lines];
  e->lines[place] = e->lines[--e->n_lines];
}

static void deactivate(const osla_line *line)
{
  osla_eager *e = line->t->eager;
  for (int i = 0; i < e->n_lines; i++)
    if (e->lines[i] == line) deactivate_at(e, i);
}

osla_err osli_mpi_line_start(osla_line *line, void *message, size_t bytes)
{
  const int n = (int)bytes;
  (void)pthread_mutex_lock(&line->t->mutex);
  MPI_Request *r = request_of(line, line->started);
  const int code = line->receives
                     ? MPI_Irecv(message, n, MPI_BYTE, line->peer, line->tag, line->t->comm, r)
                     : MPI_Isend(message, n, MPI_BYTE, line->peer, line->tag, line->t->comm, r);
  if (code == MPI_SUCCESS && line->started++ == done(line) && line->watched) activate(line);
  (void)pthread_mutex_unlock(&line->t->mutex);
  if (code == MPI_SUCCESS) return OSLA_OK;
  return osla_error_set_mpi(code, line->receives ? "MPI_Irecv" : "MPI_Isend");
}

void osli_mpi_line_watch(osla_line *line, bool watched)
{
  (void)pthread_mutex_lock(&line->t->mutex);
  const bool changes = line->watched != watched && done(line) < line->started;
  line->watched = watched;
  if (changes && watched) activate(line);
  if (changes && !watched) deactivate(line);
  (void)pthread_mutex_unlock(&line->t->mutex);
}

void osli_mpi_line_close(osla_line **handle)
{
  osla_line *line = *handle;
  if (!line) return;
  osla_eager *e = line->t->eager;
  (void)pthread_mutex_lock(&line->t->mutex);
  /* a line is closed after all its sends have completed, so only receives can be under way */
  for (uint64_t s = done(line); s < line->started; s++) {
    if (line->receives) (void)MPI_Cancel(request_of(line, s));
    (void)MPI_Wait(request_of(line, s), MPI_STATUS_IGNORE);
  }
  deactivate(line);
  e->n_open--;
  (void)pthread_mutex_unlock(&line->t->mutex);
  free(line->requests);
  free(line);
  *handle = NULL;
}

/* Counts a completed message of a message line, and makes the line's next request the one that is
 * tested. Returns false if the line has no other request.
 */
static bool count_completed(osla_transport *t, int place)
{
  osla_eager *e = t->eager;
  osla_line *line = e->lines[place];
  atomic_store_explicit(line->done, done(line) + 1, memory_order_release);
  osli_pool_count_finished(t->pool);
  if (done(line) == line->started) return false;
  e->tested[1 + place] = *request_of(line, done(line));
  return true;
}

static void deactivate_idle(osla_eager *e)
{
  for (int i = e->n_lines - 1; i >= 0; i--)
    if (e->tested[1 + i] == MPI_REQUEST_NULL) deactivate_at(e, i);
}

bool osli_mpi_lines_test(osla_transport *t, MPI_Request *other, MPI_Status *status)
{
  osla_eager *e = t->eager;
  int n_over = 0;
  bool all_go_on = true;
  e->tested[0] = *other;
  set_poll_distance(e->poll_control, INT_MAX);
  const int code = MPI_Testsome(1 + e->n_lines, e->tested, &n_over, e->over, e->statuses);
  if (e->poll_control) set_poll_distance(e->poll_control, e->poll_control->default_value);
  if (code != MPI_SUCCESS)
    osla_transport_abort(t, osla_error_set_mpi(code, "MPI_Testsome of messages"));
  *other = e->tested[0];
  for (int k = 0; k < n_over; k++)
    if (e->over[k] == 0)
      *status = e->statuses[k];
    else if (!count_completed(t, e->over[k] - 1))
      all_go_on = false;
  if (!all_go_on) deactivate_idle(e);
  return n_over > 0;
}
