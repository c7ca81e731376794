/* Triangular solves and solves with factors, for parts of matrices. */
#include "kernels/common/local_view.h"
#include "kernels/common/part_operand.h"
#include "osla_solve.h"
#include "src/base/double_bits.h"
#include "src/matrix/memory_kind.h"
#include "src/matrix/part_checks.h"
#include "src/matrix/part_local.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct operands {
  part_operand a, b;
} operands;

/* Arguments of a call: name of the routine in messages, name of the public function, enumerations,
 * and factor alpha. Arguments that the routine does not have are 0. */
typedef struct request {
  const char *name, *call;
  osla_side side;
  osla_uplo uplo;
  osla_trans trans;
  osla_diag diag;
  osla_complex alpha;
  bool full; /* true if the routine refuses triangular matrices */
} request;

static osla_err check(const request *r, const osla_part *a, const osla_part *b)
{
  const char *call = r->name;
  if (r->full) OSLA_NEEDS_FULL(call, a->matrix, b->matrix);
  OSLA_CALL(osli_part_check_stored(call, a, "A"));
  OSLA_CALL(osli_part_check_rectangle(call, b, "B",
                                      "copy it to a full matrix first (osla_matrix_copy_part)"));
  OSLA_CHECK(osla_grid_transport(osla_matrix_grid(a->matrix)) ==
               osla_grid_transport(osla_matrix_grid(b->matrix)),
             OSLA_ERR_ARG, "%s: A and B belong to different transports", call);
  OSLA_CHECK(!osli_parts_overlap(a, b), OSLA_ERR_ARG, "%s: B overlaps A", call);
  return OSLA_OK;
}

static osla_err agree(request r, const osla_part *a, const osla_part *b)
{
  const osla_dtype dtype = osla_matrix_dtype(b->matrix);
  if (dtype == OSLA_FLOAT || dtype == OSLA_DOUBLE) r.alpha = creal(r.alpha);
  const osla_argument same[] = {{"side", (int)r.side},
                                {"uplo", (int)r.uplo},
                                {"trans", (int)r.trans},
                                {"diag", (int)r.diag},
                                OSLA_FACTOR_ARGUMENTS("alpha", r.alpha),
                                OSLA_PART_ARGUMENTS("a", *a),
                                OSLA_PART_ARGUMENTS("b", *b)};
  return osla_agree_same(osla_grid_transport(osla_matrix_grid(b->matrix)), check(&r, a, b), r.call,
                         same, (int)(sizeof same / sizeof *same));
}

/* Opens A and B for a solve. If B must be copied, the copy gets a distribution in which the solve
 * works on it in place. */
static osla_err open_operands(const request *r, const osla_part *a, const osla_part *b, operands *x)
{
  OSLA_CALL(agree(*r, a, b));
  OSLA_CALL(osli_part_open(a, NULL, &x->a));
  osla_err err = osli_part_open(b, r->side == OSLA_LEFT ? x->a.at : NULL, &x->b);
  return err == OSLA_OK ? err : osli_part_close(&x->a, false, err);
}

static osla_err close_operands(operands *x, osla_err err)
{
  err = osli_part_close(&x->b, true, err);
  return osli_part_close(&x->a, false, err);
}

osla_err osla_trsm_part(osla_side side, osla_uplo uplo, osla_trans trans, osla_diag diag,
                        osla_complex alpha, osla_part a, osla_part b)
{
  const request r = {.name = "trsm",
                     .call = "osla_trsm_part",
                     .side = side,
                     .uplo = uplo,
                     .trans = trans,
                     .diag = diag,
                     .alpha = alpha};
  operands x;
  OSLA_CALL(open_operands(&r, &a, &b, &x));
  return close_operands(&x, osla_trsm(side, uplo, trans, diag, alpha, x.a.at, x.b.at));
}

osla_err osla_potrs_part(osla_uplo uplo, osla_part a, osla_part b)
{
  const request r = {.name = "potrs", .call = "osla_potrs_part", .side = OSLA_LEFT, .uplo = uplo};
  operands x;
  OSLA_CALL(open_operands(&r, &a, &b, &x));
  return close_operands(&x, osla_potrs(uplo, x.a.at, x.b.at));
}

/* ---- LU ---- */

/* Checks that either all ranks with rows of A pass ipiv, or none of them does. *given: true if ipiv
 * is passed. Collective. */
static osla_err agree_given(const osla_part *a, const int64_t *ipiv, bool *given)
{
  osla_transport *t = osla_grid_transport(osla_matrix_grid(a->matrix));
  const bool rows = osli_part_rows_below(a, 0) < osli_part_rows_below(a, a->m);
  int counts[2] = {rows && ipiv, rows && !ipiv};
  OSLA_CALL(osla_allreduce(t, counts, 2, MPI_INT, MPI_SUM));
  OSLA_CHECK(counts[0] == 0 || counts[1] == 0, OSLA_ERR_ARG,
             "getrs: ipiv is NULL on %d of %d ranks with rows of A", counts[1],
             counts[0] + counts[1]);
  *given = counts[0] > 0;
  return OSLA_OK;
}

/* Converts ipiv, which refers to rows of the whole matrix, to pivots of the matrix a->at. Each rank
 * converts the pivots of its rows. Collective. */
static osla_err own_pivots(const part_operand *a, const int64_t *ipiv, int64_t **out)
{
  osla_transport *t = osla_grid_transport(osla_matrix_grid(a->at));
  const osla_part all = osla_whole(a->at);
  const int64_t n = a->part.m;
  int64_t *numbers = malloc((size_t)n * sizeof *numbers + 1);
  int64_t *pivots = malloc((size_t)osla_matrix_local_rows(a->at) * sizeof *pivots + 1);
  osla_err err = OSLA_OK;
  if (!pivots || !numbers) err = osla_error_set(OSLA_ERR_MEM, "%" PRId64 " pivots", n);
  OSLA_TRY(osla_agree(t, err));
  OSLA_TRY(osli_part_numbers_gather(&a->part, n, ipiv, numbers));
  for (int64_t i = 0; i < n; i++) {
    if (numbers[i] <= a->part.i || numbers[i] > a->part.i + n)
      OSLA_TRY(osla_error_set(OSLA_ERR_ARG,
                              "getrs: pivot %" PRId64 " of row %" PRId64 " is not in %" PRId64
                              " to %" PRId64,
                              numbers[i], a->part.i + i, a->part.i + 1, a->part.i + n));
    numbers[i] -= a->part.i;
  }
  osli_part_numbers_scatter(&all, n, numbers, pivots);
  *out = pivots;
  pivots = NULL;
cleanup:
  free(numbers);
  free(pivots);
  return err;
}

osla_err osla_getrs_part(osla_trans trans, osla_part a, const int64_t *ipiv, osla_part b)
{
  const request r = {
    .name = "getrs", .call = "osla_getrs_part", .side = OSLA_LEFT, .trans = trans, .full = true};
  operands x;
  int64_t *pivots = NULL;
  bool given = false;
  osla_err err;
  OSLA_CALL(open_operands(&r, &a, &b, &x));
  OSLA_TRY(agree_given(&a, ipiv, &given));
  if (given) OSLA_TRY(own_pivots(&x.a, ipiv, &pivots));
  err = osla_getrs(trans, x.a.at, pivots, x.b.at);
cleanup:
  free(pivots);
  return close_operands(&x, err);
}
