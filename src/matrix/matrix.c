/* Creation of distributed matrices, views of parts, and queries. */
#include "osla_index.h"
#include "osla_matrix.h"
#include "src/device/device.h"
#include "src/matrix/part_view.h"
#include "src/matrix/stored.h"
#include "src/matrix/triangle.h"
#include "src/memory/segment.h"
#include "src/transport/live_objects.h"

#include <inttypes.h>
#include <stdlib.h>

struct osla_matrix {
  osla_grid *grid;
  osla_dtype dtype;
  osla_layout layout;
  bool is_triangle; /* true if the lower triangle is stored by blocks (triangle.h) */
  int64_t local_rows, local_cols;
  int64_t lld;          /* leading dimension of this rank's local array; unused for a triangle */
  int64_t *lld_of_prow; /* [nprow] leading dimensions on other ranks, by process row */
  /* [ranks] leading dimensions that the callers gave to osla_matrix_wrap; otherwise NULL */
  int64_t *lld_of_rank;
  osla_segment *segment; /* segment with the elements; NULL if only their owner can access them */
  bool borrows_segment;
  void *local;
  const osla_matrix *whole; /* matrix of which this matrix is a view; NULL if it is no view */
  osla_grid *shifted;       /* the view's own grid, which the view owns; NULL if this is no view */
  /* [ranks] bytes from the start of each local array of `whole` to the start of the view's local
   * array; NULL if this is no view */
  size_t *start;
};

static int64_t at_least_one(int64_t value)
{
  return value > 1 ? value : 1;
}

/* Leading dimension of a local array. If columns were a multiple of 2 KiB apart, the elements of a
 * row would share a few sets of a cache and evict one another during row exchanges and tile
 * multiplications. In that case a column is one cache line longer. (LU of order 4096 on 2 ranks:
 * 1.07 times as fast.) */
static int64_t padded_lld(int64_t rows, osla_dtype dtype)
{
  enum { LINE = 64, SHARED = 2048, FROM = 2 * SHARED };
  int64_t element = (int64_t)osla_dtype_size(dtype);
  bool shared = rows >= FROM / element && rows % (SHARED / element) == 0;
  return shared ? rows + LINE / element : at_least_one(rows);
}

/* Bytes of a local array. If the product overflows, the result is SIZE_MAX, which every memory
 * check refuses. */
static size_t array_bytes(int64_t rows, int64_t cols, osla_dtype dtype)
{
  size_t bytes;
  if (__builtin_mul_overflow((size_t)rows, (size_t)cols, &bytes) ||
      __builtin_mul_overflow(bytes, osla_dtype_size(dtype), &bytes))
    return SIZE_MAX;
  return bytes;
}

uint64_t osla_matrix_bytes(const osla_layout *l, osla_dtype dtype)
{
  int64_t rows = osla_index_count(l->m, l->mb, 0, l->nprow);
  int64_t cols = osla_index_count(l->n, l->nb, 0, l->npcol);
  return array_bytes(padded_lld(rows, dtype), cols, dtype);
}

/* The share of a rank of a triangular matrix. */
static triangle_share share_of(const osla_matrix *a, int rank)
{
  const osla_layout *l = &a->layout;
  return triangle_share_of(l->n, l->nb, l->nprow, l->npcol, osla_grid_prow_of(a->grid, rank),
                           osla_grid_pcol_of(a->grid, rank));
}

/* Bytes of this rank's local array, as osla_matrix_create_triangle and the other calls that create
 * matrices allocate it; SIZE_MAX, which every memory check refuses, if they exceed any memory. */
static size_t local_bytes(const osla_matrix *a)
{
  if (!a->is_triangle) return array_bytes(a->lld, a->local_cols, a->dtype);
  const triangle_share s = share_of(a, osla_transport_rank(osla_grid_transport(a->grid)));
  return triangle_bytes(&s, osla_dtype_size(a->dtype));
}

static osla_err check_sizes(const osla_layout *l)
{
  OSLA_CHECK(l->m >= 0 && l->n >= 0, OSLA_ERR_ARG, "matrix of %" PRId64 " x %" PRId64 " elements",
             l->m, l->n);
  OSLA_CHECK(l->mb >= 1 && l->nb >= 1, OSLA_ERR_ARG,
             "block of %" PRId64 " x %" PRId64 ": both sides must be at least 1", l->mb, l->nb);
  return OSLA_OK;
}

/* Allocates the object and sets everything except the elements' memory. */
static osla_err new_matrix(osla_grid *grid, osla_dtype dtype, const osla_layout *layout,
                           osla_matrix **out)
{
  OSLA_CALL(check_sizes(layout));
  OSLA_CHECK(dtype >= OSLA_FLOAT && dtype <= OSLA_COMPLEX_DOUBLE, OSLA_ERR_ARG,
             "element type %d is not known", (int)dtype);
  osla_matrix *a = calloc(1, sizeof *a);
  OSLA_CHECK(a, OSLA_ERR_MEM, "matrix object");
  *out = a;
  a->grid = grid;
  a->dtype = dtype;
  a->layout = *layout;
  a->local_rows = osla_index_count(layout->m, layout->mb, osla_grid_prow(grid), layout->nprow);
  a->local_cols = osla_index_count(layout->n, layout->nb, osla_grid_pcol(grid), layout->npcol);
  a->lld_of_prow = calloc((size_t)layout->nprow, sizeof *a->lld_of_prow);
  OSLA_CHECK(a->lld_of_prow, OSLA_ERR_MEM, "matrix tables of %d process rows", layout->nprow);
  for (int prow = 0; prow < layout->nprow; prow++)
    a->lld_of_prow[prow] =
      at_least_one(osla_index_count(layout->m, layout->mb, prow, layout->nprow));
  a->lld = at_least_one(a->local_rows);
  return OSLA_OK;
}

static osla_layout make_layout(osla_grid *grid, int64_t m, int64_t n, int64_t mb, int64_t nb)
{
  return (osla_layout){m, n, mb, nb, osla_grid_nprow(grid), osla_grid_npcol(grid)};
}

/* Checks that all ranks make the same matrix. Collective. */
static osla_err agree(osla_grid *grid, osla_err local, const char *call, osla_dtype dtype,
                      const osla_layout *l, bool is_triangle)
{
  const osla_argument arguments[] = {{"rows of the grid", l->nprow},
                                     {"columns of the grid", l->npcol},
                                     {"dtype", (int)dtype},
                                     {"m", l->m},
                                     {"n", l->n},
                                     {"mb", l->mb},
                                     {"nb", l->nb},
                                     {"triangle", is_triangle}};
  return osla_agree_same(osla_grid_transport(grid), local, call, arguments,
                         sizeof arguments / sizeof *arguments);
}

/* Sets the leading dimensions of a full matrix whose memory OSLA allocates. */
static void pad_columns(osla_matrix *a)
{
  const osla_layout *l = &a->layout;
  for (int prow = 0; prow < l->nprow; prow++)
    a->lld_of_prow[prow] = padded_lld(osla_index_count(l->m, l->mb, prow, l->nprow), a->dtype);
  a->lld = padded_lld(a->local_rows, a->dtype);
}

/* Makes a zero matrix on a device, or in host memory if `device` is NULL. The matrix is a triangle
 * if is_triangle is true. `call` is the name of the public call for error texts. */
static osla_err create(osla_device *device, osla_grid *grid, const char *call, osla_dtype dtype,
                       const osla_layout *l, bool is_triangle, osla_matrix **out)
{
  osla_transport *t = osla_grid_transport(grid);
  osla_matrix *a = NULL;
  *out = NULL;
  osla_err err = new_matrix(grid, dtype, l, &a);
  if (err == OSLA_OK && device && osli_device_transport(device) != t)
    err = osla_error_set(OSLA_ERR_ARG, "%s: grid and device belong to different transports", call);
  err = agree(grid, err, call, dtype, l, is_triangle);
  if (err == OSLA_OK) {
    if (!is_triangle) pad_columns(a);
    a->is_triangle = is_triangle;
    const size_t bytes = local_bytes(a);
    err = device ? osla_segment_create_on(device, bytes, 0, &a->segment)
                 : osla_segment_create(t, bytes, 0, &a->segment);
  }
  if (err != OSLA_OK) {
    osla_matrix_destroy(&a);
    return err;
  }
  a->local = osla_segment_local(a->segment);
  *out = a;
  return OSLA_OK;
}

osla_err osla_matrix_create(osla_grid *grid, osla_dtype dtype, int64_t m, int64_t n, int64_t mb,
                            int64_t nb, osla_matrix **out)
{
  OSLA_MAKES("osla_matrix_create", "osla_matrix_destroy");
  osla_layout layout = make_layout(grid, m, n, mb, nb);
  return create(NULL, grid, "osla_matrix_create", dtype, &layout, false, out);
}

osla_err osla_matrix_create_triangle(osla_grid *grid, osla_dtype dtype, int64_t n, int64_t nb,
                                     osla_matrix **out)
{
  OSLA_MAKES("osla_matrix_create_triangle", "osla_matrix_destroy");
  osla_layout layout = make_layout(grid, n, n, nb, nb);
  return create(NULL, grid, "osla_matrix_create_triangle", dtype, &layout, true, out);
}

osla_err osla_matrix_create_on(osla_device *device, osla_grid *grid, osla_dtype dtype, int64_t m,
                               int64_t n, int64_t mb, int64_t nb, osla_matrix **out)
{
  OSLA_MAKES("osla_matrix_create_on", "osla_matrix_destroy");
  osla_layout layout = make_layout(grid, m, n, mb, nb);
  return create(device, grid, "osla_matrix_create_on", dtype, &layout, false, out);
}

static osla_err check_local_array(const osla_matrix *a, const void *local, int64_t lld)
{
  OSLA_REFUSES_DEVICE("osla_matrix_wrap, osla_matrix_wrap_own", local);
  OSLA_CHECK(lld >= at_least_one(a->local_rows), OSLA_ERR_ARG,
             "lld = %" PRId64 " is below the %" PRId64 " local rows", lld, a->local_rows);
  OSLA_CHECK(local || a->local_rows == 0 || a->local_cols == 0, OSLA_ERR_ARG,
             "local array is NULL, but %" PRId64 " x %" PRId64 " elements are owned here",
             a->local_rows, a->local_cols);
  return OSLA_OK;
}

osla_err osla_matrix_wrap(osla_grid *grid, osla_dtype dtype, int64_t m, int64_t n, int64_t mb,
                          int64_t nb, void *local, int64_t lld, osla_matrix **out)
{
  OSLA_MAKES("osla_matrix_wrap", "osla_matrix_destroy");
  osla_transport *t = osla_grid_transport(grid);
  osla_layout layout = make_layout(grid, m, n, mb, nb);
  osla_matrix *a = NULL;
  *out = NULL;
  osla_err err = new_matrix(grid, dtype, &layout, &a);
  if (err == OSLA_OK) err = check_local_array(a, local, lld);
  if (err == OSLA_OK) {
    a->lld_of_rank = calloc((size_t)osla_transport_size(t), sizeof *a->lld_of_rank);
    if (!a->lld_of_rank)
      err = osla_error_set(OSLA_ERR_MEM, "matrix tables of %d ranks", osla_transport_size(t));
  }
  OSLA_TRY(agree(grid, err, "osla_matrix_wrap", dtype, &layout, false));
  a->lld = lld;
  a->lld_of_rank[osla_transport_rank(t)] = lld;
  OSLA_TRY(osla_allreduce(t, a->lld_of_rank, osla_transport_size(t), MPI_INT64_T, MPI_SUM));
  int64_t elements = a->local_rows > 0 ? lld * (a->local_cols - 1) + a->local_rows : 0;
  if (a->local_cols == 0) elements = 0;
  OSLA_TRY(osla_segment_attach(t, local, (size_t)elements * osla_dtype_size(dtype), &a->segment));
  a->local = local;
  *out = a;
  return OSLA_OK;
cleanup:
  osla_matrix_destroy(&a);
  return err;
}

osla_err osla_matrix_create_in(osla_segment *segment, osla_grid *grid, osla_dtype dtype, int64_t m,
                               int64_t n, int64_t mb, int64_t nb, osla_matrix **out)
{
  osla_layout layout = make_layout(grid, m, n, mb, nb);
  osla_matrix *a = NULL;
  *out = NULL;
  osla_err err;
  OSLA_TRY(new_matrix(grid, dtype, &layout, &a));
  a->segment = segment;
  a->borrows_segment = true;
  a->local = osla_segment_local(segment);
  size_t bytes = array_bytes(a->lld, a->local_cols, dtype);
  if (bytes > osla_segment_bytes(segment))
    OSLA_TRY(osla_error_set(OSLA_ERR_ARG, "local array of %zu bytes in a segment of %zu", bytes,
                            osla_segment_bytes(segment)));
  *out = a;
  return OSLA_OK;
cleanup:
  osla_matrix_destroy(&a);
  return err;
}

osla_err osla_matrix_wrap_own(osla_grid *grid, osla_dtype dtype, int64_t m, int64_t n, int64_t mb,
                              int64_t nb, void *local, int64_t lld, osla_matrix **out)
{
  osla_layout layout = make_layout(grid, m, n, mb, nb);
  osla_matrix *a = NULL;
  *out = NULL;
  osla_err err;
  OSLA_TRY(new_matrix(grid, dtype, &layout, &a));
  OSLA_TRY(check_local_array(a, local, lld));
  a->lld = lld;
  a->local = local;
  *out = a;
  return OSLA_OK;
cleanup:
  osla_matrix_destroy(&a);
  return err;
}

/* ---- views of parts ---- */

/* True if the indices [first, first + count) have a block-cyclic distribution of their own: they
 * begin with a block, or lie on one process. */
static bool is_axis(int64_t first, int64_t count, int64_t block, int procs)
{
  return procs == 1 || first % block == 0 || count <= block - first % block;
}

bool osli_part_has_view(const osla_part *part)
{
  const osla_layout *l = &part->matrix->layout;
  if (part->matrix->is_triangle) return false;
  return is_axis(part->i, part->m, l->mb, l->nprow) && is_axis(part->j, part->n, l->nb, l->npcol);
}

/* Bytes from the start of the local array of process (prow, pcol) to its first element of the part;
 * 0 if it has none. */
static size_t part_start_bytes(const osla_part *part, int prow, int pcol)
{
  const osla_matrix *a = part->matrix;
  const osla_layout *l = &a->layout;
  int64_t row = osla_index_count(part->i, l->mb, prow, l->nprow);
  int64_t col = osla_index_count(part->j, l->nb, pcol, l->npcol);
  if (osla_index_count(part->i + part->m, l->mb, prow, l->nprow) == row ||
      osla_index_count(part->j + part->n, l->nb, pcol, l->npcol) == col)
    return 0;
  int64_t lld = osla_matrix_lld(a, osla_grid_rank_at(a->grid, prow, pcol));
  return (size_t)(row + col * lld) * osla_dtype_size(a->dtype);
}

osla_err osli_part_view(const osla_part *part, osla_matrix **out)
{
  const osla_matrix *whole = part->matrix;
  const osla_layout *l = &whole->layout;
  osla_transport *t = osla_grid_transport(whole->grid);
  osla_layout layout = {part->m, part->n, l->mb, l->nb, l->nprow, l->npcol};
  osla_matrix *a = NULL;
  osla_grid *grid = NULL;
  osla_err err;
  *out = NULL;
  OSLA_TRY(osla_grid_shift(whole->grid, osla_index_owner(part->i, l->mb, l->nprow),
                           osla_index_owner(part->j, l->nb, l->npcol), &grid));
  OSLA_TRY(new_matrix(grid, whole->dtype, &layout, &a));
  a->start = calloc((size_t)osla_transport_size(t), sizeof *a->start);
  if (!a->start)
    OSLA_TRY(osla_error_set(OSLA_ERR_MEM, "tables of a part for %d ranks", osla_transport_size(t)));
  for (int prow = 0; prow < l->nprow; prow++)
    for (int pcol = 0; pcol < l->npcol; pcol++)
      a->start[osla_grid_rank_at(whole->grid, prow, pcol)] = part_start_bytes(part, prow, pcol);
  a->whole = whole;
  a->shifted = grid;
  grid = NULL;
  a->segment = whole->segment;
  a->borrows_segment = true;
  size_t mine = a->start[osla_transport_rank(t)];
  a->local = mine > 0 ? (unsigned char *)whole->local + mine : whole->local;
  *out = a;
  a = NULL;
cleanup:
  osla_matrix_destroy(&a);
  osla_grid_destroy(&grid);
  return err;
}

size_t osli_matrix_start(const osla_matrix *a, int rank)
{
  return a->whole ? osli_matrix_start(a->whole, rank) + a->start[rank] : 0;
}

void osla_matrix_destroy(osla_matrix **matrix)
{
  osla_matrix *a = matrix ? *matrix : NULL;
  if (!a) return;
  if (!a->borrows_segment) osla_segment_destroy(&a->segment);
  osla_grid_destroy(&a->shifted);
  free(a->start);
  free(a->lld_of_prow);
  free(a->lld_of_rank);
  free(a);
  *matrix = NULL;
}

osla_layout osla_matrix_layout(const osla_matrix *a)
{
  return a->layout;
}
osla_grid *osla_matrix_grid(const osla_matrix *a)
{
  return a->grid;
}
osla_dtype osla_matrix_dtype(const osla_matrix *a)
{
  return a->dtype;
}
osla_segment *osla_matrix_segment(const osla_matrix *a)
{
  return a->segment;
}
osla_device *osla_matrix_device(const osla_matrix *a)
{
  return a->segment ? osla_segment_device(a->segment) : NULL;
}
void *osla_matrix_local(const osla_matrix *a)
{
  return a->local;
}
int64_t osla_matrix_local_rows(const osla_matrix *a)
{
  return a->local_rows;
}
int64_t osla_matrix_local_cols(const osla_matrix *a)
{
  return a->local_cols;
}
bool osla_matrix_is_triangle(const osla_matrix *a)
{
  return a->is_triangle;
}
int64_t osla_matrix_lld(const osla_matrix *a, int rank)
{
  if (a->is_triangle) return 0;
  if (a->whole) return osla_matrix_lld(a->whole, rank);
  if (a->lld_of_rank) return a->lld_of_rank[rank];
  if (rank == osla_transport_rank(osla_grid_transport(a->grid))) return a->lld;
  int prow = osla_grid_prow_of(a->grid, rank);
  return prow < 0 ? 1 : a->lld_of_prow[prow];
}

void *osla_matrix_peer(const osla_matrix *a, int rank)
{
  if (a->whole) {
    unsigned char *peer = osla_matrix_peer(a->whole, rank);
    return peer ? peer + a->start[rank] : NULL;
  }
  if (!a->segment)
    return rank == osla_transport_rank(osla_grid_transport(a->grid)) ? a->local : NULL;
  return osla_segment_peer(a->segment, rank);
}

/* ---- positions of elements in local arrays ---- */

stored_columns osli_stored_columns(const osla_matrix *a, int rank, int64_t col)
{
  const osla_layout *l = &a->layout;
  if (!a->is_triangle)
    return (stored_columns){
      .count = osla_index_count(l->n, l->nb, osla_grid_pcol_of(a->grid, rank), l->npcol),
      .ld = osla_matrix_lld(a, rank)};
  const triangle_share s = share_of(a, rank);
  const triangle_column c = triangle_column_at(&s, col / s.nb);
  const int64_t first = col - col % s.nb;
  return (stored_columns){.first = first,
                          .count = s.nb < s.cols - first ? s.nb : s.cols - first,
                          .ld = c.height,
                          .offset = c.offset - c.first,
                          .first_row = c.first};
}

unsigned char *osli_stored_at(void *base, const stored_columns *s, int64_t row, int64_t col,
                              size_t element)
{
  return (unsigned char *)base + stored_index(s, row, col) * (int64_t)element;
}
