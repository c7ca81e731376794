#include "src/base/futex.h"

#include <limits.h>
#include <stddef.h>
#include <time.h>

#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

static struct timespec from_us(int us)
{
  return (struct timespec){.tv_sec = us / 1000000, .tv_nsec = (long)(us % 1000000) * 1000};
}

void osli_nap(int us)
{
  struct timespec span = from_us(us);
  (void)nanosleep(&span, NULL);
}

#ifdef __linux__

/* Neither call uses the PRIVATE flag: the word is shared between processes. */
void osli_futex_sleep(_Atomic uint32_t *word, uint32_t seen, int timeout_us)
{
  struct timespec span = from_us(timeout_us);
  (void)syscall(SYS_futex, word, FUTEX_WAIT, seen, &span, NULL, 0);
}

void osli_futex_wake(_Atomic uint32_t *word)
{
  (void)syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

#else

void osli_futex_sleep(_Atomic uint32_t *word, uint32_t seen, int timeout_us)
{
  (void)word;
  (void)seen;
  osli_nap(timeout_us < 100 ? timeout_us : 100);
}

void osli_futex_wake(_Atomic uint32_t *word)
{
  (void)word;
}

#endif
