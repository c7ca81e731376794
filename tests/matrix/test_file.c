/* Tests of matrices, vectors and numbers that are written to files and read back with other grids
 * and blocks. Every element identifies its position, so that a misplaced one is detected. */
#include "src/file/file.h"
#include "tests/file_help.h"
#include "tests/matrix/attacker.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct shape {
  int64_t m, n, mb, nb, read_mb, read_nb;
} shape;

static const shape shapes[] = {
  {0, 0, 4, 4, 3, 3},     {0, 5, 2, 3, 5, 5},       {5, 0, 2, 3, 1, 1},  {1, 1, 64, 64, 1, 1},
  {37, 53, 5, 7, 16, 9},  {64, 64, 8, 8, 100, 100}, {1, 90, 3, 4, 1, 7}, {90, 2, 4, 1, 33, 2},
  {30, 31, 99, 4, 4, 99}, {127, 65, 16, 16, 13, 5},
};
enum { N_SHAPES = sizeof shapes / sizeof shapes[0] };

/* Writes a matrix on one grid, and reads it on the next grid of the list with other blocks. */
static void round_trip(osla_transport *t, const shape *s, int round)
{
  int n_grids = osla_test_n_grids(t);
  osla_dtype dtype = (osla_dtype)(round % 4);
  osla_stored noted = (osla_stored)(round % 3), stored = OSLA_STORED_WHOLE;
  bool hdf5 = WITH_HDF5 && round % 2;
  osla_matrix *a = osla_test_make(t, round % n_grids, dtype, s->m, s->n, s->mb, s->nb), *b = NULL;
  osla_grid *grid = osla_test_grid(t, (round + 1) % n_grids);
  const char *path = scratch_path("trip");
  osla_test_write_local(a);
  osla_save_options save = {.format = hdf5 ? OSLA_FORMAT_HDF5 : OSLA_FORMAT_RAW, .stored = noted};
  osla_load_options load = {.mb = s->read_mb, .nb = s->read_nb};
  OSLA_ASSERT_OK(osla_matrix_save(a, path, &save));
  if (OSLA_ASSERT_OK(osla_matrix_load(grid, path, &load, &stored, &b))) {
    osla_layout l = osla_matrix_layout(b);
    CU_ASSERT(l.m == s->m && l.n == s->n && l.mb == s->read_mb && l.nb == s->read_nb);
    CU_ASSERT(osla_matrix_dtype(b) == dtype && stored == noted);
    int64_t bad = osla_test_differ_local(b);
    OSLA_ASSERT_MSG(bad == 0, "%" PRId64 " elements, round %d", bad, round);
  }
  osla_matrix_destroy(&b);
  osla_grid_destroy(&grid);
  osla_test_destroy(a);
}

static void test_round_trip(void)
{
  osla_transport *t = osla_test_transport();
  scratch_create();
  for (int round = 0; round < N_SHAPES; round++)
    round_trip(t, &shapes[round], round);
  for (int type = 0; type < 4 && osla_test_size() < FEW_RANKS;
       type++) { /* each type is also written in the other of the two file formats */
    round_trip(t, &shapes[4], type + 4);
    round_trip(t, &shapes[9], type + 5);
  }
  scratch_remove(1);
  osla_transport_destroy(&t);
}

static double place(int64_t i, int64_t j, void *arg)
{
  (void)arg;
  return (double)i * 1048576.0 + (double)j;
}

static int64_t differ(const osla_matrix *a)
{
  osla_layout l = osla_matrix_layout(a);
  double *column = malloc((size_t)l.m * sizeof *column);
  int64_t bad = 0;
  for (int64_t j = osla_test_rank(); j < l.n; j += osla_test_size()) {
    OSLA_ASSERT_OK(osla_matrix_get_block(a, 0, j, l.m, 1, column, l.m));
    for (int64_t i = 0; i < l.m; i++)
      bad += column[i] != place(i, j, NULL);
  }
  free(column);
  return bad;
}

/* Matrices that are written in several pieces of 4 MiB, which end inside columns, or in columns
 * longer than a piece. */
static void test_pieces(void)
{
  static const shape large[] = {{1111, 1003, 64, 32, 100, 101}, {700001, 2, 999, 1, 4096, 2}};
  osla_transport *t = osla_test_transport();
  int n_grids = osla_test_n_grids(t);
  scratch_create();
  for (int k = 0; k < 2; k++) {
    const shape *s = &large[k];
    const char *path = scratch_path(k == 1 ? "tall" : WITH_HDF5 ? "large.h5" : "large");
    osla_matrix *b = NULL;
    osla_matrix *a = osla_test_make(t, k % n_grids, OSLA_DOUBLE, s->m, s->n, s->mb, s->nb);
    osla_grid *grid = osla_test_grid(t, (k + 1) % n_grids);
    osla_load_options load = {.mb = s->read_mb, .nb = s->read_nb};
    OSLA_ASSERT_OK(osla_matrix_fill_with(a, place, NULL));
    OSLA_ASSERT_OK(osla_matrix_save(a, path, NULL));
    if (OSLA_ASSERT_OK(osla_matrix_load(grid, path, &load, NULL, &b))) {
      int64_t bad = differ(b);
      OSLA_ASSERT_MSG(bad == 0, "%" PRId64 " elements, case %d", bad, k);
    }
    OSLA_ASSERT_OK(osla_barrier(t));
    osla_matrix_destroy(&b);
    osla_grid_destroy(&grid);
    osla_test_destroy(a);
  }
  scratch_remove(2);
  osla_transport_destroy(&t);
}

/* The raw format begins with the elements, column by column, so that numpy.fromfile can read them.
 * All bytes, including the checksum, are independent of the distribution. */
static void test_raw_bytes(void)
{
  osla_transport *t = osla_test_transport();
  int n_grids = osla_test_n_grids(t);
  unsigned char *first = NULL;
  size_t first_size = 0, size = 0;
  scratch_create();
  for (int which = 0; which < n_grids; which++) {
    osla_matrix *a = osla_test_make(t, which, OSLA_COMPLEX_FLOAT, 33, 21, 4 + which, 9 - which);
    osla_test_write_local(a);
    OSLA_ASSERT_OK(osla_matrix_save(a, scratch_path("bytes"), NULL));
    unsigned char *bytes = scratch_read(scratch_path("bytes"), &size);
    CU_ASSERT(size == 33 * 21 * 8 + 64);
    CU_ASSERT(osla_test_differ_block(OSLA_COMPLEX_FLOAT, bytes, 0, 0, 33, 21, 33) == 0);
    if (first) {
      CU_ASSERT(size == first_size && memcmp(bytes, first, size) == 0);
      free(bytes);
    } else {
      first = bytes;
      first_size = size;
    }
    OSLA_ASSERT_OK(osla_barrier(t));
    osla_test_destroy(a);
  }
  free(first);
  scratch_remove(1);
  osla_transport_destroy(&t);
}

/* A file with items like those of a checkpoint: a matrix, a gradient, the ids of each rank,
 * counters and a text. */
enum { ORDER = 45 };

static int64_t n_ids(int rank)
{
  return rank == 1 ? 0 : 5 + 3 * rank; /* number of ids of a rank; rank 1 has none */
}

static uint64_t id_of(int rank, int64_t k)
{
  return UINT64_MAX - 1000u * (uint64_t)rank - (uint64_t)k;
}

static void write_checkpoint(osla_transport *t, const char *path)
{
  int rank = osla_transport_rank(t);
  osla_file *file = NULL;
  osla_matrix *a = osla_test_make(t, 0, OSLA_DOUBLE, ORDER, ORDER, 8, 8);
  double gradient[ORDER];
  uint64_t ids[64];
  osla_test_write_local(a);
  for (int i = 0; i < ORDER; i++)
    gradient[i] = 1.0 / (i + 1);
  for (int64_t k = 0; k < n_ids(rank); k++)
    ids[k] = id_of(rank, k);
  OSLA_ASSERT_OK(osla_file_create(t, path, &file));
  OSLA_ASSERT_OK(osla_file_put_matrix(file, "H", a, OSLA_STORED_LOWER));
  OSLA_ASSERT_OK(osla_file_put_vector(file, "g", OSLA_FILE_DOUBLE, ORDER, gradient));
  OSLA_ASSERT_OK(osla_file_put_parts(file, "ledger/ids", OSLA_FILE_UINT64, n_ids(rank), ids));
  OSLA_ASSERT_OK(osla_file_put_vector(file, "none", OSLA_FILE_INT64, 0, NULL));
  OSLA_ASSERT_OK(osla_file_put_int(file, "updates", INT64_C(-7000000000)));
  OSLA_ASSERT_OK(osla_file_put_number(file, "scale", 0.1));
  OSLA_ASSERT_OK(osla_file_put_text(file, "maker", "test"));
  OSLA_ASSERT_OK(osla_file_commit(&file));
  CU_ASSERT_PTR_NULL(file);
  osla_test_destroy(a);
}

static void check_ids(osla_transport *t, osla_file *file)
{
  int rank = osla_transport_rank(t), size = osla_transport_size(t);
  int64_t total = 0, count = 0, at = 0, bad = 0;
  for (int r = 0; r < size; r++)
    total += n_ids(r);
  OSLA_ASSERT_OK(osla_file_look_vector(file, "ledger/ids", OSLA_FILE_UINT64, &count));
  CU_ASSERT(count == total);
  uint64_t all[256], part[256];
  OSLA_ASSERT_OK(osla_file_get_vector(file, "ledger/ids", OSLA_FILE_UINT64, count, all));
  int64_t first = count * rank / size, last = count * (rank + 1) / size;
  OSLA_ASSERT_OK(
    osla_file_get_parts(file, "ledger/ids", OSLA_FILE_UINT64, first, last - first, part));
  CU_ASSERT(memcmp(part, all + first, (size_t)(last - first) * sizeof *part) == 0);
  for (int r = 0; r < size; r++)
    for (int64_t k = 0; k < n_ids(r); k++)
      bad += all[at++] != id_of(r, k);
  CU_ASSERT(bad == 0);
}

static void check_values(osla_file *file)
{
  double scale = 0.0, gradient[ORDER];
  int64_t updates = 0, count = -1;
  char text[16], cut[3];
  bool has = false;
  OSLA_ASSERT_OK(osla_file_get_vector(file, "g", OSLA_FILE_DOUBLE, ORDER, gradient));
  for (int i = 0; i < ORDER; i++)
    CU_ASSERT(gradient[i] == 1.0 / (i + 1));
  OSLA_ASSERT_OK(osla_file_look_vector(file, "none", OSLA_FILE_INT64, &count));
  CU_ASSERT(count == 0);
  OSLA_ASSERT_OK(osla_file_get_vector(file, "none", OSLA_FILE_INT64, 0, NULL));
  OSLA_ASSERT_OK(osla_file_get_int(file, "updates", &updates));
  OSLA_ASSERT_OK(osla_file_get_number(file, "scale", &scale));
  OSLA_ASSERT_OK(osla_file_get_text(file, "maker", text, sizeof text));
  OSLA_ASSERT_OK(osla_file_get_text(file, "maker", cut, sizeof cut));
  CU_ASSERT(updates == INT64_C(-7000000000) && scale == 0.1);
  CU_ASSERT(strcmp(text, "test") == 0 && strcmp(cut, "te") == 0);
  OSLA_ASSERT_OK(osla_file_has(file, "g", &has));
  CU_ASSERT(has);
  OSLA_ASSERT_OK(osla_file_has(file, "h", &has));
  CU_ASSERT(!has);
}

static void check_misuse(osla_transport *t, osla_file *file)
{
  int64_t count = 0;
  double x[ORDER + 1];
  osla_matrix *small = osla_test_make(t, 0, OSLA_DOUBLE, ORDER, ORDER - 1, 8, 8);
  OSLA_ASSERT_ERR(osla_file_get_matrix(file, "H", small), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("is 45 x 45 of type double, the matrix 45 x 44 of type double");
  OSLA_ASSERT_ERR(osla_file_get_matrix(file, "g", small), OSLA_ERR_IO);
  OSLA_ASSERT_TEXT("g has 1 dimensions, and a matrix was expected");
  OSLA_ASSERT_ERR(osla_file_get_matrix(file, "K", small), OSLA_ERR_IO);
  OSLA_ASSERT_TEXT("no data set K");
  osla_test_destroy(small);
  OSLA_ASSERT_ERR(osla_file_look_vector(file, "g", OSLA_FILE_UINT64, &count), OSLA_ERR_IO);
  OSLA_ASSERT_TEXT("g is of type double, and uint64 was expected");
  OSLA_ASSERT_ERR(osla_file_look_vector(file, "H", OSLA_FILE_DOUBLE, &count), OSLA_ERR_IO);
  OSLA_ASSERT_ERR(osla_file_get_vector(file, "g", OSLA_FILE_DOUBLE, ORDER + 1, x), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_file_get_parts(file, "g", OSLA_FILE_DOUBLE, 1, ORDER, x), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("elements 1 to 45 of g, which has 45");
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_ERR(osla_file_get_int(file, "scale", &count), OSLA_ERR_IO);
  OSLA_ASSERT_ERR(osla_file_get_text(file, "updates", (char *)x, sizeof x), OSLA_ERR_IO);
  OSLA_ASSERT_ERR(osla_file_put_int(file, "more", 1), OSLA_ERR_STATE);
  OSLA_ASSERT_TEXT("is being read, and cannot be written");
  OSLA_ASSERT_ERR(osla_file_commit(&file), OSLA_ERR_STATE);
  CU_ASSERT_PTR_NULL(file);
}

static void test_checkpoint(void)
{
  osla_transport *t = osla_test_transport();
  const char *path;
  osla_file *file = NULL;
  scratch_create();
  path = scratch_path("point");
  if (!WITH_HDF5) {
    OSLA_ASSERT_ERR(osla_file_create(t, path, &file), OSLA_ERR_UNSUPPORTED);
    OSLA_ASSERT_TEXT("this build has no HDF5 (Debian package: libhdf5-" OSLA_DEBIAN_MPI "-dev)");
    scratch_remove(0);
    osla_transport_destroy(&t);
    return;
  }
  write_checkpoint(t, path);
  osla_file_matrix look = {OSLA_FLOAT, 0, 0, OSLA_STORED_WHOLE};
  osla_matrix *a = osla_test_make(t, osla_test_n_grids(t) - 1, OSLA_DOUBLE, ORDER, ORDER, 7, 50);
  OSLA_ASSERT_OK(osla_file_open(t, path, &file));
  check_values(file);
  check_ids(t, file);
  OSLA_ASSERT_OK(osla_file_look_matrix(file, "H", &look));
  CU_ASSERT(look.dtype == OSLA_DOUBLE && look.m == ORDER && look.n == ORDER &&
            look.stored == OSLA_STORED_LOWER);
  OSLA_ASSERT_OK(osla_file_get_matrix(file, "H", a));
  CU_ASSERT(osla_test_differ_local(a) == 0);
  check_misuse(t, file);
  osla_test_destroy(a);
  scratch_remove(1);
  osla_transport_destroy(&t);
}

/* ---- attacks by a user who may write the directory ---- */

static const char secret[] = "another file of the same user";

static bool is_secret(const char *path)
{
  size_t size;
  unsigned char *bytes = scratch_read(path, &size);
  const bool same = bytes && size == sizeof secret && memcmp(bytes, secret, size) == 0;
  free(bytes);
  return same;
}

/* An attacker replaces the temporary file by a link, just before other ranks open it or rank 0
 * renames it to the final name. All ranks get the same error, the link's target is unchanged, and
 * there is no result file. */
static void test_replaced(void)
{
  osla_transport *t = osla_test_transport();
  /* large enough for two pieces of 4 MiB */
  osla_matrix *a = osla_test_make(t, 0, OSLA_DOUBLE, 1300, 700, 64, 64);
  int attacks = 0;
  scratch_create();
  const char *victim = scratch_path("victim"), *path = scratch_path("result");
  scratch_write(victim, secret, sizeof secret);
  for (int k = 0; k < 6; k++) {
    const osla_save_options raw_or_hdf5 = {.format = k % 2 && WITH_HDF5 ? OSLA_FORMAT_HDF5
                                                                        : OSLA_FORMAT_RAW};
    attacker *other =
      osla_test_rank() == 0 ? attacker_start(scratch_path(""), ".tmp", victim) : NULL;
    MPI_Barrier(MPI_COMM_WORLD);
    const osla_err err = osla_matrix_save(a, path, &raw_or_hdf5);
    if (err != OSLA_OK) {
      OSLA_ASSERT_ERR(err, OSLA_ERR_IO);
      OSLA_ASSERT_TEXT("not written, because somebody else replaced the file while it was written");
      OSLA_ASSERT_SAME_TEXT();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (osla_test_rank() == 0) {
      CU_ASSERT(other != NULL);
      const int times = other ? attacker_stop(other) : 0;
      OSLA_ASSERT_MSG((times > 0) == (err != OSLA_OK), "%d attacks, and save returned %d", times,
                      err);
      CU_ASSERT(is_secret(victim) && (access(path, F_OK) != 0 || times == 0));
      (void)unlink(path);
      attacks += times;
    }
  }
  if (osla_test_rank() == 0) OSLA_ASSERT_MSG(attacks >= 1, "%d attacks of 6", attacks);
  scratch_remove(1);
  osla_test_destroy(a);
  osla_transport_destroy(&t);
}

/* Checks which files a rank other than 0 accepts under the temporary name of a save. A rank on the
 * node of rank 0 identifies the right file by device and inode, a rank on another node by a random
 * mark in the file. */
static void test_temporary(void)
{
  static const char *const replaced = "somebody else replaced the file";
  file_identity identity;
  scratch_create();
  const char *name = scratch_path("name"), *copy = scratch_path("copy"),
             *link = scratch_path("link"), *foreign = scratch_path("foreign");
  const bool is_root = geteuid() == 0;
  const struct {
    const char *name;
    bool on_node;
    const char *error;
  } found[] = {
    {name, true, NULL},
    {name, false, NULL},
    {copy, true, replaced},
    {copy, false, NULL},
    {foreign, false, is_root ? replaced : NULL},
    {"/dev/zero", true, replaced},
    {"/dev/zero", false, replaced},
    {scratch_path("victim"), false, replaced},
    {link, true, strerror(ELOOP)},
    {link, false, strerror(ELOOP)},
    {scratch_path("none"), false, "do all ranks see the same directory"},
  };
  scratch_write(name, "", 0);
  scratch_write(scratch_path("victim"), secret, sizeof secret);
  const int mine = open(name, O_RDWR);
  CU_ASSERT(mine >= 0 && (osla_test_rank() > 0 || symlink(name, link) == 0));
  if (osla_test_rank() == 0) OSLA_ASSERT_OK(osli_file_identify(mine, name, true, &identity));
  MPI_Bcast(&identity, sizeof identity, MPI_BYTE, 0, MPI_COMM_WORLD);
  scratch_write(copy, identity.mark, sizeof identity.mark);
  scratch_write(foreign, identity.mark, sizeof identity.mark);
  if (is_root && osla_test_rank() == 0) CU_ASSERT(chown(foreign, 4321, 4321) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  for (size_t k = 0; k < sizeof found / sizeof *found; k++) {
    int fd = -1;
    const osla_err err =
      osli_file_open_temporary(found[k].name, "path", &identity, found[k].on_node, &fd);
    OSLA_ASSERT_MSG((err == OSLA_OK) == !found[k].error && (fd >= 0) == !found[k].error, "%zu", k);
    if (found[k].error) OSLA_ASSERT_TEXT(found[k].error);
    if (fd >= 0) CU_ASSERT((fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY);
    if (fd >= 0) close(fd);
  }
  close(mine);
  scratch_remove(5);
}

static const osla_test_case cases[] = {{"round_trip", test_round_trip},
                                       {"pieces", test_pieces},
                                       {"raw_bytes", test_raw_bytes},
                                       {"checkpoint", test_checkpoint},
                                       {"replaced", test_replaced},
                                       {"temporary", test_temporary},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_file, cases);
