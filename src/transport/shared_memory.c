#include "config.h"

#include "osla_clock.h"
#include "osla_random.h"
#include "shared_memory.h"
#include "signal_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Where a neighbour finds my memory. */
typedef struct address {
  int64_t pid;
  int64_t file; /* descriptor; -1: none */
  uint64_t bytes;
} address;

static osla_err map_file(int file, size_t bytes, unsigned char **at)
{
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  OSLA_CHECK(memory != MAP_FAILED, OSLA_ERR_MEM, "mapping %zu bytes of shared memory: %s", bytes,
             strerror(errno));
  *at = memory;
  return OSLA_OK;
}

/* My memory. The pages are taken at once, near this rank's core, so that a lack of them shows here
 * and not at the first touch. */
static osla_err make_mine(size_t bytes, int *file, unsigned char **at)
{
#ifdef __linux__
  *file = memfd_create("osla", MFD_CLOEXEC);
#else
  errno = ENOSYS;
#endif
  OSLA_CHECK(*file >= 0, OSLA_ERR_UNSUPPORTED, "memfd_create: %s", strerror(errno));
  osla_signal_guard guard; /* of the limit on the size of files (ulimit -f), which counts here */
  osla_signal_guard_begin(&guard);
  int code = ftruncate(*file, (off_t)bytes) == 0 ? EINTR : errno;
  while (code == EINTR)
    code = posix_fallocate(*file, 0, (off_t)bytes);
  osla_signal_guard_end(&guard);
  OSLA_CHECK(code == 0, OSLA_ERR_MEM, "%zu bytes of shared memory: %s%s", bytes, strerror(code),
             code == EFBIG ? " (see ulimit -f)" : "");
  return map_file(*file, bytes, at);
}

static osla_err map_neighbour(const address *a, unsigned char **at)
{
  char path[64];
  (void)snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)a->pid, (long long)a->file);
  int file = open(path, O_RDWR | O_CLOEXEC);
  OSLA_CHECK(file >= 0, OSLA_ERR_UNSUPPORTED, "%s of a rank on this node: %s", path,
             strerror(errno));
  osla_err err = map_file(file, (size_t)a->bytes, at);
  (void)close(file);
  return err;
}

static osla_err map_neighbours(const osla_transport *t, const address *all, unsigned char **peer,
                               size_t *mapped)
{
  for (int rank = 0; rank < t->size; rank++) {
    if (rank == t->rank || t->node_of[rank] != t->node) continue;
    OSLA_CALL(map_neighbour(&all[rank], &peer[rank]));
    mapped[rank] = (size_t)all[rank].bytes;
  }
  return OSLA_OK;
}

osla_err osla_shared_memory_map(osla_transport *t, size_t bytes, unsigned char **peer,
                                size_t *mapped)
{
  int file = -1;
  address *all = calloc((size_t)t->size, sizeof *all);
  osla_err err = all ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "table of %d ranks", t->size);
  if (err == OSLA_OK) err = make_mine(bytes, &file, &peer[t->rank]);
  if (err == OSLA_OK) mapped[t->rank] = bytes;
  OSLA_TRY(osla_agree(t, err));

  address mine = {getpid(), file, bytes};
  OSLA_TRY(osla_allgather(t, &mine, all, sizeof mine));
  OSLA_TRY(osla_agree(t, map_neighbours(t, all, peer, mapped))); /* then files may be closed */
cleanup:
  if (file >= 0) (void)close(file);
  free(all);
  if (err != OSLA_OK) osla_shared_memory_unmap(t, peer, mapped);
  return err;
}

void osla_shared_memory_unmap(const osla_transport *t, unsigned char **peer, size_t *mapped)
{
  for (int rank = 0; rank < t->size; rank++) {
    if (mapped[rank] > 0) (void)munmap(peer[rank], mapped[rank]);
    peer[rank] = NULL;
    mapped[rank] = 0;
  }
}

/* A number that only this process has, so that a neighbour can tell my memory from another's: in
 * another PID name space /proc/PID/fd may exist and mean something else. */
static uint64_t token_of(const osla_transport *t)
{
  return osla_random_bits((uint64_t)getpid(), (uint64_t)t->rank, (uint64_t)(1e9 * osla_clock()));
}

/* Does each neighbour's memory hold what the neighbour wrote? */
static osla_err check_tokens(osla_transport *t, unsigned char *const *peer, bool *same)
{
  uint64_t mine = token_of(t);
  uint64_t *all = calloc((size_t)t->size, sizeof *all);
  OSLA_CALL(osla_agree(t, all ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "table of ranks")));
  memcpy(peer[t->rank], &mine, sizeof mine);
  osla_err err = osla_allgather(t, &mine, all, sizeof mine);
  int differ = 0;
  for (int rank = 0; rank < t->size && err == OSLA_OK; rank++)
    if (peer[rank] && memcmp(peer[rank], &all[rank], sizeof mine) != 0) differ = 1;
  free(all);
  OSLA_CALL(err);
  OSLA_CALL(osla_allreduce(t, &differ, 1, MPI_INT, MPI_MAX));
  *same = !differ;
  return OSLA_OK;
}

osla_err osla_shared_memory_probe(osla_transport *t, bool *works)
{
  const char *wish = getenv("OSLA_SHARED_MEMORY");
  int by_mpi = wish && strcmp(wish, "mpi") == 0;
  *works = false;
  OSLA_CALL(osla_allreduce(t, &by_mpi, 1, MPI_INT, MPI_MAX));
  if (by_mpi) return OSLA_OK;

  unsigned char **peer = calloc((size_t)t->size, sizeof *peer);
  size_t *mapped = calloc((size_t)t->size, sizeof *mapped);
  osla_err err = peer && mapped ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "table of ranks");
  err = osla_agree(t, err);
  if (err == OSLA_OK && osla_shared_memory_map(t, sizeof(uint64_t), peer, mapped) == OSLA_OK) {
    err = check_tokens(t, peer, works);
    osla_shared_memory_unmap(t, peer, mapped);
  }
  free(peer);
  free(mapped);
  return err;
}
