/* Helper of test_assemble.sh and test_reproducible.sh. It writes valid and defective files of
 * updates. It also sums updates and solves systems serially, with HDF5 and plain loops only, and
 * compares the results with the output of osla.
 *
 *   assemble_check make KIND FILE N      see `kinds`
 *   assemble_check sum SYSTEM N TOLERANCE FILE...
 *   assemble_check solve SYSTEM DAMPING X TOLERANCE
 *   assemble_check same FILE FILE SET...     compares bits of data sets with 8-byte
 *                                            elements; status 1: different */
#include <hdf5.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void die(const char *what, const char *name)
{
  fprintf(stderr, "assemble_check: %s %s\n", what, name);
  exit(2);
}

/* Reads a whole data set into memory that the caller frees. Returns NULL if the data set is
 * missing. */
static void *read_set(hid_t file, const char *name, hid_t type, hsize_t dims[2])
{
  dims[0] = dims[1] = 1;
  if (H5Lexists(file, name, H5P_DEFAULT) <= 0) return NULL;
  hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(set);
  H5Sget_simple_extent_dims(space, dims, NULL);
  void *data = malloc(dims[0] * dims[1] * 8 + 8);
  if (!data || H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0)
    die("cannot read", name);
  H5Sclose(space);
  H5Dclose(set);
  return data;
}

static void write_set(hid_t file, const char *name, hid_t stored, hid_t type, hsize_t rows,
                      hsize_t columns, const void *data)
{
  hsize_t dims[2] = {rows, columns}, chunk[2] = {rows > 3 ? 3 : rows, columns};
  hid_t space = H5Screate_simple(columns ? 2 : 1, dims, NULL);
  hid_t create = H5Pcreate(H5P_DATASET_CREATE);
  if (rows > 0 && stored != type) H5Pset_chunk(create, columns ? 2 : 1, chunk);
  hid_t set = H5Dcreate2(file, name, stored, space, H5P_DEFAULT, create, H5P_DEFAULT);
  if (rows > 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0)
    die("cannot write", name);
  H5Dclose(set);
  H5Pclose(create);
  H5Sclose(space);
}

static uint64_t state = 12345;

static int64_t below(int64_t n)
{
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)((state >> 33) % (uint64_t)n);
}

enum { COUNT = 40, MOST = 25, K = 4, FULL = COUNT * MOST };

typedef struct content {
  int64_t n, total, square, offset[COUNT + 1], ix[FULL];
  double G[FULL * K], U[FULL * MOST], w[COUNT * K], r[COUNT * K], g[FULL];
} content;

/* Makes random updates of whole numbers, so that every order of summation gives the same H. The
 * first update has no index, and the second has one index. Indices are in any order, and some occur
 * twice. */
static void make_up(content *c, int64_t n)
{
  c->n = n;
  for (int64_t u = 0; u < COUNT; u++) {
    int64_t count = u < 2 ? u : u == COUNT - 1 ? MOST : below(MOST + 1);
    c->offset[u + 1] = c->offset[u] + count;
    for (int64_t a = 0; a < count; a++) {
      int64_t at = c->total++;
      c->ix[at] = below(n);
      c->g[at] = (double)below(9) - 4.0;
      for (int d = 0; d < K; d++)
        c->G[at * K + d] = (double)below(9) - 4.0;
    }
    for (int64_t a = 0; a < count; a++)
      for (int64_t b = 0; b <= a; b++)
        c->U[c->square + a * count + b] = c->U[c->square + b * count + a] = (double)below(9) - 4.0;
    c->square += count * count;
    for (int d = 0; d < K; d++) {
      /* weights with exact square roots: 0, 1, 4, and 9 in place of 2 */
      c->w[u * K + d] = (double)(below(3) * below(3));
      if (c->w[u * K + d] == 2.0) c->w[u * K + d] = 9.0;
      c->r[u * K + d] = (double)below(9) - 4.0;
    }
  }
}

/* Multiplies the values by random fractions of many magnitudes, so that their sums depend on the
 * order of the terms. */
static void mix(int64_t count, double *values, int magnitudes)
{
  for (int64_t i = 0; i < count; i++)
    values[i] *= ldexp(1.0 + (double)below(1 << 30) / (1 << 30), (int)below(magnitudes));
}

static void mix_content(content *c)
{
  mix(c->total * K, c->G, 20);
  mix(c->total, c->g, 20);
  mix(COUNT * K, c->r, 20);
  mix(COUNT * K, c->w, 8);
  for (int64_t u = 0, at = 0; u < COUNT; u++) {
    int64_t n = c->offset[u + 1] - c->offset[u];
    for (int64_t a = 0; a < n; a++) {
      mix(a + 1, c->U + at + a * n, 30);
      for (int64_t b = 0; b < a; b++)
        c->U[at + b * n + a] = c->U[at + a * n + b];
    }
    at += n * n;
  }
}

/* Writes a file of updates of a kind: a valid file, or a file with one defect. */
static void write_kind(const char *kind, content *c, hid_t file)
{
  bool mixed = strncmp(kind, "mixed_", 6) == 0;
  if (mixed) kind += 6, mix_content(c);
  bool whole = strncmp(kind, "whole_", 6) == 0; /* the file stores real numbers as integers */
  if (whole) kind += 6;
  bool blocks = strcmp(kind, "blocks") == 0 || strcmp(kind, "asymmetric") == 0;
  bool other = strcmp(kind, "other") == 0; /* the file has 32-bit types and big-endian order */
  bool single = strcmp(kind, "single") == 0;
  hid_t integer = other ? H5T_STD_U32BE : H5T_NATIVE_INT64;
  hid_t real = whole ? H5T_STD_I8BE : other ? H5T_IEEE_F32BE : H5T_NATIVE_DOUBLE;
  hsize_t count = single ? 1 : COUNT, total = (hsize_t)c->total;
  if (strcmp(kind, "index") == 0) c->ix[c->total - 1] = c->n;
  if (strcmp(kind, "negative") == 0) c->ix[c->total - 1] = -1;
  if (strcmp(kind, "nan") == 0) c->G[17] = NAN;
  if (strcmp(kind, "weight") == 0) c->w[5] = -1.0;
  if (strcmp(kind, "falls") == 0) c->offset[5] = c->offset[7] + 1;
  if (strcmp(kind, "end") == 0) c->offset[COUNT]--;
  if (strcmp(kind, "asymmetric") == 0) c->U[c->square - 2] += 100.0;
  if (single) total = MOST;
  if (strcmp(kind, "no_ix") != 0)
    write_set(file, "ix", strcmp(kind, "real_ix") == 0 ? H5T_NATIVE_DOUBLE : integer,
              H5T_NATIVE_INT64, total, 0, c->ix);
  if (!single) write_set(file, "offset", integer, H5T_NATIVE_INT64, COUNT + 1, 0, c->offset);
  if (blocks) {
    write_set(file, "U", real, H5T_NATIVE_DOUBLE, (hsize_t)c->square, 0, c->U);
    write_set(file, "g", real, H5T_NATIVE_DOUBLE, total, 0, c->g);
    return;
  }
  if (strcmp(kind, "no_G") == 0) return;
  if (strcmp(kind, "text_G") == 0)
    write_set(file, "G", H5T_C_S1, H5T_C_S1, total, K, c->G);
  else if (strcmp(kind, "flat_G") == 0)
    write_set(file, "G", real, H5T_NATIVE_DOUBLE, total, 0, c->G);
  else
    write_set(file, "G", real, H5T_NATIVE_DOUBLE, total - (strcmp(kind, "short_G") == 0), K, c->G);
  if (single) return; /* this kind has neither weights nor residuals */
  write_set(file, "w", real, H5T_NATIVE_DOUBLE, count, K - (strcmp(kind, "narrow_w") == 0), c->w);
  write_set(file, "r", real, H5T_NATIVE_DOUBLE, count - (strcmp(kind, "short_r") == 0), K, c->r);
}

static int make(char **argv)
{
  static content c;
  /* each kind has its own random numbers, equal in all runs */
  for (const char *s = argv[0]; *s; s++)
    state += (uint64_t)*s * 7919;
  make_up(&c, atoll(argv[2]));
  hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  if (file < 0) die("cannot make", argv[1]);
  write_kind(argv[0], &c, file);
  return H5Fclose(file) < 0;
}

/* Adds the updates of a file to H and g, as the schema in updates.h defines it. */
static void add_file(const char *path, int64_t n, double *H, double *g)
{
  hsize_t dims[2], of_ix[2], of_G[2], of_offset[2];
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file < 0) die("cannot open", path);
  int64_t *ix = read_set(file, "ix", H5T_NATIVE_INT64, of_ix);
  int64_t *offset = read_set(file, "offset", H5T_NATIVE_INT64, of_offset);
  double *G = read_set(file, "G", H5T_NATIVE_DOUBLE, of_G);
  double *U = read_set(file, "U", H5T_NATIVE_DOUBLE, dims), *block = U;
  double *w = read_set(file, "w", H5T_NATIVE_DOUBLE, dims);
  double *r = read_set(file, "r", H5T_NATIVE_DOUBLE, dims);
  double *direct = read_set(file, "g", H5T_NATIVE_DOUBLE, dims);
  int64_t k = G ? (int64_t)of_G[1] : 0, count = offset ? (int64_t)of_offset[0] - 1 : 1;
  for (int64_t u = 0; u < count; u++) {
    int64_t from = offset ? offset[u] : 0, to = offset ? offset[u + 1] : (int64_t)of_ix[0];
    for (int64_t a = from; a < to; a++) {
      for (int64_t b = from; b < to; b++) {
        double sum = U ? block[(a - from) * (to - from) + b - from] : 0.0;
        for (int64_t d = 0; d < k; d++)
          sum += G[a * k + d] * (w ? w[u * k + d] : 1.0) * G[b * k + d];
        H[ix[a] + ix[b] * n] += sum;
      }
      for (int64_t d = 0; r && d < k; d++)
        g[ix[a]] += G[a * k + d] * (w ? w[u * k + d] : 1.0) * r[u * k + d];
      if (direct) g[ix[a]] += direct[a];
    }
    if (U) block += (to - from) * (to - from);
  }
  void *all[] = {ix, offset, G, U, w, r, direct};
  for (int i = 0; i < 7; i++)
    free(all[i]);
  H5Fclose(file);
}

/* Returns 0 if |x - y| <= tolerance * (1 + |y|), otherwise 1; NaN gives 1. */
static int64_t far(double x, double y, double tolerance)
{
  return !(fabs(x - y) <= tolerance * (1.0 + fabs(y)));
}

/* Returns an n x n matrix, column-major, with the lower triangle `packed` (each column from the
 * diagonal down) and zeros above the diagonal. Frees `packed`. */
static double *unpack(int64_t n, double *packed)
{
  double *H = calloc((size_t)(n * n) + 1, sizeof *H);
  if (!H) die("no memory for", "H");
  for (int64_t j = 0, at = 0; j < n; j++)
    for (int64_t i = j; i < n; i++)
      H[i + j * n] = packed[at++];
  free(packed);
  return H;
}

static void check_symmetric(int64_t n, const double *H)
{
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = j + 1; i < n; i++)
      if (H[i + j * n] != H[j + i * n]) die("is not symmetric:", "H");
}

/* Reads H from a file that osla wrote: a square, which must be symmetric if both triangles are
 * valid, or a packed lower triangle. Returns H column-major
 * as a square, sets *n to its order, and sets *upper to whether the upper triangle is valid. */
static double *read_h(hid_t file, int64_t *n, bool *upper)
{
  char uplo[8] = "";
  hsize_t dims[2];
  double *H = read_set(file, "H", H5T_NATIVE_DOUBLE, dims);
  if (!H) die("no data set", "H");
  *n = (int64_t)dims[0];
  if (dims[1] == 1) {
    *n = (int64_t)((sqrt(8.0 * (double)dims[0] + 1.0) - 1.0) / 2.0);
    if (*n * (*n + 1) / 2 != (int64_t)dims[0]) die("neither square nor triangle", "H");
    H = unpack(*n, H);
  } else if (dims[0] != dims[1]) {
    die("no square", "H");
  }
  hid_t attribute = H5Aopen_by_name(file, "H", "uplo", H5P_DEFAULT, H5P_DEFAULT);
  hid_t type = H5Aget_type(attribute);
  if (H5Tget_size(type) > sizeof uplo || H5Aread(attribute, type, uplo) < 0) die("no", "uplo");
  H5Tclose(type);
  H5Aclose(attribute);
  *upper = strcmp(uplo, "upper") == 0;
  if (strcmp(uplo, "whole") == 0) check_symmetric(*n, H);
  return H;
}

static int sum(int argc, char **argv)
{
  int64_t n = atoll(argv[1]), there, bad = 0;
  double tolerance = atof(argv[2]), *H = calloc((size_t)(n * n), 8), *g = calloc((size_t)n, 8);
  if (!H || !g) die("no memory for", "H");
  for (int i = 3; i < argc; i++)
    add_file(argv[i], n, H, g);
  hsize_t dims[2];
  bool upper;
  hid_t file = H5Fopen(argv[0], H5F_ACC_RDONLY, H5P_DEFAULT);
  double *H_there = read_h(file, &there, &upper);
  double *g_there = read_set(file, "g", H5T_NATIVE_DOUBLE, dims);
  if (there != n || !g_there || dims[0] != (hsize_t)n) die("another size in", argv[0]);
  for (int64_t j = 0; j < n; j++) {
    for (int64_t i = upper ? 0 : j; i < (upper ? j + 1 : n); i++)
      bad += far(H_there[i + j * n], H[i + j * n], tolerance);
    bad += far(g_there[j], g[j], tolerance);
  }
  if (bad) fprintf(stderr, "assemble_check: %lld elements differ\n", (long long)bad);
  free(H), free(g), free(H_there), free(g_there);
  H5Fclose(file);
  return bad > 0;
}

static int same(int argc, char **argv)
{
  int bad = 0;
  hid_t file[2];
  for (int i = 0; i < 2; i++)
    if ((file[i] = H5Fopen(argv[i], H5F_ACC_RDONLY, H5P_DEFAULT)) < 0) die("cannot open", argv[i]);
  for (int s = 2; s < argc; s++) {
    hsize_t dims[2][2];
    void *data[2];
    for (int i = 0; i < 2; i++) { /* read in the type of the file, so that no bit is converted */
      hid_t set = H5Dopen2(file[i], argv[s], H5P_DEFAULT);
      hid_t type = set >= 0 ? H5Dget_type(set) : -1;
      if (set < 0 || H5Tget_size(type) != 8) die("no 8-byte elements in", argv[s]);
      data[i] = read_set(file[i], argv[s], type, dims[i]);
      H5Tclose(type);
      H5Dclose(set);
    }
    int64_t count = (int64_t)(dims[0][0] * dims[0][1]), differ = 0;
    if (memcmp(dims[0], dims[1], sizeof dims[0]) != 0) die("other dimensions of", argv[s]);
    for (int64_t i = 0; i < count; i++)
      differ += memcmp((char *)data[0] + 8 * i, (char *)data[1] + 8 * i, 8) != 0;
    if (differ || count == 0)
      printf("%s: %lld of %lld elements differ\n", argv[s], (long long)differ, (long long)count);
    bad |= differ || count == 0;
    free(data[0]), free(data[1]);
  }
  return bad;
}

/* Checks that both triangles of H are valid. */
static int both(const char *path)
{
  char uplo[8] = "";
  hsize_t dims[2];
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  free(read_set(file, "H", H5T_NATIVE_DOUBLE, dims));
  hid_t attribute = H5Aopen_by_name(file, "H", "uplo", H5P_DEFAULT, H5P_DEFAULT);
  hid_t type = H5Aget_type(attribute);
  if (H5Tget_size(type) <= sizeof uplo) H5Aread(attribute, type, uplo);
  H5Tclose(type);
  H5Aclose(attribute);
  H5Fclose(file);
  return !(strcmp(uplo, "whole") == 0 && dims[0] == dims[1]);
}

/* Checks the largest element of |(H + damping I) x - g|, relative to the largest |g|. */
static int solve(char **argv)
{
  hsize_t dims[2];
  int64_t n;
  bool upper;
  double damping = atof(argv[1]), worst = 0.0, largest = 0.0;
  hid_t system = H5Fopen(argv[0], H5F_ACC_RDONLY, H5P_DEFAULT);
  hid_t answer = H5Fopen(argv[2], H5F_ACC_RDONLY, H5P_DEFAULT);
  if (system < 0 || answer < 0) die("cannot open", argv[0]);
  double *H = read_h(system, &n, &upper), *g = read_set(system, "g", H5T_NATIVE_DOUBLE, dims);
  double *x = read_set(answer, "x", H5T_NATIVE_DOUBLE, dims);
  if (!x || dims[0] != (hsize_t)n) die("no x of the right length in", argv[2]);
  for (int64_t i = 0; i < n; i++) {
    double left = damping * x[i];
    for (int64_t j = 0; j < n; j++)
      left += x[j] * ((i > j) == upper && i != j ? H[j + i * n] : H[i + j * n]);
    if (!(fabs(left - g[i]) <= worst)) worst = fabs(left - g[i]);
    largest = fmax(largest, fabs(g[i]));
  }
  free(H), free(g), free(x);
  H5Fclose(system);
  H5Fclose(answer);
  printf("residual %.2e of %.2e\n", worst, largest);
  return !(worst <= atof(argv[3]) * largest) || largest == 0.0;
}

int main(int argc, char **argv)
{
  if (argc == 5 && strcmp(argv[1], "make") == 0) return make(argv + 2);
  if (argc > 5 && strcmp(argv[1], "sum") == 0) return sum(argc - 2, argv + 2);
  if (argc > 4 && strcmp(argv[1], "same") == 0) return same(argc - 2, argv + 2);
  if (argc == 3 && strcmp(argv[1], "both") == 0) return both(argv[2]);
  if (argc == 6 && strcmp(argv[1], "solve") == 0) return solve(argv + 2);
  die("bad", "arguments");
}
