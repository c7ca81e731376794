/* Pages of node memory, and the errors if there are none (layer 0, internal).
 *
 * Each rank of a node maps the memory of all ranks. With pages of 4 KiB its page tables take 1/512
 * of that memory on each rank, with 128 ranks a quarter of the node's memory. Therefore large
 * memory uses huge pages (2 MiB) if the system allows them for anonymous files
 * (/sys/kernel/mm/transparent_hugepage/shmem_enabled is advise, within_size, always or force; the
 * default is never). */
#ifndef OSLA_PAGES_H
#define OSLA_PAGES_H

#include "osla_error.h"
#include <stdbool.h>
#include <stddef.h>

/* Smallest size that uses huge pages, in bytes; the last huge page of each rank may be mostly
 * empty. */
enum { OSLA_HUGE_FROM = 32 << 20 };

/* Does this content of shmem_enabled ("always within_size [advise] never ...") allow huge pages
 * after madvise? Pure. */
bool osli_pages_offered(const char *setting);

/* Maps a file of `bytes` bytes. Local. Errors: MEM; the text says if the limit vm.max_map_count is
 * the cause. */
osla_err osli_pages_map(int file, size_t bytes, unsigned char **at);

/* Allocates all pages of a mapped file now, near this rank's core, so that a lack of memory is an
 * error here and not a fault at the first access. huge: use huge pages if possible. Returns 0 or an
 * errno. Local. */
int osli_pages_allocate(int file, unsigned char *at, size_t bytes, bool huge);

/* Should memory of this size use huge pages on this system? Local. */
bool osli_pages_want_huge(size_t bytes);

#endif
