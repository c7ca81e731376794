/* Huge pages for large private memory (floor 0, internal).
 *
 * Debian and Ubuntu give them to who asks (/sys/kernel/mm/transparent_hugepage/enabled: madvise);
 * malloc does not ask. Lock-step sweeps of 100^3 points, whose two states just fill the cache of
 * third level: 0.84 to 0.93 of the time with them (results/2026-11-25-huge-pages). Memory
 * that ranks share is taken by transport/pages.h.
 */
#ifndef OSLA_HUGE_PAGES_H
#define OSLA_HUGE_PAGES_H

#include <stddef.h>

/* Asks for huge pages for the whole ones inside this memory, which has not been touched since it
 * came from malloc or calloc. Without effect where there is none inside, or the system has none. */
void osli_huge_pages_advise(void *at, size_t bytes);

#endif
