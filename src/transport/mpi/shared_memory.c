#include "config.h"

#include "osla_clock.h"
#include "osla_random.h"
#include "src/base/memory_file.h"
#include "src/base/signal_guard.h"
#include "src/transport/mpi/shared_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  MOST_NAME = 64,
  /* smallest size that uses huge pages, in bytes; the last huge page of each rank may be mostly
   * empty */
  HUGE_FROM = 32 << 20
};

/* ---- pages of node memory ---- */

bool osli_pages_offered(const char *setting)
{
  static const char *const offers[] = {"[always]", "[within_size]", "[advise]", "[force]"};
  for (size_t i = 0; i < sizeof offers / sizeof *offers; i++)
    if (strstr(setting, offers[i])) return true;
  return false;
}

/* Should memory of this size use huge pages on this system? The size is in bytes. */
static bool want_huge_pages(size_t bytes)
{
  char setting[128] = "";
  if (bytes < HUGE_FROM) return false;
  FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/shmem_enabled", "r");
  if (!file) return false;
  (void)fgets(setting, sizeof setting, file);
  (void)fclose(file);
  return osli_pages_offered(setting);
}

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
  /* number of mappings that this process may have closed since the failed call */
  enum { NEAR = 64 };
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

/* ---- memory that the ranks of a node share ---- */

/* Data with which another rank of the node opens and verifies this rank's memory. */
typedef struct memory_address {
  int64_t pid;
  int64_t file; /* file descriptor; -1 if there is none */
  uint64_t bytes;
  uint64_t token; /* random number in the name of the file */
} memory_address;

/* Creates this rank's memory with all of its pages. */
static osla_err create_own_memory(size_t bytes, uint64_t token, int *file, unsigned char **at)
{
  char name[MOST_NAME];
  (void)snprintf(name, sizeof name, "osla-%016" PRIx64, token);
  *file = osli_memory_file_create(name);
  OSLA_CHECK(*file >= 0, OSLA_ERR_UNSUPPORTED, "memfd_create: %s", strerror(errno));
  osla_signal_guard guard; /* turns SIGXFSZ of the file size limit (ulimit -f) into an error */
  osli_signal_guard_begin(&guard);
  int code = ftruncate(*file, (off_t)bytes) == 0 ? 0 : errno;
  osla_err err = code == 0 ? osli_pages_map(*file, bytes, at) : OSLA_OK;
  if (code == 0 && err == OSLA_OK)
    code = osli_pages_allocate(*file, *at, bytes, want_huge_pages(bytes));
  osli_signal_guard_end(&guard);
  OSLA_CHECK(code == 0, OSLA_ERR_MEM, "%zu bytes of shared memory: %s%s", bytes, strerror(code),
             code == EFBIG ? " (see ulimit -f)" : "");
  return err;
}

static bool is_memory_of(int path_fd, const char *path, const memory_address *a)
{
  struct stat status;
  char name[MOST_NAME] = "", expected[MOST_NAME];
  (void)snprintf(expected, sizeof expected, "/memfd:osla-%016" PRIx64 " (deleted)", a->token);
  return fstat(path_fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 0 &&
         (uint64_t)status.st_size == a->bytes && readlink(path, name, sizeof name - 1) > 0 &&
         strcmp(name, expected) == 0;
}

/* Maps the memory of another rank of the node. In a different PID name space the same PID and
 * descriptor may belong to any file: a pipe whose open blocks, other data, a shorter file.
 * Therefore the path is opened with O_PATH first, and verified by size and name. */
static osla_err map_neighbour(const memory_address *a, unsigned char **at)
{
  char path[MOST_NAME], own_path[MOST_NAME];
  (void)snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)a->pid, (long long)a->file);
  int path_fd = open(path, O_PATH | O_CLOEXEC);
  OSLA_CHECK(path_fd >= 0, OSLA_ERR_UNSUPPORTED, "%s of a rank on this node: %s", path,
             strerror(errno));
  (void)snprintf(own_path, sizeof own_path, "/proc/self/fd/%d", path_fd);
  bool right = is_memory_of(path_fd, own_path, a);
  int file = right ? open(own_path, O_RDWR | O_CLOEXEC) : -1, reason = errno;
  (void)close(path_fd);
  OSLA_CHECK(right, OSLA_ERR_UNSUPPORTED, "%s is not the memory of a rank on this node", path);
  OSLA_CHECK(file >= 0, OSLA_ERR_UNSUPPORTED, "%s of a rank on this node: %s", path,
             strerror(reason));
  osla_err err = osli_pages_map(file, (size_t)a->bytes, at);
  (void)close(file);
  return err;
}

static osla_err map_neighbours(const osla_transport *t, const memory_address *all,
                               unsigned char **peer, size_t *mapped)
{
  for (int rank = 0; rank < t->size; rank++) {
    int near = osla_transport_node_rank_of(t, rank);
    if (rank == t->rank || near < 0) continue;
    OSLA_CALL(map_neighbour(&all[rank], &peer[near]));
    mapped[near] = (size_t)all[rank].bytes;
  }
  return OSLA_OK;
}

/* A number that no other process uses at this time. */
static uint64_t make_token(const osla_transport *t)
{
  return osla_random_bits((uint64_t)getpid(), (uint64_t)t->rank, (uint64_t)(1e9 * osla_clock()));
}

osla_err osli_shared_memory_map(osla_transport *t, size_t bytes, unsigned char **peer,
                                size_t *mapped)
{
  int file = -1;
  memory_address *all = calloc((size_t)t->size, sizeof *all);
  osla_err err = all ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "table of %d ranks", t->size);
  uint64_t token = make_token(t);
  if (err == OSLA_OK) err = create_own_memory(bytes, token, &file, &peer[t->node_rank]);
  if (peer[t->node_rank]) mapped[t->node_rank] = bytes;
  OSLA_TRY(osla_agree(t, err));

  memory_address mine = {getpid(), file, bytes, token};
  OSLA_TRY(osli_allgather(t, &mine, all, sizeof mine));
  /* after this agreement all ranks have mapped the files, so the files may be closed */
  OSLA_TRY(osla_agree(t, map_neighbours(t, all, peer, mapped)));
cleanup:
  if (file >= 0) (void)close(file);
  free(all);
  if (err != OSLA_OK) osli_shared_memory_unmap(t, peer, mapped);
  return err;
}

void osli_shared_memory_unmap(const osla_transport *t, unsigned char **peer, size_t *mapped)
{
  for (int near = 0; near < t->node_size; near++) {
    if (mapped[near] > 0) (void)munmap(peer[near], mapped[near]);
    peer[near] = NULL;
    mapped[near] = 0;
  }
}

osla_err osli_shared_memory_probe(osla_transport *t, bool *works)
{
  const char *wish = getenv("OSLA_SHARED_MEMORY");
  int by_mpi = wish && strcmp(wish, "mpi") == 0;
  *works = false;
  OSLA_CALL(osla_allreduce(t, &by_mpi, 1, MPI_INT, MPI_MAX));
  if (by_mpi) return OSLA_OK;

  unsigned char **peer = calloc((size_t)t->node_size, sizeof *peer);
  size_t *mapped = calloc((size_t)t->node_size, sizeof *mapped);
  osla_err err = peer && mapped ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "table of ranks");
  err = osla_agree(t, err);
  if (err == OSLA_OK) {
    *works = osli_shared_memory_map(t, sizeof(uint64_t), peer, mapped) == OSLA_OK;
    osli_shared_memory_unmap(t, peer, mapped);
  }
  free(peer);
  free(mapped);
  return err;
}
