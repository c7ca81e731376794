/* Tests which ranks count as one host, and how control groups limit its cores and memory. The
 * linker puts the functions below before those of the library. */
#include "config.h"

#include "osla_host.h"
#include "src/transport/groups.h"
#include "tests/osla_test_help.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Simulated kernel id and simulated host name of this rank. NULL stands for the real value, and ""
 * for a value that cannot be read. */
static const char *kernel, *name;

static osla_groups groups; /* simulated control groups of this rank */
static bool has_groups;    /* true if `groups` are simulated */

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode)
{
  static char text[64];
  if (!kernel || strcmp(path, "/proc/sys/kernel/random/boot_id") != 0)
    return __real_fopen(path, mode);
  (void)snprintf(text, sizeof text, "%s\n", kernel);
  return kernel[0] ? fmemopen(text, strlen(text), "r") : NULL;
}

int __real_gethostname(char *to, size_t size);
int __wrap_gethostname(char *to, size_t size);
int __wrap_gethostname(char *to, size_t size)
{
  if (!name) return __real_gethostname(to, size);
  (void)snprintf(to, size, "%s", name);
  return 0;
}

void __real_osli_groups_read(const osla_group_folders *places, osla_groups *out);
void __wrap_osli_groups_read(const osla_group_folders *places, osla_groups *out);
void __wrap_osli_groups_read(const osla_group_folders *places, osla_groups *out)
{
  if (has_groups)
    *out = groups;
  else
    __real_osli_groups_read(places, out);
}

static void stop_pretending(void)
{
  kernel = name = NULL;
  has_groups = false;
}

static osla_host look(void)
{
  osla_host host;
  OSLA_ASSERT_OK(osla_host_look(MPI_COMM_WORLD, &host));
  return host;
}

/* --- tests of which ranks share a host --- */

static void expect_one_host(void)
{
  osla_host host = look();
  CU_ASSERT(host.first == 0);
  CU_ASSERT(host.ranks == osla_test_size());
}

/* Checks that each MPI node is a host. */
static void expect_nodes(void)
{
  osla_host host = look();
  MPI_Comm node;
  int first = osla_test_rank(), ranks;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &ranks);
  MPI_Bcast(&first, 1, MPI_INT, 0, node);
  MPI_Comm_free(&node);
  CU_ASSERT(host.first == first);
  CU_ASSERT(host.ranks == ranks);
}

static void test_identity(void)
{
  char mine[32];
  (void)snprintf(mine, sizeof mine, "x%d", osla_test_rank());
  expect_one_host(); /* all ranks are on one real machine, even if MPI sees several nodes */
  name = mine;
  expect_one_host();
  CU_ASSERT(strcmp(look().name, mine) == 0);
  kernel = mine; /* the ranks pretend to run on several machines */
  name = "localhost";
  expect_nodes();
  kernel = ""; /* the ranks pretend to run on machines whose kernel id is unreadable */
  expect_one_host();
  name = mine;
  expect_nodes();
  stop_pretending();
}

/* --- tests of limits on cores --- */

static void expect_cores(double quota, uint64_t id, int cores)
{
  has_groups = true;
  groups = (osla_groups){.cores = quota, .cpu_id = id};
  osla_host host = look();
  OSLA_ASSERT_MSG(host.cores == cores, "%d cores, not %d", host.cores, cores);
}

static int smaller(int a, int b)
{
  return a < b ? a : b;
}

static void test_cores(void)
{
  cpu_set_t mask;
  int size = osla_test_size(), rank = osla_test_rank();
  CU_ASSERT_FATAL(sched_getaffinity(0, sizeof mask, &mask) == 0);
  int all = CPU_COUNT(&mask);
  expect_cores(0, 0, all);
  expect_cores(0.1, 7, 1); /* all ranks are in one control group with a quota of 0.1 cores */
  /* a quota above the number of cores has no effect */
  expect_cores(1000, 7, all);
  /* each rank is in a control group of its own */
  expect_cores(0.5, 7 + (uint64_t)rank, smaller((size + 1) / 2, all));
  /* one rank has no quota */
  expect_cores(rank == size - 1 ? 0 : 0.1, 7, all);

  osla_transport *t = NULL; /* waits must not spin if the ranks exceed the quota of cores */
  groups = (osla_groups){.cores = 1, .cpu_id = 7};
  OSLA_ASSERT_OK(osla_transport_create(MPI_COMM_WORLD, NULL, &t));
  CU_ASSERT(osla_transport_oversubscribed(t) == (size > 1));
  osla_transport_destroy(&t);
  stop_pretending();
}

/* All ranks but the last are bound to the first core. */
static void test_bound(void)
{
  cpu_set_t all, one;
  int size = osla_test_size();
  size_t core = 0;
  CU_ASSERT_FATAL(sched_getaffinity(0, sizeof all, &all) == 0);
  while (!CPU_ISSET(core, &all))
    core++;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  bool bound = osla_test_rank() < size - 1;
  CU_ASSERT_FATAL(sched_setaffinity(0, sizeof all, bound ? &one : &all) == 0);
  osla_host host = look();
  CU_ASSERT_FATAL(sched_setaffinity(0, sizeof all, &all) == 0);
  double share = (double)host.cores / size, there = 1.0 / (size > 1 ? size - 1 : 1);
  if (size > 1 && there < share) share = there;
  OSLA_ASSERT_MSG(host.share == share, "%g cores a rank, not %g", host.share, share);
}

/* --- tests of limits on memory --- */

static void set_memory(uint64_t id, uint64_t available)
{
  has_groups = true;
  groups = (osla_groups){.n_memory = 2, .memory = {{id, available}, {1, 1 << 20}}};
}

static void test_memory(void)
{
  set_memory(50, 1 << 20); /* all ranks are in one control group */
  osla_transport *t = osla_test_transport();
  uint64_t size = (uint64_t)osla_test_size(), own = 100 + (uint64_t)osla_test_rank(), shared, bytes;
  OSLA_ASSERT_OK(osla_memory_check(t, (1 << 20) / size));
  OSLA_ASSERT_ERR(osla_memory_check(t, (1 << 20) / size + 1), OSLA_ERR_MEM);
  OSLA_ASSERT_TEXT("1048576 bytes are left of its control group's memory limit");
  OSLA_ASSERT_SAME_TEXT();
  /* each rank is in a control group of its own, and all ranks are in a second one */
  set_memory(own, 1000);
  OSLA_ASSERT_OK(osla_memory_check(t, 1000));
  osla_memory_available(&shared, &bytes);
  CU_ASSERT(bytes == 1000);
  OSLA_ASSERT_ERR(osla_memory_check(t, 1001), OSLA_ERR_MEM);
  set_memory(own, 1 << 20);
  OSLA_ASSERT_OK(osla_memory_check(t, (1 << 20) / size));
  OSLA_ASSERT_ERR(osla_memory_check(t, (1 << 20) / size + 1), OSLA_ERR_MEM);
  set_memory(own, 0); /* the control group of each rank has no memory left */
  OSLA_ASSERT_OK(osla_memory_check(t, 0));
  OSLA_ASSERT_ERR(osla_memory_check(t, 1), OSLA_ERR_MEM);
  OSLA_ASSERT_TEXT("only 0 bytes are left of its control group's memory limit");
  stop_pretending();
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"identity", test_identity}, {"cores", test_cores}, {"bound", test_bound},
  {"memory", test_memory},     {NULL, NULL},
};
OSLA_TEST_SUITE(test_host, cases);
