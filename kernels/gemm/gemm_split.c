/* Products whose C is so small, or distributed so unevenly, that few ranks own a part of it (inner
 * products, Gram matrices of tall matrices). The ranks share k instead: each multiplies its range
 * of k into a private C, and C is the sum of all private arrays. Memory per rank: m x n elements.
 *
 * Each owner of a part of C first copies this part into its private array. So the sum includes beta
 * C, and nothing but copies is needed before and after the products. */
#include "kernels/gemm/gemm.h"
#include "osla_device.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* k is split if it is at least LEAST_K and the private C takes at most MOST_BYTES (with a split k,
 * a product with m x n x k = 128 x 128 x 8192 on a 1 x 2 grid took 0.52 of the time). Smaller k
 * were not measured. */
enum { LEAST_K = 8192, MOST_BYTES = 8 << 20 };

bool osli_gemm_is_split(const osla_part *a, const osla_part *b, const osla_part *c, int64_t k,
                        const osla_gemm_options *options)
{
  if (!osla_matrix_segment(a->matrix) || !osla_matrix_segment(b->matrix)) return false;
  /* k is not split if C lies on a device, because all partial sums of C would pass through host
   * memory */
  if (osla_matrix_device(c->matrix)) return false;
  osla_layout l = osla_matrix_layout(c->matrix);
  osla_grid *grid = osla_matrix_grid(c->matrix);
  double elements = (double)c->m * (double)c->n;
  double bytes = elements * (double)osla_dtype_size(osla_matrix_dtype(c->matrix));
  const gemm_axis rows = {.n = c->m, .first = c->i, .nb = l.mb, .nprocs = l.nprow};
  const gemm_axis cols = {.n = c->n, .first = c->j, .nb = l.nb, .nprocs = l.npcol};
  double busiest = (double)axis_largest(&rows) * (double)axis_largest(&cols);
  double fair = elements / osla_transport_size(osla_grid_transport(grid));
  double most = options && options->memory > 0 ? (double)options->memory : MOST_BYTES;
  return k >= LEAST_K && bytes <= most && bytes <= MOST_BYTES && busiest > 1.5 * fair;
}

typedef enum direction { TO_PRIVATE, FROM_PRIVATE } direction;

/* Copies this rank's part of C (of its triangle) to or from the private array. */
static void copy_result(const gemm_work *w, const gemm_target *mine, direction way)
{
  const gemm_axis *rows = &mine->rows_of;
  for (int64_t c = 0; c < mine->cols; c++) {
    int64_t j =
      osla_index_global(mine->col + c, mine->cols_of.nb, mine->pcol, mine->cols_of.nprocs) -
      mine->cols_of.first;
    for (int64_t r = 0, run; r < mine->rows; r += run) {
      int64_t i =
        osla_index_global(mine->row + r, rows->nb, mine->prow, rows->nprocs) - rows->first;
      run = axis_run(rows, i);
      int64_t from = 0, to = run;
      if (w->triangle == OSLA_LOWER && j > i) from = j - i;
      if (w->triangle == OSLA_UPPER && j + 1 - i < run) to = j + 1 - i;
      if (from >= to) continue;
      unsigned char *here = mine->at + (size_t)(r + from + c * mine->ld) * w->element;
      unsigned char *there = w->c.at + (size_t)(i + from + j * w->c.ld) * w->element;
      memcpy(way == TO_PRIVATE ? there : here, way == TO_PRIVATE ? here : there,
             (size_t)(to - from) * w->element);
    }
  }
}

static osla_err sum_results(const gemm_work *w)
{
  bool single = w->dtype == OSLA_FLOAT || w->dtype == OSLA_COMPLEX_FLOAT;
  int64_t parts = w->dtype == OSLA_FLOAT || w->dtype == OSLA_DOUBLE ? 1 : 2;
  return osla_allreduce(w->t, w->c.at, w->c.rows * w->c.cols * parts,
                        single ? MPI_FLOAT : MPI_DOUBLE, MPI_SUM);
}

void osli_gemm_split_assign(gemm_work *w, const osla_part *c)
{
  gemm_range(w->k_to, osla_transport_rank(w->t), osla_transport_size(w->t), &w->k_from, &w->k_to);
  w->c = (gemm_target){.prows = {.n = 1},
                       .pcols = {.n = 1},
                       .rows_of = {.n = c->m, .nb = c->m, .nprocs = 1},
                       .cols_of = {.n = c->n, .nb = c->n, .nprocs = 1},
                       .rows = c->m,
                       .cols = c->n,
                       .ld = c->m};
}

osla_err osli_gemm_split_allocate(gemm_work *w)
{
  w->c.at = w->private = calloc((size_t)(w->c.rows * w->c.cols), w->element);
  OSLA_CHECK(w->private, OSLA_ERR_MEM, "%s: private C of %" PRId64 " x %" PRId64, w->call,
             w->c.rows, w->c.cols);
  return OSLA_OK;
}

osla_err osli_gemm_split_run(gemm_work *w, osla_complex alpha, osla_complex beta,
                             const osla_part *c)
{
  gemm_target mine = osli_gemm_target_of(c);
  if (beta != 0) copy_result(w, &mine, TO_PRIVATE);
  /* this call is also a barrier: after it no rank reads A or B */
  OSLA_CALL(osla_agree(w->t, osli_gemm_run(w, alpha, beta)));
  OSLA_CALL(sum_results(w));
  copy_result(w, &mine, FROM_PRIVATE);
  return osla_barrier(w->t); /* after this barrier C is complete on all ranks */
}
