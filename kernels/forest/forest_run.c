/* Beginning and ending transfers. */
#include "kernels/forest/forest_run.h"
#include "kernels/forest/forest_call.h"
#include "kernels/forest/forest_exact.h"
#include "kernels/forest/forest_overlap.h"
#include "kernels/forest/forest_serve.h"
#include "kernels/forest/forest_share.h"
#include "kernels/forest/forest_verify.h"

#include <inttypes.h>

/* ---- what may begin ---- */

static osla_err check_values(const forest_transfer *x, const void *values, int64_t edges,
                             const char *what)
{
  size_t align = osli_unit_alignment(x->type);
  OSLA_CHECK(values || edges == 0, OSLA_ERR_ARG, "%s: no memory", what);
  OSLA_CHECK((((uintptr_t)values | (uintptr_t)x->stride) & (align - 1)) == 0, OSLA_ERR_ARG,
             "%s: %s must lie at multiples of %zu bytes", what, osli_unit_name(x->type), align);
  return OSLA_OK;
}

static osla_err check_arrays(const osla_forest *f, const forest_transfer *x)
{
  bool of_roots = x->kind == FOREST_BCAST;
  OSLA_CALL(check_values(x, of_roots ? x->from : x->to, f->high_root + 1, "roots"));
  OSLA_CALL(check_values(x, of_roots ? x->to : x->from, f->n_edges, "leaves"));
  return x->kind == FOREST_FETCH ? check_values(x, x->before, f->n_edges, "values before")
                                 : OSLA_OK;
}

/* `done`: osli_forest_readers_done, osli_forest_lent_is_back. */
typedef struct late_readers {
  osla_forest *forest;
  uint64_t number;
  bool (*done)(osla_forest *f, uint64_t number);
} late_readers;

static bool are_done(void *arg)
{
  const late_readers *late = arg;
  osla_forest *f = late->forest;
  osli_forests_serve(f->pool);
  if (late->done(f, late->number)) return true;
  osla_pool_enter(f->pool);
  osli_forest_look_at_rings(f);
  osla_pool_leave(f->pool);
  return false;
}

static void wait_until(late_readers late)
{
  if (late.done(late.forest, late.number)) return;
  osla_segment_wait(late.forest->pool->segments->segment, are_done, &late);
}

/* The place of the transfer that comes next is that of the CALLS-th before it. */
osla_err osli_forest_check_place(osla_forest *f)
{
  if (f->begun < CALLS) return OSLA_OK;
  uint64_t before = f->begun + 1 - CALLS;
  OSLA_CHECK(osla_forest_transfer(f, before)->ended, OSLA_ERR_STATE,
             "transfer %" PRIu64 " of a forest has not ended, and %d have begun since", before,
             CALLS - 1);
  return OSLA_OK;
}

/* Its readers, too, are done. */
static osla_err free_place(osla_forest *f)
{
  OSLA_CALL(osli_forest_check_place(f));
  if (f->begun >= CALLS)
    wait_until((late_readers){f, f->begun + 1 - CALLS, osli_forest_readers_done});
  return OSLA_OK;
}

/* Where the values lie that are read, written and, of a fetch, those before. */
typedef struct places {
  const void *from;
  void *to, *before;
} places;

/* Have sums of this type the same bits in any order? */
static bool is_of_integers(osla_unit_type type)
{
  return type >= OSLA_UNIT_INT8 && type <= OSLA_UNIT_UINT64;
}

/* Integers that one atomic operation adds to. */
static bool is_added_at_once(const forest_transfer *x)
{
  return is_of_integers(x->type) && osli_unit_element(x->type) >= sizeof(int32_t);
}

static bool is_by_order(const forest_transfer *x)
{
  return x->combine == OSLA_SUM_ARRIVAL || x->combine == OSLA_SUM_EXACT;
}

static osla_err check_order(const forest_transfer *x)
{
  OSLA_CHECK(!is_by_order(x) || x->kind != FOREST_FETCH ||
               (x->combine == OSLA_SUM_ARRIVAL && is_added_at_once(x)),
             OSLA_ERR_ARG,
             "a fetch of %s has no %s", osli_unit_name(x->type),
             osli_forest_combine_name(x->combine));
  return OSLA_OK;
}

/* A leaf has one root: broadcasts are the same in any order. */
static osla_err choose_order(osla_forest *f, forest_transfer *x)
{
  const bool by_order = is_by_order(x);
  const bool exact = x->combine == OSLA_SUM_EXACT && x->kind == FOREST_REDUCE && f->to_leaves.n > 0;
  x->any_order = x->kind == FOREST_BCAST ||
                 (x->kind == FOREST_REDUCE &&
                  (by_order || (x->combine != OSLA_REPLACE && is_of_integers(x->type))));
  if (by_order) x->combine = OSLA_SUM;
  return exact ? osli_forest_exact_begin(f, x) : OSLA_OK;
}

static osla_err check(osla_forest *f, const forest_transfer *x)
{
  OSLA_CALL(check_arrays(f, x));
  OSLA_CALL(osli_forest_check_apart(f, x));
  return check_order(x);
}

/* The transfer that is in the next one's place. By who is in the pool. */
static uint64_t start(osla_forest *f, const call_places *at)
{
  const uint64_t number = ++f->begun;
  osla_own_soon(&f->control->of[number % CALLS]);
  forest_transfer *x = osla_forest_transfer(f, number);
  x->ended = false;
  f->pool->under_way++;
  if (x->shared) osli_forest_share_begun(f);
  if (f->to_roots.n + f->to_leaves.n == 0) {
    f->read = f->sent = number;
    return number;
  }
  if (x->awaited) {
    osli_forest_call(f, number, x, at);
    osli_forest_wake_readers(f, x);
  }
  osli_forest_activate(f);
  osli_forest_serve(f);
  if (!x->awaited) osli_forest_call(f, number, x, at); /* after the parts for other nodes */
  return number;
}

uint64_t osli_forest_launch(osla_forest *f, const forest_transfer *what)
{
  forest_transfer *x = osla_forest_transfer(f, f->begun + 1);
  *x = *what;
  const call_places at = osli_forest_look_up(f, x);
  return start(f, &at);
}

/* All that may fail before others hear of it. Other failures are those of the program, on all ranks
 * alike or on the one that it ends; memory may lack on one rank alone, for which the others would
 * wait. */
static osla_err prepare(osla_forest *f, forest_transfer *x, osla_unit unit)
{
  osla_err err = check(f, x);
  if (err == OSLA_OK) err = choose_order(f, x);
  if (err == OSLA_OK && osli_forest_is_shared(f, x)) err = osli_forest_share_begin(f, x, unit);
  if (err == OSLA_ERR_MEM) osla_transport_abort(f->t, err);
  return err;
}

/* It counts as ended until all is right. */
static inline __attribute__((always_inline)) void describe(forest_transfer *x, forest_kind kind,
                                                           osla_forest_combine combine,
                                                           osla_unit unit, places at)
{
  *x = (forest_transfer){.kind = kind,
                         .combine = combine,
                         .type = unit.type,
                         .what = osla_forest_what(kind, combine, unit.type, unit.count),
                         .count = unit.count,
                         .stride = unit.stride > 0 ? unit.stride : (int64_t)osli_unit_bytes(unit),
                         .from = (unsigned char *)(uintptr_t)at.from,
                         .to = at.to,
                         .before = at.before,
                         .ended = true};
}

/* Programs ask for the same again and again. */
static bool is_known(const forest_known *k, const forest_pool *pool, osla_forest_combine combine,
                     osla_unit unit, places at)
{
  const forest_transfer *x = &k->transfer;
  return k->arrays == pool->array_changes && x->from == at.from && x->to == at.to &&
         x->before == at.before && k->combine == combine && k->unit.type == unit.type &&
         k->unit.count == unit.count && k->unit.stride == unit.stride;
}

/* Not for later where it has memory of its own. */
static void remember(osla_forest *f, forest_known *k, osla_forest_combine combine, osla_unit unit,
                     forest_transfer *x)
{
  const bool again = !x->gathered && !x->shared;
  k->places = osli_forest_look_up(f, x);
  k->transfer = *x;
  k->combine = combine;
  k->unit = unit;
  k->arrays = again ? f->pool->array_changes : 0;
}

/* What `begin` would refuse. */
static osla_err check_call(osla_forest *f, forest_kind kind, osla_forest_combine combine,
                           osla_unit unit, places at)
{
  OSLA_CALL(osli_unit_check(unit, combine));
  OSLA_CALL(osli_forest_check_place(f));
  forest_transfer x;
  describe(&x, kind, combine, unit, at);
  return check(f, &x);
}

/* In its place from the start: a copy of what was written just before would wait for the stores. */
static osla_err begin(osla_forest *f, forest_kind kind, osla_forest_combine combine, osla_unit unit,
                      places at, osla_forest_run *run)
{
  forest_known *known = &f->known[kind];
  const bool again = is_known(known, f->pool, combine, unit, at);
  *run = (osla_forest_run){0};
  if (!again) OSLA_CALL(osli_unit_check(unit, combine));
  osli_forest_check_lent(f);
  OSLA_CALL(free_place(f));
  forest_transfer *x = osla_forest_transfer(f, f->begun + 1);
  if (!again) {
    const forest_transfer earlier = *x; /* its readers may be asked for again */
    describe(x, kind, combine, unit, at);
    osla_err err = prepare(f, x, unit);
    if (err != OSLA_OK) {
      *x = earlier;
      return err;
    }
  }
  osla_pool_enter(f->pool);
  if (again)
    *x = known->transfer;
  else
    remember(f, known, combine, unit, x);
  const uint64_t number = start(f, &known->places);
  osla_pool_leave(f->pool);
  *run = (osla_forest_run){f, number};
  return OSLA_OK;
}

osla_err osla_forest_bcast_begin(osla_forest *f, osla_unit unit, const void *roots, void *leaves,
                                 osla_forest_combine combine, osla_forest_run *run)
{
  return begin(f, FOREST_BCAST, combine, unit, (places){roots, leaves, NULL}, run);
}

osla_err osla_forest_reduce_begin(osla_forest *f, osla_unit unit, const void *leaves, void *roots,
                                  osla_forest_combine combine, osla_forest_run *run)
{
  return begin(f, FOREST_REDUCE, combine, unit, (places){leaves, roots, NULL}, run);
}

osla_err osla_forest_fetch_begin(osla_forest *f, osla_unit unit, void *roots, const void *leaves,
                                 void *before, osla_forest_combine combine, osla_forest_run *run)
{
  return begin(f, FOREST_FETCH, combine, unit, (places){leaves, roots, before}, run);
}

osla_err osla_forest_bcast_check(osla_forest *f, osla_unit unit, const void *roots, void *leaves,
                                 osla_forest_combine combine)
{
  return check_call(f, FOREST_BCAST, combine, unit, (places){roots, leaves, NULL});
}

osla_err osla_forest_reduce_check(osla_forest *f, osla_unit unit, const void *leaves, void *roots,
                                  osla_forest_combine combine)
{
  return check_call(f, FOREST_REDUCE, combine, unit, (places){leaves, roots, NULL});
}

osla_err osla_forest_fetch_check(osla_forest *f, osla_unit unit, void *roots, const void *leaves,
                                 void *before, osla_forest_combine combine)
{
  return check_call(f, FOREST_FETCH, combine, unit, (places){leaves, roots, before});
}

/* ---- ending ---- */

typedef struct end_of {
  osla_forest *forest;
  uint64_t number;
  bool with_readers;
} end_of;

static bool is_over(void *arg)
{
  const end_of *end = arg;
  return osli_forest_finish(end->forest, end->number, end->with_readers);
}

/* A neighbour that runs answers in some 100 ns: less than a sleep takes, or the pause between two
 * looks of a wait. All looks take 2 us. What comes from other nodes needs progress. */
static bool is_over_soon(end_of *end)
{
  enum { LOOKS = 64 };
  for (int i = 0; i < LOOKS && end->forest->n_far == 0; i++)
    if (is_over(end)) return true;
  return false;
}

static osla_err check_run(const osla_forest_run *run)
{
  osla_forest *f = run->forest;
  bool known = f && run->number > 0 && run->number <= f->begun && run->number + CALLS > f->begun &&
               !osla_forest_transfer(f, run->number)->ended;
  OSLA_CHECK(known, OSLA_ERR_STATE, "a transfer that was not begun, or has ended");
  return OSLA_OK;
}

static osla_err finish(osla_forest_run *run, bool with_readers)
{
  OSLA_CALL(check_run(run));
  if (!with_readers) osli_forest_lend(run->forest, run->number);
  end_of end = {run->forest, run->number, with_readers};
  if (!is_over_soon(&end)) osla_segment_wait(run->forest->pool->segments->segment, is_over, &end);
  *run = (osla_forest_run){0};
  return OSLA_OK;
}

osla_err osla_forest_end(osla_forest_run *run)
{
  return finish(run, true);
}

osla_err osla_forest_end_read(osla_forest_run *run)
{
  return finish(run, false);
}

void osla_forest_nearer(const osla_forest_run *run)
{
  osla_forest *f = run->forest;
  if (!f || !osla_pool_try(f->pool)) return; /* another thread reads it already */
  osli_forest_fetch_nearer(f, run->number);
  osla_pool_leave(f->pool);
}

osla_err osla_forest_test(osla_forest_run *run, bool *done)
{
  *done = false;
  OSLA_CALL(check_run(run));
  osla_progress(run->forest->t);
  *done = osli_forest_finish(run->forest, run->number, true);
  if (*done) *run = (osla_forest_run){0};
  return OSLA_OK;
}

osla_err osla_forest_writable(osla_forest *f)
{
  osli_forest_check_lent(f);
  uint64_t oldest = f->begun > CALLS ? f->begun + 1 - CALLS : 1;
  for (uint64_t number = oldest; number <= f->begun; number++)
    if (osla_forest_transfer(f, number)->ended && osla_forest_transfer(f, number)->in_place)
      wait_until((late_readers){f, number, osli_forest_lent_is_back});
  osli_forest_forget_lent(f);
  return f->share ? osla_forest_writable(f->share->near) : OSLA_OK;
}

osla_err osla_forest_bcast(osla_forest *f, osla_unit unit, const void *roots, void *leaves,
                           osla_forest_combine combine)
{
  osla_forest_run run;
  OSLA_CALL(osla_forest_bcast_begin(f, unit, roots, leaves, combine, &run));
  return osla_forest_end(&run);
}

osla_err osla_forest_reduce(osla_forest *f, osla_unit unit, const void *leaves, void *roots,
                            osla_forest_combine combine)
{
  osla_forest_run run;
  OSLA_CALL(osla_forest_reduce_begin(f, unit, leaves, roots, combine, &run));
  return osla_forest_end(&run);
}

osla_err osla_forest_fetch(osla_forest *f, osla_unit unit, void *roots, const void *leaves,
                           void *before, osla_forest_combine combine)
{
  osla_forest_run run;
  OSLA_CALL(osla_forest_fetch_begin(f, unit, roots, leaves, before, combine, &run));
  return osla_forest_end(&run);
}
