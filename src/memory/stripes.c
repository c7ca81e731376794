#include "osla_clock.h"
#include "osla_stripes.h"
#include "osla_trace.h"
#include "src/device/device.h"
#include "src/memory/segment.h"
#include "src/transport/transport_ops.h"

static const double CLAIM_AFTER_S = 5e-3;
enum { FIRST_CLAIM_US = 1000 };

static _Atomic uint64_t *word(uint64_t *at)
{
  return (_Atomic uint64_t *)at;
}

static uint64_t load(uint64_t *at)
{
  return atomic_load_explicit(word(at), memory_order_relaxed);
}

static void store(uint64_t *at, uint64_t value)
{
  atomic_store_explicit(word(at), value, memory_order_relaxed);
}

static bool try_acquire(osla_stripes *lock, uint64_t mask)
{
  uint64_t held = load(&lock->held);
  while ((held & mask) == 0)
    if (atomic_compare_exchange_weak_explicit(word(&lock->held), &held, held | mask,
                                              memory_order_acquire, memory_order_relaxed))
      return true;
  return false;
}

static uint64_t to_us(double seconds)
{
  return (uint64_t)(1e6 * seconds);
}

bool osla_stripes_try(osla_stripes *lock, uint64_t mask)
{
  osla_clock_settle();
  if ((load(&lock->claimed) & mask) && to_us(osla_clock()) < load(&lock->until)) return false;
  return try_acquire(lock, mask);
}

/* Claims the stripes for a waiting thread, or extends its claim, unless an older ticket holds a
 * claim. The words of a claim are not stored atomically: an inconsistent claim of two threads lasts
 * until one of them tries again, or until its time ends. */
static void claim_stripes(osla_stripes *lock, uint64_t mask, osla_stripes_patience *p, uint64_t now)
{
  if (p->ticket == 0) p->ticket = atomic_fetch_add(word(&lock->tickets), 1) + 1;
  uint64_t claimant = load(&lock->claimant);
  if (claimant != p->ticket) {
    if (claimant != 0 && claimant < p->ticket && now < load(&lock->until)) return;
    if (!atomic_compare_exchange_strong(word(&lock->claimant), &claimant, p->ticket)) return;
  }
  if (now >= p->until) p->span = p->span > 0 ? 2 * p->span : FIRST_CLAIM_US;
  p->until = now + p->span;
  store(&lock->claimed, mask);
  store(&lock->until, p->until);
}

static void withdraw_claim(osla_stripes *lock, uint64_t ticket)
{
  if (load(&lock->claimant) != ticket) return;
  store(&lock->claimed, 0);
  atomic_compare_exchange_strong(word(&lock->claimant), &ticket, 0);
}

bool osla_stripes_try_again(osla_stripes *lock, uint64_t mask, osla_stripes_patience *p)
{
  bool claims = p->ticket != 0 && load(&lock->claimant) == p->ticket;
  if (claims ? try_acquire(lock, mask) : osla_stripes_try(lock, mask)) {
    if (p->ticket != 0) withdraw_claim(lock, p->ticket);
    *p = (osla_stripes_patience){0};
    return true;
  }
  double now = osla_clock();
  if (p->since == 0.0) p->since = now;
  if (now - p->since >= CLAIM_AFTER_S) claim_stripes(lock, mask, p, to_us(now));
  return false;
}

typedef struct wanted {
  osla_stripes *lock;
  uint64_t mask;
  osla_stripes_patience patience;
} wanted;

static bool try_wanted(void *arg)
{
  wanted *w = arg;
  return osla_stripes_try_again(w->lock, w->mask, &w->patience);
}

void osla_stripes_take(osla_transport *t, osla_stripes *lock, uint64_t mask)
{
  wanted w = {.lock = lock, .mask = mask};
  if (osla_stripes_try(lock, mask)) return;
  double since = osla_trace_now(t);
  osli_wait_until(t, try_wanted, &w, (osla_bell *)lock->bell);
  osla_trace_add(t, OSLA_TRACE_LOCK, since, 0);
}

void osla_stripes_release(osla_transport *t, osla_stripes *lock, uint64_t mask)
{
  osli_device_settle_kept(SETTLE_NOTIFY);
  osli_stripes_drop(t, lock, mask);
}

void osli_stripes_drop(osla_transport *t, osla_stripes *lock, uint64_t mask)
{
  osla_clock_settle();
  atomic_fetch_and_explicit(word(&lock->held), ~mask, memory_order_release);
  osli_bell_ring(t, (osla_bell *)lock->bell);
}
