#include "src/base/signal_guard.h"

#include <errno.h>
#include <time.h>

static const int held[] = {SIGXFSZ, SIGPIPE};
enum { N_HELD = sizeof held / sizeof *held };

void osli_signal_guard_begin(osla_signal_guard *guard)
{
  int kept = errno;
  sigset_t set;
  (void)sigemptyset(&set);
  for (int i = 0; i < N_HELD; i++)
    (void)sigaddset(&set, held[i]);
  (void)sigemptyset(&guard->pending);
  (void)sigpending(&guard->pending);
  (void)pthread_sigmask(SIG_BLOCK, &set, &guard->mask);
  errno = kept;
}

void osli_signal_guard_end(const osla_signal_guard *guard)
{
  const struct timespec now = {0, 0};
  int kept = errno;
  for (int i = 0; i < N_HELD; i++) {
    sigset_t one;
    /* A signal that was pending before begin is not discarded. */
    if (sigismember(&guard->pending, held[i]) == 1) continue;
    (void)sigemptyset(&one);
    (void)sigaddset(&one, held[i]);
    while (sigtimedwait(&one, NULL, &now) < 0 && errno == EINTR)
      ;
  }
  (void)pthread_sigmask(SIG_SETMASK, &guard->mask, NULL);
  errno = kept;
}
