/* Helper of test_assemble_hostile.sh: writes files of updates that declare more data than they
 * hold, or whose parts HDF5 itself cannot handle. No file is longer than some KiB.
 *
 *   hostile_updates KIND FILE      see write_kind */
#include "tests/lzf_filter.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 20000, LONG = 4000000 };

static void die(const char *what, const char *name)
{
  fprintf(stderr, "hostile_updates: %s %s\n", what, name);
  exit(2);
}

typedef enum form { CONTIGUOUS, CHUNKED, GZIPPED, LZF } form;

/* Writes a data set. If `data` is NULL, the data set is declared but not written. If columns = 0,
 * it has one dimension. */
static void set(hid_t file, const char *name, hid_t type, form f, hsize_t rows, hsize_t columns,
                const double *data)
{
  int rank = columns ? 2 : 1;
  hsize_t dims[2] = {rows, columns},
          chunk[2] = {rows < 1000 && rows > 0 ? rows : 1000, columns < 100 ? 1 : 100};
  hid_t space = H5Screate_simple(rank, dims, NULL), create = H5Pcreate(H5P_DATASET_CREATE);
  if (f != CONTIGUOUS) H5Pset_chunk(create, rank, chunk);
  if (f == GZIPPED) H5Pset_deflate(create, 9);
  if (f == LZF && !lzf_begin(create)) die("no filter for", name);
  hid_t made = H5Dcreate2(file, name, type, space, H5P_DEFAULT, create, H5P_DEFAULT);
  if (made < 0 ||
      (data && H5Dwrite(made, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0))
    die("cannot write", name);
  H5Dclose(made);
  H5Pclose(create);
  H5Sclose(space);
  if (f == LZF && !lzf_end()) die("the filter stays for", name);
}

/* the indices 0 to 3; other small data sets also use this array */
static const double few[16] = {0, 1, 2, 3};

/* A valid file with a filter (LZF) that other programs write. */
static void lzf(hid_t file, form ix, form offsets, form G)
{
  const double ends[2] = {0, 4};
  set(file, "ix", H5T_STD_I64LE, ix, 4, 0, few);
  set(file, "offset", H5T_STD_I64LE, offsets, 2, 0, ends);
  set(file, "G", H5T_IEEE_F64LE, G, 4, 1, few);
}

static void lzf_ix(hid_t file)
{
  lzf(file, LZF, CONTIGUOUS, CONTIGUOUS);
}

static void lzf_offset(hid_t file)
{
  lzf(file, CONTIGUOUS, LZF, CONTIGUOUS);
}

static void lzf_G(hid_t file)
{
  lzf(file, CONTIGUOUS, CONTIGUOUS, LZF);
}

/* A file whose chunks the filter could not shorten, so that they are stored unfiltered and can be
 * read without the filter. */
static void lzf_unused(hid_t file)
{
  lzf_declines = true;
  lzf_G(file);
}

/* A file without updates, but with a compressed system for `osla solve`. */
static void system_gzip(hid_t file)
{
  set(file, "H", H5T_IEEE_F64LE, GZIPPED, 4, 4, few);
  set(file, "g", H5T_IEEE_F64LE, GZIPPED, 4, 0, few);
}

static void huge_ix(hid_t file)
{
  set(file, "ix", H5T_STD_I64LE, CHUNKED, (hsize_t)1 << 60, 0, NULL);
  set(file, "G", H5T_IEEE_F64LE, CHUNKED, (hsize_t)1 << 60, 16, NULL);
}

/* A file with sizes that fit in 64 bits, but not in memory. */
static void large_ix(hid_t file)
{
  set(file, "ix", H5T_STD_I64LE, CHUNKED, (hsize_t)1 << 40, 0, NULL);
  set(file, "G", H5T_IEEE_F64LE, CHUNKED, (hsize_t)1 << 40, 16, NULL);
}

static void offset(hid_t file, hsize_t length, form f)
{
  set(file, "ix", H5T_STD_I64LE, CONTIGUOUS, 4, 0, few);
  set(file, "offset", H5T_STD_I8LE, f, length, 0, NULL);
  set(file, "G", H5T_IEEE_F64LE, CONTIGUOUS, 4, 1, few);
}

static void blocks(hid_t file)
{
  set(file, "ix", H5T_STD_I64LE, CONTIGUOUS, 0, 0, NULL);
  set(file, "offset", H5T_STD_I8LE, CHUNKED, (hsize_t)1 << 61, 0, NULL);
  set(file, "U", H5T_IEEE_F64LE, CONTIGUOUS, 0, 0, NULL);
}

/* A file without indices: G has no elements, whatever its number of columns. */
static void wide_G(hid_t file, hsize_t width, bool weights)
{
  set(file, "ix", H5T_STD_I64LE, CONTIGUOUS, 0, 0, NULL);
  set(file, "G", H5T_IEEE_F64LE, CHUNKED, 0, width, NULL);
  if (weights) set(file, "w", H5T_IEEE_F64LE, CHUNKED, 1, width, NULL);
  if (weights) set(file, "r", H5T_IEEE_F64LE, CHUNKED, 1, width, NULL);
}

/* A valid file whose data set `offset` is compressed 1000 : 1. Of its many updates only the last
 * has an index. */
static void packed(hid_t file)
{
  double *zeros = calloc(LONG, sizeof *zeros);
  if (!zeros) die("no memory for", "zeros");
  set(file, "ix", H5T_STD_I64LE, CONTIGUOUS, 1, 0, few);
  zeros[LONG - 1] = 1.0;
  set(file, "offset", H5T_STD_I64LE, GZIPPED, LONG, 0, zeros);
  set(file, "G", H5T_IEEE_F64LE, CONTIGUOUS, 1, 1, few + 1);
  free(zeros);
}

/* A file in which G has a type that no processor has. */
static void long_double(hid_t file)
{
  hid_t type = H5Tcopy(H5T_IEEE_F64LE);
  H5Tset_size(type, 20);
  set(file, "ix", H5T_STD_I64LE, CONTIGUOUS, 4, 0, few);
  set(file, "G", type, CONTIGUOUS, 4, 1, few);
  H5Tclose(type);
}

/* A valid file with many chunks, so that it has an index of chunks (a tree). */
static void indexed(hid_t file)
{
  static double ones[MANY];
  set(file, "ix", H5T_STD_I64LE, CONTIGUOUS, 4, 0, few);
  for (int i = 0; i < MANY; i++)
    ones[i] = i % 7;
  set(file, "G", H5T_IEEE_F64LE, GZIPPED, 4, MANY / 4, ones);
}

/* A file with one update, which has four unknowns and one datum. */
static void one_datum(hid_t file, double derivative, double residual)
{
  const double G[4] = {0, derivative, 0, -derivative};
  set(file, "ix", H5T_STD_I64LE, CONTIGUOUS, 4, 0, few);
  set(file, "G", H5T_IEEE_F64LE, CONTIGUOUS, 4, 1, G);
  set(file, "r", H5T_IEEE_F64LE, CONTIGUOUS, 1, 1, &residual);
}

static void ordinary(hid_t file)
{
  one_datum(file, 1.0, 1.0);
}

/* A file whose H exceeds the range of float (large), and a file whose g exceeds the range of double
 * (gradient). */
static void large(hid_t file)
{
  one_datum(file, 1e20, 1.0);
}

static void gradient(hid_t file)
{
  one_datum(file, 1e150, 1e200);
}

/* A file with H = diag(1, 1, 1e-310, 1) and g = (1, 1, 1, 1). */
static void tiny(hid_t file)
{
  const double ends[5] = {0, 1, 2, 3, 4}, U[4] = {1, 1, 1e-310, 1}, g[4] = {1, 1, 1, 1};
  set(file, "ix", H5T_STD_I64LE, CONTIGUOUS, 4, 0, few);
  set(file, "offset", H5T_STD_I64LE, CONTIGUOUS, 5, 0, ends);
  set(file, "U", H5T_IEEE_F64LE, CONTIGUOUS, 4, 0, U);
  set(file, "g", H5T_IEEE_F64LE, CONTIGUOUS, 4, 0, g);
}

/* A file in which H is the Hilbert matrix of order 10. It has the condition number 2e13, but can be
 * solved. */
static void hilbert(hid_t file)
{
  enum { N = 10 };
  double ix[N], U[N * N], g[N];
  for (int i = 0; i < N; i++) {
    ix[i] = i;
    g[i] = i % 3 - 1.0;
    for (int j = 0; j < N; j++)
      U[i * N + j] = 1.0 / (i + j + 1);
  }
  set(file, "ix", H5T_STD_I64LE, CONTIGUOUS, N, 0, ix);
  set(file, "U", H5T_IEEE_F64LE, CONTIGUOUS, (hsize_t)N * N, 0, U);
  set(file, "g", H5T_IEEE_F64LE, CONTIGUOUS, N, 0, g);
}

/* Finds a sequence of bytes in a file, and changes one of the bytes. */
static void patch(const char *path, const unsigned char *bytes, size_t count, long at, int value)
{
  unsigned char content[1 << 16];
  FILE *f = fopen(path, "r+b");
  size_t length = f ? fread(content, 1, sizeof content, f) : 0;
  for (size_t i = 0; i + count <= length; i++) {
    if (memcmp(content + i, bytes, count) != 0) continue;
    if (fseek(f, (long)i + at, SEEK_SET) != 0 || fputc(value, f) == EOF || fclose(f) != 0)
      die("cannot write", path);
    return;
  }
  die("nothing to be changed in", path);
}

/* Changes the size of chunks in a file from 4 x 100 to 4 x 32868 doubles, so that HDF5 1.10.8 reads
 * outside of its memory. */
static void damage(const char *path)
{
  static const unsigned char chunk[] = {4, 0, 0, 0, 100, 0, 0, 0, 8, 0, 0, 0};
  patch(path, chunk, sizeof chunk, 5, 128);
}

/* Adds 2^40 to the address of G in the file. */
static void move_away(const char *path)
{
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), G = H5Dopen2(file, "G", H5P_DEFAULT);
  const uint64_t place[2] = {H5Dget_offset(G), 4 * sizeof(double)};
  H5Dclose(G);
  H5Fclose(file);
  patch(path, (const unsigned char *)place, sizeof place, 5, 1);
}

static void write_kind(const char *kind, hid_t file)
{
  static const struct {
    const char *name;
    int exponent;
    hsize_t more;
    form f;
  } offsets[] = {{"offset_61", 61, 0, CHUNKED},
                 {"offset_61_1", 61, 1, CHUNKED},
                 {"offset_40", 40, 0, CONTIGUOUS},
                 {"unwritten", 25, 0, CHUNKED}};
  static const struct {
    const char *name;
    void (*write)(hid_t file);
  } others[] = {{"huge_ix", huge_ix},
                {"large_ix", large_ix},
                {"blocks_61", blocks},
                {"packed", packed},
                {"indexed", indexed},
                {"damaged", indexed},
                {"long_double", long_double},
                {"away", ordinary},
                {"large", large},
                {"gradient", gradient},
                {"tiny", tiny},
                {"hilbert", hilbert},
                {"lzf_ix", lzf_ix},
                {"lzf_offset", lzf_offset},
                {"lzf_G", lzf_G},
                {"lzf_unused", lzf_unused},
                {"system_gzip", system_gzip}};
  int width, used = 0;
  if (sscanf(kind, "wide_%d%n", &width, &used) == 1) {
    wide_G(file, (hsize_t)1 << width, kind[used] == '\0');
    return;
  }
  for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++)
    if (strcmp(kind, offsets[i].name) == 0) {
      offset(file, ((hsize_t)1 << offsets[i].exponent) + offsets[i].more, offsets[i].f);
      return;
    }
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (strcmp(kind, others[i].name) == 0) {
      others[i].write(file);
      return;
    }
  die("no such kind:", kind);
}

int main(int argc, char **argv)
{
  if (argc != 3) die("bad", "arguments");
  hid_t file = H5Fcreate(argv[2], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  if (file < 0) die("cannot make", argv[2]);
  write_kind(argv[1], file);
  if (H5Fclose(file) < 0) die("cannot write", argv[2]);
  if (strcmp(argv[1], "damaged") == 0) damage(argv[2]);
  if (strcmp(argv[1], "away") == 0) move_away(argv[2]);
  return 0;
}
