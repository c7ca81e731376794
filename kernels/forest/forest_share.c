#include "kernels/forest/forest_share.h"
#include "kernels/forest/forest_run.h"
#include "kernels/forest/forest_serve.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- while it runs ---- */

bool osli_forest_is_shared(const osla_forest *f, const forest_transfer *x)
{
  if (!f->share || x->kind == FOREST_FETCH) return false;
  return x->kind == FOREST_BCAST || (x->any_order && osla_forest_asked(x->what) != OSLA_SUM_EXACT);
}

osla_err osli_forest_share_begin(osla_forest *f, forest_transfer *x, osla_unit unit)
{
  forest_share *s = f->share;
  osla_forest_run near;
  size_t bytes;
  if (__builtin_mul_overflow(s->n_proxies, x->stride, &bytes)) bytes = SIZE_MAX - 1;
  shared_run *run = calloc(1, sizeof *run);
  unsigned char *proxies = malloc(bytes + 1);
  osla_err err = run && proxies ? OSLA_OK
                                : osla_error_set(OSLA_ERR_MEM,
                                                 "values of another node, %" PRId64
                                                 " of them, %" PRId64 " bytes apart",
                                                 s->n_proxies, x->stride);
  if (err == OSLA_OK)
    err = x->kind == FOREST_BCAST ? osla_forest_bcast_begin(s->near, unit, x->from, x->to,
                                                            osla_forest_asked(x->what), &near)
                                  : osla_forest_reduce_begin(s->near, unit, x->from, x->to,
                                                             osla_forest_asked(x->what), &near);
  if (err != OSLA_OK) {
    free(proxies);
    free(run);
    return err;
  }
  if (x->kind == FOREST_REDUCE)
    osli_unit_identity(x->type, x->combine, x->count, proxies, x->stride, s->n_proxies);
  *run = (shared_run){.near = near.number, .proxies = proxies};
  x->shared = run;
  return OSLA_OK;
}

void osli_forest_share_begun(osla_forest *f)
{
  forest_share *s = f->share;
  if (!s->is_sharing) {
    s->is_sharing = true;
    s->next_wire = s->next_spread = f->begun; /* places of earlier ones may be others' */
    s->next_sharing = f->pool->sharing;
    f->pool->sharing = f;
  }
  (void)osli_forest_shares_advance(f->pool);
}

static bool has_place(osla_forest *f)
{
  if (f->begun < CALLS) return true;
  const uint64_t before = f->begun + 1 - CALLS;
  return osla_forest_transfer(f, before)->ended && osli_forest_readers_done(f, before);
}

/* On `wire`, or on `spread`. */
static void launch(const forest_share *s, const forest_transfer *x, bool on_wire)
{
  shared_run *run = x->shared;
  const bool first = on_wire == (x->kind == FOREST_BCAST);
  const osla_forest_combine combine = x->kind == FOREST_BCAST && first ? OSLA_REPLACE : x->combine;
  const forest_transfer part = {
    .kind = x->kind,
    .combine = combine,
    .type = x->type,
    .what = osla_forest_what(x->kind, combine, x->type, (int32_t)x->count),
    .count = x->count,
    .stride = x->stride,
    .from = first ? x->from : run->proxies,
    .to = first ? run->proxies : x->to,
    .any_order = true,
  };
  const uint64_t number = osli_forest_launch(on_wire ? s->wire : s->spread, &part);
  *(on_wire ? &run->wire : &run->spread) = number;
}

/* What comes second begins when the proxies' values are complete here. */
static bool may_launch(const forest_share *s, const forest_transfer *x, bool on_wire)
{
  const shared_run *run = x->shared;
  const uint64_t other = on_wire ? run->spread : run->wire;
  if (!has_place(on_wire ? s->wire : s->spread)) return false;
  if (on_wire == (x->kind == FOREST_BCAST)) return true;
  return other > 0 && osli_forest_is_over(on_wire ? s->spread : s->wire, other, true);
}

static bool advance(osla_forest *f, bool on_wire)
{
  forest_share *s = f->share;
  uint64_t *next = on_wire ? &s->next_wire : &s->next_spread;
  bool any = false;
  for (; *next <= f->begun; ++*next) {
    const forest_transfer *x = osla_forest_transfer(f, *next);
    if (!x->shared) continue;
    if (!may_launch(s, x, on_wire)) break;
    launch(s, x, on_wire);
    any = true;
  }
  return any;
}

bool osli_forest_shares_advance(forest_pool *pool)
{
  bool any = false;
  for (osla_forest **at = &pool->sharing; *at;) {
    forest_share *s = (*at)->share;
    any |= advance(*at, true);
    any |= advance(*at, false);
    any |= advance(*at, true); /* behind what was over at once */
    s->is_sharing = s->next_wire <= (*at)->begun || s->next_spread <= (*at)->begun;
    if (s->is_sharing)
      at = &s->next_sharing;
    else
      *at = s->next_sharing;
  }
  return any;
}

bool osli_forest_share_is_over(osla_forest *f, const forest_transfer *x, bool with_readers)
{
  const forest_share *s = f->share;
  const shared_run *run = x->shared;
  return run->wire > 0 && run->spread > 0 &&
         osli_forest_is_over(s->near, run->near, with_readers) &&
         osli_forest_is_over(s->wire, run->wire, true) &&
         osli_forest_is_over(s->spread, run->spread, true);
}

void osli_forest_share_end(osla_forest *f, forest_transfer *x)
{
  osli_forest_set_ended(f->share->near, x->shared->near);
  osli_forest_set_ended(f->share->wire, x->shared->wire);
  osli_forest_set_ended(f->share->spread, x->shared->spread);
  free(x->shared->proxies);
  free(x->shared);
  x->shared = NULL;
}
