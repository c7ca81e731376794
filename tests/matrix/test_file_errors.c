/* Tests of files that cannot be written, and of files that a reader must refuse: missing, of other
 * programs, truncated, changed. All ranks get the same error, an existing file is unchanged, and no
 * temporary file is left. */
#include "tests/file_help.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#ifdef HAVE_HDF5
#include <hdf5.h>
#endif

enum { M = 40, N = 30 };

static osla_matrix *sample(osla_transport *t)
{
  osla_matrix *a = osla_test_make(t, 0, OSLA_DOUBLE, M, N, 8, 8);
  osla_test_write_local(a);
  return a;
}

/* Asserts that osla_matrix_load fails with OSLA_ERR_IO and this text on all ranks. */
static void refuse(osla_transport *t, const char *path, const char *name, const char *text)
{
  osla_grid *grid = osla_test_grid(t, 0);
  osla_matrix *a = NULL;
  osla_load_options options = {.name = name};
  OSLA_ASSERT_ERR(osla_matrix_load(grid, path, &options, NULL, &a), OSLA_ERR_IO);
  OSLA_ASSERT_TEXT(text);
  OSLA_ASSERT_SAME_TEXT();
  CU_ASSERT_PTR_NULL(a);
  osla_matrix_destroy(&a);
  osla_grid_destroy(&grid);
}

static void test_targets(void)
{
  static const struct {
    const char *path, *text;
  } bad[] = {
    {"", "the name of the file is empty"},
    {"/nowhere/at/all", "/nowhere/at/all: directory /nowhere/at: No such file or directory"},
    {"/dev/null/x", "/dev/null/x: directory /dev/null: Not a directory"},
    {"/dev/", "names a directory"},
    {"/dev/full", "/dev/full: exists and is not a regular file"},
    {"/dev", "/dev: exists and is not a regular file"},
    {"/proc/osla", "/proc/osla: "}, /* a directory in which no file can be created, even by root */
  };
  osla_transport *t = osla_test_transport();
  osla_matrix *a = sample(t);
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
    for (int hdf5 = 0; hdf5 <= WITH_HDF5; hdf5++) {
      osla_save_options options = {.format = hdf5 ? OSLA_FORMAT_HDF5 : OSLA_FORMAT_RAW};
      OSLA_ASSERT_ERR(osla_matrix_save(a, bad[k].path, &options), OSLA_ERR_IO);
      OSLA_ASSERT_TEXT(bad[k].text);
      OSLA_ASSERT_SAME_TEXT();
    }
  osla_save_options none = {.format = (osla_format)7};
  OSLA_ASSERT_ERR(osla_matrix_save(a, "/dev/full", &none), OSLA_ERR_ARG);
  osla_test_destroy(a);
  osla_transport_destroy(&t);
}

static void test_foreign(void)
{
  osla_transport *t = osla_test_transport();
  scratch_create();
  refuse(t, scratch_path("missing"), NULL, "missing: No such file or directory");
  refuse(t, "/dev", NULL, "/dev: is not a regular file");
  refuse(t, "/dev/zero", NULL, "/dev/zero: is not a regular file");
  scratch_pipe(scratch_path("pipe"));
  refuse(t, scratch_path("pipe"), NULL, "pipe: is not a regular file");
  scratch_write(scratch_path("empty"), "", 0);
  refuse(t, scratch_path("empty"), NULL, "neither HDF5 nor an OSLA raw matrix (0 bytes");
  char text[200];
  memset(text, 'x', sizeof text);
  scratch_write(scratch_path("text"), text, 20);
  refuse(t, scratch_path("text"), NULL, "neither HDF5 nor an OSLA raw matrix (20 bytes");
  scratch_write(scratch_path("text"), text, sizeof text);
  refuse(t, scratch_path("text"), NULL, "neither HDF5 nor an OSLA raw matrix (200 bytes");
  scratch_remove(3);
  osla_transport_destroy(&t);
}

static void test_raw_changed(void)
{
  osla_transport *t = osla_test_transport();
  osla_matrix *a = sample(t);
  size_t size, data = M * N * sizeof(double);
  scratch_create();
  const char *path = scratch_path("raw");
  OSLA_ASSERT_OK(osla_matrix_save(a, path, NULL));
  unsigned char *bytes = scratch_read(path, &size);
  CU_ASSERT(size == data + 64);
  const size_t cuts[] = {0, 1, 63, 64, data - 1, data, data + 1, size - 1};
  for (size_t k = 0; k < sizeof cuts / sizeof *cuts; k++) {
    scratch_write(path, bytes, cuts[k]);
    refuse(t, path, NULL, "another format, or truncated");
  }
  scratch_write(path, bytes + 8, size - 8); /* the first 8 bytes of the file are missing */
  refuse(t, path, NULL, "truncated: 9656 bytes, but a matrix of 40 x 30 and its trailer take 9664");
  const size_t places[] = {0, 5003, data - 1};
  for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
    bytes[places[k]] ^= 1;
    scratch_write(path, bytes, size);
    refuse(t, path, NULL, "checksum of the matrix: the data were changed");
    bytes[places[k]] ^= 1;
  }
  for (size_t at = data + 16; at < size;
       at++) { /* bytes of the trailer with sizes, type, stored triangle and checksums */
    bytes[at] ^= 4;
    if (at % 5 == 0) scratch_write(path, bytes, size);
    if (at % 5 == 0) refuse(t, path, NULL, "checksum of the trailer: the file was changed");
    bytes[at] ^= 4;
  }
  bytes[data + 8] ^= 1;
  scratch_write(path, bytes, size);
  refuse(t, path, NULL, "of another version or byte order");
  free(bytes);
  scratch_remove(1);
  osla_test_destroy(a);
  osla_transport_destroy(&t);
}

/* Mixes the bits of x, as the checksum in file_item.c does. */
static uint64_t mix(uint64_t x)
{
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/* The trailer has a correct checksum, but its sizes overflow to the size of the file. */
static void test_raw_forged(void)
{
  static const int64_t sizes[][2] = {{1LL << 32, 1LL << 32}, {1LL << 62, 4}, {1LL << 62, 0}};
  osla_transport *t = osla_test_transport();
  scratch_create();
  const char *path = scratch_path("forged");
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    const uint32_t order_and_length[2] = {0x01020304, 64};
    uint64_t word[8] = {0, 0, (uint64_t)sizes[k][0], (uint64_t)sizes[k][1], OSLA_DOUBLE, 0, 0, 0};
    memcpy(&word[0], "OSLAraw1", sizeof word[0]);
    memcpy(&word[1], order_and_length, sizeof word[1]);
    for (uint64_t i = 0; i < 7; i++)
      word[7] += mix(word[i] ^ mix((i + 1) * 0x9e3779b97f4a7c15u));
    scratch_write(path, (const unsigned char *)word, sizeof word);
    refuse(t, path, NULL, "forged: has the impossible size ");
  }
  scratch_remove(1);
  osla_transport_destroy(&t);
}

/* Swaps two columns of the data. The checksum depends on the positions of elements. */
static void test_swapped(void)
{
  osla_transport *t = osla_test_transport();
  osla_matrix *a = sample(t);
  size_t size, column = M * sizeof(double);
  unsigned char kept[M * sizeof(double)];
  scratch_create();
  const char *path = scratch_path("swapped");
  OSLA_ASSERT_OK(osla_matrix_save(a, path, NULL));
  unsigned char *bytes = scratch_read(path, &size);
  memcpy(kept, bytes, column);
  memcpy(bytes, bytes + 7 * column, column);
  memcpy(bytes + 7 * column, kept, column);
  scratch_write(path, bytes, size);
  refuse(t, path, NULL, "the data were changed");
  free(bytes);
  scratch_remove(1);
  osla_test_destroy(a);
  osla_transport_destroy(&t);
}

/* Offset of the matrix elements in an HDF5 file, found by their first column. */
static size_t find_data(const unsigned char *bytes, size_t size)
{
  double column[M];
  osla_test_write_block(OSLA_DOUBLE, column, 0, 0, M, 1, M);
  for (size_t at = 0; at + sizeof column <= size; at++)
    if (memcmp(bytes + at, column, sizeof column) == 0) return at;
  return size;
}

static void test_hdf5_changed(void)
{
  osla_transport *t = osla_test_transport();
  osla_matrix *a = sample(t);
  size_t size;
  scratch_create();
  const char *path = scratch_path("changed.h5");
  if (!WITH_HDF5) {
    OSLA_ASSERT_ERR(osla_matrix_save(a, path, NULL), OSLA_ERR_UNSUPPORTED);
    OSLA_ASSERT_TEXT("this build has no HDF5 (Debian package: libhdf5-" OSLA_DEBIAN_MPI "-dev)");
    scratch_remove(0);
    osla_test_destroy(a);
    osla_transport_destroy(&t);
    return;
  }
  OSLA_ASSERT_OK(osla_matrix_save(a, path, NULL));
  refuse(t, path, "H", "no data set H");
  unsigned char *bytes = scratch_read(path, &size);
  size_t data = find_data(bytes, size), end = data + M * N * sizeof(double);
  CU_ASSERT(end <= size);
  scratch_write(path, bytes, 7);
  refuse(t, path, NULL, "another format, or truncated");
  const size_t cuts[] = {8, 100, data, data + 100, size - 1};
  for (size_t k = 0; k < sizeof cuts / sizeof *cuts; k++) {
    scratch_write(path, bytes, cuts[k]);
    refuse(t, path, NULL, "changed.h5: HDF5: ");
  }
  bytes[end - 1] ^= 1;
  scratch_write(path, bytes, size);
  refuse(t, path, NULL, "checksum of matrix: the data were changed");
  free(bytes);
  scratch_remove(1);
  osla_test_destroy(a);
  osla_transport_destroy(&t);
}

/* After any byte of the file is changed, loading it is refused, or the values read are correct. */
static void test_hdf5_flipped(void)
{
  osla_transport *t = osla_test_transport();
  osla_matrix *a = sample(t), *b = NULL;
  size_t size, step = osla_test_size() == 1 ? 31 : 1201, refused = 0;
  scratch_create();
  const char *path = scratch_path("flipped.h5");
  osla_save_options options = {.stored = OSLA_STORED_UPPER};
  osla_stored stored = OSLA_STORED_WHOLE;
  CU_ASSERT((osla_matrix_save(a, path, &options) == OSLA_OK) == WITH_HDF5);
  unsigned char *bytes = scratch_read(path, &size);
  for (size_t at = 0; at < size; at += step) {
    bytes[at] ^= 0x81;
    scratch_write(path, bytes, size);
    bytes[at] ^= 0x81;
    osla_err err = osla_matrix_load(osla_matrix_grid(a), path, NULL, &stored, &b);
    OSLA_ASSERT_MSG(err == OSLA_OK || err == OSLA_ERR_IO, "byte %zu: %s", at, osla_error_text());
    refused += err == OSLA_ERR_IO;
    if (err != OSLA_OK) continue;
    CU_ASSERT(stored == OSLA_STORED_UPPER && osla_matrix_layout(b).m == M);
    CU_ASSERT(osla_test_differ_local(b) == 0);
    osla_matrix_destroy(&b);
  }
  CU_ASSERT(!WITH_HDF5 || refused > 5);
  free(bytes);
  scratch_remove(WITH_HDF5);
  osla_test_destroy(a);
  osla_transport_destroy(&t);
}

/* Adds one to each non-zero byte of the metadata. HDF5's checksums detect the change, or the byte
 * has no effect. Without checksums HDF5 would crash if layout class 1 (contiguous) became 2. */
static void test_hdf5_metadata(void)
{
  osla_transport *t = osla_test_transport();
  osla_matrix *a = sample(t), *b = NULL;
  size_t size, tried = 0, refused = 0;
  scratch_create();
  const char *path = scratch_path("metadata.h5");
  CU_ASSERT((osla_matrix_save(a, path, NULL) == OSLA_OK) == WITH_HDF5);
  unsigned char *bytes = scratch_read(path, &size);
  const size_t data = find_data(bytes, size), end = data + M * N * sizeof(double);
  const size_t step = osla_test_size() == 1 ? 1 : 29;
  for (size_t at = 0; at < size; at += step) {
    if (bytes[at] == 0 || (at >= data && at < end)) continue;
    bytes[at]++;
    scratch_write(path, bytes, size);
    bytes[at]--;
    osla_err err = osla_matrix_load(osla_matrix_grid(a), path, NULL, NULL, &b);
    OSLA_ASSERT_MSG(err == OSLA_OK || err == OSLA_ERR_IO, "byte %zu: %s", at, osla_error_text());
    tried++;
    refused += err == OSLA_ERR_IO;
    if (err == OSLA_OK) CU_ASSERT(osla_test_differ_local(b) == 0);
    osla_matrix_destroy(&b);
  }
  OSLA_ASSERT_MSG(!WITH_HDF5 || refused * 4 > tried * 3, "%zu of %zu refused", refused, tried);
  free(bytes);
  scratch_remove(WITH_HDF5);
  osla_test_destroy(a);
  osla_transport_destroy(&t);
}

/* Writes a file as another program might, in such a way that OSLA must refuse to load it. */
static void write_foreign(const char *path)
{
#ifdef HAVE_HDF5
  hsize_t dims[3] = {4, 4, 2}, chunk[2] = {2, 2};
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  hid_t plane = H5Screate_simple(2, dims, NULL), cube = H5Screate_simple(3, dims, NULL);
  hid_t create = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(create, 2, chunk);
  const double x[32] = {0.0};
  const struct {
    const char *name;
    hid_t type, space, create;
  } sets[] = {{"chunked", H5T_IEEE_F64LE, plane, create},
              {"plain", H5T_IEEE_F64LE, plane, H5P_DEFAULT},
              {"swapped", H5T_IEEE_F64BE, plane, H5P_DEFAULT},
              {"cube", H5T_IEEE_F64LE, cube, H5P_DEFAULT}};
  for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
    hid_t set = H5Dcreate2(file, sets[k].name, sets[k].type, sets[k].space, H5P_DEFAULT,
                           sets[k].create, H5P_DEFAULT);
    CU_ASSERT(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) >= 0);
    H5Dclose(set);
  }
  hid_t one = H5Screate(H5S_SCALAR), text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, 8); /* the 8 letters of the text fill it, so that it has no terminating zero */
  hid_t title = H5Acreate2(file, "title", text, one, H5P_DEFAULT, H5P_DEFAULT);
  CU_ASSERT(H5Awrite(title, text, "ABCDEFGH") >= 0);
  H5Aclose(title);
  H5Tclose(text);
  H5Sclose(one);
  H5Pclose(create);
  H5Sclose(plane);
  H5Sclose(cube);
  H5Fclose(file);
#else
  (void)path;
#endif
}

static void test_hdf5_foreign(void)
{
  osla_transport *t = osla_test_transport();
  scratch_create();
  CU_ASSERT(true);
  if (WITH_HDF5) {
    const char *path = scratch_path("foreign.h5");
    if (osla_test_rank() == 0) write_foreign(path);
    OSLA_ASSERT_OK(osla_barrier(t));
    refuse(t, path, "plain", "plain was not written by osla (no checksum)");
    refuse(t, path, "chunked", "chunked was not written by osla (not contiguous)");
    refuse(t, path, "swapped", "swapped has a type that osla does not read");
    refuse(t, path, "cube", "cube has 3 dimensions, and a matrix was expected");
    osla_file *file = NULL;
    char short_one[8], long_one[9];
    OSLA_ASSERT_OK(osla_file_open(t, path, &file));
    OSLA_ASSERT_OK(osla_file_get_text(file, "title", short_one, sizeof short_one));
    OSLA_ASSERT_OK(osla_file_get_text(file, "title", long_one, sizeof long_one));
    CU_ASSERT(strcmp(short_one, "ABCDEFG") == 0 && strcmp(long_one, "ABCDEFGH") == 0);
    osla_file_close(&file);
  }
  scratch_remove(WITH_HDF5);
  osla_transport_destroy(&t);
}

/* Simulates a full disk on one rank by a limit on file sizes. The limit's signal SIGXFSZ must not
 * reach the process, and the old file must be unchanged. */
static void fill_disk(osla_transport *t, const char *path, int rank)
{
  osla_matrix *old = sample(t), *large = osla_test_make(t, 0, OSLA_DOUBLE, 1100, 1100, 64, 64);
  osla_grid *grid = osla_test_grid(t, 0);
  osla_matrix *back = NULL;
  struct rlimit before, limit;
  OSLA_ASSERT_OK(osla_matrix_save(old, path, NULL));
  getrlimit(RLIMIT_FSIZE, &before);
  limit = before;
  limit.rlim_cur = 3000;
  if (osla_test_rank() == rank) setrlimit(RLIMIT_FSIZE, &limit);
  OSLA_ASSERT_ERR(osla_matrix_save(large, path, NULL), OSLA_ERR_IO);
  setrlimit(RLIMIT_FSIZE, &before);
  OSLA_ASSERT_TEXT("File too large");
  OSLA_ASSERT_TEXT(path);
  OSLA_ASSERT_SAME_TEXT();
  if (OSLA_ASSERT_OK(osla_matrix_load(grid, path, NULL, NULL, &back)))
    CU_ASSERT(osla_test_differ_local(back) == 0);
  osla_matrix_destroy(&back);
  osla_grid_destroy(&grid);
  osla_test_destroy(large);
  osla_test_destroy(old);
}

static void test_disk_full(void)
{
  osla_transport *t = osla_test_transport();
  int last = osla_test_size() - 1;
  scratch_create();
  for (int hdf5 = 0; hdf5 <= WITH_HDF5; hdf5++) {
    const char *path = scratch_path(hdf5 ? "full.h5" : "full.raw");
    fill_disk(t, path, 0);
    if (last > 0 && last < 3) fill_disk(t, path, last); /* 9.7 MB, written in 3 pieces */
  }
  scratch_remove(1 + WITH_HDF5);
  osla_transport_destroy(&t);
}

/* After a call on a file has failed, the file cannot be committed. Closing it leaves no file. */
static void test_failed(void)
{
  osla_transport *t = osla_test_transport();
  osla_file *file = NULL;
  double x[3] = {1.0, 2.0, 3.0};
  bool has;
  scratch_create();
  const char *path = scratch_path("failed.h5");
  CU_ASSERT(true);
  if (WITH_HDF5) {
    OSLA_ASSERT_OK(osla_file_create(t, path, &file));
    OSLA_ASSERT_OK(osla_file_put_vector(file, "x", OSLA_FILE_DOUBLE, 3, x));
    OSLA_ASSERT_ERR(osla_file_has(file, "x", &has), OSLA_ERR_STATE);
    OSLA_ASSERT_TEXT("is being written, and cannot be read");
    OSLA_ASSERT_ERR(osla_file_put_vector(file, "x", OSLA_FILE_DOUBLE, 3, x), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("x is in the file already");
    OSLA_ASSERT_SAME_TEXT();
    OSLA_ASSERT_ERR(osla_file_commit(&file), OSLA_ERR_STATE);
    OSLA_ASSERT_TEXT("not written, because an earlier call on it failed");
    CU_ASSERT_PTR_NULL(file);
    OSLA_ASSERT_OK(osla_file_create(t, path, &file));
    /* the last rank has a count of -1 */
    int64_t count = osla_test_rank() == osla_test_size() - 1 ? -1 : 1;
    OSLA_ASSERT_ERR(osla_file_put_parts(file, "x", OSLA_FILE_DOUBLE, count, x), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("x: -1 elements");
    OSLA_ASSERT_SAME_TEXT();
    osla_file_close(&file);
    OSLA_ASSERT_OK(osla_file_create(t, path, &file));
    OSLA_ASSERT_ERR(osla_file_put_vector(file, "y", (osla_file_type)9, 3, x), OSLA_ERR_ARG);
    OSLA_ASSERT_ERR(osla_file_put_vector(file, "", OSLA_FILE_DOUBLE, 3, x), OSLA_ERR_ARG);
    OSLA_ASSERT_ERR(osla_file_put_vector(file, "y", OSLA_FILE_DOUBLE, -3, x), OSLA_ERR_ARG);
    osla_file_close(&file);
    osla_file_close(&file);
  }
  scratch_remove(0);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {{"targets", test_targets},
                                       {"foreign", test_foreign},
                                       {"raw_changed", test_raw_changed},
                                       {"raw_forged", test_raw_forged},
                                       {"swapped", test_swapped},
                                       {"hdf5_changed", test_hdf5_changed},
                                       {"hdf5_flipped", test_hdf5_flipped},
                                       {"hdf5_metadata", test_hdf5_metadata},
                                       {"hdf5_foreign", test_hdf5_foreign},
                                       {"disk_full", test_disk_full},
                                       {"failed", test_failed},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_file_errors, cases);
