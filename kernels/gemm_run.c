/* SRUMMA: C(pr,pc) += A(pr, block) B(block, pc) over the task list, owner computes.
 *
 * An operand of a node neighbour is read in place by the local gemm. From another node come A's
 * column panel (contiguous, because whole local columns are fetched) and B's local block (whole,
 * once for each process row). Both have two buffers: while one feeds the gemm, the next task's
 * operand flows into the other (section III.A, step 4).
 */
#include "gemm.h"
#include "osla_blas.h"

#include <inttypes.h>
#include <stdlib.h>

/* A pair of buffers for operands that come from afar. */
typedef struct fetcher {
  const local_view *v;
  unsigned char *buffer[2];
  int64_t key[2]; /* what a buffer holds or awaits; -1: nothing */
  bool pending[2];
  osla_transfer transfer[2];
  int turn; /* the buffer that the next fetch fills */
} fetcher;

static osla_err fetcher_open(fetcher *f, const local_view *v, bool needed, size_t bytes)
{
  *f = (fetcher){.v = v, .key = {-1, -1}};
  if (!needed) return OSLA_OK;
  for (int i = 0; i < 2; i++) {
    f->buffer[i] = malloc(bytes + 1);
    OSLA_CHECK(f->buffer[i], OSLA_ERR_MEM, "%zu bytes for a gemm operand", bytes);
  }
  return OSLA_OK;
}

/* A get that nobody waited for may still write to its buffer. */
static osla_err fetcher_close(fetcher *f)
{
  osla_err err = OSLA_OK;
  for (int i = 0; i < 2; i++) {
    if (f->pending[i]) {
      osla_err waited = osla_transfer_wait(osla_matrix_segment(f->v->matrix), &f->transfer[i]);
      if (err == OSLA_OK) err = waited;
    }
    free(f->buffer[i]);
  }
  return err;
}

/* Starts to bring local columns [col, col + cols), of `rows` elements, of a rank; nothing if they
 * are there. One contiguous get from the first element to the last. */
static osla_err fetch(fetcher *f, int64_t key, int rank, int64_t col, int64_t cols, int64_t rows)
{
  const local_view *v = f->v;
  if (f->key[0] == key || f->key[1] == key) return OSLA_OK;
  int i = f->turn;
  size_t column = (size_t)osla_matrix_lld(v->matrix, rank) * v->element;
  f->turn = 1 - i;
  f->key[i] = key;
  f->pending[i] = true;
  return osla_segment_get(osla_matrix_segment(v->matrix), rank, (size_t)col * column, f->buffer[i],
                          (size_t)(cols - 1) * column + (size_t)rows * v->element, &f->transfer[i]);
}

static osla_err fetched(fetcher *f, int64_t key, unsigned char **at)
{
  int i = f->key[0] == key ? 0 : 1;
  *at = f->buffer[i];
  if (!f->pending[i]) return OSLA_OK;
  f->pending[i] = false;
  return osla_transfer_wait(osla_matrix_segment(f->v->matrix), &f->transfer[i]);
}

typedef struct run {
  const gemm_plan *plan;
  fetcher a, b;
} run;

static int64_t a_column(const run *r, const gemm_task *task)
{
  return osla_index_local(task->start, r->plan->a.nb, r->plan->a.q);
}

static osla_err start_fetches(run *r, const gemm_task *task)
{
  const local_view *a = &r->plan->a, *b = &r->plan->b;
  if (task->far_b)
    OSLA_CALL(fetch(&r->b, task->b_prow, rank_at(b, task->b_prow, b->pcol), 0, b->cols,
                    osla_index_count(b->m, b->mb, task->b_prow, b->p)));
  if (task->far_a)
    OSLA_CALL(fetch(&r->a, task->start, rank_at(a, a->prow, task->a_pcol), a_column(r, task),
                    task->size, a->rows));
  return OSLA_OK;
}

static osla_err multiply(run *r, const gemm_task *task, double alpha, double beta)
{
  const local_view *a = &r->plan->a, *b = &r->plan->b, *c = &r->plan->c;
  int a_rank = rank_at(a, a->prow, task->a_pcol), b_rank = rank_at(b, task->b_prow, b->pcol);
  int64_t lda = osla_matrix_lld(a->matrix, a_rank), ldb = osla_matrix_lld(b->matrix, b_rank);
  int64_t b_row = osla_index_local(task->start, b->mb, b->p);
  unsigned char *a_at, *b_at;
  if (task->far_a)
    OSLA_CALL(fetched(&r->a, task->start, &a_at));
  else
    a_at = peer_at(a, a_rank, 0, a_column(r, task));
  if (task->far_b) {
    OSLA_CALL(fetched(&r->b, task->b_prow, &b_at));
    b_at += (size_t)b_row * b->element;
  } else {
    b_at = peer_at(b, b_rank, b_row, 0);
  }
  return osla_blas_gemm(c->dtype, OSLA_NOTRANS, OSLA_NOTRANS, c->rows, c->cols, task->size, alpha,
                        a_at, lda, b_at, ldb, beta, c->local, c->lld);
}

static osla_err run_tasks(run *r, double alpha, double beta, bool ahead)
{
  const gemm_plan *plan = r->plan;
  const local_view *c = &plan->c;
  if (plan->n_tasks == 0) /* k = 0: C := beta C */
    return osla_blas_gemm(c->dtype, OSLA_NOTRANS, OSLA_NOTRANS, c->rows, c->cols, 0, alpha,
                          c->local, c->lld, c->local, 1, beta, c->local, c->lld);
  for (int64_t i = 0; i < plan->n_tasks; i++) {
    OSLA_CALL(start_fetches(r, &plan->tasks[i]));
    if (ahead && i + 1 < plan->n_tasks) OSLA_CALL(start_fetches(r, &plan->tasks[i + 1]));
    OSLA_CALL(multiply(r, &plan->tasks[i], alpha, i == 0 ? beta : 1.0));
    osla_progress(c->t); /* serves other nodes that fetch from here */
  }
  return OSLA_OK;
}

osla_err osla_gemm_run(const gemm_plan *plan, double alpha, double beta,
                       const osla_gemm_options *options)
{
  const local_view *a = &plan->a, *b = &plan->b;
  run r = {.plan = plan};
  bool far_a = false, far_b = false;
  for (int64_t i = 0; i < plan->n_tasks; i++) {
    far_a |= plan->tasks[i].far_a;
    far_b |= plan->tasks[i].far_b;
  }
  /* Leading dimensions of wrapped matrices differ by rank: room for the largest. */
  int64_t lda = 1, ldb = 1;
  for (int rank = 0; rank < osla_transport_size(a->t); rank++) {
    if (osla_matrix_lld(a->matrix, rank) > lda) lda = osla_matrix_lld(a->matrix, rank);
    if (osla_matrix_lld(b->matrix, rank) > ldb) ldb = osla_matrix_lld(b->matrix, rank);
  }
  osla_err err = fetcher_open(&r.a, a, far_a, (size_t)(lda * a->nb) * a->element);
  osla_err err_b = fetcher_open(&r.b, b, far_b, (size_t)(ldb * b->cols) * b->element);
  if (err == OSLA_OK) err = err_b;
  if (err == OSLA_OK) err = run_tasks(&r, alpha, beta, !(options && options->blocking));
  osla_err closed_a = fetcher_close(&r.a), closed_b = fetcher_close(&r.b);
  if (err == OSLA_OK) err = closed_a;
  if (err == OSLA_OK) err = closed_b;
  return err;
}
