/* Factorisations and solves for ScaLAPACK programs.
 *
 * sub(A) and sub(B) are copied to memory that all ranks can access, processed there, and copied
 * back (for Cholesky only the triangle). Data that no other rank needs are processed in place.
 * After a failure before the caller's arrays have changed, the real routine runs; a later failure
 * ends the program. The contracts are those of ScaLAPACK's routines, with one addition: sub(B) is
 * unchanged if the factorisation of p?gesv or p?posv reports INFO > 0.
 */
#include "scalapack_adapt/lapack.h"

#include "osla_chol.h"
#include "osla_clock.h"
#include "osla_index.h"
#include "osla_lu.h"
#include "osla_solve.h"

#include <math.h>
#include <stdlib.h>

enum { A, B, DESC_TYPE = 0, DESC_CONTEXT = 1, DESC_M = 2, DESC_NB = 5 };

typedef struct problem {
  bool factors, solves, cholesky;
  osla_uplo uplo;
  osla_trans trans;
  int64_t m, n, nrhs;
  adapt_sub subs[2], wide; /* wide: sub(A) with the larger blocks that the kernels use */
  adapt_staged a, b;
  int64_t *pivots; /* pivots of the local rows of `a`, as row numbers in sub(A) from 1 */
  /* all pivots while they are redistributed to the caller's block size; NULL if no redistribution
   * is needed */
  int64_t *redistributed;
  int64_t info;
  /* true if the caller's data have changed, so that the real routine cannot take over */
  bool has_changed;
} problem;

/* Converts the arguments. False for invalid letters. */
static bool read(const adapt_call *call, const lapack_args *x, problem *p)
{
  p->factors = call->routine != ADAPT_GETRS && call->routine != ADAPT_POTRS;
  p->solves = x->nrhs != NULL;
  p->cholesky = x->uplo != NULL;
  p->trans = OSLA_NOTRANS;
  p->n = *x->n;
  p->m = x->m ? *x->m : p->n;
  p->nrhs = p->solves ? *x->nrhs : 0;
  p->subs[A] = adapt_sub_at(x->a, x->ia, x->ja, x->desca, p->m, p->n);
  if (p->solves) p->subs[B] = adapt_sub_at(x->b, x->ib, x->jb, x->descb, p->n, p->nrhs);
  return (!x->uplo || adapt_uplo_of(x->uplo, &p->uplo)) &&
         (!x->trans || adapt_trans_of(x->trans, &p->trans));
}

/* Number of operations of the factorisation and the solves. */
static double flops_of(const problem *p)
{
  double m = (double)p->m, n = (double)p->n, k = m < n ? m : n, flops = 0;
  if (p->factors) flops = 2 * (m * n * k - (m + n) * k * k / 2 + k * k * k / 3);
  if (p->cholesky) flops /= 2;
  return flops + 2 * n * n * (double)p->nrhs;
}

/* True for descriptors that these routines accept. The real routines do nothing for an array of
 * one row. */
static adapt_reason judge_descriptors(const lapack_args *x)
{
  if (x->desca[DESC_TYPE] != 1 || (x->nrhs && x->descb[DESC_TYPE] != 1)) return ADAPT_DESCRIPTOR;
  return x->desca[DESC_M] == 1 ? ADAPT_EMPTY : ADAPT_OFFLOADED;
}

static bool is_aligned(const problem *p)
{
  const adapt_sub *a = &p->subs[A], *b = &p->subs[B];
  if (a->mb != a->nb || a->row != 0 || a->col != 0) return false;
  return !p->solves || (b->mb == a->nb && b->row == 0 && b->prow == a->prow);
}

/* With 2 processes LU gains from order 96 on, Cholesky from order 128 on if there are at least
 * three blocks, and solves from order 96 on (see is_worth_it). */
static double least_flops(const adapt_call *call, const problem *p, const lapack_args *x)
{
  enum { LEAST_ORDER = 64, BLOCKS = 3 };
  double small = HUGE_VAL;
  if (!p->factors)
    small = 1.7e6;
  else if (p->solves || p->m < LEAST_ORDER || p->n < LEAST_ORDER)
    small = HUGE_VAL; /* HUGE_VAL: such calls were not measured, so they are never offloaded */
  else if (!p->cholesky)
    small = 5e5;
  else if (p->n >= (int64_t)BLOCKS * x->desca[DESC_NB])
    small = 6.5e5;
  return adapt_least_flops(call, small, !p->factors, p->subs, p->solves ? B : A);
}

/* A solve alone copies n^2 elements for 2 n^2 nrhs operations. It gains on one process row if
 * there are at least 64 right-hand sides and every process column has a block of right-hand sides;
 * otherwise it loses. */
static bool is_worth_it(const adapt_call *call, const lapack_args *x, const problem *p)
{
  enum { MANY = 64 };
  adapt_position at;
  if (p->factors || adapt_settings_get()->min_flops >= 0) return true;
  /* If the result is true, adapt_call_open is called next, and refuses the call with the right
   * reason. */
  if (!adapt_position_of(&call->caller, x->desca[DESC_CONTEXT], &at)) return true;
  return at.nprow == 1 && at.npcol > 1 && p->nrhs >= MANY &&
         p->nrhs > (int64_t)x->descb[DESC_NB] * (at.npcol - 1);
}

/* --- pivots: ScaLAPACK's are row numbers of A from 1, OSLA's are row numbers of sub(A) --- */

/* Number of this rank's rows, in blocks of mb rows, that have a pivot. */
static int64_t count_pivots(const problem *p, int64_t mb)
{
  const osla_grid *grid = p->subs[A].grid;
  int64_t order = p->m < p->n ? p->m : p->n;
  return osla_index_count(order, mb, osla_grid_prow(grid), osla_grid_nprow(grid));
}

static bool is_widened(const problem *p)
{
  return p->wide.nb != p->subs[A].nb;
}

static osla_err make_pivots(const adapt_call *call, problem *p)
{
  int64_t rows = osla_matrix_local_rows(p->a.matrix), callers = count_pivots(p, p->subs[A].mb);
  if (p->cholesky) return OSLA_OK;
  bool redistributes = is_widened(p) && p->a.buffer;
  p->pivots = calloc((size_t)(rows > callers ? rows : callers) + 1, sizeof *p->pivots);
  if (redistributes)
    p->redistributed = calloc((size_t)(p->m < p->n ? p->m : p->n), sizeof *p->redistributed);
  bool complete = p->pivots && (p->redistributed || !redistributes);
  return osla_agree(adapt_context_transport(call->context),
                    complete ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "pivots"));
}

static void read_pivots(problem *p, const int *ipiv)
{
  const adapt_sub *a = &p->subs[A];
  for (int64_t l = 0, count = count_pivots(p, a->mb); l < count; l++)
    p->pivots[l] = ipiv[a->local_row + l] - a->i;
}

/* Redistributes the pivots from the kernels' block size to the caller's block size. */
static osla_err redistribute_pivots(problem *p)
{
  osla_grid *grid = p->subs[A].grid;
  osla_transport *t = osla_grid_transport(grid);
  int64_t wide = p->wide.mb, mb = p->subs[A].mb, order = p->m < p->n ? p->m : p->n;
  int nprow = osla_grid_nprow(grid), prow = osla_grid_prow(grid);
  for (int64_t l = 0, count = count_pivots(p, wide); l < count; l++)
    p->redistributed[osla_index_global(l, wide, prow, nprow)] = p->pivots[l];
  OSLA_CALL(osla_allreduce(t, p->redistributed, order, MPI_INT64_T, MPI_MAX));
  for (int64_t l = 0, count = count_pivots(p, mb); l < count; l++)
    p->pivots[l] = p->redistributed[osla_index_global(l, mb, prow, nprow)];
  return OSLA_OK;
}

static void write_pivots(const problem *p, int *ipiv)
{
  const adapt_sub *a = &p->subs[A];
  for (int64_t l = 0, count = count_pivots(p, a->mb); l < count; l++)
    ipiv[a->local_row + l] = (int)(p->pivots[l] + a->i);
}

/* --- computation --- */

static adapt_shape shape_of(const problem *p)
{
  if (!p->cholesky) return ADAPT_WHOLE;
  return p->uplo == OSLA_LOWER ? ADAPT_LOWER : ADAPT_UPPER;
}

static osla_err factor(problem *p)
{
  osla_lu_result result = {0};
  osla_err err = p->cholesky ? osla_potrf(p->uplo, p->a.matrix, NULL, &p->info)
                             : osla_getrf(p->a.matrix, p->pivots, NULL, &result);
  if (!p->cholesky) p->info = result.info;
  /* the errors ARG and MEM are reported before any data change */
  if (!p->a.buffer && !p->a.host) p->has_changed = err == OSLA_OK || err == OSLA_ERR_MPI;
  return err;
}

static osla_err solve(problem *p)
{
  osla_err err = p->cholesky ? osla_potrs(p->uplo, p->a.matrix, p->b.matrix)
                             : osla_getrs(p->trans, p->a.matrix, p->pivots, p->b.matrix);
  /* the errors ARG and MEM are reported before any data change */
  if (!p->b.buffer && !p->b.host && err != OSLA_ERR_ARG && err != OSLA_ERR_MEM)
    p->has_changed = true;
  return err;
}

/* Block size of the copy of sub(A): larger than the caller's block size if the kernels gain more
 * than two copies cost. */
static int64_t choose_block(const adapt_call *call, const problem *p)
{
  enum { SMALL = 32, MANY = 20 };
  const int64_t wide_block = call->device ? ADAPT_DEVICE_BLOCK : 128;
  int64_t nb = p->subs[A].nb, asked = adapt_settings_get()->block;
  if (!p->factors || asked == 0) return nb;
  if (asked > 0) return asked;
  return nb <= SMALL && p->m >= MANY * wide_block && p->n >= MANY * wide_block ? wide_block : nb;
}

/* True if LU works in the caller's own memory. Other ranks cannot access this memory, so LU puts
 * panels to the other ranks. This is faster than a copy only if the copy would need new memory.
 * Row interchanges and solves access other ranks' memory, so they are excluded. */
static bool is_factored_in_place(adapt_call *call, const problem *p)
{
  const adapt_sub *a = &p->subs[A];
  osla_layout layout = {a->m, a->n, a->mb, a->nb, 1, osla_grid_npcol(a->grid)};
  return !p->solves && !p->cholesky && osla_grid_nprow(a->grid) == 1 &&
         !adapt_buffer_pays(call->context, osla_matrix_bytes(&layout, call->dtype));
}

/* Makes the copy of sub(A), on one node possibly in wider blocks. Between nodes the caller's
 * blocks stay, because redistribution would send small pieces. */
static osla_err stage(adapt_call *call, problem *p)
{
  bool one_node = osla_transport_n_nodes(adapt_context_transport(call->context)) == 1;
  p->wide = p->subs[A];
  if (one_node) p->wide.mb = p->wide.nb = choose_block(call, p);
  if (call->device && (call->alone || !is_widened(p)))
    return adapt_stage(call, &p->wide, shape_of(p), ADAPT_UNDEFINED, &p->a);
  /* A single process needs no copy, whatever the block size, except for a call that factors and
   * solves: the solve can run out of memory after the factorisation, so A is copied. */
  if (call->alone && !(p->factors && p->solves)) return adapt_wrap(call, &p->wide, &p->a.matrix);
  if (is_widened(p)) return adapt_stage_redistributed(call, &p->subs[A], &p->wide, &p->a);
  if (is_factored_in_place(call, p)) return adapt_wrap(call, &p->subs[A], &p->a.matrix);
  return adapt_stage(call, &p->subs[A], shape_of(p), ADAPT_UNDEFINED, &p->a);
}

/* Copies the factors and their pivots back, in the caller's blocks. */
static osla_err unstage(adapt_call *call, problem *p)
{
  if (!p->a.buffer && !p->a.host) return OSLA_OK;
  if (!is_widened(p) || !p->a.buffer) {
    p->has_changed = true;
    adapt_unstage(call, &p->a, shape_of(p));
    return OSLA_OK;
  }
  if (p->redistributed) OSLA_CALL(redistribute_pivots(p));
  p->has_changed = true;
  return adapt_unstage_redistributed(call, &p->subs[A], &p->a);
}

/* On one process row no rank accesses right-hand sides of other ranks. */
static osla_err stage_rhs(adapt_call *call, problem *p)
{
  const adapt_sub *a = &p->subs[A], *b = &p->subs[B];
  if (osla_grid_nprow(b->grid) == 1 && a->pcol == b->pcol && b->col == 0)
    return adapt_stage_result(call, b, ADAPT_WHOLE, &p->b);
  return adapt_stage(call, b, ADAPT_WHOLE, ADAPT_ZEROS, &p->b);
}

static osla_err offload_problem(adapt_call *call, const lapack_args *x, problem *p)
{
  OSLA_CALL(stage(call, p));
  OSLA_CALL(make_pivots(call, p));
  if (p->solves) OSLA_CALL(stage_rhs(call, p));
  if (p->factors)
    OSLA_CALL(factor(p));
  else if (!p->cholesky)
    read_pivots(p, x->ipiv);
  if (p->solves && p->info == 0) OSLA_CALL(solve(p));

  if (p->factors) OSLA_CALL(unstage(call, p));
  if (p->factors && !p->cholesky) write_pivots(p, x->ipiv);
  if (p->solves && p->info == 0) adapt_unstage(call, &p->b, ADAPT_WHOLE);
  *x->info = (int)p->info;
  return OSLA_OK;
}

/* Frees the copies of the matrices and the pivots of a problem. Collective. */
static void free_copies(adapt_call *call, problem *p)
{
  free(p->pivots);
  free(p->redistributed);
  p->pivots = p->redistributed = NULL;
  adapt_stage_free(call, &p->b);
  adapt_stage_free(call, &p->a);
}

/* Decides whether the call runs on the device. The number of copied elements includes half of A for
 * Cholesky and all of A for LU, twice if the call factors A, because the factors are copied back.
 * It includes the right-hand sides twice, because they are copied to the device and back. */
static void choose_device(adapt_call *call, problem *p)
{
  const double a = adapt_elements(&p->subs[A]) / (p->cholesky ? 2 : 1);
  const double b = p->solves ? adapt_elements(&p->subs[B]) : 0;
  adapt_device_choose(call, flops_of(p), (p->factors ? 2 : 1) * a + 2 * b, ADAPT_ON_DEVICE,
                      p->solves ? 2 : 1, p->subs);
}

bool lapack_offload(adapt_call *call, const lapack_args *x)
{
  problem p = {0};
  if (call->reason != ADAPT_OFFLOADED) return false;
  if (!read(call, x, &p)) return adapt_call_refuse(call, ADAPT_ARGUMENTS);
  adapt_reason reason = judge_descriptors(x);
  if (reason != ADAPT_OFFLOADED) return adapt_call_refuse(call, reason);
  const bool worth_it = is_worth_it(call, x, &p);
  if (!worth_it && !adapt_settings_get()->device) return adapt_call_refuse(call, ADAPT_FAST);
  if (!adapt_call_open(call, flops_of(&p), least_flops(call, &p, x), p.solves ? 2 : 1, p.subs))
    return false;
  if (!is_aligned(&p)) return adapt_call_refuse(call, ADAPT_ARGUMENTS);
  choose_device(call, &p);
  if (!worth_it && !call->device) return adapt_call_refuse(call, ADAPT_FAST);
  osla_err err = offload_problem(call, x, &p);
  if (!p.has_changed && adapt_device_lacks(call, err)) {
    free_copies(call, &p);
    p.info = 0;
    err = offload_problem(call, x, &p);
  }
  if (err != OSLA_OK && p.has_changed)
    osla_transport_abort(adapt_context_transport(call->context), err);
  free_copies(call, &p);
  return adapt_call_succeeded(call, err);
}
