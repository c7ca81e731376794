#include "gemm.h"

#include <inttypes.h>
#include <stdlib.h>

/* Must this operand be fetched? `copy` is the switch that treats neighbours as remote. */
static bool is_far(const local_view *v, int rank, const osla_gemm_options *options)
{
  bool mine = rank == osla_transport_rank(v->t);
  return !mine && (!in_place(v, rank) || (options && options->copy));
}

/* The sort key, most significant first: far B, process row of B counted from mine, far A, process
 * column of A counted from mine, k. */
typedef struct keyed {
  gemm_task task;
  int turn_b, turn_a;
} keyed;

static int compare(const void *x, const void *y)
{
  const keyed *a = x, *b = y;
  if (a->task.far_b != b->task.far_b) return a->task.far_b ? 1 : -1;
  if (a->turn_b != b->turn_b) return a->turn_b < b->turn_b ? -1 : 1;
  if (a->task.far_a != b->task.far_a) return a->task.far_a ? 1 : -1;
  if (a->turn_a != b->turn_a) return a->turn_a < b->turn_a ? -1 : 1;
  return a->task.start < b->task.start ? -1 : a->task.start > b->task.start;
}

static keyed make_task(const gemm_plan *plan, int64_t start, int64_t size,
                       const osla_gemm_options *options)
{
  const local_view *a = &plan->a, *b = &plan->b, *c = &plan->c;
  keyed k = {.task = {.start = start, .size = size}};
  k.task.b_prow = osla_index_owner(start, b->mb, b->p);
  k.task.a_pcol = osla_index_owner(start, a->nb, a->q);
  k.task.far_b = is_far(b, rank_at(b, k.task.b_prow, b->pcol), options);
  k.task.far_a = is_far(a, rank_at(a, a->prow, k.task.a_pcol), options);
  k.turn_b = (k.task.b_prow - c->prow + c->p) % c->p;
  k.turn_a = (k.task.a_pcol - c->pcol + c->q) % c->q;
  return k;
}

osla_err osla_gemm_plan(gemm_plan *plan, const osla_gemm_options *options)
{
  const local_view *a = &plan->a, *c = &plan->c;
  int64_t k = a->n;
  /* One process has all of k: a single product. */
  int64_t width = c->p == 1 && c->q == 1 && k > 0 ? k : a->nb;
  int64_t count = c->rows > 0 && c->cols > 0 ? (k + width - 1) / width : 0;
  keyed *list = malloc((size_t)count * sizeof *list + 1);
  plan->tasks = malloc((size_t)count * sizeof *plan->tasks + 1);
  if (!list || !plan->tasks) {
    free(list);
    return osla_error_set(OSLA_ERR_MEM, "list of %" PRId64 " gemm tasks", count);
  }
  for (int64_t i = 0; i < count; i++)
    list[i] = make_task(plan, i * width, k - i * width < width ? k - i * width : width, options);
  qsort(list, (size_t)count, sizeof *list, compare);
  for (int64_t i = 0; i < count; i++)
    plan->tasks[i] = list[i].task;
  plan->n_tasks = count;
  free(list);
  return OSLA_OK;
}

void osla_gemm_plan_free(gemm_plan *plan)
{
  free(plan->tasks);
  plan->tasks = NULL;
}
