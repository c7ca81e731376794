/* p?gemm: sub(C) := alpha op(sub(A)) op(sub(B)) + beta sub(C).
 * Parts of A and B that other ranks read are copied to memory that they can access; C is updated in
 * place. Memory for the copies: the local parts of A and B. A is not copied on one process column,
 * nor B on one process row, if the operand is not transposed and each rank reads only its own part
 * of it. Source: the description of the PBLAS.
 */
#include "scalapack_adapt/adapt.h"

#include <math.h>

enum { A, B, C };

typedef struct gemm_args {
  osla_dtype dtype;
  const char *transa, *transb;
  const int *m, *n, *k;
  const void *alpha, *a, *beta, *b;
  void *c;
  const int *ia, *ja, *desca, *ib, *jb, *descb, *ic, *jc, *descc;
} gemm_args;

#define GEMM_PARAMETERS                                                                            \
  const char *transa, const char *transb, const int *m, const int *n, const int *k,                \
    const void *alpha, const void *a, const int *ia, const int *ja, const int *desca,              \
    const void *b, const int *ib, const int *jb, const int *descb, const void *beta, void *c,      \
    const int *ic, const int *jc, const int *descc

/* Type of the real routine. The last arguments, which Fortran adds, are the lengths of the
 * CHARACTER arguments. */
typedef void gemm_real(GEMM_PARAMETERS, size_t, size_t);

/* Makes the copy of an operand. If the operand's blocks along k are small, the kernel would have to
 * pack both operands; on one node the copy then gets larger blocks (the product then takes 0.8 to
 * 0.9 of the time at N = 4096). Between nodes the block size stays, because redistribution would
 * send small pieces. */
static osla_err stage(adapt_call *call, const adapt_sub *sub, bool inner_is_rows, bool own,
                      int64_t k, adapt_sub *wide, adapt_staged *out)
{
  enum { SMALL = 64, MANY = 8 };
  const int64_t wide_block = call->device ? ADAPT_DEVICE_BLOCK : 128;
  *wide = *sub;
  int64_t *block = inner_is_rows ? &wide->mb : &wide->nb;
  int processes = inner_is_rows ? osla_grid_nprow(wide->grid) : osla_grid_npcol(wide->grid);
  bool one_node = osla_transport_n_nodes(adapt_context_transport(call->context)) == 1;
  int64_t asked = adapt_settings_get()->block;
  bool gains = asked > 0 || (asked < 0 && *block <= SMALL && k >= MANY * wide_block * processes);
  if (processes == 1 || !one_node || !gains) return adapt_stage_input(call, sub, own, out);
  *block = asked > 0 ? asked : wide_block;
  return adapt_stage_redistributed(call, sub, wide, out);
}

/* True if each owner of C needs only its own rows of A, or its own columns of B. If C is small the
 * kernel splits k over all ranks, which then read everything. */
static bool is_own_a(const adapt_sub *a, const adapt_sub *c)
{
  return osla_grid_npcol(c->grid) == 1 && adapt_same_rows(a, c) &&
         c->m >= c->mb * osla_grid_nprow(c->grid);
}

static bool is_own_b(const adapt_sub *b, const adapt_sub *c)
{
  return osla_grid_nprow(c->grid) == 1 && adapt_same_columns(b, c) &&
         c->n >= c->nb * osla_grid_npcol(c->grid);
}

/* If several processes share C, products gain from order 128 on, provided that k is at least 128.
 */
static double least_flops(const adapt_call *call, const adapt_sub *subs, int64_t k)
{
  enum { DEEP = 128 };
  return adapt_least_flops(call, k >= DEEP ? 4e6 : HUGE_VAL, false, subs, C);
}

/* Computes the product on call->device, or on the host if call->device is NULL. */
static osla_err multiply(adapt_call *call, const gemm_args *x, osla_trans transa, osla_trans transb,
                         const adapt_sub *subs)
{
  adapt_staged a = {0}, b = {0}, c = {0};
  adapt_sub wide[2];
  const osla_complex beta = adapt_factor(x->dtype, x->beta);
  const bool own[] = {transa == OSLA_NOTRANS && is_own_a(&subs[A], &subs[C]),
                      transb == OSLA_NOTRANS && is_own_b(&subs[B], &subs[C])};
  osla_err err;
  if (call->same_operands) {
    OSLA_TRY(adapt_stage_input(call, &subs[A], false, &a));
  } else {
    OSLA_TRY(stage(call, &subs[A], transa != OSLA_NOTRANS, own[A], *x->k, &wide[A], &a));
    OSLA_TRY(stage(call, &subs[B], transb == OSLA_NOTRANS, own[B], *x->k, &wide[B], &b));
  }
  OSLA_TRY(adapt_stage_result(call, &subs[C], beta == 0 ? ADAPT_NOTHING : ADAPT_WHOLE, &c));
  err = osla_gemm(transa, transb, adapt_factor(x->dtype, x->alpha), adapt_part(&subs[A], a.matrix),
                  adapt_part(&subs[B], call->same_operands ? a.matrix : b.matrix), beta,
                  adapt_part(&subs[C], c.matrix), NULL);
  if (call->device ? err == OSLA_OK : adapt_call_completed(call, err))
    adapt_unstage(call, &c, ADAPT_WHOLE);
cleanup:
  adapt_stage_free(call, &c);
  adapt_stage_free(call, &b);
  adapt_stage_free(call, &a);
  return err;
}

static bool offload(adapt_call *call, const gemm_args *x)
{
  osla_trans transa, transb;
  if (call->reason != ADAPT_OFFLOADED) return false;
  if (!adapt_trans_of(x->transa, &transa) || !adapt_trans_of(x->transb, &transb))
    return adapt_call_refuse(call, ADAPT_ARGUMENTS);
  if (adapt_factor(x->dtype, x->alpha) == 0) return adapt_call_refuse(call, ADAPT_FAST);
  int64_t m = *x->m, n = *x->n, k = *x->k;
  adapt_sub subs[] = {adapt_sub_at(x->a, x->ia, x->ja, x->desca, transa ? k : m, transa ? m : k),
                      adapt_sub_at(x->b, x->ib, x->jb, x->descb, transb ? n : k, transb ? k : n),
                      adapt_sub_at(x->c, x->ic, x->jc, x->descc, m, n)};
  double flops = adapt_work(2.0 * (double)m * (double)n * (double)k, m, n, k);
  if (!adapt_call_open(call, flops, least_flops(call, subs, k), 3, subs)) return false;

  /* number of times that C is copied: back from the device, and to the device unless beta = 0 */
  const double results = adapt_factor(x->dtype, x->beta) == 0 ? 1 : 2;
  adapt_device_choose(call, flops,
                      adapt_elements(&subs[A]) + adapt_elements(&subs[B]) +
                        results * adapt_elements(&subs[C]),
                      ADAPT_ON_DEVICE, 3, subs);
  osla_err err = multiply(call, x, transa, transb, subs);
  if (adapt_device_lacks(call, err)) err = multiply(call, x, transa, transb, subs);
  return adapt_call_succeeded(call, err);
}

static void gemm(const gemm_args *x)
{
  adapt_call call = adapt_call_begin(ADAPT_GEMM, x->dtype);
  if (!offload(&call, x))
    ((gemm_real *)adapt_call_pass(&call))(x->transa, x->transb, x->m, x->n, x->k, x->alpha, x->a,
                                          x->ia, x->ja, x->desca, x->b, x->ib, x->jb, x->descb,
                                          x->beta, x->c, x->ic, x->jc, x->descc, 1, 1);
  adapt_call_end(&call);
}

#define OFFLOAD_OR_PASS(dtype, ...) gemm(&(gemm_args){dtype, __VA_ARGS__})

ADAPT_ENTRIES(gemm, OFFLOAD_OR_PASS, (GEMM_PARAMETERS), transa, transb, m, n, k, alpha, a, beta, b,
              c, ia, ja, desca, ib, jb, descb, ic, jc, descc)
