/* Tests the limits of control groups on artificial trees of /proc and /sys. */
#include "src/transport/groups.h"
#include "tests/osla_test.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64];

static void path_of(const char *name, char path[PATH_MAX])
{
  CU_ASSERT_FATAL(snprintf(path, PATH_MAX, "%s%s", root, name) < PATH_MAX);
}

/* Writes a file and creates the folders above it. */
static void put(const char *name, const char *text)
{
  char path[PATH_MAX];
  path_of(name, path);
  for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    (void)mkdir(path, 0700);
    *slash = '/';
  }
  FILE *file = fopen(path, "w");
  CU_ASSERT_FATAL(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void put_in(const char *folder, const char *name, const char *text)
{
  char path[PATH_MAX];
  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  put(path, text);
}

static uint64_t id_of(const char *name)
{
  char path[PATH_MAX];
  struct stat status;
  path_of(name, path);
  return stat(path, &status) == 0 ? (uint64_t)status.st_ino : 0;
}

static void begin(const char *cgroup, const char *mountinfo)
{
  (void)strcpy(root, "/tmp/osla-test-groups-XXXXXX");
  CU_ASSERT_FATAL(mkdtemp(root) != NULL);
  put("/proc/self/cgroup", cgroup);
  put("/proc/self/mountinfo", mountinfo);
}

static osla_groups look(void)
{
  osla_groups g;
  osla_group_folders places;
  osli_groups_locate(root, &places);
  osli_groups_read(&places, &g);
  return g;
}

static void end(void)
{
  char command[96];
  (void)snprintf(command, sizeof command, "rm -rf %s", root);
  CU_ASSERT(system(command) == 0);
}

static void expect_memory(const osla_groups *g, int i, const char *folder, uint64_t available)
{
  OSLA_ASSERT_MSG(i < g->n_memory && g->memory[i].available == available,
                  "%d limits; limit %d leaves %" PRIu64 ", not %" PRIu64, g->n_memory, i,
                  g->memory[i].available, available);
  CU_ASSERT(g->memory[i].id == id_of(folder) && g->memory[i].id != 0);
}

static void expect_cores(const osla_groups *g, const char *folder, double cores)
{
  OSLA_ASSERT_MSG(g->cores == cores, "%g cores, not %g", g->cores, cores);
  if (cores > 0) CU_ASSERT(g->cpu_id == id_of(folder) && g->cpu_id != 0);
}

static const char unified[] =
  "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
  "31 23 0:28 / /sys/fs/c\\040g rw,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";

/* Tests version 2 of control groups: a group without a limit lies between two groups with a limit,
 * and the path of the mount point contains a blank. */
static void test_version_2(void)
{
  const char *own = "/sys/fs/c g/batch/job.slice/step 1";
  begin("0::/batch/job.slice/step 1\n", unified);
  put_in(own, "memory.max", "1000000\n");
  put_in(own, "memory.high", "max\n");
  put_in(own, "memory.current", "400000\n");
  put_in(own, "memory.stat", "anon 300000\nfile 100000\nactive_file 1\ninactive_file 100000\n");
  put_in(own, "cpu.max", "150000 100000\n");
  put("/sys/fs/c g/batch/job.slice/memory.max", "max\n");
  put("/sys/fs/c g/batch/job.slice/memory.current", "900000\n");
  put("/sys/fs/c g/batch/job.slice/cpu.max", "max 100000\n");
  put("/sys/fs/c g/batch/memory.max", "2000000\n");
  put("/sys/fs/c g/batch/memory.current", "1900000\n");
  put("/sys/fs/c g/batch/cpu.max", "50000 40000\n");
  put("/sys/fs/c g/cgroup.procs", "");
  osla_groups g = look();
  CU_ASSERT(g.n_memory == 2);
  expect_memory(&g, 0, own, 700000);
  expect_memory(&g, 1, "/sys/fs/c g/batch", 100000);
  expect_cores(&g, "/sys/fs/c g/batch", 1.25);
  end();
}

/* Tests a group without free memory, whose limit memory.high is below memory.max. */
static void test_full(void)
{
  begin("0::/a/b\n", unified);
  put("/sys/fs/c g/a/b/memory.max", "500\n");
  put("/sys/fs/c g/a/b/memory.current", "600\n");
  put("/sys/fs/c g/a/memory.max", "5000\n");
  put("/sys/fs/c g/a/memory.high", "900\n");
  put("/sys/fs/c g/a/memory.current", "600\n");
  put("/sys/fs/c g/a/memory.stat", "inactive_file 700\n");
  osla_groups g = look();
  CU_ASSERT(g.n_memory == 2);
  expect_memory(&g, 0, "/sys/fs/c g/a/b", 0);
  expect_memory(&g, 1, "/sys/fs/c g/a", 900);
  expect_cores(&g, NULL, 0);
  put("/sys/fs/c g/a/b/memory.max", "600\n"); /* the group uses its limit exactly */
  g = look();
  expect_memory(&g, 0, "/sys/fs/c g/a/b", 0);
  end();
}

/* Tests version 1 of control groups in a container: the process sees the group's name on the host,
 * and its own group is the top of the mount. Another mount of this hierarchy does not contain the
 * group. Memory and CPU have separate hierarchies, and a unified hierarchy has no controllers. */
static void test_version_1(void)
{
  begin("12:cpu,cpuacct:/docker/abc/inner\n5:devices:/\n4:memory:/docker/abc\n0::/\n",
        "30 23 0:25 / /sys/fs/cgroup ro - tmpfs tmpfs ro\n"
        "31 30 0:29 /docker/ab /elsewhere ro - cgroup cgroup rw,memory\n"
        "32 30 0:29 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
        "33 30 0:30 /docker /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n"
        "34 30 0:31 / /sys/fs/cgroup/unified ro - cgroup2 cgroup2 rw\n");
  put("/elsewhere/memory.limit_in_bytes", "1\n");
  put("/sys/fs/cgroup/unified/cgroup.procs", "");
  put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "3000000000\n");
  put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "1000000000\n");
  put("/sys/fs/cgroup/memory/memory.stat",
      "inactive_file 1\nhierarchical_memory_limit 3000000000\ntotal_inactive_file 500000000\n");
  put("/sys/fs/cgroup/cpu,cpuacct/abc/inner/cpu.cfs_quota_us", "-1\n");
  put("/sys/fs/cgroup/cpu,cpuacct/abc/inner/cpu.cfs_period_us", "100000\n");
  put("/sys/fs/cgroup/cpu,cpuacct/abc/cpu.cfs_quota_us", "350000\n");
  put("/sys/fs/cgroup/cpu,cpuacct/abc/cpu.cfs_period_us", "100000\n");
  put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "900000\n");
  put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  osla_groups g = look();
  CU_ASSERT(g.n_memory == 1);
  expect_memory(&g, 0, "/sys/fs/cgroup/memory", UINT64_C(2500000000));
  expect_cores(&g, "/sys/fs/cgroup/cpu,cpuacct/abc", 3.5);
  end();
}

/* Tests version 1 of control groups. The limit of one group is the number that means "no limit",
 * and one parent group does not count the memory of its children. */
static void test_not_hierarchical(void)
{
  begin("4:memory:/a/b/c\n", "31 23 0:28 / /m rw - cgroup cgroup rw,memory\n");
  put("/m/a/b/c/memory.limit_in_bytes", "9223372036854771712\n");
  put("/m/a/b/c/memory.use_hierarchy", "0\n");
  put("/m/a/b/memory.limit_in_bytes", "5000\n");
  put("/m/a/b/memory.usage_in_bytes", "1000\n");
  put("/m/a/b/memory.use_hierarchy", "1\n");
  put("/m/a/memory.limit_in_bytes", "10\n");
  put("/m/a/memory.use_hierarchy", "0\n");
  osla_groups g = look();
  CU_ASSERT(g.n_memory == 1);
  expect_memory(&g, 0, "/m/a/b", 4000);
  end();
}

/* Tests a control group that is outside the mounted hierarchy. In this case the limits in the
 * topmost folder of the mount hold. */
static void test_hidden(void)
{
  begin("0::/../other\n", unified);
  put("/sys/fs/c g/memory.max", "70\n");
  put("/sys/fs/c g/memory.current", "30\n");
  osla_groups g = look();
  CU_ASSERT(g.n_memory == 1);
  expect_memory(&g, 0, "/sys/fs/c g", 40);
  end();
  begin("0::/gone\n", unified); /* the group's folder does not exist */
  put("/sys/fs/c g/memory.max", "70\n");
  g = look();
  CU_ASSERT(g.n_memory == 1);
  expect_memory(&g, 0, "/sys/fs/c g", 70);
  end();
}

static void test_deep(void)
{
  char folder[PATH_MAX] = "/sys/fs/c g";
  begin("0::/g/g/g/g/g/g/g/g/g/g/g/g\n", unified);
  for (int depth = 0; depth < 12; depth++) {
    char limit[24];
    (void)strcat(folder, "/g");
    (void)snprintf(limit, sizeof limit, "%d\n", depth == 1 ? 7 : 100 + depth);
    put_in(folder, "memory.max", limit);
  }
  osla_groups g = look();
  CU_ASSERT(g.n_memory == OSLA_MOST_GROUPS);
  expect_memory(&g, 0, folder, 111);
  expect_memory(&g, OSLA_MOST_GROUPS - 1, "/sys/fs/c g/g/g", 7);
  end();
}

static void test_nothing(void)
{
  begin("garbage\n0:\n::\n", "31 23\n\n - cgroup2\n1 2 3 / /x rw - cgroup2 \n");
  osla_groups g = look();
  CU_ASSERT(g.n_memory == 0 && g.cores == 0);
  end();
  (void)strcpy(root, "/nonexistent");
  g = look();
  CU_ASSERT(g.n_memory == 0 && g.cores == 0);
}

static const osla_test_case cases[] = {
  {"version_2", test_version_2}, {"full", test_full},
  {"version_1", test_version_1}, {"not_hierarchical", test_not_hierarchical},
  {"hidden", test_hidden},       {"deep", test_deep},
  {"nothing", test_nothing},     {NULL, NULL},
};
OSLA_TEST_SUITE(test_groups, cases);
