/* Publication of panels along process rows by put and notify (Krishnan et al., section III.B).
 *
 * A rank that can read the memory of a panel's owner reads L in the matrix, and reads the head
 * (pivots and top block) in the store, which keeps the heads of all panels. Other nodes get a
 * packed copy of both (panels.h). Where one rank factors whole panels, because the process column
 * lies on one node, that rank notifies all ranks of its node. The other ranks of its process column
 * then publish their own rows. */
#include "kernels/lu/lu_publish.h"
#include "kernels/lu/lu_memory.h"
#include "kernels/lu/lu_panel.h"
#include "osla_device.h"
#include "src/blas/move.h"

enum { LINE = 64 };

/* Addresses of the parts of a head. */
static lu_panel parts(const lu *f, const void *head)
{
  unsigned char *at = (unsigned char *)(uintptr_t)head;
  return (lu_panel){.head = (const lu_head *)at,
                    .pivots = (const int64_t *)(at + LINE),
                    .top = {at + osli_lu_index_bytes(f->v.nb), f->v.nb}};
}

static size_t head_offset(const lu *f, const lu_step *s)
{
  return (size_t)(s->k / f->v.q) * f->head_bytes;
}

lu_panel osli_lu_my_panel(const lu *f, const lu_step *s)
{
  lu_panel p = parts(f, (unsigned char *)osla_segment_local(f->store) + head_offset(f, s));
  p.l = (operand){local_at(&f->v, s->row_after, s->col), f->v.lld};
  return p;
}

static size_t panel_rows(const lu *f, int64_t k)
{
  lu_step s = osli_lu_step_make(f, k);
  return (size_t)(f->v.rows - s.row_after);
}

/* Returns the bytes of panel k with its head; 0 for ranks outside the panel's process column
 * (member `bytes` of osla_panels_plan). */
static size_t panel_bytes(const void *kernel, panel_kind kind, int64_t k, int root)
{
  const lu *f = kernel;
  lu_step s = osli_lu_step_make(f, k);
  (void)kind;
  if (root != s.pcol) return 0;
  return f->head_bytes + panel_rows(f, k) * (size_t)s.size * f->v.element;
}

static int diagonal_owner(const lu *f, const lu_step *s)
{
  return rank_at(&f->v, s->prow, s->pcol);
}

/* Head of the panel that is valid for this rank's process row. It is in the store of the rank of
 * this process row, or of the owner of the diagonal block if that rank factors whole panels. */
static const unsigned char *head_of(const lu *f, const lu_step *s)
{
  int rank = f->gathers_panels ? diagonal_owner(f, s) : rank_at(&f->v, f->v.prow, s->pcol);
  return (unsigned char *)osla_segment_peer(f->store, rank) + head_offset(f, s);
}

static bool is_complete(const lu *f, const lu_step *s)
{
  if (f->gathers_panels && f->v.prow != s->prow)
    return osli_panels_rank_has_notified(f->panels, s->k, diagonal_owner(f, s));
  return atomic_load(&f->factored) > s->k;
}

static bool panel_ready(void *kernel, panel_kind kind, int64_t k, void *room)
{
  const lu *f = kernel;
  const local_view *v = &f->v;
  lu_step s = osli_lu_step_make(f, k);
  (void)kind;
  if (!is_complete(f, &s)) return false;
  if (!room) return true;
  int64_t rows = v->rows - s.row_after;
  double since = osla_trace_now(v->t);
  osli_move_message(room, head_of(f, &s), f->head_bytes);
  if (rows > 0) /* without rows there may be no local array */
    osli_pack(v->element, rows, s.size, local_at(v, s.row_after, s.col), v->lld,
              (unsigned char *)room + f->head_bytes);
  osla_trace_add(v->t, OSLA_TRACE_PACK, since, (double)panel_bytes(f, PANEL_ROWS, k, s.pcol));
  return true;
}

osla_err osli_lu_panels_create(lu *f)
{
  osla_panels_plan plan = osli_lu_panels_plan(f);
  plan.kernel = f;
  plan.device = osla_matrix_device(f->v.matrix);
  plan.bytes = panel_bytes;
  plan.ready = panel_ready;
  return osli_panels_create(f->v.grid, &plan, &f->panels);
}

osla_err osli_lu_publish(lu *f, const lu_step *s)
{
  const local_view *v = &f->v;
  if (f->gathers_panels && v->prow != s->prow) return OSLA_OK;
  /* complete queued work first: as soon as f->factored has changed, a progress step may pack the
   * panel */
  osli_device_settle_kept(SETTLE_NOTIFY);
  atomic_store(&f->factored, s->k + 1);
  if (!f->gathers_panels) return OSLA_OK;
  for (int i = 0; i < v->p; i++) /* notifies all ranks of the node, which read the panel in place */
    for (int j = 0; j < v->q; j++) {
      int rank = rank_at(v, (v->prow + i) % v->p, (v->pcol + j) % v->q);
      if ((i > 0 || j > 0) && osla_transport_same_node(v->t, rank))
        OSLA_CALL(osli_panels_notify_rank(f->panels, s->k, rank));
    }
  return OSLA_OK;
}

lu_panel osli_lu_receive(lu *f, const lu_step *s)
{
  const local_view *v = &f->v;
  int l_owner = rank_at(v, v->prow, s->pcol),
      owner = diagonal_owner(f, s); /* l_owner is the rank that has L for this rank's process row */
  const void *copy = NULL;
  bool near = f->gathers_panels && osla_transport_same_node(v->t, owner);
  if (near && owner != osla_transport_rank(v->t))
    osli_panels_wait_rank(f->panels, s->k, owner);
  else if (!near && v->pcol != s->pcol)
    copy = osli_panels_wait(f->panels, PANEL_ROWS, s->k, s->pcol);
  int64_t rows = v->rows - s->row_after;
  lu_panel p = parts(f, copy ? copy : head_of(f, s));
  if (copy) {
    p.l = (operand){(unsigned char *)(uintptr_t)copy + f->head_bytes, rows > 1 ? rows : 1};
  } else {
    p.l.at = peer_at(v, l_owner, s->row_after, osla_index_local(s->start, v->nb, v->q));
    p.l.ld = osla_matrix_lld(v->matrix, l_owner);
  }
  p.triangle = p.top;
  /* the host reads the pivots and the top block, so they are copied to host memory */
  if (osli_device_of(copy)) {
    const operand l = p.l, top = p.top;
    osli_move_bytes(f->head_copy, copy, f->head_bytes);
    p = parts(f, f->head_copy);
    p.l = l;
    p.triangle = top;
  } else if (osla_matrix_device(v->matrix))
    p.triangle = (operand){peer_at(v, owner, osla_index_local(s->start, v->mb, v->p),
                                   osla_index_local(s->start, v->nb, v->q)),
                           osla_matrix_lld(v->matrix, owner)};
  return p;
}

bool osli_lu_panel_has_arrived(lu *f, const lu_step *s)
{
  const void *at;
  if (s->mine) return atomic_load(&f->factored) > s->k;
  return osli_panels_has_arrived(f->panels, PANEL_ROWS, s->k, s->pcol, &at);
}
