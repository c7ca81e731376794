/* Checkpoints of the accumulator. The file is the checkpoint of an `osla assemble` that failed: the
 * second of two files of updates ended with a NaN, which is then replaced by a number in place, so
 * that the command can resume. All numbers are integers, so a correct file gives equal bits in any
 * order. */
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "osla_unstable.h"

enum { ORDER = 24, UPDATES = 40, INDICES = 3 };

/* Data of the undamaged checkpoint. The function prepare sets them before any child exists. */
static struct {
  char first[128], second[128], file[128], job[256];
  fuzz_bytes bytes;   /* contents of the undamaged checkpoint */
  uint64_t restored;  /* digest of the restored accumulator */
  uint64_t assembled; /* digest of the complete assembly */
} base;

/* OSLA's objects in one child. */
static struct {
  osla_transport *t;
  osla_grid *grid;
} own;

/* Writes updates whose panels have one row; returns the offset in the file of G's last number. */
static off_t write_updates(const char *path, fuzz_random *random)
{
  int64_t ix[UPDATES * INDICES], offset[UPDATES + 1];
  double values[UPDATES * INDICES];
  for (int i = 0; i < UPDATES * INDICES; i++) {
    ix[i] = fuzz_below(random, ORDER);
    values[i] = (double)fuzz_below(random, 9) - 4;
  }
  for (int u = 0; u <= UPDATES; u++)
    offset[u] = u * INDICES;
  const hsize_t dims[3][2] = {{UPDATES * INDICES, 1}, {UPDATES + 1, 1}, {UPDATES * INDICES, 1}};
  const char *const name[3] = {"ix", "offset", "G"};
  const void *const data[3] = {ix, offset, values};
  off_t last = 0;
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  for (int k = 0; k < 3; k++) {
    hid_t space = H5Screate_simple(k == 2 ? 2 : 1, dims[k], NULL);
    hid_t type = k == 2 ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64;
    hid_t set = H5Dcreate2(file, name[k], type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    fuzz_require(set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data[k]) >= 0,
                 path);
    last = (off_t)H5Dget_offset(set) + (off_t)sizeof values - (off_t)sizeof *values;
    (void)H5Dclose(set);
    (void)H5Sclose(space);
  }
  (void)H5Fclose(file);
  return last;
}

/* Replaces a number in place. Then restores the file's times, by which the command recognises the
 * file. Returns the old number. */
static double exchange(const char *path, off_t at, double value)
{
  struct stat status;
  double before = 0;
  int fd = open(path, O_RDWR);
  fuzz_require(fd >= 0 && fstat(fd, &status) == 0, path);
  fuzz_require(pread(fd, &before, sizeof before, at) == sizeof before, path);
  fuzz_require(pwrite(fd, &value, sizeof value, at) == sizeof value, path);
  const struct timespec times[2] = {status.st_atim, status.st_mtim};
  fuzz_require(futimens(fd, times) == 0 && close(fd) == 0, path);
  return before;
}

static int assemble(const char *checkpoint, const char *out)
{
  const char *const argv[] = {
    getenv("OSLA"), "assemble", "--n",        "24", "--output", out,         "--quiet",
    "--checkpoint", checkpoint, "--interval", "0",  base.first, base.second, NULL};
  return fuzz_run_program(argv, "/dev/null", "/dev/null");
}

/* Reads H and g of a result file. */
static void read_result(void *path, int i, fuzz_result *result)
{
  static const char *const names[] = {"H", "g"};
  static double values[ORDER * ORDER];
  (void)i;
  result->state = FUZZ_ACCEPTED;
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  for (int k = 0; k < 2 && file >= 0; k++) {
    hid_t set =
      H5Lexists(file, names[k], H5P_DEFAULT) > 0 ? H5Dopen2(file, names[k], H5P_DEFAULT) : -1;
    memset(values, 0, sizeof values);
    if (set >= 0 && H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0)
      result->digest = fuzz_hash(result->digest, values, sizeof values);
  }
}

static uint64_t digest_of(const char *path)
{
  static fuzz_result *one;
  if (!one) one = fuzz_make_results();
  fuzz_batch b = {0, 1, read_result, NULL, NULL, (void *)(uintptr_t)path, "/dev/null", one};
  fuzz_run_batch(&b);
  return one->state == FUZZ_ACCEPTED ? one->digest : 0;
}

void fuzz_osla_begin(void)
{
  fuzz_require(MPI_Init(NULL, NULL) == MPI_SUCCESS, "MPI_Init");
  fuzz_require(osla_transport_create(MPI_COMM_WORLD, NULL, &own.t) == OSLA_OK, osla_error_text());
  fuzz_require(osla_grid_create(own.t, 0, 0, &own.grid) == OSLA_OK, osla_error_text());
}

osla_grid *fuzz_osla_grid(void)
{
  return own.grid;
}

void fuzz_osla_end(void)
{
  osla_grid_destroy(&own.grid);
  osla_transport_destroy(&own.t);
  (void)MPI_Finalize();
}

static void hash_sums(osla_hessian *h, fuzz_result *result)
{
  static double block[ORDER * ORDER];
  osla_matrix *a = NULL;
  if (osla_hessian_commit(h) != OSLA_OK || osla_hessian_matrix(h, &a) != OSLA_OK ||
      osla_matrix_get_block(a, 0, 0, ORDER, ORDER, block, ORDER) != OSLA_OK)
    return;
  for (int i = 0; i < ORDER; i++)
    for (int j = i + 1; j < ORDER; j++)
      block[i + j * ORDER] = 0; /* only one triangle of H is defined */
  int64_t ids = osla_hessian_get_stats(h).ids_restored;
  result->digest = fuzz_hash(fuzz_hash(0, block, sizeof block), &ids, sizeof ids);
  result->digest = fuzz_hash(result->digest, osla_hessian_gradient(h), ORDER * sizeof(double));
  result->state = FUZZ_ACCEPTED;
}

static void read_ours(const char *path, fuzz_result *result)
{
  osla_hessian *h = NULL;
  fuzz_require(osla_hessian_create(own.grid, ORDER, NULL, &h) == OSLA_OK, osla_error_text());
  if (osla_hessian_restore(h, path, base.job) == OSLA_OK)
    hash_sums(h, result);
  else
    fuzz_reject(result, "%s", osla_error_text());
  osla_hessian_destroy(&h);
}

static void read_base(void *context, int i, fuzz_result *result)
{
  (void)context, (void)i;
  read_ours(base.file, result);
}

static bool read_job(const char *path)
{
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  hid_t job = file >= 0 ? H5Aopen(file, "job", H5P_DEFAULT) : -1, type = H5Aget_type(job);
  bool done = job >= 0 && H5Tget_size(type) < sizeof base.job && H5Aread(job, type, base.job) >= 0;
  (void)H5Tclose(type);
  (void)H5Aclose(job);
  (void)H5Fclose(file);
  return done;
}

static bool prepare(const char *scratch)
{
  fuzz_random random = fuzz_begin(1);
  char out[128], other[128];
  if (!getenv("OSLA")) return false;
  (void)snprintf(base.first, sizeof base.first, "%s/u1.h5", scratch);
  (void)snprintf(base.second, sizeof base.second, "%s/u2.h5", scratch);
  (void)snprintf(base.file, sizeof base.file, "%s/base.h5", scratch);
  (void)snprintf(out, sizeof out, "%s/whole.h5", scratch);
  (void)snprintf(other, sizeof other, "%s/other.h5", scratch);
  (void)write_updates(base.first, &random);
  off_t last = write_updates(base.second, &random);
  double value = exchange(base.second, last, NAN);
  int status = assemble(base.file, out);
  (void)exchange(base.second, last, value);
  fuzz_require(status > 0 && status < 3, "the job that shall fail");
  fuzz_require(access(base.file, R_OK) == 0 && read_job(base.file), "its checkpoint");
  fuzz_require(assemble(other, out) == 0, "the job that shall be right");
  base.assembled = digest_of(out);
  base.bytes = fuzz_load(base.file);
  fuzz_result *one = fuzz_make_results();
  fuzz_batch b = {0, 1, read_base, fuzz_osla_begin, fuzz_osla_end, NULL, other, one};
  fuzz_run_batch(&b);
  fuzz_require(one->state == FUZZ_ACCEPTED && base.assembled, "reading the checkpoint");
  base.restored = one->digest;
  return true;
}

/* Damages a file by HDF5 calls: deletes an attribute or data set, or replaces it by one of another
 * type. */
static void damage_by_calls(fuzz_random *random, const char *path)
{
  static const char *const attributes[] = {"checkpoint", "job", "combine", "initial", "bound"};
  static const char *const sets[] = {"H", "gradient", "ids"};
  const char *attribute = attributes[fuzz_below(random, 5)], *name = sets[fuzz_below(random, 3)];
  const hsize_t dims[2] = {(hsize_t)fuzz_below(random, 50), UINT64_C(1) << fuzz_below(random, 62)};
  const hid_t types[] = {H5T_STD_I64LE, H5T_IEEE_F64LE, H5T_STD_U64LE, H5T_IEEE_F32LE};
  hid_t type = types[fuzz_below(random, 4)];
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), made = -1;
  hid_t space = fuzz_one_in(random, 2) ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, dims, NULL);
  hid_t plane = H5Screate_simple(2, dims, NULL), list = H5Pcreate(H5P_DATASET_CREATE);
  (void)H5Pset_obj_track_times(list, false);
  switch (fuzz_below(random, 5)) {
    case 0: (void)H5Adelete(file, attribute); break;
    case 1:
      (void)H5Adelete(file, attribute);
      made = H5Acreate2(file, attribute, type, space, H5P_DEFAULT, H5P_DEFAULT);
      (void)H5Aclose(made);
      break;
    case 2: (void)H5Ldelete(file, name, H5P_DEFAULT); break;
    case 3:
      (void)H5Ldelete(file, name, H5P_DEFAULT);
      made = H5Dcreate2(file, name, type, fuzz_one_in(random, 2) ? space : plane, H5P_DEFAULT, list,
                        H5P_DEFAULT);
      (void)H5Dclose(made);
      break;
    default:
      (void)H5Ldelete(file, name, H5P_DEFAULT);
      (void)H5Lcreate_soft(fuzz_one_in(random, 2) ? name : "/H", file, name, H5P_DEFAULT,
                           H5P_DEFAULT);
      break;
  }
  (void)H5Pclose(list);
  (void)H5Sclose(plane);
  (void)H5Sclose(space);
  (void)H5Fclose(file);
}

static bool make(uint64_t seed, const char *path)
{
  fuzz_random random = fuzz_begin(seed);
  bool damaged = !fuzz_one_in(&random, 12);
  fuzz_bytes b = {NULL, 0};
  fuzz_splice(&b, 0, 0, base.bytes.at, base.bytes.size);
  bool by_calls = damaged && fuzz_one_in(&random, 3);
  for (int64_t n = damaged && !by_calls ? 1 + fuzz_below(&random, 4) : 0; n > 0; n--)
    fuzz_damage_bytes(&random, &b);
  fuzz_save(path, b);
  free(b.at);
  if (by_calls) {
    H5E_BEGIN_TRY
    {
      damage_by_calls(&random, path);
    }
    H5E_END_TRY
  }
  return damaged;
}

/* The expected result: any accepted file, damaged or not, must give the values that were written.
 */
static void judge(const char *path, fuzz_result *result)
{
  (void)path;
  result->digest = base.restored;
  result->state = FUZZ_ACCEPTED;
}

static void command(const char *path, const char *out, const char *argv[24])
{
  const char *const words[] = {"assemble",     "--n", "24",       "--output",  out, "--quiet",
                               "--checkpoint", path,  base.first, base.second, NULL};
  memcpy(argv, words, sizeof words);
}

static bool accept(const fuzz_result *judged, const char *out)
{
  (void)judged;
  return digest_of(out) == base.assembled;
}

const fuzz_kind fuzz_checkpoints = {.name = "checkpoints",
                                    .batch = FUZZ_BATCH,
                                    .hdf5 = true,
                                    .prepare = prepare,
                                    .make = make,
                                    .before = fuzz_osla_begin,
                                    .after = fuzz_osla_end,
                                    .read = read_ours,
                                    .judge = judge,
                                    .command = command,
                                    .accept = accept};
