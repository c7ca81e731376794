/* State attached to a BLACS context: transport, grids, and buffers for copies.
 *
 * BLACS has one communicator for the processes of each context. The state is an attribute of this
 * communicator, and the attribute's delete callback frees it: BLACS frees the communicator in
 * gridexit, so that a context number that is reused never finds old state. The communicator comes
 * from the Fortran entry blacs_get_, because the C entry Cblacs_get would add it to the table of
 * the user's handles.
 *
 * Creating the state takes longer than many programs spend in a context (dozens of collective
 * calls, new memory). Therefore the state of some contexts is cached for the next context of the
 * same processes. Each cached state serves at most one context at a time, since two contexts may be
 * used in any order. The processes agree on caching when the state is created, and on its reuse
 * when a context takes it; closing a context whose state is cached is local.
 *
 * Processes may leave their contexts in different orders. On one node, freeing is local, too.
 * Between nodes MPI frees windows collectively: there the state of every context is cached until
 * the next context of the same processes or until MPI_Finalize (unless several threads make
 * calls).
 */
#include "scalapack_adapt/adapt.h"

#include "osla_log.h"
#include "src/base/hash.h"
#include "src/transport/probe.h"

#include <stdlib.h>
#include <string.h>

enum { BUFFERS = 8, ROUND = 1 << 16, GET_CONTEXT_COMM = 10 };
enum {
  MOST_CACHED = 8,
  MOST_CACHED_BYTES = 8 << 20
}; /* largest number of states cached on a process, and of bytes of buffers in each state */
enum { CACHE_MOST = 1 << 30, CACHE_SHARE = 8 };

struct adapt_context {
  MPI_Comm comm; /* BLACS's communicator; MPI_COMM_NULL while the state is cached */
  /* creation number, the same on all processes; a newer context has a larger number */
  int64_t number;
  bool cached;
  osla_transport *transport;
  osla_device *device; /* device for offloaded calls; NULL until a call needs it */
  osla_grid *grid;
  size_t cache;        /* limit in bytes of idle copy buffers, the same on all processes */
  bool crowded, waits; /* results of adapt_context_crowded and adapt_context_waits */
  /* [nprow * npcol] grids, indexed by the position in the context that is position (0, 0) of the
   * grid; NULL if not made yet */
  osla_grid **shifted;
  adapt_buffer buffers[BUFFERS];
  uint64_t uses;
  int n_without; /* number of calls that did without an optional buffer, see adapt_buffer_pays */
  struct adapt_context *older;
};

typedef void blacs_gridinfo(const int *context, int *nprow, int *npcol, int *prow, int *pcol);
typedef void blacs_get(const int *context, const int *what, int *value);

/* --- buffers --- */

static adapt_buffer *oldest_idle(adapt_context *x)
{
  adapt_buffer *oldest = NULL;
  for (int i = 0; i < BUFFERS; i++) {
    adapt_buffer *b = &x->buffers[i];
    if (b->segment && !b->used && (!oldest || b->last < oldest->last)) oldest = b;
  }
  return oldest;
}

static void drop(adapt_buffer *buffer)
{
  osla_segment_destroy(&buffer->segment);
  buffer->bytes = 0;
}

static size_t bytes_of(const adapt_context *x)
{
  size_t total = 0;
  for (int i = 0; i < BUFFERS; i++)
    total += x->buffers[i].bytes;
  return total;
}

/* Frees the least recently used buffers until a buffer of `bytes` fits under the limit. */
static void make_room(adapt_context *x, size_t bytes)
{
  size_t cap = x->cache;
  for (;;) {
    size_t total = bytes_of(x);
    adapt_buffer *oldest = oldest_idle(x);
    if (!oldest || (total <= cap && bytes <= cap - total)) return;
    drop(oldest);
  }
}

static adapt_buffer *smallest_that_fits(adapt_context *x, size_t bytes)
{
  adapt_buffer *best = NULL;
  for (int i = 0; i < BUFFERS; i++) {
    adapt_buffer *b = &x->buffers[i];
    if (b->segment && !b->used && b->bytes >= bytes && (!best || b->bytes < best->bytes)) best = b;
  }
  return best;
}

static adapt_buffer *free_slot(adapt_context *x)
{
  for (int i = 0; i < BUFFERS; i++)
    if (!x->buffers[i].segment) return &x->buffers[i];
  adapt_buffer *oldest = oldest_idle(x);
  if (oldest) drop(oldest);
  return oldest;
}

osla_err adapt_buffer_acquire(adapt_context *x, size_t bytes, adapt_buffer **out)
{
  adapt_buffer *b = smallest_that_fits(x, bytes);
  *out = NULL;
  if (!b) {
    OSLA_CHECK(bytes < SIZE_MAX - ROUND, OSLA_ERR_MEM, "a copy of more bytes than fit a size_t");
    bytes = (bytes + ROUND - 1) / ROUND * ROUND;
    make_room(x, bytes);
    b = free_slot(x);
    OSLA_CHECK(b, OSLA_ERR_MEM, "more than %d copies at a time", BUFFERS);
    OSLA_CALL(osla_segment_create(x->transport, bytes, 0, &b->segment));
    b->bytes = bytes;
  }
  b->used = true;
  *out = b;
  return OSLA_OK;
}

void adapt_buffer_release(adapt_context *x, adapt_buffer *buffer)
{
  buffer->used = false;
  buffer->last = ++x->uses;
  make_room(x, 0);
}

bool adapt_buffer_pays(adapt_context *x, size_t bytes)
{
  enum { OFTEN = 2 };
  if (bytes > x->cache) return false; /* a buffer of this size would not be cached */
  return smallest_that_fits(x, bytes) || ++x->n_without > OFTEN;
}

/* --- contexts --- */

bool adapt_position_of(const adapt_caller *caller, int context, adapt_position *position)
{
  blacs_gridinfo *gridinfo = (blacs_gridinfo *)caller->gridinfo;
  if (!gridinfo || context < 0) return false;
  position->context = context;
  position->caller = caller;
  gridinfo(&context, &position->nprow, &position->npcol, &position->prow, &position->pcol);
  return position->nprow > 0 && position->npcol > 0 && position->prow >= 0 && position->pcol >= 0;
}

static MPI_Comm comm_of(const adapt_position *position)
{
  blacs_get *get = (blacs_get *)position->caller->get;
  int what = GET_CONTEXT_COMM, handle = 0, size = 0;
  if (!get) return MPI_COMM_NULL;
  get(&position->context, &what, &handle);
  MPI_Comm comm = MPI_Comm_f2c(handle);
  if (comm == MPI_COMM_NULL || MPI_Comm_size(comm, &size) != MPI_SUCCESS) return MPI_COMM_NULL;
  return size == position->nprow * position->npcol ? comm : MPI_COMM_NULL;
}

static void destroy_grids(adapt_context *x)
{
  for (int i = 0; x->shifted && i < osla_grid_nprow(x->grid) * osla_grid_npcol(x->grid); i++)
    osla_grid_destroy(&x->shifted[i]);
  free(x->shifted);
  x->shifted = NULL;
  osla_grid_destroy(&x->grid);
}

static void destroy(adapt_context *x)
{
  adapt_lock();
  adapt_context **at = &adapt_registry_get()->newest;
  while (*at && *at != x)
    at = &(*at)->older;
  if (*at) *at = x->older;
  adapt_unlock();
  for (int i = 0; i < BUFFERS; i++)
    drop(&x->buffers[i]);
  destroy_grids(x);
  osla_device_close(&x->device);
  osla_transport_destroy(&x->transport);
  free(x);
}

static int delete_context(MPI_Comm comm, int keyval, void *value, void *extra)
{
  adapt_context *x = value;
  (void)comm, (void)keyval, (void)extra;
  x->comm = MPI_COMM_NULL;
  bool waits =
    adapt_registry_get()->caches && x->shifted && osla_transport_n_nodes(x->transport) > 1;
  if (!waits && (!x->cached || !x->shifted || bytes_of(x) > MOST_CACHED_BYTES)) destroy(x);
  return MPI_SUCCESS;
}

/* Called by MPI_Finalize, which first deletes the attributes of MPI_COMM_SELF, while MPI still
 * works. */
static int finish(MPI_Comm comm, int keyval, void *value, void *extra)
{
  /* needs no lock, since only one thread calls MPI_Finalize */
  adapt_registry *r = adapt_registry_get();
  int rank = 0;
  (void)comm, (void)keyval, (void)value, (void)extra;
  while (r->newest) { /* all processes free their contexts in the same order, by number */
    r->newest->cached = false;
    if (r->newest->comm == MPI_COMM_NULL)
      destroy(r->newest);
    else
      (void)MPI_Comm_delete_attr(r->newest->comm, r->keyval);
  }
  (void)MPI_Comm_free_keyval(&r->keyval);
  (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) adapt_report(adapt_settings_get()->verbose);
  return MPI_SUCCESS;
}

static bool make_keyvals(adapt_registry *r)
{
  int keyval, level;
  if (MPI_Query_thread(&level) != MPI_SUCCESS) return false;
  r->caches = level < MPI_THREAD_MULTIPLE;
  if (MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finish, &keyval, NULL) != MPI_SUCCESS)
    return false;
  if (MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL) != MPI_SUCCESS) return false;
  (void)MPI_Comm_free_keyval(&keyval); /* MPI keeps the key value as long as an attribute uses it */
  return MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_context, &r->keyval, NULL) ==
         MPI_SUCCESS;
}

bool adapt_finish_register(void)
{
  adapt_registry *r = adapt_registry_get();
  int started = 0;
  (void)MPI_Initialized(&started);
  adapt_lock(); /* no attribute exists yet, so MPI cannot call back */
  if (!r->made && started) r->made = make_keyvals(r);
  bool made = r->made;
  adapt_unlock();
  return made;
}

/* Sets the members `crowded` and `waits`: whether processes outnumber cores, and whether a get or
 * put between nodes waits while its target computes. */
static osla_err measure_machine(adapt_context *x)
{
  /* the target computes for 5e-3 s; a transfer of more than 1e-3 s counts as waiting */
  static const double busy = 5e-3, most = 1e-3;
  osla_transport *t = x->transport;
  int other = 1, crowded = osla_transport_oversubscribed(t);
  double get, put;
  OSLA_CALL(osla_allreduce(t, &crowded, 1, MPI_INT, MPI_MAX));
  x->crowded = crowded;
  if (osla_transport_n_nodes(t) == 1 || x->crowded) return OSLA_OK;
  while (osla_transport_node_of(t, other) == osla_transport_node_of(t, 0))
    other++;
  const osla_probe_pair pair = {0, other, busy};
  OSLA_CALL(osli_probe_passive(t, &pair, &get, &put));
  x->waits = get > most || put > most;
  return OSLA_OK;
}

/* Checks that the settings that decide on offloading are the same on all processes. */
static osla_err compare_settings(osla_transport *t)
{
  static const char *const names[] = {" or OSLA_SCALAPACK_MIN_FLOPS", "_BLOCK", "_CACHE", "_DEVICE",
                                      "_DEVICE_MIN"};
  const adapt_settings *s = adapt_settings_get();
  const uint32_t device =
    s->device ? (uint32_t)hash_extend(HASH_OF_NO_BYTES, s->device, strlen(s->device)) : 0;
  double here[] = {s->min_flops, (double)s->block, (double)s->cache, device, s->device_min};
  enum { COUNT = sizeof here / sizeof *here };
  double range[2 * COUNT]; /* minima of the settings, then minima of the negated settings */
  for (int i = 0; i < COUNT; i++) {
    range[i] = here[i];
    range[COUNT + i] = -here[i];
  }
  OSLA_CALL(osla_allreduce(t, range, 2 * COUNT, MPI_DOUBLE, MPI_MIN));
  for (int i = 0; i < COUNT; i++)
    OSLA_CHECK(range[i] == -range[COUNT + i], OSLA_ERR_ARG,
               "processes have different values of OSLA_SCALAPACK%s", names[i]);
  return OSLA_OK;
}

/* Limit of idle copy buffers: the user's setting, or without one a fraction of the memory
 * available to each process, since a node may have many processes. */
static size_t cache_of(const osla_transport *t)
{
  size_t cache = adapt_settings_get()->cache;
  if (cache != ADAPT_CACHE_UNSET) return cache;
  uint64_t part = osla_transport_memory_share(t) / CACHE_SHARE;
  return part < CACHE_MOST ? (size_t)part : CACHE_MOST;
}

static osla_err make_grids(adapt_context *x, const adapt_position *position)
{
  OSLA_CALL(osla_grid_create_at(x->transport, position->nprow, position->npcol, position->prow,
                                position->pcol, &x->grid));
  x->shifted = calloc((size_t)(position->nprow * position->npcol), sizeof *x->shifted);
  return osla_agree(
    x->transport, x->shifted ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "grids of a BLACS context"));
}

static osla_err make(adapt_context *x, const adapt_position *position)
{
  /* the transport is "mpi", because ScaLAPACK programs run on MPI only */
  static const osla_transport_options options = {.transport = "mpi"};
  OSLA_CALL(osla_transport_create(x->comm, &options, &x->transport));
  OSLA_CALL(compare_settings(x->transport));
  x->cache = cache_of(x->transport);
  OSLA_CALL(measure_machine(x));
  return make_grids(x, position);
}

/* The oldest cached state for the processes of comm in the same order; NULL if there is none. */
static adapt_context *find_cached(MPI_Comm comm)
{
  adapt_context *oldest = NULL;
  const adapt_registry *r = adapt_registry_get();
  for (adapt_context *x = r->caches ? r->newest : NULL; x; x = x->older) {
    int relation = MPI_UNEQUAL;
    if (x->comm != MPI_COMM_NULL) continue;
    (void)MPI_Comm_compare(comm, osla_transport_comm(x->transport), &relation);
    if (relation == MPI_CONGRUENT) oldest = x;
  }
  return oldest;
}

static bool is_at(const adapt_context *x, const adapt_position *position)
{
  return osla_grid_nprow(x->grid) == position->nprow &&
         osla_grid_npcol(x->grid) == position->npcol && osla_grid_prow(x->grid) == position->prow &&
         osla_grid_pcol(x->grid) == position->pcol;
}

/* Result of the agreement between the processes of a new context. */
typedef struct agreement {
  adapt_context *cached; /* cached state that all processes found, or NULL */
  bool same_positions;   /* true if the cached state has the same process grid as the new context */
  int64_t number;        /* for a new state: its number, and whether it can be cached */
  bool keep;
} agreement;

static bool agree(MPI_Comm comm, const adapt_position *position, agreement *out)
{
  adapt_registry *r = adapt_registry_get();
  int64_t count = 0, number;
  *out = (agreement){.cached = find_cached(comm)};
  for (const adapt_context *x = r->caches ? r->newest : NULL; x; x = x->older)
    count += x->cached;
  if (!r->caches) count = MOST_CACHED;
  number = out->cached ? out->cached->number : 0;
  int64_t least[] = {number, -number, out->cached && is_at(out->cached, position), -r->contexts,
                     -count};
  if (MPI_Allreduce(MPI_IN_PLACE, least, sizeof least / sizeof least[0], MPI_INT64_T, MPI_MIN,
                    comm) != MPI_SUCCESS)
    return false;
  if (least[0] != -least[1]) out->cached = NULL;
  out->same_positions = least[2];
  out->number = 1 - least[3];
  out->keep = -least[4] < MOST_CACHED;
  return true;
}

adapt_context *adapt_context_of(const adapt_position *position)
{
  adapt_registry *r = adapt_registry_get();
  MPI_Comm comm = comm_of(position);
  adapt_context *x = NULL;
  agreement agreed;
  int found = 0, here, ready;
  if (!adapt_finish_register() || comm == MPI_COMM_NULL) return NULL;
  if (MPI_Comm_get_attr(comm, r->keyval, &x, &found) == MPI_SUCCESS && found)
    return x->shifted ? x : NULL;

  if (!agree(comm, position, &agreed)) return NULL;
  x = agreed.cached ? agreed.cached : calloc(1, sizeof *x);
  here = ready = x && MPI_Comm_set_attr(comm, r->keyval, x) == MPI_SUCCESS;
  if (MPI_Allreduce(MPI_IN_PLACE, &ready, 1, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS || !ready) {
    if (here)
      (void)MPI_Comm_delete_attr(comm, r->keyval);
    else if (!agreed.cached)
      free(x);
    return NULL;
  }
  x->comm = comm;
  if (agreed.cached && agreed.same_positions) return x;
  destroy_grids(x);
  if (!agreed.cached) {
    adapt_lock();
    x->number = r->contexts = agreed.number;
    x->cached = agreed.keep;
    x->older = r->newest;
    r->newest = x;
    adapt_unlock();
  }
  if ((agreed.cached ? make_grids(x, position) : make(x, position)) == OSLA_OK) return x;
  if (position->prow == 0 && position->pcol == 0)
    osla_log(0, "a BLACS context cannot be used: %s", osla_error_text());
  free(x->shifted);
  x->shifted = NULL;
  return NULL;
}

osla_transport *adapt_context_transport(const adapt_context *context)
{
  return context->transport;
}

osla_device **adapt_context_device(adapt_context *context)
{
  return &context->device;
}

bool adapt_context_crowded(const adapt_context *context)
{
  return context->crowded;
}

bool adapt_context_waits(const adapt_context *context)
{
  return context->waits;
}

osla_grid *adapt_context_grid(adapt_context *x, int prow, int pcol)
{
  osla_grid **grid = &x->shifted[prow * osla_grid_npcol(x->grid) + pcol];
  if (!*grid && osla_grid_shift(x->grid, prow, pcol, grid) != OSLA_OK) return NULL;
  return *grid;
}
