#include "tests/kernels/forest_model.h"

#include "osla_random.h"
#include "src/device/device.h"

#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MARGIN = 128 }; /* bytes of known content before and after the vertices */

/* ---- memory of the arrays ---- */

model_memory model_memory_make(osla_transport *t, size_t bytes)
{
  model_memory m = {.transport = t, .size = bytes + 1000 * (size_t)osla_test_rank()};
  OSLA_ASSERT_OK(osla_vertices_create(t, m.size, &m.vertices));
  m.bytes = m.vertices;
  if (getenv("OSLA_TEST_VALUES")) {
    const osla_device_options options = {.kind = "fake"};
    const char *fault = getenv("OSLA_TEST_DEVICE_FAULT");
    osli_device_faults = fault ? atoi(fault) : 0;
    OSLA_ASSERT_OK(osla_device_open(t, &options, &m.device));
    OSLA_ASSERT_OK(osla_vertices_create_on(m.device, m.size, &m.on_device));
  }
  return m;
}

model_memory model_memory_over(void *bytes, size_t size)
{
  return (model_memory){.bytes = bytes, .size = size};
}

void model_memory_free(model_memory *memory)
{
  if (memory->transport) OSLA_ASSERT_OK(osla_vertices_free(memory->transport, &memory->vertices));
  CU_ASSERT(memory->vertices == NULL);
  if (memory->device) OSLA_ASSERT_OK(osla_vertices_free(memory->transport, &memory->on_device));
  osla_device_close(&memory->device);
}

void *model_first(const model_values *values)
{
  return values->n > 0 ? values->bytes + values->first : NULL;
}

static int64_t stride_of(osla_unit unit)
{
  return unit.stride ? unit.stride : (int64_t)model_size(unit.type) * unit.count;
}

/* True if the array of a trial that this seed fills must lie on a device. */
static bool is_on_device(const model_memory *memory, osla_unit unit, uint64_t seed)
{
  if (!memory->device || unit.type == OSLA_UNIT_LONG_DOUBLE) return false;
  return strcmp(getenv("OSLA_TEST_VALUES"), "mixed") != 0 ||
         (osla_random_bits(seed, (uint64_t)osla_test_rank(), 99) & 1);
}

static char *device_bytes(const model_memory *memory, size_t size)
{
  void *bytes = NULL;
  if (!OSLA_ASSERT_OK(osli_device_alloc(osli_device_of(memory->on_device), size, false, &bytes)))
    abort();
  return bytes;
}

/* Copies the contents of v->copy to an array in host memory, or, for an array on a device, to
 * v->queued, from where values_queue fills the array by queued work. */
static void values_put(const model_values *v)
{
  if (v->queued)
    osli_device_copy_bytes(v->size, v->copy, v->queued);
  else
    memcpy(v->bytes, v->copy, v->size);
}

static void values_queue(const model_values *v)
{
  if (v->queued) osli_device_copy_bytes(v->size, v->queued, v->bytes);
}

static void values_set(const model_values *v, char byte)
{
  char *bytes = v->queued ? osla_test_allocate(v->size, 1) : v->bytes;
  memset(bytes, byte, v->size);
  if (!v->queued) return;
  osli_device_copy_bytes(v->size, bytes, v->bytes);
  free(bytes);
}

/* Allocates an array. Vertex 0 has a random offset that is aligned for its type. */
static model_values values_take(model_memory *memory, osla_unit unit, int64_t n, bool in,
                                uint64_t seed)
{
  const bool on_device = is_on_device(memory, unit, seed);
  model_values v = {.n = n, .mine = !in};
  size_t shift = (size_t)osla_test_choose(seed, 77, 4) * model_align(unit.type);
  v.first = MARGIN + shift;
  v.size = (v.first + (size_t)(n * stride_of(unit)) + MARGIN + 63) / 64 * 64;
  v.copy = osla_test_allocate(v.size, 1);
  if (in) {
    v.bytes = (on_device ? (char *)memory->on_device : memory->bytes) + memory->used;
    memory->used += v.size;
    if (!OSLA_ASSERT_MSG(memory->used <= memory->size, "the test needs more memory")) abort();
  } else {
    v.bytes = on_device ? device_bytes(memory, v.size) : osla_test_allocate(v.size, 1);
  }
  if (on_device) v.queued = device_bytes(memory, v.size);
  for (size_t i = 0; i < v.size; i++)
    v.copy[i] = (char)osla_test_byte((int64_t)(seed % 1000), i);
  return v;
}

/* ---- trials: one transfer and its check ---- */

enum { ROOTS, LEAVES, BEFORE };

static bool is_in(const model_trial *trial, int which)
{
  switch (trial->place) {
    case MODEL_ROOTS_IN: return which == ROOTS;
    case MODEL_LEAVES_IN: return which != ROOTS;
    case MODEL_ALL_IN: return true;
    case MODEL_MIXED:
      return osla_random_bits(trial->seed, (uint64_t)osla_test_rank(), (uint64_t)which) & 1;
    default: return false;
  }
}

static char *vertex(char *bytes, const model_values *v, osla_unit unit, int64_t at)
{
  return bytes + v->first + at * stride_of(unit);
}

static model_value drawn(const model_trial *t, uint64_t seed, int rank, int64_t at, int k)
{
  uint64_t i = (uint64_t)rank << 32 | (uint64_t)at;
  return model_draw(t->unit.type, t->combine, seed, i, (uint64_t)k);
}

static void fill_roots(model_trial *t, model_memory *memory)
{
  int64_t n = model_mine(t->graph)->n_roots;
  t->roots_seed = 2 * t->seed;
  t->roots = values_take(memory, t->unit, n, is_in(t, ROOTS), t->roots_seed);
  for (int64_t i = 0; i < n; i++)
    for (int k = 0; k < t->unit.count; k++)
      model_store(t->unit.type, vertex(t->roots.copy, &t->roots, t->unit, i), k,
                  drawn(t, t->roots_seed, osla_test_rank(), i, k));
  values_put(&t->roots);
}

static void fill_leaves(model_trial *t, model_memory *memory)
{
  const model_share *s = model_mine(t->graph);
  t->leaves_seed = 2 * t->seed + 1;
  t->leaves = values_take(memory, t->unit, s->leaf_space, is_in(t, LEAVES), t->leaves_seed);
  for (int64_t e = 0; e < s->n_edges; e++)
    for (int k = 0; k < t->unit.count; k++)
      model_store(t->unit.type, vertex(t->leaves.copy, &t->leaves, t->unit, s->leaf[e]), k,
                  drawn(t, t->leaves_seed, osla_test_rank(), s->leaf[e], k));
  values_put(&t->leaves);
}

void model_fill_from(model_trial *trial, model_memory *memory, const model_trial *other)
{
  trial->borrowed = other != NULL;
  if (other && trial->op == MODEL_BCAST) {
    trial->roots = other->roots;
    trial->roots_seed = other->roots_seed;
  } else {
    fill_roots(trial, memory);
  }
  if (other && trial->op != MODEL_BCAST) {
    trial->leaves = other->leaves;
    trial->leaves_seed = other->leaves_seed;
  } else {
    fill_leaves(trial, memory);
  }
  if (trial->op == MODEL_FETCH) {
    trial->before =
      values_take(memory, trial->unit, trial->leaves.n, is_in(trial, BEFORE), trial->seed);
    values_put(&trial->before);
  }
  if (!other || trial->op != MODEL_BCAST) values_queue(&trial->roots);
  if (!other || trial->op == MODEL_BCAST) values_queue(&trial->leaves);
  values_queue(&trial->before);
}

void model_fill(model_trial *trial, model_memory *memory)
{
  model_fill_from(trial, memory, NULL);
}

osla_err model_begin(model_trial *t)
{
  void *roots = model_first(&t->roots), *leaves = model_first(&t->leaves);
  switch (t->op) {
    case MODEL_BCAST:
      return osla_forest_bcast_begin(t->forest, t->unit, roots, leaves, t->combine, &t->run);
    case MODEL_REDUCE:
      return osla_forest_reduce_begin(t->forest, t->unit, leaves, roots, t->combine, &t->run);
    default:
      return osla_forest_fetch_begin(t->forest, t->unit, roots, leaves, model_first(&t->before),
                                     t->combine, &t->run);
  }
}

void model_start(model_trial *t)
{
  if (model_begin(t) == OSLA_OK) return;
  fprintf(stderr, "test: a transfer was not begun: %s\n", osla_error_text());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

osla_err model_transfer(model_trial *t)
{
  void *roots = model_first(&t->roots), *leaves = model_first(&t->leaves);
  switch (t->op) {
    case MODEL_BCAST: return osla_forest_bcast(t->forest, t->unit, roots, leaves, t->combine);
    case MODEL_REDUCE: return osla_forest_reduce(t->forest, t->unit, leaves, roots, t->combine);
    default:
      return osla_forest_fetch(t->forest, t->unit, roots, leaves, model_first(&t->before),
                               t->combine);
  }
}

/* ---- comparison with the result of a serial program ---- */

/* The actual content (member `is`) and the expected content (member `was`) of an array. After a
 * number is compared, it is cleared in both contents, and all remaining bytes are then compared. */
typedef struct comparison {
  const model_trial *trial;
  const model_values *values;
  const char *what;
  char *is, *was;
  int64_t bad, first_bad;
} comparison;

static comparison compare_open(const model_trial *t, const model_values *v, const char *what)
{
  comparison c = {.trial = t, .values = v, .what = what, .first_bad = -1};
  c.is = osla_test_allocate(v->size, 1);
  c.was = osla_test_allocate(v->size, 1);
  if (v->queued)
    osli_device_copy_bytes(v->size, v->bytes, c.is);
  else
    memcpy(c.is, v->bytes, v->size);
  memcpy(c.was, v->copy, v->size);
  return c;
}

static void compare_number(comparison *c, int64_t at, int k, model_value expected)
{
  osla_unit unit = c->trial->unit;
  size_t size = model_size(unit.type);
  char *is = vertex(c->is, c->values, unit, at), *was = vertex(c->was, c->values, unit, at);
  if (!model_equal(model_load(unit.type, is, k), expected)) {
    c->bad++;
    if (c->first_bad < 0) c->first_bad = at;
  }
  memset(is + (size_t)k * size, 0, size);
  memset(was + (size_t)k * size, 0, size);
}

static bool compare_close(comparison *c)
{
  static const char *const ops[] = {"bcast", "reduce", "fetch"};
  const model_trial *t = c->trial;
  size_t at = 0;
  while (at < c->values->size && c->is[at] == c->was[at])
    at++;
  bool held = OSLA_ASSERT_MSG(
    c->bad == 0 && at == c->values->size,
    "%s of %s x %d, stride %" PRId64 ", by %s, graph \"%s\", place %d, seed %" PRIu64
    ": %s: %" PRId64 " numbers differ, first in vertex %" PRId64 " of %" PRId64 "; byte %" PRId64
    " of %zu changed, vertex 0 is at %zu",
    ops[t->op], model_type_name(t->unit.type), t->unit.count, t->unit.stride,
    model_combine_name(t->combine), t->graph->name, t->place, t->seed, c->what, c->bad,
    c->first_bad, c->values->n, at < c->values->size ? (int64_t)at : -1, c->values->size,
    c->values->first);
  free(c->is);
  free(c->was);
  return held;
}

static bool check_unchanged(const model_trial *t, const model_values *v, const char *what)
{
  comparison c = compare_open(t, v, what);
  return compare_close(&c);
}

static bool check_leaves(const model_trial *t)
{
  const model_share *s = model_mine(t->graph);
  comparison c = compare_open(t, &t->leaves, "leaves");
  for (int64_t e = 0; e < s->n_edges; e++)
    for (int k = 0; k < t->unit.count; k++) {
      model_value root = drawn(t, t->roots_seed, s->root[e].rank, s->root[e].index, k);
      model_value old = drawn(t, t->leaves_seed, osla_test_rank(), s->leaf[e], k);
      compare_number(&c, s->leaf[e], k, model_combine(t->unit.type, t->combine, old, root));
    }
  return compare_close(&c);
}

/* Computes the values of all ranks' roots by combining all edges in the documented order, and
 * compares this rank's roots with them. */
static bool check_roots(const model_trial *t)
{
  const model_graph *g = t->graph;
  int me = osla_test_rank(), count = t->unit.count;
  model_value **root = osla_test_allocate((size_t)g->size, sizeof *root);
  for (int q = 0; q < g->size; q++) {
    root[q] = osla_test_allocate((size_t)g->of[q].n_roots * (size_t)count, sizeof **root);
    for (int64_t i = 0; i < g->of[q].n_roots * count; i++)
      root[q][i] = drawn(t, t->roots_seed, q, i / count, (int)(i % count));
  }
  comparison before = {0};
  if (t->op == MODEL_FETCH) before = compare_open(t, &t->before, "before");
  for (int p = 0; p < g->size; p++)
    for (int64_t i = 0; i < g->of[p].n_edges * count; i++) {
      int64_t e = i / count, leaf = g->of[p].leaf[e];
      int k = (int)(i % count);
      model_value *r = &root[g->of[p].root[e].rank][g->of[p].root[e].index * count + k];
      if (t->op == MODEL_FETCH && p == me) compare_number(&before, leaf, k, *r);
      *r = model_combine(t->unit.type, t->combine, *r, drawn(t, t->leaves_seed, p, leaf, k));
    }
  comparison c = compare_open(t, &t->roots, "roots");
  for (int64_t i = 0; i < g->of[me].n_roots * count; i++)
    compare_number(&c, i / count, (int)(i % count), root[me][i]);
  bool held = compare_close(&c);
  if (t->op == MODEL_FETCH) held &= compare_close(&before);
  for (int q = 0; q < g->size; q++)
    free(root[q]);
  free(root);
  return held;
}

bool model_check(const model_trial *t)
{
  bool bcast = t->op == MODEL_BCAST;
  bool held = bcast ? check_leaves(t) : check_roots(t);
  if (!t->spoiled) held &= check_unchanged(t, bcast ? &t->roots : &t->leaves, "what is read");
  return held;
}

void model_spoil(model_trial *t)
{
  model_values *read = t->op == MODEL_BCAST ? &t->roots : &t->leaves;
  values_set(read, 0x55);
  t->spoiled = true;
}

static void values_drop(model_values *v)
{
  if (v->bytes) values_set(v, 0x33); /* a rank that reads too late then gets wrong values */
  osli_device_free(v->queued);
  if (v->mine) osli_free_like(v->bytes);
  free(v->copy);
  *v = (model_values){0};
}

void model_drop(model_trial *t)
{
  bool bcast = t->op == MODEL_BCAST;
  if (!(t->borrowed && bcast)) values_drop(&t->roots);
  if (!(t->borrowed && !bcast)) values_drop(&t->leaves);
  values_drop(&t->before);
}

void model_check_all(model_trial *trials, int n)
{
  for (int i = 0; i < n; i++)
    (void)model_check(&trials[i]);
  for (int i = n - 1; i >= 0; i--)
    model_drop(&trials[i]);
}

void model_run(model_trial trial, model_memory *memory)
{
  model_fill(&trial, memory);
  if (trial.seed % 4 == 3) {
    OSLA_ASSERT_OK(model_transfer(&trial));
  } else {
    model_start(&trial);
    OSLA_ASSERT_OK(osla_forest_end(&trial.run));
  }
  model_check_all(&trial, 1);
  memory->used = 0;
}

/* ---- cases that tests share ---- */

model_case model_case_on(osla_transport *t, model_kind kind, size_t bytes)
{
  model_case c = {.t = t, .g = model_graph_make(kind, 3)};
  c.forest = model_forest(t, &c.g);
  c.memory = model_memory_make(t, bytes);
  return c;
}

model_case model_case_open(model_kind kind, size_t bytes)
{
  return model_case_on(osla_test_transport(), kind, bytes);
}

void model_case_close(model_case *c)
{
  OSLA_ASSERT_OK(osla_forest_destroy(&c->forest));
  model_memory_free(&c->memory);
  model_graph_free(&c->g);
  osla_transport_destroy(&c->t);
}

model_trial model_case_trial(const model_case *c, model_op op, int place, uint64_t seed)
{
  return (model_trial){.graph = &c->g,
                       .forest = c->forest,
                       .op = op,
                       .unit = {OSLA_UNIT_INT64, 2, 24},
                       .combine = seed % 3 == 0 ? OSLA_REPLACE : OSLA_SUM,
                       .place = place,
                       .seed = seed};
}
