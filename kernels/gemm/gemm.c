/* Public calls of the distributed multiplications: check the arguments, make the plan, run it. */
#include "kernels/gemm/gemm.h"
#include "kernels/common/local_view.h"
#include "kernels/common/part_operand.h"
#include "kernels/gemm/gemm_sharing.h"
#include "osla_blas.h"
#include "src/base/double_bits.h"
#include "src/base/reserved.h"
#include "src/matrix/memory_kind.h"
#include "src/matrix/part_checks.h"
#include "src/matrix/part_local.h"

#include <complex.h>
#include <inttypes.h>
#include <limits.h>

static int64_t outer_rows(osla_trans trans, const osla_part *p)
{
  return trans == OSLA_NOTRANS ? p->m : p->n;
}

static int64_t outer_cols(osla_trans trans, const osla_part *p)
{
  return trans == OSLA_NOTRANS ? p->n : p->m;
}

/* switches of osla_gemm_ablate for later products of this thread */
static _Thread_local osla_gemm_ablation ablation;

void osla_gemm_ablate(const osla_gemm_ablation *switches)
{
  ablation = switches ? *switches : (osla_gemm_ablation){0};
}

/* value of `triangle` for a product that computes all of C; differs from every osla_uplo that a
 * caller may pass */
enum { WHOLE = INT_MIN };

/* A product as the caller requested it. */
typedef struct request {
  const char *call; /* name of the public function */
  osla_trans transa, transb;
  osla_part a, b, c;
  int triangle;   /* triangle of C that is computed: an osla_uplo, or WHOLE */
  bool hermitian; /* true for osla_herk; false for osla_syrk and for products without a triangle */
} request;

static request gemm_request(const char *call, osla_trans transa, osla_trans transb, osla_part a,
                            osla_part b, osla_part c)
{
  return (request){
    .call = call, .transa = transa, .transb = transb, .a = a, .b = b, .c = c, .triangle = WHOLE};
}

/* Checks operands in triangular matrices: A and B must lie below the diagonal, and C of osla_syrk
 * and osla_herk must begin and end on the diagonal. */
static osla_err check_triangular(const request *r)
{
  const char *call = r->call;
  const osla_matrix *c = r->c.matrix;
  const osla_dtype dtype = osla_matrix_dtype(c);
  const char *advice = r->triangle == WHOLE
                         ? "call osla_symm or osla_hemm"
                         : "copy it to a full matrix first (osla_matrix_copy_part)";
  OSLA_CALL(osli_part_check_rectangle(call, &r->a, "A", advice));
  if (r->triangle == WHOLE) OSLA_CALL(osli_part_check_rectangle(call, &r->b, "B", advice));
  OSLA_CALL(osli_part_inside(call, &r->c, "C"));
  if (!osla_matrix_is_triangle(c)) return OSLA_OK;
  OSLA_CHECK(r->triangle != WHOLE, OSLA_ERR_UNSUPPORTED,
             "%s: C lies in a triangular matrix: use a full matrix (osla_matrix_copy), or call "
             "osla_syrk or osla_herk",
             call);
  OSLA_CHECK(r->c.m == 0 || part_is_diagonal(&r->c), OSLA_ERR_UNSUPPORTED,
             "%s: C is the %" PRId64 " x %" PRId64 " part at (%" PRId64 ", %" PRId64
             ") of a triangular matrix: it must begin and end on the diagonal",
             call, r->c.m, r->c.n, r->c.i, r->c.j);
  OSLA_CHECK(r->hermitian || dtype == OSLA_FLOAT || dtype == OSLA_DOUBLE, OSLA_ERR_ARG,
             "%s: C is a triangular matrix of type '%c', which is Hermitian: call osla_herk", call,
             osla_dtype_letter(dtype));
  return OSLA_OK;
}

static osla_err check(const request *r, const osla_gemm_options *options)
{
  const osla_part *a = &r->a, *b = &r->b, *c = &r->c;
  osla_dtype ta = osla_matrix_dtype(a->matrix), tb = osla_matrix_dtype(b->matrix);
  osla_dtype tc = osla_matrix_dtype(c->matrix);
  osla_transport *t = osla_grid_transport(osla_matrix_grid(c->matrix));
  const char *call = r->call;
  OSLA_CALL(OSLA_RESERVED(osla_gemm_options, options));
  if (r->triangle != WHOLE) OSLA_CALL(osli_check_uplo(call, (osla_uplo)r->triangle, c->matrix));
  OSLA_CALL(osli_check_trans(call, r->transa));
  OSLA_CALL(osli_check_trans(call, r->transb));
  OSLA_CALL(check_triangular(r));
  int64_t m = outer_rows(r->transa, a), k = outer_cols(r->transa, a);
  int64_t kb = outer_rows(r->transb, b), n = outer_cols(r->transb, b);
  OSLA_CHECK(m == c->m && n == c->n && k == kb, OSLA_ERR_ARG,
             "%s: op(A) is %" PRId64 " x %" PRId64 ", op(B) %" PRId64 " x %" PRId64 ", C %" PRId64
             " x %" PRId64,
             call, m, k, kb, n, c->m, c->n);
  OSLA_CHECK(ta == tc && tb == tc, OSLA_ERR_ARG, "%s: types '%c', '%c', '%c' differ", call,
             osla_dtype_letter(ta), osla_dtype_letter(tb), osla_dtype_letter(tc));
  OSLA_CHECK(osla_grid_transport(osla_matrix_grid(a->matrix)) == t &&
               osla_grid_transport(osla_matrix_grid(b->matrix)) == t,
             OSLA_ERR_ARG, "%s: the matrices belong to different transports", call);
  OSLA_NEEDS_ONE_MEMORY(call, a->matrix, b->matrix, c->matrix);
  OSLA_CHECK(!osla_matrix_device(c->matrix) || !(ablation.copy || ablation.unaware),
             OSLA_ERR_UNSUPPORTED,
             "%s: osla_gemm_ablate with copy or unaware does not work on device memory", call);
  OSLA_CHECK(!options || options->panel >= 0, OSLA_ERR_ARG, "%s: panel = %" PRId64 " is negative",
             call, options->panel);
  OSLA_CHECK(!osli_parts_overlap(a, c), OSLA_ERR_ARG, "%s: C overlaps A", call);
  OSLA_CHECK(!osli_parts_overlap(b, c), OSLA_ERR_ARG, "%s: C overlaps B", call);
  return osli_gemm_layers_check(call, c, r->triangle == WHOLE, options);
}

/* Checks that all ranks pass the same arguments. Two options must agree, because they decide how k
 * is divided among the ranks: `memory` and `layers`. Collective. */
static osla_err agree(const request *r, osla_complex alpha, osla_complex beta,
                      const osla_gemm_options *options, osla_err local)
{
  const bool triangle = r->triangle != WHOLE;
  const osla_argument same[] = {{"uplo", (int)r->triangle},
                                {triangle ? "trans" : "transa", r->transa},
                                {triangle ? "trans" : "transb", r->transb},
                                OSLA_PART_ARGUMENTS("a", r->a),
                                OSLA_PART_ARGUMENTS("b", r->b),
                                OSLA_PART_ARGUMENTS("c", r->c),
                                OSLA_FACTOR_ARGUMENTS("alpha", alpha),
                                OSLA_FACTOR_ARGUMENTS("beta", beta),
                                {"memory", options ? (int64_t)options->memory : 0},
                                {"layers", options ? options->layers : 0}};
  osla_transport *t = osla_grid_transport(osla_matrix_grid(r->c.matrix));
  return osla_agree_same(t, local, r->call, same, (int)(sizeof same / sizeof *same));
}

static gemm_work work_of(const request *r, const osla_gemm_options *options)
{
  local_view v = view_of(r->c.matrix);
  return (gemm_work){.call = r->call,
                     .t = v.t,
                     .grid = v.grid,
                     .dtype = v.dtype,
                     .element = v.element,
                     .c = osli_gemm_target_of(&r->c),
                     .diagonal = v.prow < 0 ? 0 : v.prow + v.pcol,
                     .options = options ? *options : (osla_gemm_options){0},
                     .ablation = ablation,
                     .layers = {.n = 1, .rows = 1, .cols = 1},
                     .k_to = outer_cols(r->transa, &r->a),
                     .triangle = r->triangle,
                     .hermitian = r->hermitian};
}

static bool is_split(const gemm_work *w, const request *r)
{
  return !w->c.triangular && w->options.layers <= 1 &&
         osli_gemm_is_split(&r->a, &r->b, &r->c, w->k_to, &w->options);
}

/* Distributes the inner dimension k over ranks if `split` is true (gemm_split.c) or the product
 * has layers (gemm_layers.c). In other products every rank computes the whole range of k. */
static void divide(gemm_work *w, const request *r, bool split)
{
  if (split)
    osli_gemm_split_assign(w, &r->c);
  else if (r->triangle == WHOLE)
    osli_gemm_layers_assign(w, &r->c);
  w->sum_bytes = osli_gemm_layers_bytes(w, &r->c);
}

/* Makes the operands and the task list. */
static osla_err plan(gemm_work *w, const request *r)
{
  OSLA_CALL(osli_gemm_operand_make(w, GEMM_A, r->transa, &r->a));
  OSLA_CALL(osli_gemm_operand_make(w, GEMM_B, r->transb, &r->b));
  osli_gemm_layers_divide(w);
  return osli_gemm_plan_make(w);
}

/* Checks that the sizes that this rank passes to BLAS fit into the integers of BLAS. */
static osla_err check_blas(const gemm_work *w)
{
  int64_t largest = w->c.ld > w->width ? w->c.ld : w->width;
  if (w->c.rows == 0 || w->c.cols == 0) return OSLA_OK;
  if (w->c.rows > largest) largest = w->c.rows;
  if (w->c.cols > largest) largest = w->c.cols;
  for (int i = 0; i < 2; i++) {
    int64_t ld = osli_gemm_operand_ld(&w->x[i]);
    if (ld > largest) largest = ld;
  }
  OSLA_CHECK(largest <= INT_MAX, OSLA_ERR_RANGE,
             "%s: a leading dimension or a number of rows or of columns is %" PRId64
             ", which exceeds the integers of this BLAS",
             w->call, largest);
  return osla_blas_ready();
}

/* Does everything that can fail on a single rank, before C changes and other ranks wait for this
 * rank. */
static osla_err prepare(gemm_work *w, const request *r, bool split)
{
  OSLA_CALL(plan(w, r));
  OSLA_CALL(check_blas(w));
  if (split) OSLA_CALL(osli_gemm_split_allocate(w));
  OSLA_CALL(osli_gemm_layers_allocate(w));
  OSLA_CALL(osli_gemm_triangle_allocate(w));
  OSLA_CALL(osli_gemm_sharing_allocate(w));
  return osli_gemm_run_open(w);
}

/* Computes a product whose arguments are valid and equal on all ranks. A and B lie in full
 * matrices, unless alpha is 0. */
static osla_err multiply_full(const request *r, osla_complex alpha, osla_complex beta,
                              const osla_gemm_options *options)
{
  osla_err err;
  gemm_work w = work_of(r, options);
  if (alpha == 0) w.k_to = 0; /* if alpha = 0, A and B are not read, as in BLAS */
  const bool split = is_split(&w, r);
  const int64_t k = w.k_to;
  divide(&w, r, split);
  if (!split) OSLA_CALL(osli_gemm_sharing_choose(&w, r->a.matrix, r->b.matrix, k));
  /* This call is also a barrier: after it the operands are complete on all ranks. */
  OSLA_TRY(osla_agree(w.t, prepare(&w, r, split)));
  OSLA_TRY(osli_gemm_layers_open(&w));
  OSLA_TRY(osli_gemm_sharing_open(&w));
  if (split)
    err = osli_gemm_split_run(&w, alpha, beta, &r->c);
  else
    err = osla_agree(w.t, osli_gemm_run(&w, alpha, beta)); /* this call is also a barrier: after
                                                            * it no rank reads A or B */
cleanup:
  osli_gemm_layers_close(&w);
  osli_gemm_sharing_close(&w);
  osli_gemm_plan_free(&w);
  return err;
}

/* If the part lies in a triangular matrix, copies it to a full matrix, and sets *part to the copy.
 * osli_part_close(x, ...) destroys the copy. */
static osla_err open_operand(osla_part *part, part_operand *x)
{
  if (!osla_matrix_is_triangle(part->matrix)) return OSLA_OK;
  OSLA_CALL(osli_part_open(part, NULL, x));
  *part = osla_whole(x->at);
  return OSLA_OK;
}

static osla_err multiply(const request *asked, osla_complex alpha, osla_complex beta,
                         const osla_gemm_options *options)
{
  const osla_dtype dtype = osla_matrix_dtype(asked->c.matrix);
  request r = *asked;
  part_operand a = {0}, b = {0};
  osla_err err;
  if (dtype == OSLA_FLOAT || dtype == OSLA_DOUBLE) alpha = creal(alpha), beta = creal(beta);
  /* The check may fail on some ranks only, for example if they pass matrices of other
   * transports. */
  OSLA_CALL(agree(&r, alpha, beta, options, check(&r, options)));
  if (alpha != 0) OSLA_TRY(open_operand(&r.a, &a));
  if (r.triangle != WHOLE)
    r.b = r.a; /* osla_syrk and osla_herk multiply A by its own transpose */
  else if (alpha != 0)
    OSLA_TRY(open_operand(&r.b, &b));
  err = multiply_full(&r, alpha, beta, options);
cleanup:
  err = osli_part_close(&b, false, err);
  return osli_part_close(&a, false, err);
}

osla_err osli_gemm_for(const char *call, osla_trans transa, osla_trans transb, osla_complex alpha,
                       osla_part a, osla_part b, osla_complex beta, osla_part c,
                       const osla_gemm_options *options)
{
  const request r = gemm_request(call, transa, transb, a, b, c);
  return multiply(&r, alpha, beta, options);
}

osla_err osla_gemm(osla_trans transa, osla_trans transb, osla_complex alpha, osla_part a,
                   osla_part b, osla_complex beta, osla_part c, const osla_gemm_options *options)
{
  return osli_gemm_for("osla_gemm", transa, transb, alpha, a, b, beta, c, options);
}

/* Returns `other` if trans is OSLA_TRANS or OSLA_CONJTRANS, otherwise trans. So invalid values stay
 * as they are, and the check of the arguments finds them. */
static osla_trans replace_if_transposed(osla_trans trans, osla_trans other)
{
  return trans == OSLA_TRANS || trans == OSLA_CONJTRANS ? other : trans;
}

osla_err osla_syrk(osla_uplo uplo, osla_trans trans, osla_complex alpha, osla_part a,
                   osla_complex beta, osla_part c, const osla_gemm_options *options)
{
  const bool plain = trans == OSLA_NOTRANS;
  const request r = {.call = "osla_syrk",
                     .transa = replace_if_transposed(trans, OSLA_TRANS),
                     .transb = plain ? OSLA_TRANS : OSLA_NOTRANS,
                     .a = a,
                     .b = a,
                     .c = c,
                     .triangle = (int)uplo};
  return multiply(&r, alpha, beta, options);
}

osla_err osla_herk(osla_uplo uplo, osla_trans trans, double alpha, osla_part a, double beta,
                   osla_part c, const osla_gemm_options *options)
{
  const bool plain = trans == OSLA_NOTRANS;
  const request r = {.call = "osla_herk",
                     .transa = replace_if_transposed(trans, OSLA_CONJTRANS),
                     .transb = plain ? OSLA_CONJTRANS : OSLA_NOTRANS,
                     .a = a,
                     .b = a,
                     .c = c,
                     .triangle = (int)uplo,
                     .hermitian = true};
  return multiply(&r, alpha, beta, options);
}

/* --- prediction --- */

typedef struct tally {
  const gemm_operand *x;
  osla_gemm_plan *plan;
} tally;

static osla_err count_get(void *arg, int rank, size_t offset, size_t to, size_t bytes)
{
  tally *t = arg;
  (void)offset, (void)to;
  if (osla_transport_same_node(t->x->v.t, rank)) {
    t->plan->bytes_near += bytes;
  } else {
    t->plan->bytes_far += bytes;
    t->plan->gets++;
  }
  return OSLA_OK;
}

static void count_task(const gemm_work *w, const gemm_task *task, int which, osla_gemm_plan *plan)
{
  const gemm_operand *x = &w->x[which];
  const gemm_segment *s = &w->segments[task->first];
  int me = osla_transport_rank(w->t);
  for (int64_t p = 0; p < x->n_pieces; p++) {
    uint64_t bytes = (uint64_t)(x->pieces[p].size * task->width) * w->element;
    if (!task->direct[which])
      plan->bytes_near += bytes;
    else if (task->load[which] < 0 && gemm_rank(x, x->pieces[p].group, s->owner[which]) != me)
      plan->bytes_place += bytes;
  }
}

static osla_err describe(const gemm_work *w, osla_gemm_plan *plan)
{
  for (int i = 0; i < 2; i++) {
    const gemm_operand *x = &w->x[i];
    tally t = {x, plan};
    for (int64_t l = 0; l < x->n_loads; l++)
      OSLA_CALL(osli_gemm_load_walk(w, i, &x->loads[l], count_get, &t));
    for (int64_t k = 0; k < w->n_tasks; k++)
      count_task(w, &w->tasks[k], i, plan);
    uint64_t slots = x->n_loads < 2 ? 1 : (uint64_t)gemm_n_slots(w);
    plan->buffers += slots * x->load_bytes + x->packed_bytes;
  }
  plan->tasks = w->n_tasks;
  for (int64_t k = 0; k < w->n_tasks; k++)
    plan->flops += gemm_flops(w, w->c.rows, w->c.cols, w->tasks[k].width);
  osli_gemm_layers_describe(w, plan);
  return OSLA_OK;
}

osla_err osla_gemm_predict(osla_trans transa, osla_trans transb, osla_part a, osla_part b,
                           osla_part c, const osla_gemm_options *options, osla_gemm_plan *out)
{
  const request r = gemm_request("osla_gemm_predict", transa, transb, a, b, c);
  *out = (osla_gemm_plan){0};
  OSLA_NEEDS_FULL("osla_gemm_predict", a.matrix, b.matrix, c.matrix);
  OSLA_CALL(check(&r, options));
  gemm_work w = work_of(&r, options);
  const bool split = is_split(&w, &r);
  divide(&w, &r, split);
  osla_err err = plan(&w, &r);
  if (err == OSLA_OK) err = describe(&w, out);
  if (split) out->buffers += (uint64_t)(c.m * c.n) * w.element;
  osli_gemm_plan_free(&w);
  return err;
}
