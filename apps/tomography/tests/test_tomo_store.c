/* Tests of the result file in both formats, and of atomic replacement. No communication; every
 * rank works in its own directory. */
#define _GNU_SOURCE /* memmem */
#include "tests/osla_test.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/tomography/readers/tomo_io.h"
#include "apps/tomography/readers/tomo_store.h"

static char directory[64];

static const char *in_directory(const char *name)
{
  static char path[256];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  return path;
}

static int count_files(void)
{
  int count = 0;
  DIR *handle = opendir(directory);
  for (struct dirent *entry; handle && (entry = readdir(handle));)
    count += entry->d_name[0] != '.';
  if (handle) closedir(handle);
  return count;
}

static bool make_directory(void)
{
  strcpy(directory, "/tmp/osla-test-XXXXXX");
  CU_ASSERT(mkdtemp(directory) != NULL);
  return directory[0] != '\0';
}

static bool contains(const char *path, const void *bytes, size_t count)
{
  void *content = NULL;
  size_t size = 0;
  const bool found = OSLA_ASSERT_OK(tomo_file_read(path, &content, &size)) &&
                     memmem(content, size, bytes, count) != NULL;
  free(content);
  return found;
}

static void round_trip(const char *name)
{
  const double model[6] = {1.5, -2.25, NAN, INFINITY, 5e-324, -0.0}, *none = NULL;
  const int64_t two[2] = {3, 2}, zero[1] = {0};
  tomo_store *store = NULL;
  const double misfit = 0.1;
  double *data = NULL;
  int64_t count = -1;
  if (!OSLA_ASSERT_OK(tomo_store_create(&store))) return;
  OSLA_ASSERT_OK(tomo_store_add_array(store, "model", "percent", 2, two, model));
  OSLA_ASSERT_OK(tomo_store_add_array(store, "empty", "1", 1, zero, none));
  OSLA_ASSERT_OK(tomo_store_add_number(store, "misfit", misfit));
  OSLA_ASSERT_OK(tomo_store_add_text(store, "note", "two\nlines"));
  OSLA_ASSERT_ERR(tomo_store_add_number(store, "misfit", 2.0), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(tomo_store_add_number(store, "a b", 2.0), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(tomo_store_add_array(store, "x", "a b", 1, zero, none), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(tomo_store_add_array(store, "x", "1", 9, zero, none), OSLA_ERR_ARG);
  for (int again = 0; again < 2; again++) { /* writes a new file, then replaces it */
    OSLA_ASSERT_OK(tomo_store_write(store, in_directory(name)));
    CU_ASSERT(count_files() == 1);
  }
  if (OSLA_ASSERT_OK(tomo_store_read_array(in_directory(name), "model", &data, &count))) {
    CU_ASSERT(count == 6);
    CU_ASSERT(memcmp(data, model, sizeof model) == 0);
  }
  free(data);
  OSLA_ASSERT_OK(tomo_store_read_array(in_directory(name), "empty", &data, &count));
  CU_ASSERT(count == 0);
  free(data);
  static const char line[] = "\nnumber misfit 0.10000000000000001\n";
  const bool plain = strstr(name, ".osla") != NULL;
  CU_ASSERT(contains(in_directory(name), plain ? (const void *)line : &misfit,
                     plain ? sizeof line - 1 : sizeof misfit));
  OSLA_ASSERT_ERR(tomo_store_read_array(in_directory(name), "absent", &data, &count), OSLA_ERR_IO);
  tomo_store_destroy(&store);
  tomo_store_destroy(&store);
  unlink(in_directory(name));
}

static void test_round_trip(void)
{
  char name[32];
  if (!make_directory()) return;
  snprintf(name, sizeof name, "result%s", tomo_store_suffix());
  round_trip(name);
  round_trip("result.osla");
  rmdir(directory);
}

static void test_plain_damage(void)
{
  const double model[4] = {1, 2, 3, 4};
  const int64_t four[1] = {4};
  tomo_store *store = NULL;
  double *data = NULL;
  int64_t count;
  if (!make_directory() || !OSLA_ASSERT_OK(tomo_store_create(&store))) return;
  OSLA_ASSERT_OK(tomo_store_add_array(store, "model", "percent", 1, four, model));
  OSLA_ASSERT_OK(tomo_store_write(store, in_directory("r.osla")));
  struct stat status = {0};
  CU_ASSERT(stat(in_directory("r.osla"), &status) == 0 && status.st_size % 32 == 0);
  CU_ASSERT(truncate(in_directory("r.osla"), status.st_size - 1) == 0);
  OSLA_ASSERT_ERR(tomo_store_read_array(in_directory("r.osla"), "model", &data, &count),
                  OSLA_ERR_IO);
  CU_ASSERT(truncate(in_directory("r.osla"), 20) == 0);
  OSLA_ASSERT_ERR(tomo_store_read_array(in_directory("r.osla"), "model", &data, &count),
                  OSLA_ERR_IO);
  CU_ASSERT(truncate(in_directory("r.osla"), 5) == 0);
  OSLA_ASSERT_ERR(tomo_store_read_array(in_directory("r.osla"), "model", &data, &count),
                  OSLA_ERR_IO);
  tomo_store_destroy(&store);
  unlink(in_directory("r.osla"));
  rmdir(directory);
}

static const osla_test_case cases[] = {
  {"round_trip", test_round_trip}, {"plain_damage", test_plain_damage}, {NULL, NULL}};
OSLA_TEST_SUITE(test_tomo_store, cases);
