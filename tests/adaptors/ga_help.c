#include "tests/adaptors/ga_help.h"
#include "osla_random.h"
#include "tests/complex_help.h"

#include <ga.h>
#include <macdecls.h>
#include <stdlib.h>

void ga_start(void)
{
  if (GA_Initialized()) return;
  OSLA_ASSERT_OK(osla_ga_initialize(1 << 20));
}

const char *ga_kind_name(ga_kind kind)
{
  static const char *const names[GA_KINDS] = {"regular", "irregular",  "block-cyclic", "ScaLAPACK",
                                              "tiled",   "restricted", "ghosts"};
  return names[kind];
}

static const int types[] = {C_FLOAT, C_DBL, C_SCPL, C_DCPL};

/* Defines parts of unequal width, one for each rank, or a single part if there are too few rows. */
static void set_irregular(int array, int ranks, int64_t rows, int64_t cols)
{
  int64_t map[64] = {0}, blocks[2] = {ranks, 1};
  if (ranks == 4) {
    blocks[0] = blocks[1] = 2;
    map[1] = rows / 3 + 1;
    map[3] = cols / 4 + 1;
  } else if (rows >= ranks) {
    for (int k = 1; k < ranks; k++)
      map[k] = k + (k == 1 ? 0 : (rows - ranks) / 2);
  } else {
    blocks[0] = 1;
  }
  GA_Set_irreg_distr64(array, map, blocks);
}

static void set_kind(int array, ga_kind kind, int64_t rows, int64_t cols, const int block[2])
{
  int ranks = GA_Nnodes(), first[2] = {0, 1}, width[2] = {1, 2}, sides[2] = {block[0], block[1]};
  int grid[2] = {ranks == 4 ? 2 : ranks, ranks == 4 ? 2 : 1};
  switch (kind) {
    case GA_IRREGULAR: set_irregular(array, ranks, rows, cols); break;
    case GA_CYCLIC: GA_Set_block_cyclic(array, sides); break;
    case GA_SCALAPACK: GA_Set_block_cyclic_proc_grid(array, sides, grid); break;
    case GA_TILED:
      if (ranks == 4) GA_Set_tiled_proc_grid(array, sides, grid);
      break;
    case GA_RESTRICTED: GA_Set_restricted(array, first, ranks > 2 ? 2 : 1); break;
    case GA_GHOSTS:
      if (rows >= 3 * ranks && cols >= 3 * ranks) GA_Set_ghosts(array, width);
      break;
    default: break;
  }
}

/* True if every rank gets a block of a block-cyclic array. Without a block on each rank GA 5.8.2
 * puts to wrong addresses, or crashes. */
static bool all_have_blocks(int64_t rows, int64_t cols, const int block[2])
{
  int64_t along = (rows + block[0] - 1) / block[0], across = (cols + block[1] - 1) / block[1];
  return GA_Nnodes() == 4 ? along >= 2 && across >= 2 : along >= GA_Nnodes();
}

int ga_make(ga_kind kind, osla_dtype dtype, int64_t rows, int64_t cols, const int block[2])
{
  int64_t dims[2] = {rows, cols};
  int array = GA_Create_handle();
  GA_Set_data64(array, 2, dims, types[dtype]);
  GA_Set_array_name(array, "test");
  if (all_have_blocks(rows, cols, block)) set_kind(array, kind, rows, cols, block);
  if (!GA_Allocate(array)) GA_Error("GA_Allocate", 1);
  return array;
}

static void set_element(int type, void *all, int64_t at, double re, double im)
{
  switch (type) {
    case C_FLOAT: ((float *)all)[at] = (float)re; break;
    case C_DBL: ((double *)all)[at] = re; break;
    case C_SCPL: ((float complex *)all)[at] = (float complex)CMPLX(re, im); break;
    default: ((double complex *)all)[at] = CMPLX(re, im); break;
  }
}

static osla_complex get_element(int type, const void *all, int64_t at)
{
  switch (type) {
    case C_FLOAT: return ((const float *)all)[at];
    case C_DBL: return ((const double *)all)[at];
    case C_SCPL: return ((const float complex *)all)[at];
    default: return ((const double complex *)all)[at];
  }
}

/* Bounds of the whole array, as NGA_Put and NGA_Get need them. A vector is one column. */
typedef struct extent {
  int type;
  int64_t rows, cols, low[2], high[2], ld;
} extent;

static extent extent_of(int array)
{
  extent e = {0};
  int64_t dims[2] = {1, 1};
  int ndim;
  NGA_Inquire64(array, &e.type, &ndim, dims);
  e.rows = dims[0];
  e.cols = e.ld = dims[1];
  e.high[0] = dims[0] - 1;
  e.high[1] = dims[1] - 1;
  return e;
}

static void *allocate(const extent *e)
{
  void *all = malloc((size_t)(e->rows * e->cols) * sizeof(osla_complex));
  if (!all) GA_Error("no memory", 1);
  return all;
}

/* One rank fills the whole array by one call, because each call of GA takes milliseconds if ranks
 * outnumber cores. */
void ga_fill(int array, ga_element *element, void *arg)
{
  extent e = extent_of(array);
  if (GA_Nodeid() == 0) {
    void *all = allocate(&e);
    for (int64_t i = 0; i < e.rows; i++)
      for (int64_t j = 0; j < e.cols; j++)
        set_element(e.type, all, i * e.cols + j, element(i, j, arg), element(j, i, arg));
    NGA_Put64(array, e.low, e.high, all, &e.ld);
    free(all);
  }
  GA_Sync();
}

double ga_whole(int64_t i, int64_t j, void *seed)
{
  return (double)osla_test_choose(*(uint64_t *)seed, i * 1000 + j, 17) - 8;
}

osla_complex *ga_contents(int array, ga_element *element, void *arg)
{
  extent e = extent_of(array);
  bool is_complex = e.type == C_SCPL || e.type == C_DCPL;
  osla_complex *all = allocate(&e);
  for (int64_t i = 0; i < e.rows; i++)
    for (int64_t j = 0; j < e.cols; j++)
      all[i * e.cols + j] = CMPLX(element(i, j, arg), is_complex ? element(j, i, arg) : 0);
  return all;
}

osla_complex *ga_read(int array)
{
  extent e = extent_of(array);
  int64_t count = e.rows * e.cols;
  void *all = allocate(&e);
  osla_complex *read = allocate(&e);
  if (GA_Nodeid() == 0) {
    NGA_Get64(array, e.low, e.high, all, &e.ld);
    for (int64_t k = 0; k < count; k++)
      read[k] = get_element(e.type, all, k);
  }
  MPI_Bcast(read, (int)(2 * count), MPI_DOUBLE, 0, MPI_COMM_WORLD);
  free(all);
  GA_Sync();
  return read;
}

int64_t ga_count_wrong(int array, const osla_complex *expected, double bound)
{
  extent e = extent_of(array);
  int64_t wrong = 0;
  osla_complex *have = ga_read(array);
  for (int64_t k = 0; k < e.rows * e.cols; k++)
    if (!(cabs(have[k] - expected[k]) <= bound)) wrong++;
  free(have);
  return wrong;
}
