#include "config.h"

#include "src/transport/mpi/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

bool osli_pages_offered(const char *setting)
{
  static const char *const offers[] = {"[always]", "[within_size]", "[advise]", "[force]"};
  for (size_t i = 0; i < sizeof offers / sizeof *offers; i++)
    if (strstr(setting, offers[i])) return true;
  return false;
}

bool osli_pages_want_huge(size_t bytes)
{
  char setting[128] = "";
  if (bytes < OSLA_HUGE_FROM) return false;
  FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/shmem_enabled", "r");
  if (!file) return false;
  (void)fgets(setting, sizeof setting, file);
  (void)fclose(file);
  return osli_pages_offered(setting);
}

/* ---- mappings ---- */

/* Number of mappings of this process; -1 if unknown. */
static long count_mappings(void)
{
  FILE *file = fopen("/proc/self/maps", "r");
  if (!file) return -1;
  long count = 0;
  for (int c = getc(file); c != EOF; c = getc(file))
    count += c == '\n';
  (void)fclose(file);
  return count;
}

/* Limit on the mappings of a process; 0 if unknown. */
static long most_mappings(void)
{
  long most = 0;
  FILE *file = fopen("/proc/sys/vm/max_map_count", "r");
  if (file && fscanf(file, "%ld", &most) != 1) most = 0;
  if (file) (void)fclose(file);
  return most;
}

static osla_err mapping_error(size_t bytes, int reason)
{
  enum { NEAR = 64 }; /* mappings that may have been closed since */
  long most = reason == ENOMEM ? most_mappings() : 0;
  long count = most > 0 ? count_mappings() : 0;
  if (most > 0 && count >= most - NEAR)
    return osla_error_set(OSLA_ERR_MEM,
                          "mapping %zu bytes of shared memory: this process has %ld mappings, and "
                          "vm.max_map_count allows %ld (a matrix takes one for each rank of the "
                          "node: keep fewer at a time, or ask for a higher limit)",
                          bytes, count, most);
  return osla_error_set(OSLA_ERR_MEM, "mapping %zu bytes of shared memory: %s", bytes,
                        strerror(reason));
}

osla_err osli_pages_map(int file, size_t bytes, unsigned char **at)
{
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return mapping_error(bytes, errno);
  *at = memory;
  return OSLA_OK;
}

/* ---- pages ---- */

/* Allocates huge pages. Returns 0 or an errno: EINVAL before Linux 5.14, which has no
 * MADV_POPULATE_WRITE. posix_fallocate cannot replace it, because it ignores madvise and allocates
 * small pages. */
static int populate_huge_pages(unsigned char *at, size_t bytes)
{
  enum { POPULATE_WRITE = 23 }; /* MADV_POPULATE_WRITE, undefined in old headers */
  int code = madvise(at, bytes, MADV_HUGEPAGE) == 0 ? EINTR : errno;
  while (code == EINTR)
    code = madvise(at, bytes, POPULATE_WRITE) == 0 ? 0 : errno;
  return code;
}

/* Allocates pages in pieces of 1 MiB. A signal undoes the whole allocation of a call on tmpfs, so a
 * call that takes longer than the period of a timer would never end. */
static int allocate_pages(int file, size_t bytes)
{
  const size_t most = (size_t)1 << 20;
  int code = 0;
  for (size_t done = 0; code == 0 && done < bytes; done += most) {
    const size_t piece = bytes - done < most ? bytes - done : most;
    do
      code = posix_fallocate(file, (off_t)done, (off_t)piece);
    while (code == EINTR);
  }
  return code;
}

int osli_pages_allocate(int file, unsigned char *at, size_t bytes, bool huge)
{
  const int code = huge ? populate_huge_pages(at, bytes) : EINVAL;
  return code == EINVAL ? allocate_pages(file, bytes) : code;
}
