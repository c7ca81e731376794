/* Pages of memory that ranks share, and what is said where there are none (floor 0, internal).
 *
 * Each rank of a node maps the memory of all. With pages of 4 KiB the tables for that are 1/512 of
 * it on each rank: with 128 ranks a quarter of the node's memory. So large memory is taken in huge
 * pages (2 MiB) where the system offers them for files without a name
 * (/sys/kernel/mm/transparent_hugepage/shmem_enabled: advise, within_size, always or force; as
 * installed it is never).
 */
#ifndef OSLA_PAGES_H
#define OSLA_PAGES_H

#include "osla_error.h"
#include <stdbool.h>
#include <stddef.h>

/* From this size on; the last huge page of each rank's memory may be mostly empty. */
enum { OSLA_HUGE_FROM = 32 << 20 };

/* Does this content of shmem_enabled ("always within_size [advise] never ...") offer huge pages to
 * who asks for them? Pure. */
bool osli_pages_offered(const char *setting);

/* Maps a file of `bytes` bytes. Local. Errors: MEM, which says so where the system's limit on
 * mappings (vm.max_map_count) is the reason. */
osla_err osli_pages_map(int file, size_t bytes, unsigned char **at);

/* Takes all pages of a mapped file at once, near this rank's core, so that a lack of them shows
 * here and not at the first touch; `huge`: in huge pages if possible. 0, or an errno. Local. */
int osli_pages_allocate(int file, unsigned char *at, size_t bytes, bool huge);

/* Should memory of that size be taken in huge pages here? Local. */
bool osli_pages_want_huge(size_t bytes);

#endif
