/* Factorisations and solves for ScaLAPACK programs.
 *
 * sub(A) and sub(B) are copied to where all ranks reach them, worked on there, and copied back; for
 * Cholesky the triangle alone. So whatever fails on the way leaves the caller's arrays as they
 * were. Contracts: the headers of ScaLAPACK's own routines. As theirs, sub(B) stays as it is if
 * the factorisation of p?gesv or p?posv reports INFO > 0.
 */
#include "lapack.h"

#include "osla_chol.h"
#include "osla_index.h"
#include "osla_lu.h"
#include "osla_solve.h"

#include <stdlib.h>

enum { A, B, DESC_TYPE = 0, DESC_M = 2 };

typedef struct problem {
  bool factors, solves, cholesky;
  osla_uplo uplo;
  osla_trans trans;
  int64_t m, n, nrhs;
  adapt_sub subs[2];
  adapt_staged a, b;
  int64_t *pivots; /* of my rows of sub(A), counted in sub(A) from 1 */
  int64_t info;
} problem;

/* Reads what is asked; false: letters that are none. */
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

/* Multiplications and additions of a factorisation and of solves. */
static double flops_of(const problem *p)
{
  double m = (double)p->m, n = (double)p->n, k = m < n ? m : n, flops = 0;
  if (p->factors) flops = 2 * (m * n * k - (m + n) * k * k / 2 + k * k * k / 3);
  if (p->cholesky) flops /= 2;
  return flops + 2 * n * n * (double)p->nrhs;
}

/* Descriptors and alignment as these routines ask for them. The real ones do nothing for an array
 * of one row. */
static adapt_reason judge_descriptors(const lapack_args *x)
{
  if (x->desca[DESC_TYPE] != 1 || (x->nrhs && x->descb[DESC_TYPE] != 1)) return ADAPT_DESCRIPTOR;
  return x->desca[DESC_M] == 1 ? ADAPT_EMPTY : ADAPT_TAKEN;
}

static bool is_aligned(const problem *p)
{
  const adapt_sub *a = &p->subs[A], *b = &p->subs[B];
  if (a->mb != a->nb || a->row != 0 || a->col != 0) return false;
  return !p->solves || (b->mb == a->nb && b->row == 0 && b->prow == a->prow);
}

/* --- pivots: theirs count rows of A from 1, ours rows of sub(A) --- */

static osla_err make_pivots(const adapt_call *call, problem *p)
{
  if (p->cholesky) return OSLA_OK;
  p->pivots = calloc((size_t)osla_matrix_local_rows(p->a.matrix) + 1, sizeof *p->pivots);
  return osla_agree(adapt_context_transport(call->context),
                    p->pivots ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "pivots"));
}

/* How many of my rows have a pivot. */
static int64_t count_pivots(const problem *p)
{
  osla_layout l = osla_matrix_layout(p->a.matrix);
  int64_t order = p->m < p->n ? p->m : p->n;
  return osla_index_count(order, l.mb, osla_grid_prow(p->subs[A].grid), l.nprow);
}

static void read_pivots(problem *p, const int *ipiv)
{
  const adapt_sub *a = &p->subs[A];
  for (int64_t l = 0, count = count_pivots(p); l < count; l++)
    p->pivots[l] = ipiv[a->local_row + l] - a->i;
}

static void write_pivots(const problem *p, int *ipiv)
{
  const adapt_sub *a = &p->subs[A];
  for (int64_t l = 0, count = count_pivots(p); l < count; l++)
    ipiv[a->local_row + l] = (int)(p->pivots[l] + a->i);
}

/* --- the work --- */

static adapt_shape shape_of(const problem *p)
{
  if (!p->cholesky) return ADAPT_WHOLE;
  return p->uplo == OSLA_LOWER ? ADAPT_LOWER : ADAPT_UPPER;
}

static osla_err factor(problem *p)
{
  if (p->cholesky) return osla_potrf(p->a.matrix, p->uplo, NULL, &p->info);
  osla_lu_result result;
  OSLA_CALL(osla_getrf(p->a.matrix, p->pivots, NULL, &result));
  p->info = result.info;
  return OSLA_OK;
}

static osla_err solve(problem *p)
{
  if (p->cholesky) return osla_potrs(p->uplo, p->a.matrix, p->b.matrix);
  return osla_getrs(p->trans, p->a.matrix, p->pivots, p->b.matrix);
}

static osla_err work(adapt_call *call, const lapack_args *x, problem *p)
{
  OSLA_CALL(adapt_stage(call, &p->subs[A], shape_of(p), ADAPT_UNDEFINED, &p->a));
  OSLA_CALL(make_pivots(call, p));
  if (p->solves) OSLA_CALL(adapt_stage(call, &p->subs[B], ADAPT_WHOLE, ADAPT_ZEROS, &p->b));
  if (p->factors)
    OSLA_CALL(factor(p));
  else if (!p->cholesky)
    read_pivots(p, x->ipiv);
  if (p->solves && p->info == 0) OSLA_CALL(solve(p));

  if (p->factors) adapt_unstage(call, &p->a, shape_of(p));
  if (p->factors && !p->cholesky) write_pivots(p, x->ipiv);
  if (p->solves && p->info == 0) adapt_unstage(call, &p->b, ADAPT_WHOLE);
  *x->info = (int)p->info;
  return OSLA_OK;
}

bool lapack_take(adapt_call *call, const lapack_args *x)
{
  problem p = {0};
  if (call->reason != ADAPT_TAKEN) return false;
  if (!read(call, x, &p)) return adapt_call_refuse(call, ADAPT_ARGUMENTS);
  adapt_reason reason = judge_descriptors(x);
  if (reason != ADAPT_TAKEN) return adapt_call_refuse(call, reason);
  if (!adapt_call_open(call, flops_of(&p), adapt_least_flops(), p.solves ? 2 : 1, p.subs))
    return false;
  if (!is_aligned(&p)) return adapt_call_refuse(call, ADAPT_ARGUMENTS);
  osla_err err = work(call, x, &p);
  free(p.pivots);
  adapt_stage_free(call, &p.b);
  adapt_stage_free(call, &p.a);
  return adapt_call_succeeded(call, err);
}
