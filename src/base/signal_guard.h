/* Writing without being killed by it (floor 0, private).
 *
 * A write beyond the limit of `ulimit -f` raises SIGXFSZ, one into a pipe that nobody reads raises
 * SIGPIPE; both end a process that does not expect them. What they mean for a process is its
 * program's business, so nothing is installed or ignored here: the calling thread, which is the one
 * that gets them, holds them off between begin and end, and drops those that came. The failing
 * call then returns EFBIG or EPIPE. Local, thread-safe; errno is kept.
 * Source: signal(7), "Process-directed and thread-directed signals"; sigtimedwait(2).
 */
#ifndef OSLA_SIGNAL_GUARD_H
#define OSLA_SIGNAL_GUARD_H

#include <signal.h>

typedef struct osla_signal_guard {
  sigset_t mask;    /* before */
  sigset_t pending; /* before */
} osla_signal_guard;

void osli_signal_guard_begin(osla_signal_guard *guard);
void osli_signal_guard_end(const osla_signal_guard *guard);

#endif
