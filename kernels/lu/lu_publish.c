/* Panels on their way along process rows (Krishnan et al., section III.B: put + notify).
 *
 * A rank that can read my memory gets a notify alone: it reads L in the matrix and the head (pivots
 * and top block) in the store, which keeps those of all my panels. Another one gets both put into
 * its buffer, packed. Where one rank factors a whole panel (process columns that lie on one node),
 * it alone publishes it, to all.
 */
#include "lu.h"

#include <string.h>

enum { LINE = 64 };

/* The parts of a head. */
static lu_panel parts(const lu *f, unsigned char *at)
{
  size_t pivots = ((size_t)f->v.nb * sizeof(int64_t) + LINE - 1) / LINE * LINE;
  return (lu_panel){.head = (const lu_head *)at,
                    .pivots = (const int64_t *)(at + LINE),
                    .top = {at + LINE + pivots, f->v.nb}};
}

static size_t head_offset(const lu *f, const lu_step *s)
{
  return (size_t)(s->k / f->v.q) * f->head_bytes;
}

lu_panel osla_lu_panel_mine(const lu *f, const lu_step *s)
{
  lu_panel p = parts(f, (unsigned char *)osla_segment_local(f->store) + head_offset(f, s));
  p.l = (lu_operand){local_at(&f->v, s->row_after, s->col), f->v.lld};
  return p;
}

/* Where they are packed. */
static unsigned char *packed_for(const lu *f, const lu_step *s, int prow)
{
  int64_t set = s->k % osla_panels_depth(f->panels);
  int64_t place = f->gathered ? set * f->v.p + prow : set;
  return f->packed + (size_t)place * f->packed_row;
}

/* Packs the head and process row prow's rows of L for other nodes; returns the bytes. The rank that
 * owns these rows is in my process column, and I can read its memory. */
static size_t pack(const lu *f, const lu_step *s, int prow)
{
  unsigned char *to = packed_for(f, s, prow);
  const local_view *v = &f->v;
  int mate = rank_at(v, prow, v->pcol);
  int64_t row = osla_index_count(s->start + s->size, v->mb, prow, v->p);
  int64_t rows = osla_index_count(v->m, v->mb, prow, v->p) - row;
  size_t bytes = f->head_bytes + (size_t)(rows * s->size) * v->element;
  double since = osla_trace_now(v->t);
  memcpy(to, (unsigned char *)osla_segment_local(f->store) + head_offset(f, s), f->head_bytes);
  if (rows > 0) /* else there may be no local array at all */
    osla_pack(v->element, rows, s->size, peer_at(v, mate, row, s->col),
              osla_matrix_lld(v->matrix, mate), to + f->head_bytes);
  osla_trace_add(v->t, OSLA_TRACE_PACK, since, (double)bytes);
  return bytes;
}

/* To the ranks of a process row. */
static osla_err publish_to_row(lu *f, const lu_step *s, int prow)
{
  const local_view *v = &f->v;
  size_t bytes = 0;
  for (int i = prow == v->prow ? 1 : 0; i < v->q; i++) {
    int target = rank_at(v, prow, (v->pcol + i) % v->q);
    bool far = !in_place(v, target);
    if (far && bytes == 0) bytes = pack(f, s, prow);
    OSLA_CALL(osla_panels_post(f->panels, PANEL_ROWS, s->k, target, 0, packed_for(f, s, prow),
                               far ? bytes : 0));
  }
  return OSLA_OK;
}

osla_err osla_lu_publish(lu *f, const lu_step *s)
{
  const local_view *v = &f->v;
  if (f->gathered && v->prow != s->prow) return OSLA_OK;
  OSLA_CALL(osla_panels_posted(f->panels, s->k)); /* what was packed there has arrived */
  if (!f->gathered) return publish_to_row(f, s, v->prow);
  for (int i = 0; i < v->p; i++)
    OSLA_CALL(publish_to_row(f, s, (v->prow + i) % v->p));
  return OSLA_OK;
}

lu_panel osla_lu_receive(lu *f, const lu_step *s)
{
  const local_view *v = &f->v;
  int mate = rank_at(v, v->prow, s->pcol); /* who has L for my rows */
  int origin = f->gathered ? rank_at(v, s->prow, s->pcol) : mate;
  if (origin == rank_at(v, v->prow, v->pcol)) return osla_lu_panel_mine(f, s);
  osla_panels_wait(f->panels, PANEL_ROWS, s->k, origin);
  if (in_place(v, origin)) {
    unsigned char *store = osla_segment_peer(f->store, origin);
    lu_panel p = parts(f, store + head_offset(f, s));
    p.l.at = peer_at(v, mate, s->row_after, osla_index_local(s->start, v->nb, v->q));
    p.l.ld = osla_matrix_lld(v->matrix, mate);
    return p;
  }
  unsigned char *buffer = osla_panels_buffer(f->panels, PANEL_ROWS, s->k);
  lu_panel p = parts(f, buffer);
  int64_t rows = v->rows - s->row_after;
  p.l = (lu_operand){buffer + f->head_bytes, rows > 1 ? rows : 1};
  return p;
}
