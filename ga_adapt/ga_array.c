/* Reads the properties of a Global Array.
 *
 * Blocks are queried one by one (NGA_Distribution, NGA_Access_block). GA 5.8.2 ends the program in
 * GA_Get_block_info of an irregular tiled array, and its GA_Get_proc_grid returns the sides of the
 * grid in the opposite order of all other calls. */
#include "ga_adapt/ga_internal.h"

#include <ga.h>
#include <inttypes.h>
#include <macdecls.h>
#include <stdlib.h>

static osla_err find_dtype(int type, const char *name, ga_array *a)
{
  switch (type) {
    case C_FLOAT: a->dtype = OSLA_FLOAT; return OSLA_OK;
    case C_DBL: a->dtype = OSLA_DOUBLE; return OSLA_OK;
    case C_SCPL: a->dtype = OSLA_COMPLEX_FLOAT; return OSLA_OK;
    case C_DCPL: a->dtype = OSLA_COMPLEX_DOUBLE; return OSLA_OK;
    default: break;
  }
  return osla_error_set(OSLA_ERR_UNSUPPORTED,
                        "%s: type %d of array \"%s\" is none of C_FLOAT, C_DBL, C_SCPL, C_DCPL",
                        name, type, GA_Inquire_name(a->handle));
}

osla_err osli_ga_array_check(int handle, const char *name, ga_array *a)
{
  int64_t dims[GA_MAX_DIM] = {0};
  int type;
  *a = (ga_array){.handle = handle};
  OSLA_CALL(osli_ga_session_check());
  OSLA_CHECK(GA_Valid_handle(handle), OSLA_ERR_ARG, "%s: %d is not the handle of a global array",
             name, handle);
  NGA_Inquire64(handle, &type, &a->ndim, dims);
  OSLA_CHECK(a->ndim == 1 || a->ndim == 2, OSLA_ERR_UNSUPPORTED,
             "%s: array \"%s\" has %d dimensions, not 1 or 2", name, GA_Inquire_name(handle),
             a->ndim);
  OSLA_CALL(find_dtype(type, name, a));
  OSLA_CHECK(!GA_Is_mirrored(handle), OSLA_ERR_UNSUPPORTED, "%s: array \"%s\" is mirrored", name,
             GA_Inquire_name(handle));
  int group = GA_Get_pgroup(handle), world = GA_Pgroup_get_world();
  OSLA_CHECK(group == world, OSLA_ERR_UNSUPPORTED,
             "%s: array \"%s\" belongs to processor group %d, not to all processes", name,
             GA_Inquire_name(handle), group);
  a->m = dims[a->ndim - 1];
  a->n = a->ndim == 2 ? dims[0] : 1;
  return OSLA_OK;
}

/* Range of elements of a numbered block, or of a rank's part if blocks have no numbers; rows = 0
 * if the range is empty. */
static ga_patch range_of(const ga_array *a, int64_t number)
{
  int64_t low[2] = {0, 0}, high[2] = {0, 0};
  NGA_Distribution64(a->handle, (int)number, low, high);
  int last = a->ndim - 1;
  ga_patch p = {.i = low[last], .rows = high[last] - low[last] + 1, .cols = 1};
  if (a->ndim == 2) {
    p.j = low[0];
    p.cols = high[0] - low[0] + 1;
  }
  if (p.rows <= 0 || p.cols <= 0) p.rows = p.cols = 0;
  return p;
}

/* Inserts `value` into an ascending list of distinct values. Returns the new count. */
static int insert_sorted(int64_t *list, int count, int64_t value)
{
  int at = count;
  while (at > 0 && list[at - 1] >= value)
    at--;
  if (at < count && list[at] == value) return count;
  for (int k = count; k > at; k--)
    list[k] = list[k - 1];
  list[at] = value;
  return count + 1;
}

static int place_of(const int64_t *list, int count, int64_t value)
{
  int at = 0;
  while (at < count && list[at] != value)
    at++;
  return at;
}

static int64_t divide_up(int64_t x, int64_t y)
{
  return (x + y - 1) / y;
}

/* Finds the layout of an array with one part for each rank, in which cuts through all rows and all
 * columns separate the parts. */
static osla_err lay_out_parts(ga_array *a, int ranks, int me)
{
  int64_t *rows = calloc(2 * (size_t)ranks, sizeof *rows), *cols = rows + ranks;
  OSLA_CHECK(rows, OSLA_ERR_MEM, "tables of %d ranks", ranks);
  int nprow = 0, npcol = 0, parts = 0;
  for (int r = 0; r < ranks; r++) {
    ga_patch p = range_of(a, r);
    if (p.rows == 0) continue;
    nprow = insert_sorted(rows, nprow, p.i);
    npcol = insert_sorted(cols, npcol, p.j);
    parts++;
  }
  if (parts > 0 && parts == nprow * npcol) {
    ga_patch mine = range_of(a, me);
    a->layout =
      (osla_layout){a->m, a->n, divide_up(a->m, nprow), divide_up(a->n, npcol), nprow, npcol};
    if (mine.rows > 0) {
      a->prow = place_of(rows, nprow, mine.i);
      a->pcol = place_of(cols, npcol, mine.j);
    }
  }
  free(rows);
  return OSLA_OK;
}

/* Number of block rows of an array with numbered blocks, whose numbers run down the block columns.
 */
static int64_t count_block_rows(const ga_array *a, int64_t blocks)
{
  int64_t count = 1;
  while (count < blocks && range_of(a, count).i > 0)
    count++;
  return count;
}

/* Finds the layout of an array whose blocks are distributed over a process grid, either by
 * ScaLAPACK's rule or as GA's tiles. */
static void lay_out_grid(ga_array *a, int ranks, int me)
{
  int nprow = 0, npcol = 0;
  for (int r = 0; r < ranks; r++) {
    int at[2] = {0, 0};
    GA_Get_proc_index(a->handle, r, at);
    int prow = at[a->ndim - 1], pcol = a->ndim == 2 ? at[0] : 0;
    nprow = prow >= nprow ? prow + 1 : nprow;
    npcol = pcol >= npcol ? pcol + 1 : npcol;
    if (r == me) {
      a->prow = prow;
      a->pcol = pcol;
    }
  }
  ga_patch first = range_of(a, 0);
  a->layout = (osla_layout){a->m, a->n, first.rows, first.cols, nprow, npcol};
}

/* True if this rank owns the block. */
static bool owns_block(const ga_array *a, int64_t block, int64_t block_rows, int ranks, int me)
{
  if (a->layout.nprow == 0) return block % ranks == me;
  return block % block_rows % a->layout.nprow == a->prow &&
         block / block_rows % a->layout.npcol == a->pcol;
}

/* Checks that the patch is inside this process's memory. GA 5.8.2 places the tiles of a P x 1 grid
 * as if the grid were 1 x P, which is outside the memory. */
static osla_err check_inside(const ga_array *a, const ga_patch *p)
{
  void *start = NULL;
  int64_t elements = 0;
  size_t size = osla_dtype_size(a->dtype);
  NGA_Access_block_segment64(a->handle, GA_Nodeid(), &start, &elements);
  const unsigned char *end = (unsigned char *)start + (size_t)elements * size;
  size_t extent = (size_t)((p->cols - 1) * p->ld + p->rows) * size;
  OSLA_CHECK(p->at >= (unsigned char *)start && p->at + extent <= end, OSLA_ERR_UNSUPPORTED,
             "array \"%s\": Global Arrays puts its tiles outside their memory (seen in 5.8.2 on "
             "grids that are not square)",
             GA_Inquire_name(a->handle));
  return OSLA_OK;
}

static osla_err find_blocks(ga_array *a, int64_t block_rows, int64_t blocks, int ranks, int me)
{
  int64_t count = 0;
  for (int64_t b = 0; b < blocks; b++)
    count += owns_block(a, b, block_rows, ranks, me);
  a->patches = calloc((size_t)count + 1, sizeof *a->patches);
  OSLA_CHECK(a->patches, OSLA_ERR_MEM, "a list of %" PRId64 " blocks", count);
  for (int64_t b = 0; b < blocks; b++) {
    if (!owns_block(a, b, block_rows, ranks, me)) continue;
    ga_patch p = range_of(a, b);
    if (p.rows == 0) continue;
    int64_t ld[2] = {p.rows, 0};
    NGA_Access_block64(a->handle, b, &p.at, ld);
    p.ld = a->ndim == 2 ? ld[0] : p.rows;
    OSLA_CALL(check_inside(a, &p));
    a->patches[a->n_patches++] = p;
  }
  return OSLA_OK;
}

static osla_err find_part(ga_array *a, int me)
{
  a->patches = calloc(1, sizeof *a->patches);
  OSLA_CHECK(a->patches, OSLA_ERR_MEM, "a list of one block");
  ga_patch p = range_of(a, me);
  if (p.rows == 0) return OSLA_OK;
  int64_t low[2] = {p.j, p.i}, high[2] = {p.j + p.cols - 1, p.i + p.rows - 1}, ld[2] = {p.rows, 0};
  int from = 2 - a->ndim;
  NGA_Access64(a->handle, low + from, high + from, &p.at, ld);
  p.ld = a->ndim == 2 ? ld[0] : p.rows;
  a->patches[a->n_patches++] = p;
  return OSLA_OK;
}

static osla_err look(ga_array *a, int ranks, int me)
{
  int64_t blocks = GA_Total_blocks(a->handle), block_rows = 1;
  a->prow = a->pcol = -1;
  if (blocks < 0) {
    OSLA_CALL(lay_out_parts(a, ranks, me));
    OSLA_CALL(find_part(a, me));
  } else {
    block_rows = count_block_rows(a, blocks);
    if (GA_Uses_proc_grid(a->handle)) lay_out_grid(a, ranks, me);
    OSLA_CALL(find_blocks(a, block_rows, blocks, ranks, me));
  }
  return OSLA_OK;
}

osla_err osli_ga_array_open(osla_transport *t, ga_array *a)
{
  OSLA_CALL(osla_agree(t, look(a, osla_transport_size(t), osla_transport_rank(t))));
  int64_t found = 0;
  for (int64_t k = 0; k < a->n_patches; k++)
    found += a->patches[k].rows * a->patches[k].cols;
  OSLA_CALL(osla_allreduce(t, &found, 1, MPI_INT64_T, MPI_SUM));
  OSLA_CHECK(found == a->m * a->n, OSLA_ERR_UNSUPPORTED,
             "array \"%s\": of %" PRId64 " elements %" PRId64 " are found on the processes",
             GA_Inquire_name(a->handle), a->m * a->n, found);
  return OSLA_OK;
}

void osli_ga_array_close(ga_array *a)
{
  free(a->patches);
  *a = (ga_array){0};
}
