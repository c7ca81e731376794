/* Public calls that begin and end transfers. */
#include "kernels/forest/forest_serve.h"
#include "src/device/device_ranges.h"

/* ---- beginning a transfer ---- */

/* The arrays of a transfer: values that are read, values that are written, and, for a fetch, the
 * old values of roots. A reduction may also have a function that combines values. */
typedef struct user_arrays {
  const void *from;
  void *to, *before;
  osla_forest_function *function;
  void *context;
} user_arrays;

/* Fills in the record of a transfer. The transfer counts as ended until all checks have passed. */
static inline __attribute__((always_inline)) void describe_transfer(forest_transfer *x,
                                                                    forest_kind kind,
                                                                    osla_forest_combine combine,
                                                                    osla_unit unit, user_arrays at)
{
  *x = (forest_transfer){.kind = kind,
                         .combine = combine,
                         .type = unit.type,
                         .signature = osli_forest_signature(kind, combine, unit.type, unit.count),
                         .count = unit.count,
                         .stride = unit.stride > 0 ? unit.stride : (int64_t)osli_unit_bytes(unit),
                         .from = (unsigned char *)(uintptr_t)at.from,
                         .to = at.to,
                         .before = at.before,
                         .function = at.function,
                         .context = at.context,
                         .ended = true};
}

static bool is_cached(const cached_transfer *c, const forest_pool *pool, uint64_t signature,
                      osla_unit unit, user_arrays at)
{
  const forest_transfer *x = &c->transfer;
  return c->array_changes == pool->array_changes && c->registrations == osli_registrations &&
         x->from == at.from && x->to == at.to && x->before == at.before &&
         x->signature == signature &&
         x->stride == (unit.stride != 0 ? unit.stride : (int64_t)osli_unit_bytes(unit));
}

/* Caches a transfer that has passed all checks, unless the transfer has allocated memory. So a
 * transfer with a function of the caller is cached only on ranks that do not call the function. */
static void cache_transfer(osla_forest *f, cached_transfer *c, const forest_transfer *x)
{
  const bool has_memory = x->gathered || x->two_level;
  c->transfer = *x;
  c->array_changes = has_memory ? 0 : f->pool->array_changes;
  c->registrations = osli_registrations;
}

/* Checks a transfer and allocates its memory. If a rank has no memory the job ends, because other
 * ranks begin the transfer and would wait for this rank. All other errors are returned to the
 * caller. */
static osla_err prepare(osla_forest *f, forest_transfer *x)
{
  osla_err err = osli_forest_check_arguments(f, x);
  const bool is_exact = x->combine == OSLA_SUM_EXACT;
  const bool gathers = (is_exact && x->kind == FOREST_REDUCE) || x->function;
  if (is_exact || x->combine == OSLA_SUM_ARRIVAL) x->combine = OSLA_SUM;
  if (x->function) x->combine = OSLA_REPLACE;
  if (err == OSLA_OK && gathers && f->to_leaves.n > 0) err = osli_forest_exact_begin(f, x);
  if (err == OSLA_OK && osli_forest_has_two_levels(f, x)) err = osli_two_level_begin(f, x);
  if (err == OSLA_ERR_MEM) osla_transport_abort(f->t, err);
  return err;
}

static uint64_t start_transfer(osla_forest *f)
{
  const uint64_t number = osli_forest_start_next(f);
  if (osli_forest_transfer(f, number)->two_level) osli_two_level_enqueue(f);
  return number;
}

/* Begins a transfer. The record of the transfer is filled in place, because copying a newly written
 * struct is slow. */
static osla_err begin_transfer(osla_forest *f, forest_kind kind, osla_forest_combine combine,
                               osla_unit unit, user_arrays at, osla_forest_run *run)
{
  cached_transfer *cached = &f->cached[kind];
  const uint64_t signature = osli_forest_signature(kind, combine, unit.type, unit.count);
  const bool again = is_cached(cached, f->pool, signature, unit, at);
  *run = (osla_forest_run){0};
  if (!again) OSLA_CALL(osli_unit_check(unit, at.function ? OSLA_REPLACE : combine));
  osli_forest_check_exposed(f);
  OSLA_CALL(osli_forest_wait_for_free(f));
  forest_transfer *x = osli_forest_transfer(f, f->begun + 1);
  if (!again) {
    /* The earlier record is restored after an error, because osla_forest_writable may have to wait
     * for the readers of the earlier transfer. */
    const forest_transfer earlier = *x;
    describe_transfer(x, kind, combine, unit, at);
    osla_err err = prepare(f, x);
    if (err != OSLA_OK) {
      *x = earlier;
      return err;
    }
  }
  osli_pool_lock(f->pool);
  if (again) {
    *x = cached->transfer;
  } else {
    osli_forest_locate_values(f, x);
    cache_transfer(f, cached, x);
  }
  const uint64_t number = start_transfer(f);
  osli_pool_unlock(f->pool);
  *run = (osla_forest_run){f, number};
  return OSLA_OK;
}

/* Returns the error that begin_transfer would return, but does not begin a transfer. */
static osla_err check_begin(osla_forest *f, forest_kind kind, osla_forest_combine combine,
                            osla_unit unit, user_arrays at)
{
  OSLA_CALL(osli_unit_check(unit, combine));
  OSLA_CALL(osli_forest_check_free(f));
  forest_transfer x;
  describe_transfer(&x, kind, combine, unit, at);
  return osli_forest_check_arguments(f, &x);
}

osla_err osla_forest_bcast_begin(osla_forest *f, osla_unit unit, const void *roots, void *leaves,
                                 osla_forest_combine combine, osla_forest_run *run)
{
  return begin_transfer(f, FOREST_BCAST, combine, unit, (user_arrays){.from = roots, .to = leaves},
                        run);
}

osla_err osla_forest_reduce_begin(osla_forest *f, osla_unit unit, const void *leaves, void *roots,
                                  osla_forest_combine combine, osla_forest_run *run)
{
  return begin_transfer(f, FOREST_REDUCE, combine, unit, (user_arrays){.from = leaves, .to = roots},
                        run);
}

osla_err osla_forest_reduce_with_begin(osla_forest *f, osla_unit unit, const void *leaves,
                                       void *roots, osla_forest_function *function, void *context,
                                       osla_forest_run *run)
{
  *run = (osla_forest_run){0};
  OSLA_CHECK(function, OSLA_ERR_ARG, "function is NULL");
  const user_arrays at = {.from = leaves, .to = roots, .function = function, .context = context};
  return begin_transfer(f, FOREST_REDUCE, FOREST_BY_FUNCTION, unit, at, run);
}

osla_err osla_forest_fetch_begin(osla_forest *f, osla_unit unit, void *roots, const void *leaves,
                                 void *before, osla_forest_combine combine, osla_forest_run *run)
{
  return begin_transfer(f, FOREST_FETCH, combine, unit,
                        (user_arrays){.from = leaves, .to = roots, .before = before}, run);
}

osla_err osla_forest_bcast_check(osla_forest *f, osla_unit unit, const void *roots, void *leaves,
                                 osla_forest_combine combine)
{
  return check_begin(f, FOREST_BCAST, combine, unit, (user_arrays){.from = roots, .to = leaves});
}

osla_err osla_forest_reduce_check(osla_forest *f, osla_unit unit, const void *leaves, void *roots,
                                  osla_forest_combine combine)
{
  return check_begin(f, FOREST_REDUCE, combine, unit, (user_arrays){.from = leaves, .to = roots});
}

osla_err osla_forest_fetch_check(osla_forest *f, osla_unit unit, void *roots, const void *leaves,
                                 void *before, osla_forest_combine combine)
{
  return check_begin(f, FOREST_FETCH, combine, unit,
                     (user_arrays){.from = leaves, .to = roots, .before = before});
}

/* ---- ending a transfer ---- */

typedef struct end_request {
  osla_forest *forest;
  uint64_t number;
  bool with_readers; /* true: also wait for ranks that read this rank's values in place */
} end_request;

/* Marks the transfer as ended if it is over. The caller holds the pool's lock. */
static bool end_if_over(const end_request *end)
{
  osla_forest *f = end->forest;
  forest_transfer *x = osli_forest_transfer(f, end->number);
  if (!osli_forest_is_over(f, end->number, end->with_readers)) return false;
  if (x->two_level) {
    if (!osli_two_level_is_over(f, x, end->with_readers)) return false;
    osli_two_level_end(f, x, end->with_readers);
  }
  osli_forest_mark_ended(f, end->number, end->with_readers);
  return true;
}

static bool try_end(void *arg)
{
  const end_request *end = arg;
  forest_pool *pool = end->forest->pool;
  osli_pool_lock(pool);
  (void)osli_forests_serve_locked(pool);
  const bool is_over = end_if_over(end);
  osli_pool_unlock(pool);
  return is_over;
}

/* Polls for 2 us if the forest has no links to other nodes. A running rank of the same node answers
 * within about 100 ns, which is shorter than a sleep or the pause between two polls of a wait. */
static bool is_over_soon(end_request *end)
{
  enum { POLLS = 64 };
  for (int i = 0; i < POLLS && end->forest->n_far == 0; i++)
    if (try_end(end)) return true;
  return false;
}

static osla_err check_run(const osla_forest_run *run)
{
  osla_forest *f = run->forest;
  bool is_known = f && run->number > 0 && run->number <= f->begun &&
                  run->number + MOST_TRANSFERS > f->begun &&
                  !osli_forest_transfer(f, run->number)->ended;
  OSLA_CHECK(is_known, OSLA_ERR_STATE, "the run is of a transfer that was not begun, or has ended");
  return OSLA_OK;
}

static osla_err end_transfer(osla_forest_run *run, bool with_readers)
{
  OSLA_CALL(check_run(run));
  if (!with_readers) osli_forest_record_exposed(run->forest, run->number);
  end_request end = {run->forest, run->number, with_readers};
  if (!is_over_soon(&end)) osla_segment_wait(run->forest->pool->segments->segment, try_end, &end);
  *run = (osla_forest_run){0};
  return OSLA_OK;
}

osla_err osla_forest_end(osla_forest_run *run)
{
  return end_transfer(run, true);
}

osla_err osla_forest_end_read(osla_forest_run *run)
{
  return end_transfer(run, false);
}

osla_err osla_forest_test(osla_forest_run *run, bool *done)
{
  *done = false;
  OSLA_CALL(check_run(run));
  end_request end = {run->forest, run->number, true};
  osla_progress(run->forest->t);
  *done = try_end(&end);
  if (*done) *run = (osla_forest_run){0};
  return OSLA_OK;
}

osla_err osla_forest_writable(osla_forest *f)
{
  osli_forest_check_exposed(f);
  for (uint64_t number = osli_forest_oldest(f); number <= f->begun; number++) {
    const forest_transfer *x = osli_forest_transfer(f, number);
    if (x->ended && x->at.values.array >= 0) osli_forest_wait_for_readers(f, number);
  }
  osli_forest_clear_exposed(f);
  if (f->split) OSLA_CALL(osla_forest_writable(f->split));
  return f->two_level ? osla_forest_writable(f->two_level->near) : OSLA_OK;
}

/* ---- begin and end in one ---- */

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

osla_err osla_forest_reduce_with(osla_forest *f, osla_unit unit, const void *leaves, void *roots,
                                 osla_forest_function *function, void *context)
{
  osla_forest_run run;
  OSLA_CALL(osla_forest_reduce_with_begin(f, unit, leaves, roots, function, context, &run));
  return osla_forest_end(&run);
}

osla_err osla_forest_fetch(osla_forest *f, osla_unit unit, void *roots, const void *leaves,
                           void *before, osla_forest_combine combine)
{
  osla_forest_run run;
  OSLA_CALL(osla_forest_fetch_begin(f, unit, roots, leaves, before, combine, &run));
  return osla_forest_end(&run);
}
