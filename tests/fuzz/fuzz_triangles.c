/* Fuzzing of files of systems H x = g for `osla solve` whose matrix H is a packed lower triangle
 * (osla_file.h). This file makes correct and damaged files, calls the reader under test, and has a
 * second parser, which uses only calls of HDF5. */
#include "tests/fuzz/fuzz.h"

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "osla_unstable.h"

/* ORDER_MOST: largest order of a generated matrix. ELEMENTS_MOST: largest number of elements of a
 * data set that the second parser reads. WHOLE, LOWER, UPPER: part of a matrix that is valid. */
enum { ORDER_MOST = 20, ELEMENTS_MOST = 1 << 16, WHOLE = 0, LOWER = 1, UPPER = 2 };

/* Texts of the attribute uplo for WHOLE, LOWER and UPPER. */
static const char *const stored_names[] = {"whole", "lower", "upper"};

/* ---- checksums as described in osla_file.h and src/file/README.md ---- */

/* Returns the finaliser of SplitMix64 for a word. */
static uint64_t mix(uint64_t x)
{
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/* Returns the checksum of `count` words of `size` bytes each; the k-th word is mixed with k. */
static uint64_t sum_words(const unsigned char *at, size_t size, size_t count)
{
  uint64_t sum = 0;
  for (uint64_t k = 0; k < count; k++) {
    uint64_t word = 0;
    memcpy(&word, at + k * size, size); /* numbers are little-endian */
    sum += mix(word ^ mix((k + 1) * 0x9e3779b97f4a7c15u));
  }
  return sum;
}

/* The contents of a data set. */
typedef struct array {
  uint64_t m, n;     /* numbers of rows and columns; n is 1 for a vector */
  uint64_t vector;   /* 1: vector; 0: matrix */
  uint64_t stored;   /* WHOLE, LOWER or UPPER */
  size_t size;       /* bytes of an element: 4 (float) or 8 (double) */
  size_t count;      /* number of elements in the data set */
  unsigned char *at; /* [count] elements */
} array;

/* Returns the checksum of an array's elements, type, sizes and valid part. */
static uint64_t checksum_of(const array *a)
{
  const uint64_t head[] = {a->size == 8, a->stored, a->vector, a->m, a->n};
  return sum_words(a->at, a->size, a->count) +
         ~sum_words((const unsigned char *)head, sizeof *head, sizeof head / sizeof *head);
}

/* Continues the digest `hash` with the sizes and elements of an array. Digests of the reader under
 * test and of the second parser are compared. */
static uint64_t hash_array(uint64_t hash, const array *a)
{
  const uint64_t head[] = {a->m, a->n, a->size, a->count};
  hash = fuzz_hash(hash, head, sizeof head);
  return fuzz_hash(hash, a->at, a->size * a->count);
}

/* ---- generator of files ---- */

static void write_attribute(hid_t set, const char *name, hid_t type, const void *value)
{
  hid_t space = H5Screate(H5S_SCALAR);
  hid_t attribute = H5Acreate2(set, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  (void)H5Awrite(attribute, type, value);
  (void)H5Aclose(attribute);
  (void)H5Sclose(space);
}

static void write_uplo(hid_t set, const char *text)
{
  hid_t type = H5Tcopy(H5T_C_S1);
  (void)H5Tset_size(type, strlen(text) + 1);
  (void)H5Tset_cset(type, H5T_CSET_UTF8);
  write_attribute(set, "uplo", type, text);
  (void)H5Tclose(type);
}

/* Ways in which a data set differs from a correct one. */
typedef struct defect {
  bool two_dimensions, chunked, integers, no_checksum, no_uplo;
  int64_t more;     /* number of elements beyond those of a correct array */
  const char *uplo; /* text of the attribute uplo; NULL: the correct text */
} defect;

static void write_array(hid_t file, const char *name, const array *a, const defect *d)
{
  const hsize_t count = (hsize_t)((int64_t)a->count + d->more);
  const hsize_t flat[2] = {count, 0}, plane[2] = {1, count};
  hid_t type = d->integers ? H5T_STD_I64LE : a->size == 4 ? H5T_IEEE_F32LE : H5T_IEEE_F64LE;
  hid_t space = H5Screate_simple(d->two_dimensions ? 2 : 1, d->two_dimensions ? plane : flat, NULL);
  hid_t list = H5Pcreate(H5P_DATASET_CREATE);
  (void)H5Pset_obj_track_times(list, false);
  (void)H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY);
  if (d->chunked && count > 0)
    (void)H5Pset_chunk(list, d->two_dimensions ? 2 : 1, d->two_dimensions ? plane : flat);
  hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
  unsigned char *data = calloc(a->count + 2, sizeof(double));
  fuzz_require(data && set >= 0, name);
  memcpy(data, a->at, a->count * a->size);
  (void)H5Dwrite(set, a->size == 4 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL,
                 H5P_DEFAULT, data);
  const uint64_t sum = checksum_of(a);
  if (!d->no_checksum) write_attribute(set, "checksum", H5T_STD_U64LE, &sum);
  if (!a->vector && !d->no_uplo) write_uplo(set, d->uplo ? d->uplo : stored_names[a->stored]);
  free(data);
  (void)H5Dclose(set);
  (void)H5Pclose(list);
  (void)H5Sclose(space);
}

/* Fills a packed lower triangle with random integers such that the matrix is positive definite. */
static void fill_triangle(fuzz_random *random, array *a)
{
  size_t at = 0;
  for (uint64_t j = 0; j < a->n; j++)
    for (uint64_t i = j; i < a->m; i++, at++) {
      const double value = (double)fuzz_below(random, 5) - 2.0 + (i == j ? 3.0 * ORDER_MOST : 0.0);
      const float narrow = (float)value;
      memcpy(a->at + at * a->size, a->size == 4 ? (const void *)&narrow : (const void *)&value,
             a->size);
    }
}

static defect choose_defect(fuzz_random *random)
{
  defect d = {.more = 0};
  switch (fuzz_below(random, 7)) {
    case 0: d.two_dimensions = true; break;
    case 1: d.chunked = true; break;
    case 2: d.integers = true; break;
    case 3: d.no_checksum = true; break;
    case 4: d.no_uplo = true; break;
    case 5: d.more = fuzz_one_in(random, 2) ? 1 : -1; break;
    default: d.uplo = fuzz_one_in(random, 2) ? "upper" : fuzz_one_in(random, 2) ? "whole" : "low";
  }
  return d;
}

static bool make(uint64_t seed, const char *path)
{
  fuzz_random random = fuzz_begin(seed);
  const bool damaged = !fuzz_one_in(&random, 8);
  const bool by_calls = damaged && fuzz_one_in(&random, 3);
  const uint64_t n = 1 + (uint64_t)fuzz_below(&random, ORDER_MOST);
  static unsigned char triangle[ORDER_MOST * ORDER_MOST * 8];
  double vector[ORDER_MOST];
  array h = {n, n, 0, LOWER, fuzz_one_in(&random, 3) ? 4 : 8, n * (n + 1) / 2, triangle};
  array g = {n, 1, 1, WHOLE, 8, n, (unsigned char *)vector};
  fill_triangle(&random, &h);
  for (uint64_t i = 0; i < n; i++)
    vector[i] = (double)fuzz_below(&random, 9) - 4.0;
  const defect none = {.more = 0}, some = choose_defect(&random);
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  (void)H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18);
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  fuzz_require(file >= 0, path);
  write_array(file, "H", &h, by_calls ? &some : &none);
  write_array(file, "g", &g, &none);
  (void)H5Fclose(file);
  (void)H5Pclose(access);
  if (!damaged || by_calls) return damaged;
  fuzz_bytes b = fuzz_load(path);
  for (int64_t k = 1 + fuzz_below(&random, 3); k > 0; k--)
    fuzz_damage_bytes(&random, &b);
  fuzz_save(path, b);
  free(b.at);
  return true;
}

/* ---- the reader under test ---- */

static osla_err read_vector(osla_file *file, array *g)
{
  int64_t count;
  OSLA_CALL(osla_file_look_vector(file, "g", OSLA_FILE_DOUBLE, &count));
  OSLA_CHECK(count <= ELEMENTS_MOST, OSLA_ERR_MEM, "too large for this test");
  *g = (array){(uint64_t)count, 1, 1, WHOLE, 8, (size_t)count, calloc((size_t)count + 1, 8)};
  return osla_file_get_vector(file, "g", OSLA_FILE_DOUBLE, count, g->at);
}

/* Copies the elements of a loaded matrix to *h: the packed lower triangle of a triangular matrix,
 * or all elements of a full matrix. */
static osla_err copy_matrix(const osla_matrix *a, osla_stored stored, array *h)
{
  const osla_layout l = osla_matrix_layout(a);
  const size_t size = osla_dtype_size(osla_matrix_dtype(a));
  const bool triangle = osla_matrix_is_triangle(a);
  *h = (array){(uint64_t)l.m,
               (uint64_t)l.n,
               0,
               (uint64_t)stored,
               size,
               (size_t)(triangle ? l.n * (l.n + 1) / 2 : l.m * l.n),
               calloc((size_t)(l.m * l.n) + 1, size)};
  unsigned char *at = h->at;
  for (int64_t j = 0; j < l.n; j++) {
    const int64_t first = triangle ? j : 0, rows = l.m - first;
    OSLA_CALL(osla_matrix_get_block(a, first, j, rows, 1, at, rows > 0 ? rows : 1));
    at += (size_t)rows * size;
  }
  return OSLA_OK;
}

/* Reads H and g by calls of OSLA, and sets the digest of both. */
static void read_ours(const char *path, fuzz_result *result)
{
  const osla_load_options options = {.nb = 3, .mb = 3, .name = "H"};
  array h = {.at = NULL}, g = {.at = NULL};
  osla_matrix *a = NULL;
  osla_file *file = NULL;
  osla_stored stored = OSLA_STORED_WHOLE;
  osla_err err = osla_matrix_load(fuzz_osla_grid(), path, &options, &stored, &a);
  if (err == OSLA_OK) err = copy_matrix(a, stored, &h);
  if (err == OSLA_OK) err = osla_file_open(osla_grid_transport(fuzz_osla_grid()), path, &file);
  if (err == OSLA_OK) err = read_vector(file, &g);
  if (err == OSLA_OK) {
    result->digest = hash_array(hash_array(0, &h), &g);
    result->state = FUZZ_ACCEPTED;
  } else {
    fuzz_reject(result, "%s", osla_error_text());
  }
  free(h.at);
  free(g.at);
  osla_file_close(&file);
  osla_matrix_destroy(&a);
}

/* ---- second parser of packed triangle files ---- */

/* Verdict on a file. */
typedef struct faults {
  const char *wrong; /* first fault that was found; NULL: no fault */
  bool large;        /* true if a data set has more than ELEMENTS_MOST elements */
} faults;

/* Records the fault `what` if the condition is false and no fault was recorded before. */
static void need(faults *f, bool condition, const char *what)
{
  if (!condition && !f->wrong) f->wrong = what;
}

/* Reads the attributes "checksum" and "uplo" of a data set. Returns the checksum, and sets
 * a->stored to the triangle that the text of uplo names. Vectors have no uplo. A missing or wrong
 * attribute is recorded in `f`. */
static uint64_t read_attributes(faults *f, hid_t set, array *a)
{
  uint64_t sum = 0;
  char text[64] = "";
  hid_t attribute = H5Aopen(set, "checksum", H5P_DEFAULT), type = H5Aget_type(attribute);
  need(f,
       H5Tequal(type, H5T_STD_U64LE) > 0 &&
         H5Sget_simple_extent_npoints(H5Aget_space(attribute)) == 1 &&
         H5Aread(attribute, H5T_NATIVE_UINT64, &sum) >= 0,
       "checksum");
  if (a->vector || f->wrong) return sum;
  hid_t string = H5Tcopy(H5T_C_S1);
  (void)H5Tset_size(string, sizeof text);
  attribute = H5Aopen(set, "uplo", H5P_DEFAULT);
  type = H5Aget_type(attribute);
  (void)H5Tset_cset(string, H5Tget_cset(type));
  need(f,
       H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 &&
         H5Sget_simple_extent_npoints(H5Aget_space(attribute)) == 1 &&
         H5Aread(attribute, string, text) >= 0,
       "uplo");
  text[sizeof text - 1] = '\0';
  for (uint64_t k = WHOLE; k <= UPPER; k++)
    if (strcmp(text, stored_names[k]) == 0) a->stored = k;
  return sum;
}

/* Returns the smallest order of a matrix whose packed triangle has at least `elements` elements. */
static uint64_t order_of(uint64_t elements)
{
  uint64_t n = 0;
  while (n * (n + 1) / 2 < elements)
    n++;
  return n;
}

/* Sets the sizes of an array from the `rank` dimensions of its data set. A matrix with one
 * dimension is a packed triangle. With two dimensions, each column is a row of the data set. */
static void set_sizes(faults *f, const hsize_t dims[2], int rank, array *a)
{
  a->count = (size_t)(dims[0] * (rank == 2 ? dims[1] : 1));
  if (a->vector || rank == 2) {
    a->m = a->vector ? dims[0] : dims[1];
    a->n = a->vector ? 1 : dims[0];
    return;
  }
  a->m = a->n = order_of(dims[0]);
  need(f, a->n * (a->n + 1) / 2 == dims[0] && a->stored == LOWER, "no triangle");
}

/* Reads a data set and its attributes, and checks the format and the checksum. */
static array load(faults *f, hid_t file, const char *name, bool vector)
{
  array a = {.vector = vector, .stored = WHOLE, .size = 8};
  hsize_t dims[2] = {0, 0};
  hid_t set = H5Dopen2(file, name, H5P_DEFAULT), type = H5Dget_type(set);
  hid_t space = H5Dget_space(set), list = H5Dget_create_plist(set);
  const int rank = H5Sget_simple_extent_ndims(space);
  if (H5Tequal(type, H5T_IEEE_F32LE) > 0) a.size = 4;
  need(f, set >= 0 && (rank == 1 || (rank == 2 && !vector)), name);
  need(f, H5Tequal(type, H5T_IEEE_F64LE) > 0 || (a.size == 4 && !vector), "type");
  need(f, H5Pget_layout(list) == H5D_CONTIGUOUS && H5Pget_external_count(list) == 0, "layout");
  need(f, H5Pget_nfilters(list) == 0, "filters");
  if (f->wrong) return a;
  const uint64_t sum = read_attributes(f, set, &a);
  (void)H5Sget_simple_extent_dims(space, dims, NULL);
  f->large = dims[0] > ELEMENTS_MOST || dims[1] > ELEMENTS_MOST ||
             dims[0] * (rank == 2 ? dims[1] : 1) > ELEMENTS_MOST;
  if (f->large || f->wrong) return a;
  set_sizes(f, dims, rank, &a);
  a.at = calloc(a.count + 1, a.size);
  need(f,
       a.at && H5Dread(set, a.size == 4 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL,
                       H5P_DEFAULT, a.at) >= 0,
       "data");
  need(f, f->wrong || checksum_of(&a) == sum, "wrong checksum");
  return a;
}

/* Reads H and g by the second parser. Nothing is freed, because the call runs in a child process
 * that ends after it. */
static void judge(const char *path, fuzz_result *result)
{
  faults f = {NULL, false};
  (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  need(&f, file >= 0, "not an HDF5 file");
  array h = {.at = NULL}, g = {.at = NULL};
  if (!f.wrong) h = load(&f, file, "H", false);
  if (!f.wrong && !f.large) g = load(&f, file, "g", true);
  result->state = f.large ? FUZZ_NOT_RUN : FUZZ_ACCEPTED;
  if (f.wrong)
    fuzz_reject(result, "%s", f.wrong);
  else if (!f.large)
    result->digest = hash_array(hash_array(0, &h), &g);
}

static void command(const char *path, const char *out, const char *argv[24])
{
  const char *const words[] = {"solve", path, "--output", out, "--quiet", NULL};
  memcpy(argv, words, sizeof words);
}

const fuzz_kind fuzz_triangles = {.name = "triangles",
                                  .batch = FUZZ_BATCH,
                                  .hdf5 = true,
                                  .make = make,
                                  .before = fuzz_osla_begin,
                                  .after = fuzz_osla_end,
                                  .read = read_ours,
                                  .judge = judge,
                                  .command = command};
