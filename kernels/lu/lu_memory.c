/* Memory that a factorisation needs on a rank, computed from sizes alone. The set-up uses the same
 * functions. */
#include "kernels/lu/lu_memory.h"
#include "kernels/lu/lu_column.h"

enum { LINE = 64 };

/* With at least this many process rows, pivots and tournament rows are found in log p rounds. With
 * fewer process rows it is faster if each rank notifies all other ranks at once. */
enum { COMBINE_FROM = 5 };

bool osli_lu_gathers_panels(int p, bool near, bool own_cores)
{
  return p > 1 && near && (!own_cores || p == 2);
}

static size_t up_to_line(size_t bytes)
{
  return (bytes + LINE - 1) / LINE * LINE;
}

size_t osli_lu_index_bytes(int64_t nb)
{
  return LINE + up_to_line((size_t)nb * sizeof(int64_t));
}

/* Sets the offsets and sizes of the parts of the store. Returns its size in bytes. */
static size_t store_bytes(lu *f)
{
  const local_view *v = &f->v;
  size_t nb = (size_t)v->nb, e = v->element;
  f->head_bytes = osli_lu_index_bytes(v->nb) + up_to_line(nb * nb * e);
  f->rows_at = (size_t)((f->steps + v->q - 1) / v->q) * f->head_bytes;
  if (v->p == 1) return f->rows_at;
  size_t most_rows = (size_t)osla_index_count(v->m, v->mb, 0, v->p), cols = (size_t)v->cols;
  size_t longer = f->column_readable || cols > most_rows ? cols : most_rows;
  f->rows_set = 2 * up_to_line(nb * longer * e);
  f->u_at = f->rows_at + 2 * f->rows_set;
  f->u_set = up_to_line(nb * cols * e);
  f->records_at = f->u_at + 2 * f->u_set;
  /* The largest record is that of a tournament: indices and rows of a whole panel. */
  size_t record = f->pivoting == OSLA_PIVOT_PARTIAL ? 24 + 2 * nb * e : 8 + nb * 8 + nb * nb * e;
  f->record_bytes = up_to_line(record);
  f->combines_records = f->pivoting != OSLA_PIVOT_NONE && v->p >= COMBINE_FROM;
  f->n_records = f->combines_records ? osli_lu_combination_slots(v->p) : v->p;
  return f->records_at + 2 * (size_t)f->n_records * f->record_bytes;
}

lu_sizes osli_lu_sizes(lu *f)
{
  const local_view *v = &f->v;
  size_t width = (size_t)v->nb * v->element, nb = (size_t)v->nb, p = (size_t)v->p;
  size_t rows = (size_t)osla_index_count(v->m, v->mb, 0, v->p);
  size_t store = store_bytes(f);
  /* rows of a whole panel, or of this rank's part */
  size_t tall = f->gathers_panels ? (size_t)v->m : rows;
  f->stack_rows = f->pivoting != OSLA_PIVOT_TOURNAMENT ? 0
                  : f->combines_records                ? 4 * v->nb
                                                       : v->p * v->nb;
  if (tall < (size_t)f->stack_rows) tall = (size_t)f->stack_rows;
  bool uses_scratch = f->column_readable || f->pivoting == OSLA_PIVOT_TOURNAMENT;
  lu_sizes z = {.store = store,
                .pivots = (size_t)f->order + 1,
                .moves = 2 * nb,
                .rows = 4 * nb,
                .candidates = 2 * (rows + (size_t)f->stack_rows),
                .shares = 6 * p,
                .permutation = v->p > 1 ? 2 * (size_t)v->m : 0,
                .scratch = v->p > 1 && uses_scratch ? tall * width : 0,
                .posts = 2 * p,
                .leaders = p};
  return z;
}

osla_panels_plan osli_lu_panels_plan(const lu *f)
{
  const local_view *v = &f->v;
  size_t rows = (size_t)osla_index_count(v->m, v->mb, 0, v->p);
  osla_panels_plan plan = {
    .steps = f->steps, .look_ahead = f->look_ahead, .forward = f->forward, .readable = f->readable};
  plan.kind[PANEL_ROWS] =
    (osla_panels_kind){.used = true, .room = f->head_bytes + rows * (size_t)v->nb * v->element};
  return plan;
}

uint64_t osla_lu_memory(const osla_shape *s)
{
  lu f = {.v = {.dtype = s->dtype,
                .element = s->element,
                .m = s->n,
                .n = s->n,
                .mb = s->nb,
                .nb = s->nb,
                .p = s->nprow,
                .q = s->npcol,
                .rows = s->rows,
                .cols = s->cols},
          .pivoting = OSLA_PIVOT_PARTIAL,
          .look_ahead = 1,
          .readable = true,
          .column_readable = s->columns_near,
          .gathers_panels = osli_lu_gathers_panels(s->nprow, s->columns_near, !s->oversubscribed),
          .order = s->n,
          .steps = (s->n + s->nb - 1) / s->nb};
  lu_sizes z = osli_lu_sizes(&f);
  osla_panels_plan plan = osli_lu_panels_plan(&f);
  uint64_t indices = z.pivots + z.rows + z.candidates + z.shares + z.permutation;
  int origins = s->nprow + s->npcol + s->per_node;
  return osla_segment_footprint(z.store, LU_PURPOSES, origins) + osli_panels_memory(&plan, s) +
         indices * sizeof(int64_t) + z.leaders * sizeof(int) + z.moves * sizeof(lu_move) +
         z.scratch + f.record_bytes + 4 * z.posts * sizeof(osla_posted);
}
