#include "config.h"

#include "src/base/huge_pages.h"

#include <stdint.h>
#include <sys/mman.h>

void osli_huge_pages_advise(void *at, size_t bytes)
{
  enum { HUGE_PAGE = 2 << 20 };
  const size_t skipped = (HUGE_PAGE - (uintptr_t)at % HUGE_PAGE) % HUGE_PAGE;
  if (!at || bytes < skipped + HUGE_PAGE) return;
  const size_t whole = (bytes - skipped) / HUGE_PAGE * HUGE_PAGE;
  (void)madvise((unsigned char *)at + skipped, whole, MADV_HUGEPAGE);
}
