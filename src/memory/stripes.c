#include "osla_stripes.h"
#include "osla_trace.h"
#include "transport_ops.h"

static _Atomic uint64_t *held_word(osla_stripes *lock)
{
  return (_Atomic uint64_t *)&lock->held;
}

bool osla_stripes_try(osla_stripes *lock, uint64_t mask)
{
  uint64_t held = atomic_load_explicit(held_word(lock), memory_order_relaxed);
  while ((held & mask) == 0)
    if (atomic_compare_exchange_weak_explicit(held_word(lock), &held, held | mask,
                                              memory_order_acquire, memory_order_relaxed))
      return true;
  return false;
}

typedef struct wanted {
  osla_stripes *lock;
  uint64_t mask;
} wanted;

static bool take(void *arg)
{
  const wanted *w = arg;
  return osla_stripes_try(w->lock, w->mask);
}

void osla_stripes_take(osla_transport *t, osla_stripes *lock, uint64_t mask)
{
  wanted w = {lock, mask};
  if (osla_stripes_try(lock, mask)) return;
  double since = osla_trace_now(t);
  osla_wait_until(t, take, &w, (osla_bell *)lock->bell);
  osla_trace_add(t, OSLA_TRACE_LOCK, since, 0);
}

void osla_stripes_release(osla_stripes *lock, uint64_t mask)
{
  atomic_fetch_and_explicit(held_word(lock), ~mask, memory_order_release);
  osla_bell_ring((osla_bell *)lock->bell);
}
