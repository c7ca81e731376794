/* Tests node memory that ranks map from one another: kernel rules for anonymous files, and paths
 * that lead to other files than the neighbour's memory. */
#include "config.h"

#include "osla_segment.h"
#include "src/transport/mpi/shared_memory.h"
#include "tests/osla_test_help.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The function memfd_create of this program behaves like Linux before 6.3, which does not know the
 * flag MFD_NOEXEC_SEAL, or like later kernels with vm.memfd_noexec = 2, which require the flag. */
enum { NOEXEC_SEAL = 8 };
static enum { AS_IT_IS, FLAG_UNKNOWN, FLAG_NEEDED } kernel = AS_IT_IS;
static int latest_file = -1;

int memfd_create(const char *name, unsigned flags)
{
  bool flag = flags & NOEXEC_SEAL;
  latest_file = -1;
  if (kernel != AS_IT_IS && flag == (kernel == FLAG_UNKNOWN)) {
    errno = flag ? EINVAL : EACCES;
    return -1;
  }
  latest_file = (int)syscall(SYS_memfd_create, name, flags & (unsigned)~NOEXEC_SEAL);
  return latest_file;
}

/* File descriptor that MPI_Iallgather of this program sends in place of the descriptor of the
 * rank's memory; -1 if it changes nothing. */
static int trap = -1;

int MPI_Iallgather(const void *send, int n, MPI_Datatype type, void *recv, int m,
                   MPI_Datatype recv_type, MPI_Comm comm, MPI_Request *request)
{
  if (trap >= 0 && latest_file >= 0) (void)dup2(trap, latest_file);
  return PMPI_Iallgather(send, n, type, recv, m, recv_type, comm, request);
}

/* Makes a transport and checks that a neighbour's memory is read correctly. If `trapped`, the
 * memory of a node with several ranks must come from MPI. */
static void check_transport(bool trapped)
{
  osla_transport *t = NULL;
  osla_segment *s = NULL;
  OSLA_ASSERT_OK(osla_transport_create(MPI_COMM_WORLD, NULL, &t));
  int next = (osla_test_rank() + 1) % osla_test_size(), value = 100 + osla_test_rank(), seen = 0;
  osla_transfer transfer;
  CU_ASSERT_FATAL(t != NULL);
  bool has_neighbours = osla_transport_n_nodes(t) < osla_test_size();
  CU_ASSERT(t->memory_by_mpi == (trapped && has_neighbours));
  trap = -1;
  OSLA_ASSERT_OK(osla_segment_create(t, 100000, 0, &s));
  memcpy((char *)osla_segment_local(s) + 77777, &value, sizeof value);
  OSLA_ASSERT_OK(osla_barrier(t));
  OSLA_ASSERT_OK(osla_segment_get(s, next, 77777, &seen, sizeof seen, &transfer));
  OSLA_ASSERT_OK(osla_transfer_wait(s, &transfer));
  CU_ASSERT(seen == 100 + next);
  osla_segment_destroy(&s);
  osla_transport_destroy(&t);
}

static void test_rules(void)
{
  for (int rule = AS_IT_IS; rule <= FLAG_NEEDED; rule++) {
    kernel = rule;
    check_transport(false);
  }
  kernel = AS_IT_IS;
}

/* Replaces the memory file of rank 1, which the other ranks try to open. */
static void with_trap(int file)
{
  CU_ASSERT_FATAL(file >= 0);
  if (osla_test_rank() == 1) trap = file;
  check_transport(true);
  trap = -1;
  (void)close(file);
}

static void test_something_else(void)
{
  char path[64];
  (void)snprintf(path, sizeof path, "/tmp/osla-test-%ld", (long)getpid());
  int empty = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
  (void)unlink(path);
  with_trap(empty); /* reading from a mapping of an empty file would be a bus error */
  CU_ASSERT_FATAL(mkfifo(path, 0600) == 0);
  int pipe_end = open(path, O_RDWR);
  (void)unlink(path);
  with_trap(pipe_end);
  int other = (int)syscall(SYS_memfd_create, "osla-0123456789abcdef", 0);
  CU_ASSERT(ftruncate(other, 1 << 20) == 0);
  with_trap(other);
}

static void test_huge_pages(void)
{
  enum { PAGES = 300 };
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  unsigned char *at = NULL;
  struct stat status;
  CU_ASSERT(!osli_pages_offered("always within_size advise [never] deny force\n"));
  CU_ASSERT(!osli_pages_offered("always within_size advise never [deny] force\n"));
  CU_ASSERT(osli_pages_offered("always within_size [advise] never deny force\n"));
  CU_ASSERT(osli_pages_offered("[always] within_size advise never deny force\n"));
  CU_ASSERT(!osli_pages_offered(""));
  /* checks that all pages are allocated before the first access */
  for (int huge = 0; huge < 2; huge++) {
    int file = (int)syscall(SYS_memfd_create, "osla-test", 0);
    CU_ASSERT(ftruncate(file, (off_t)(PAGES * page)) == 0);
    OSLA_ASSERT_OK(osli_pages_map(file, PAGES * page, &at));
    CU_ASSERT(osli_pages_allocate(file, at, PAGES * page, huge) == 0);
    CU_ASSERT(fstat(file, &status) == 0 && (size_t)status.st_blocks * 512 >= PAGES * page);
    CU_ASSERT(at[0] == 0 && at[PAGES * page - 1] == 0);
    (void)munmap(at, PAGES * page);
    (void)close(file);
  }
}

/* When set, long calls of posix_fallocate are interrupted and undone, as by a profiler's timer on
 * older kernels. */
static bool interrupts = false;
static int interrupted = 0;

int posix_fallocate(int file, off_t from, off_t bytes)
{
  enum { AT_A_TIME = 4 << 20, ENOUGH = 100 };
  if (interrupts && bytes > AT_A_TIME) return ++interrupted < ENOUGH ? EINTR : EIO;
  return fallocate(file, 0, from, bytes) == 0 ? 0 : errno;
}

static void test_signals(void)
{
  const size_t bytes = ((size_t)64 << 20) + 4096;
  struct stat status = {0};
  int file = (int)syscall(SYS_memfd_create, "osla-test", 0);
  CU_ASSERT(ftruncate(file, (off_t)bytes) == 0);
  interrupts = true;
  CU_ASSERT(osli_pages_allocate(file, NULL, bytes, false) == 0 && interrupted < 2);
  interrupts = false;
  CU_ASSERT(fstat(file, &status) == 0 && (size_t)status.st_blocks * 512 == bytes);
  (void)close(file);
}

static long read_limit(void)
{
  long limit = 0;
  FILE *file = fopen("/proc/sys/vm/max_map_count", "r");
  if (file && fscanf(file, "%ld", &limit) != 1) limit = 0;
  if (file) (void)fclose(file);
  return limit;
}

/* Number of next mmap calls of the library that fail as at the limit on mappings. The limit itself
 * might break MPI. */
static int refusals = 0;

void *__real_mmap(void *at, size_t bytes, int rights, int flags, int file, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int rights, int flags, int file, off_t offset);

void *__wrap_mmap(void *at, size_t bytes, int rights, int flags, int file, off_t offset)
{
  if (file < 0 || refusals == 0) return __real_mmap(at, bytes, rights, flags, file, offset);
  refusals--;
  errno = ENOMEM;
  return MAP_FAILED;
}

/* Tests a rank that cannot create another mapping: first its cached regions are freed, so that one
 * more region can be made. When a further region is requested, all ranks report an error. */
static void test_most_mappings(void)
{
  enum { MOST = 1 << 20, SPARE = 20 };
  size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = 2 * MOST * page, cut = 1;
  osla_transport *t = osla_test_transport();
  osla_segment *s = NULL, *other = NULL;
  long limit = read_limit();
  bool last = osla_test_rank() == osla_test_size() - 1;
  unsigned char *at =
    mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CU_ASSERT_FATAL(at != MAP_FAILED && limit > 0 && limit < MOST);
  OSLA_ASSERT_OK(osla_segment_create(t, 100, 0, &s));
  osla_segment_destroy(&s);
  for (; last && cut < 2 * MOST; cut += 2) /* each call of mprotect cuts a mapping into three */
    if (mprotect(at + cut * page, page, PROT_READ) != 0) break;
  for (int i = 0; last && i < SPARE; i++)
    (void)mprotect(at + (cut -= 2) * page, page, PROT_NONE);
  refusals = last;
  /* cached regions were freed to make room for this mapping */
  OSLA_ASSERT_OK(osla_segment_create(t, 1 << 20, 0, &s));
  refusals = last;
  osla_err err = osla_segment_create(t, 1 << 20, 0, &other);
  CU_ASSERT(err == OSLA_ERR_MEM && strstr(osla_error_text(), "vm.max_map_count"));
  OSLA_ASSERT_SAME_TEXT();
  (void)munmap(at, bytes);
  OSLA_ASSERT_OK(osla_segment_create(t, 1 << 20, 0, &other));
  osla_segment_destroy(&other);
  osla_segment_destroy(&s);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"rules", test_rules},
  {"something_else", test_something_else},
  {"huge_pages", test_huge_pages},
  {"signals", test_signals},
  {"most_mappings", test_most_mappings},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_shared_memory, cases);
