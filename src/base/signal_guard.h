/* Writing without signals that end the process (layer 0, private).
 *
 * A write beyond the limit of `ulimit -f` raises SIGXFSZ, and a write into a pipe without a reader
 * raises SIGPIPE; by default both end the process. A library must not change the process's signal
 * handlers, so the calling thread, which receives these signals, blocks them between begin and end,
 * and discards those that were raised. The failing write then returns EFBIG or EPIPE. Local,
 * thread-safe; errno is preserved.
 * Source: signal(7), "Process-directed and thread-directed signals"; sigtimedwait(2). */
#ifndef OSLA_SIGNAL_GUARD_H
#define OSLA_SIGNAL_GUARD_H

#include <signal.h>

typedef struct osla_signal_guard {
  sigset_t mask;    /* the thread's signal mask before begin */
  sigset_t pending; /* signals pending before begin */
} osla_signal_guard;

void osli_signal_guard_begin(osla_signal_guard *guard);
void osli_signal_guard_end(const osla_signal_guard *guard);

#endif
