#include "forest_share.h"
#include "forest_run.h"
#include "forest_serve.h"

#include <stdlib.h>

/* ---- while it runs ---- */

osla_err osla_forest_share_begin(osla_forest *f, forest_transfer *x, osla_unit unit)
{
  forest_share *s = f->share;
  osla_forest_run near, wire;
  shared_run *run = calloc(1, sizeof *run);
  unsigned char *proxies = malloc((size_t)(s->n_proxies * x->stride) + 1);
  osla_err err = run && proxies ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "values of another node");
  if (err == OSLA_OK)
    err = osla_forest_bcast_begin(s->near, unit, x->from, x->to, x->combine, &near);
  if (err == OSLA_OK)
    err = osla_forest_bcast_begin(s->wire, unit, x->from, proxies, OSLA_REPLACE, &wire);
  if (err != OSLA_OK) {
    free(proxies);
    free(run);
    return err;
  }
  *run = (shared_run){.near = near.number, .wire = wire.number, .proxies = proxies};
  x->shared = run;
  return OSLA_OK;
}

void osla_forest_share_begun(osla_forest *f)
{
  if (f->share->is_sharing) return;
  f->share->is_sharing = true;
  f->share->next = f->begun; /* those before it need nothing, and their places may be others' */
  f->share->next_sharing = f->pool->sharing;
  f->pool->sharing = f;
}

/* The proxies' values are here, and the place of the CALLS-th transfer before is free. */
static bool may_spread(const forest_share *s, const shared_run *run)
{
  osla_forest *spread = s->spread;
  if (!osla_forest_is_over(s->wire, run->wire, true)) return false;
  if (spread->begun < CALLS) return true;
  const uint64_t before = spread->begun + 1 - CALLS;
  return osla_forest_transfer(spread, before)->ended && osla_forest_readers_done(spread, before);
}

static bool advance(osla_forest *f)
{
  forest_share *s = f->share;
  bool any = false;
  for (; s->next <= f->begun; s->next++) {
    const forest_transfer *x = osla_forest_transfer(f, s->next);
    if (!x->shared) continue;
    if (!may_spread(s, x->shared)) break;
    x->shared->spread = osla_forest_launch(s->spread, &(forest_transfer){.kind = FOREST_BCAST,
                                                                         .combine = x->combine,
                                                                         .type = x->type,
                                                                         .what = x->what,
                                                                         .count = x->count,
                                                                         .stride = x->stride,
                                                                         .from = x->shared->proxies,
                                                                         .to = x->to,
                                                                         .any_order = true});
    any = true;
  }
  return any;
}

bool osla_forest_shares_advance(forest_pool *pool)
{
  bool any = false;
  for (osla_forest **at = &pool->sharing; *at;) {
    forest_share *s = (*at)->share;
    any |= advance(*at);
    s->is_sharing = s->next <= (*at)->begun;
    if (s->is_sharing)
      at = &s->next_sharing;
    else
      *at = s->next_sharing;
  }
  return any;
}

bool osla_forest_share_is_over(osla_forest *f, const forest_transfer *x, bool with_readers)
{
  const forest_share *s = f->share;
  const shared_run *run = x->shared;
  return run->spread > 0 && osla_forest_is_over(s->near, run->near, with_readers) &&
         osla_forest_is_over(s->spread, run->spread, true);
}

void osla_forest_share_end(osla_forest *f, forest_transfer *x)
{
  osla_forest_set_ended(f->share->near, x->shared->near);
  osla_forest_set_ended(f->share->wire, x->shared->wire);
  osla_forest_set_ended(f->share->spread, x->shared->spread);
  free(x->shared->proxies);
  free(x->shared);
  x->shared = NULL;
}
