/* Memory that a Cholesky factorisation needs on a rank, computed from sizes alone. The set-up uses
 * the same functions. */
#include "kernels/chol/chol_shape.h"

static int gcd(int a, int b)
{
  return b == 0 ? a : gcd(b, a % b);
}

void osli_chol_set_lcm(chol *f)
{
  f->common = gcd(f->n_prows, f->n_pcols);
  f->lcm = f->n_prows / f->common * f->n_pcols;
}

bool osli_chol_copies_columns(const chol *f)
{
  return !f->is_whole && !(f->v.matrix && osla_matrix_is_triangle(f->v.matrix));
}

size_t osli_chol_columns_bytes(const chol *f)
{
  if (!osli_chol_copies_columns(f)) return 0;
  return (size_t)f->n_cols * (size_t)f->v.nb * f->v.element;
}

osla_panels_plan osli_chol_panels_plan(const chol *f, bool several_nodes)
{
  const local_view *v = &f->v;
  size_t width = (size_t)v->nb * v->element;
  int64_t rows = osla_index_count(v->n, v->nb, 0, f->n_prows);
  bool lower = f->uplo == OSLA_LOWER;
  osla_panels_plan plan = {
    .steps = f->steps, .look_ahead = f->look_ahead, .forward = f->forward, .readable = f->readable};
  plan.kind[PANEL_DIAGONAL] =
    (osla_panels_kind){.used = true, .in_column = lower, .room = (size_t)v->nb * width};
  plan.kind[PANEL_ROWS] =
    (osla_panels_kind){.used = true, .in_column = !lower, .room = (size_t)rows * width};
  /* Room for all blocks that one owner sends to one process column: at most every lcm-th block of
   * the panel. */
  plan.kind[PANEL_COLS] =
    (osla_panels_kind){.used = several_nodes || !f->readable,
                       .in_column = lower,
                       .in_buffer = true,
                       .stride = f->common,
                       .room = (size_t)((f->steps + f->lcm - 1) / f->lcm) * (size_t)v->nb * width};
  return plan;
}

/* Returns the bytes of a factorisation's buffers: the panels that a rank sends and receives,
 * and, for a full matrix, the copy of one panel. */
static uint64_t memory_of(const osla_shape *s, bool is_triangle)
{
  chol f = {.v = {.element = s->element, .n = s->n, .nb = s->nb},
            .uplo = OSLA_LOWER,
            .look_ahead = 1,
            .readable = true,
            .n_prows = s->nprow,
            .n_pcols = s->npcol,
            .n_cols = s->cols,
            .steps = (s->n + s->nb - 1) / s->nb};
  osli_chol_set_lcm(&f);
  osla_panels_plan plan = osli_chol_panels_plan(&f, s->nodes > 1);
  return (is_triangle ? 0 : osli_chol_columns_bytes(&f)) + osli_panels_memory(&plan, s);
}

uint64_t osla_chol_memory(const osla_shape *s)
{
  return memory_of(s, false);
}

uint64_t osla_chol_triangle_memory(const osla_shape *s)
{
  return memory_of(s, true);
}
