/* Huge pages for large private memory (layer 0, internal).
 *
 * Debian and Ubuntu give huge pages only to memory that a program marks for them
 * (/sys/kernel/mm/transparent_hugepage/enabled: madvise), and malloc does not mark it. Lock-step
 * sweeps over 100^3 points take 0.84 to 0.93 of the time with huge pages
 * (results/asynchronous). Memory that ranks share is marked in transport/pages.h. */
#ifndef OSLA_HUGE_PAGES_H
#define OSLA_HUGE_PAGES_H

#include <stddef.h>

/* Requests huge pages for the whole huge pages inside [at, at + bytes), which must be untouched
 * memory from malloc or calloc. Without effect if no whole huge page lies inside, or if the system
 * has none. Local. */
void osli_huge_pages_advise(void *at, size_t bytes);

#endif
