/* One small exchange between the p ranks of a process column: each writes a record and reads those
 * of all others. There are two sets of records, used in turn. That is enough: who writes its record
 * of exchange e + 2 has read all records of e + 1, and these were published by ranks that had read
 * all of e.
 */
#include "lu.h"

static size_t place(const lu *f, uint64_t exchange, int prow)
{
  size_t index = (size_t)(exchange % 2) * (size_t)f->v.p + (size_t)prow;
  return f->records_at + index * f->record_bytes;
}

unsigned char *osla_lu_record_mine(const lu *f)
{
  return (unsigned char *)osla_segment_local(f->store) + place(f, f->column_exchanges, f->v.prow);
}

osla_err osla_lu_record_publish(lu *f, size_t bytes)
{
  const local_view *v = &f->v;
  size_t offset = place(f, f->column_exchanges, v->prow);
  const void *mine = osla_lu_record_mine(f);
  osla_posted *posts = f->column_posts + (f->column_exchanges % 2) * (uint64_t)v->p;
  f->column_exchanges++;
  for (int i = 1; i < v->p; i++) {
    int prow = (v->prow + i) % v->p, target = rank_at(v, prow, v->pcol);
    bool near = osla_segment_peer(f->store, target) != NULL;
    OSLA_CALL(osla_put_notify_post(f->store, target, offset, mine, near ? 0 : bytes, LU_COLUMN,
                                   f->column_exchanges, &posts[prow]));
  }
  return osla_lu_finish_posts(f, f->column_posts, f->column_exchanges); /* the next record's */
}

const unsigned char *osla_lu_record_of(const lu *f, int prow)
{
  const local_view *v = &f->v;
  int origin = rank_at(v, prow, v->pcol);
  if (prow != v->prow) osla_notify_wait(f->store, origin, LU_COLUMN, f->column_exchanges);
  const unsigned char *base = osla_segment_peer(f->store, origin);
  if (!base) base = osla_segment_local(f->store);
  return base + place(f, f->column_exchanges - 1, prow);
}
