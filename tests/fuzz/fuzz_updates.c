/* Files of updates: makes correct files, files with a fault made by HDF5 calls, and files with
 * changed bytes, and calls the reader. tools/assemble/updates.h describes the format. */
#include "tests/fuzz/fuzz.h"

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/assemble/updates.h"

enum { ORDER = 64, UPDATES = 6, INDICES = 7, DATA = 4, MOST = UPDATES * INDICES * INDICES };

typedef enum fault {
  NO_FAULT,
  LONG_IX,
  FALLING_OFFSET,
  LATE_OFFSET,
  LONG_OFFSET,
  NOT_FINITE,
  NEGATIVE_WEIGHT,
  BAD_INDEX,
  FLOAT_IX,
  TEXT_VALUES,
  COMPOUND_VALUES,
  FLAT_VALUES,
  HUGE_PANEL,
  HUGE_OFFSET,
  HUGE_COLUMNS,
  NO_COLUMNS,
  DANGLING_WEIGHTS,
  GROUP_GRADIENT,
  CYCLIC_IX,
  NO_IX,
  NO_VALUES,
  SCALAR_IX,
  EXTERNAL_VALUES,
  WIDE_WEIGHTS,
  VARIABLE_IX,
  FAULTS
} fault;

typedef struct content {
  hid_t file;
  fuzz_random *random;
  fault fault;
  /* k: number of data of each update; 0 if the file has blocks instead of panels */
  int64_t count, total, k, values;
  int64_t offset[UPDATES + 1], ix[UPDATES * INDICES + 1];
  double v[MOST], w[UPDATES * DATA], r[UPDATES * DATA], g[UPDATES * INDICES];
} content;

/* Chooses how a data set is stored: contiguous, compact, or in chunks with filters. */
static hid_t layout(fuzz_random *random, int rank, const hsize_t *dims, bool chunked)
{
  hid_t list = H5Pcreate(H5P_DATASET_CREATE);
  hsize_t chunk[3] = {1, 1, 1}, elements = 1;
  (void)H5Pset_obj_track_times(list, false);
  for (int i = 0; i < rank; i++) {
    elements *= dims[i];
    chunk[i] = dims[i] > 4096 ? 1024 : dims[i] > 1 ? dims[i] / 2 : 1;
  }
  int64_t kind = chunked ? 2 : fuzz_below(random, 6);
  if (kind == 1 && elements > 0 && elements < 1000) (void)H5Pset_layout(list, H5D_COMPACT);
  if (kind < 2 || elements == 0) return list;
  (void)H5Pset_chunk(list, rank, chunk);
  if (fuzz_one_in(random, 3)) (void)H5Pset_shuffle(list);
  if (fuzz_one_in(random, 2)) (void)H5Pset_deflate(list, 6);
  if (fuzz_one_in(random, 3)) (void)H5Pset_fletcher32(list);
  return list;
}

static void put(content *c, const char *name, hid_t type, hid_t memory, int rank, hsize_t rows,
                hsize_t columns, const void *data)
{
  const hsize_t dims[2] = {rows, columns};
  hid_t list = layout(c->random, rank, dims, !data), space = H5Screate_simple(rank, dims, NULL);
  if (c->fault == EXTERNAL_VALUES && (*name == 'G' || *name == 'U')) {
    (void)H5Pclose(list);
    list = H5Pcreate(H5P_DATASET_CREATE);
    (void)H5Pset_external(list, "/dev/zero", 0, H5F_UNLIMITED);
    data = NULL;
  }
  hid_t set = H5Dcreate2(c->file, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
  if (set >= 0 && data) (void)H5Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
  if (set >= 0) (void)H5Dclose(set);
  (void)H5Sclose(space);
  (void)H5Pclose(list);
}

static void put_integers(content *c, const char *name, int64_t count, const int64_t *data)
{
  const hid_t types[] = {H5T_STD_I64LE, H5T_STD_I32BE, H5T_STD_U16LE, H5T_STD_I64BE};
  hid_t type = types[c->fault == BAD_INDEX ? 0 : fuzz_below(c->random, 4)];
  if (*name == 'i' && c->fault == FLOAT_IX) type = H5T_IEEE_F64LE;
  put(c, name, type, H5T_NATIVE_INT64, 1, (hsize_t)count, 0, data);
}

/* Writes a matrix, or a vector if columns = 0. */
static void put_numbers(content *c, const char *name, int64_t rows, int64_t columns,
                        const double *data)
{
  const hid_t types[] = {H5T_IEEE_F64LE, H5T_IEEE_F32BE, H5T_IEEE_F32LE, H5T_STD_I32LE};
  /* a matrix with a fault is not stored as integers, which cannot hold some faulty values */
  hid_t type = types[fuzz_below(c->random, c->fault == NO_FAULT ? 4 : 3)];
  put(c, name, type, H5T_NATIVE_DOUBLE, columns ? 2 : 1, (hsize_t)rows, (hsize_t)columns, data);
}

/* Mirrors one triangle of each block onto the other, so that blocks are symmetric. */
static void mirror_blocks(content *c)
{
  double *block = c->v;
  for (int64_t u = 0; u < c->count; u++) {
    int64_t n = c->offset[u + 1] - c->offset[u];
    for (int64_t i = 0; i < n; i++)
      for (int64_t j = 0; j < i; j++)
        block[i * n + j] = block[j * n + i];
    block += n * n;
  }
}

static void draw_content(content *c)
{
  fuzz_random *random = c->random;
  c->count = 1 + fuzz_below(random, UPDATES);
  c->k = fuzz_one_in(random, 3) ? 0 : 1 + fuzz_below(random, DATA);
  for (int64_t u = 0; u < c->count; u++) {
    int64_t n = fuzz_below(random, INDICES + 1);
    c->offset[u + 1] = c->offset[u] + n;
    c->values += c->k ? n * c->k : n * n;
  }
  c->total = c->offset[c->count];
  for (int64_t i = 0; i < c->total + 1; i++)
    c->ix[i] = fuzz_below(random, ORDER);
  for (int64_t i = 0; i < c->values; i++)
    c->v[i] = (double)fuzz_below(random, 19) - 9;
  if (c->k == 0) mirror_blocks(c);
  for (int64_t i = 0; i < UPDATES * DATA; i++) {
    c->w[i] = (double)fuzz_below(random, 5);
    c->r[i] = (double)fuzz_below(random, 9);
  }
  for (int64_t i = 0; i < c->total; i++)
    c->g[i] = (double)fuzz_below(random, 9);
}

/* Puts the chosen fault into the numbers. */
static void damage_numbers(content *c)
{
  static const double bad[] = {NAN, INFINITY, -INFINITY};
  static const int64_t bad_index[] = {-1, ORDER, INT64_MAX, INT64_MIN, INT64_C(1) << 60};
  int64_t at = fuzz_below(c->random, c->values + 1);
  if (c->fault == FALLING_OFFSET) c->offset[1] = c->total + 5;
  if (c->fault == LATE_OFFSET) c->offset[0] = 1;
  if (c->fault == LONG_OFFSET) c->offset[c->count] += 1 + fuzz_below(c->random, 100);
  if (c->fault == NOT_FINITE) {
    double x = bad[fuzz_below(c->random, 3)];
    *(fuzz_one_in(c->random, 2) ? &c->v[at] : fuzz_one_in(c->random, 2) ? &c->w[0] : &c->g[0]) = x;
  }
  if (c->fault == NEGATIVE_WEIGHT) c->w[0] = -1.0;
  if (c->fault == BAD_INDEX) c->ix[0] = bad_index[fuzz_below(c->random, 5)];
}

static void put_ix(content *c)
{
  const hsize_t huge = UINT64_C(1) << 60;
  hid_t type = H5Tvlen_create(H5T_NATIVE_INT), space = H5Screate(H5S_SCALAR);
  if (c->fault == CYCLIC_IX)
    (void)H5Lcreate_soft("/ix", c->file, "ix", H5P_DEFAULT, H5P_DEFAULT);
  else if (c->fault == HUGE_PANEL)
    put(c, "ix", H5T_STD_I64LE, -1, 1, huge, 0, NULL);
  else if (c->fault == VARIABLE_IX)
    put(c, "ix", type, -1, 1, (hsize_t)c->total, 0, NULL);
  else if (c->fault == SCALAR_IX)
    (void)H5Dclose(
      H5Dcreate2(c->file, "ix", H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  else if (c->fault != NO_IX)
    put_integers(c, "ix", c->total + (c->fault == LONG_IX), c->ix);
  (void)H5Sclose(space);
  (void)H5Tclose(type);
  if (c->fault == HUGE_OFFSET)
    put(c, "offset", H5T_STD_I8LE, -1, 1, 2 * huge + (hsize_t)fuzz_below(c->random, 2), 0, NULL);
  else if (c->count > 1 || fuzz_one_in(c->random, 2))
    put_integers(c, "offset", c->count + 1, c->offset);
}

static void put_values(content *c)
{
  const hsize_t huge = UINT64_C(1) << 60;
  const char *name = c->k ? "G" : "U";
  hid_t text = H5Tcopy(H5T_C_S1), pair = H5Tcreate(H5T_COMPOUND, 16);
  (void)H5Tset_size(text, 8);
  (void)H5Tinsert(pair, "r", 0, H5T_NATIVE_DOUBLE);
  (void)H5Tinsert(pair, "i", 8, H5T_NATIVE_DOUBLE);
  if (c->fault == HUGE_PANEL)
    put(c, "G", H5T_IEEE_F64LE, -1, 2, huge, 16, NULL);
  else if (c->fault == HUGE_COLUMNS)
    put(c, "G", H5T_IEEE_F64LE, -1, 2, (hsize_t)c->total, huge << fuzz_below(c->random, 3), NULL);
  else if (c->fault == TEXT_VALUES || c->fault == COMPOUND_VALUES)
    put(c, name, c->fault == TEXT_VALUES ? text : pair, -1, c->k ? 2 : 1, (hsize_t)c->total,
        (hsize_t)c->k, NULL);
  else if (c->fault == FLAT_VALUES)
    put_numbers(c, name, c->total, c->k ? 0 : 1, c->v);
  else if (c->fault == NO_COLUMNS)
    put(c, "G", H5T_IEEE_F64LE, -1, 2, (hsize_t)c->total, 0, NULL);
  else if (c->fault != NO_VALUES)
    put_numbers(c, name, c->k ? c->total : c->values, c->k, c->v);
  (void)H5Tclose(text);
  (void)H5Tclose(pair);
}

static void put_rest(content *c)
{
  if (c->fault == DANGLING_WEIGHTS)
    (void)H5Lcreate_soft("/nothing", c->file, "w", H5P_DEFAULT, H5P_DEFAULT);
  else if (c->k && fuzz_one_in(c->random, 2))
    put_numbers(c, "w", c->count, c->k + (c->fault == WIDE_WEIGHTS), c->w);
  if (c->k && fuzz_one_in(c->random, 2)) put_numbers(c, "r", c->count, c->k, c->r);
  if (c->fault == GROUP_GRADIENT)
    (void)H5Gclose(H5Gcreate2(c->file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  else if (fuzz_one_in(c->random, 2))
    put_numbers(c, "g", c->total, 0, c->g);
}

static void write_content(content *c, const char *path)
{
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  if (fuzz_one_in(c->random, 5)) /* newest format, whose headers have checksums */
    (void)H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  c->file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  fuzz_require(c->file >= 0, path);
  put_ix(c);
  put_values(c);
  put_rest(c);
  fuzz_require(H5Fclose(c->file) >= 0, path);
  (void)H5Pclose(access);
}

static bool make(uint64_t seed, const char *path)
{
  fuzz_random random = fuzz_begin(seed);
  content c = {.random = &random};
  bool damaged = !fuzz_one_in(&random, 12);
  bool by_calls = damaged && fuzz_one_in(&random, 3);
  draw_content(&c);
  if (by_calls) c.fault = (fault)(1 + fuzz_below(&random, FAULTS - 1));
  damage_numbers(&c);
  H5E_BEGIN_TRY
  {
    write_content(&c, path);
  }
  H5E_END_TRY
  fuzz_bytes b = fuzz_load(path);
  for (int64_t n = damaged && !by_calls ? 1 + fuzz_below(&random, 4) : 0; n > 0; n--)
    fuzz_damage_bytes(&random, &b);
  fuzz_save(path, b);
  free(b.at);
  return damaged;
}

/* --- calls of the reader under test --- */

static void read_all(updates *file, fuzz_result *result)
{
  updates_batch b = {.count = 0};
  int64_t count = updates_count(file);
  uint64_t sum[6] = {0};
  for (int64_t first = 0; first < count; first += b.count) {
    if (updates_read(file, first, count - first, OSLA_DOUBLE, &b) != OSLA_OK) {
      fuzz_reject(result, "%s", osla_error_text());
      updates_memory_free(&b.memory);
      return;
    }
    size_t n = (size_t)(b.offset[b.count] - b.offset[0]), data = (size_t)(b.count * b.k),
           values = 0;
    for (int64_t u = 0; u < b.count; u++) {
      size_t own = (size_t)(b.offset[u + 1] - b.offset[u]);
      values += own * (b.k ? (size_t)b.k : own);
    }
    sum[0] = fuzz_hash(sum[0], b.offset + 1, (size_t)b.count * sizeof *b.offset);
    sum[1] = fuzz_hash(sum[1], b.ix, n * sizeof *b.ix);
    sum[2] = fuzz_hash(sum[2], b.values, values * sizeof(double));
    if (b.w) sum[3] = fuzz_hash(sum[3], b.w, data * sizeof *b.w);
    if (b.r) sum[4] = fuzz_hash(sum[4], b.r, data * sizeof *b.r);
    if (b.g) sum[5] = fuzz_hash(sum[5], b.g, n * sizeof *b.g);
  }
  updates_memory_free(&b.memory);
  result->digest = fuzz_hash(0, sum, sizeof sum);
  result->state = FUZZ_ACCEPTED;
}

static void read_ours(const char *path, fuzz_result *result)
{
  updates *file = NULL;
  if (updates_open(path, &file) != OSLA_OK) {
    fuzz_reject(result, "%s", osla_error_text());
    return;
  }
  read_all(file, result);
  updates_close(&file);
}

static void command(const char *path, const char *out, const char *argv[24])
{
  const char *const words[] = {"assemble", "--n", "64", "--output", out, "--quiet", path, NULL};
  memcpy(argv, words, sizeof words);
}

static bool accept(const fuzz_result *judged, const char *out)
{
  (void)out;
  return judged->state == FUZZ_ACCEPTED && judged->low >= 0 && judged->high < ORDER;
}

const fuzz_kind fuzz_updates = {.name = "updates",
                                .batch = 10,
                                .hdf5 = true,
                                .make = make,
                                .read = read_ours,
                                .judge = fuzz_judge_updates,
                                .command = command,
                                .accept = accept};
