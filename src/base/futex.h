/* Sleeping on a shared 32-bit word, and waking the sleepers (layer 0, internal).
 *
 * The word may lie in memory shared between processes. On Linux this is futex(2). Elsewhere a sleep
 * lasts at most 100 microseconds and a wake does nothing; this is slower but correct, because every
 * caller sleeps in a loop that tests its own condition. */
#ifndef OSLA_FUTEX_H
#define OSLA_FUTEX_H

#include <stdint.h>

/* Sleeps while *word == seen, for at most timeout_us microseconds. May return early. */
void osli_futex_sleep(_Atomic uint32_t *word, uint32_t seen, int timeout_us);

/* Wakes all threads and processes that sleep on the word. */
void osli_futex_wake(_Atomic uint32_t *word);

/* Sleeps for about `us` microseconds, whatever happens meanwhile. */
void osli_nap(int us);

#endif
