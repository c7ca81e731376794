/* Exchanges of small records between the p ranks of a process column.
 *
 * Exchange of records: each rank writes one record and reads the records of all others. Two sets of
 * records, used alternately, are enough. A rank that writes its record of exchange e + 2 has read
 * all records of exchange e + 1. Each of these was published by a rank that had read all records of
 * exchange e.
 *
 * Combination: each rank contributes a record, and every rank gets the combination of all records.
 * With many process rows it takes log2 p rounds by recursive doubling (R. Thakur, R. Rabenseifner,
 * W. Gropp, "Optimization of Collective Communication Operations in MPICH", IJHPCA 19, 2005,
 * section 4.5). In round r the ranks whose process rows differ in bit r exchange what they have
 * combined so far. Ranks beyond the largest power of two first send their record to a rank below
 * it, and get the result from that rank. Two ranks exchange at most one message in each direction
 * per combination, so two sets are enough here, too. A rank that sends in combination e + 2 has
 * received a message of combination e + 1 from its partner. The partner had finished combination e
 * before it sent that message. */
#include "kernels/lu/lu_column.h"
#include "src/blas/move.h"

/* ---- records ---- */

/* Offset in bytes in f->store of a slot of an exchange. */
static size_t slot_offset(const lu *f, uint64_t exchange, int slot)
{
  size_t index = (size_t)(exchange % 2) * (size_t)f->n_records + (size_t)slot;
  return f->records_at + index * f->record_bytes;
}

unsigned char *osli_lu_my_record(const lu *f)
{
  return (unsigned char *)osla_segment_local(f->store) +
         slot_offset(f, f->column_exchanges, f->v.prow);
}

osla_err osli_lu_record_publish(lu *f, size_t bytes)
{
  const local_view *v = &f->v;
  size_t offset = slot_offset(f, f->column_exchanges, v->prow);
  const void *mine = osli_lu_my_record(f);
  osla_posted *posts = f->column_posts + (f->column_exchanges % 2) * (uint64_t)v->p;
  f->column_exchanges++;
  for (int i = 1; i < v->p; i++) {
    int prow = (v->prow + i) % v->p, target = rank_at(v, prow, v->pcol);
    bool near = osla_segment_peer(f->store, target) != NULL;
    OSLA_CALL(osla_put_notify_post(f->store, target, offset, mine, near ? 0 : bytes, LU_COLUMN,
                                   f->column_exchanges, &posts[prow]));
  }
  /* waits for the posts that used the set of records of the next exchange */
  return osli_lu_finish_posts(f, f->column_posts, f->column_exchanges);
}

const unsigned char *osli_lu_record_of(const lu *f, int prow)
{
  const local_view *v = &f->v;
  int origin = rank_at(v, prow, v->pcol);
  if (prow != v->prow) osla_notify_wait(f->store, origin, LU_COLUMN, f->column_exchanges);
  const unsigned char *base = osla_segment_peer(f->store, origin);
  if (!base) base = osla_segment_local(f->store);
  return base + slot_offset(f, f->column_exchanges - 1, prow);
}

/* ---- combinations ---- */

/* Slots of a set in a combination over p ranks: IN_SLOT holds the record of a rank beyond the
 * largest power of two that is at most p, OUT_SLOT the result for such a rank, and ROUND_SLOT and
 * the following slots the record received in each round. The second half of a set contains copies
 * of the sent records. */
enum { IN_SLOT, OUT_SLOT, ROUND_SLOT };

static int rounds_of(int p)
{
  int rounds = 0;
  while ((2 << rounds) <= p)
    rounds++;
  return rounds;
}

int osli_lu_combination_slots(int p)
{
  return 2 * (ROUND_SLOT + rounds_of(p));
}

static unsigned char *slot_at(const lu *f, uint64_t exchange, int slot)
{
  return (unsigned char *)osla_segment_local(f->store) + slot_offset(f, exchange, slot);
}

/* Sends `record` to slot `slot` of process row `prow`. A copy stays in this rank's store until the
 * message has arrived. */
static osla_err send(lu *f, uint64_t exchange, int prow, int slot, const void *record, size_t bytes)
{
  const local_view *v = &f->v;
  unsigned char *copy = slot_at(f, exchange, f->n_records / 2 + slot);
  osla_posted *posts = f->column_posts + (exchange % 2) * (uint64_t)v->p;
  osli_move_message(copy, record, bytes);
  return osla_put_notify_post(f->store, rank_at(v, prow, v->pcol), slot_offset(f, exchange, slot),
                              copy, bytes, LU_COLUMN, exchange + 1, &posts[prow]);
}

static const void *receive(const lu *f, uint64_t exchange, int prow, int slot)
{
  const local_view *v = &f->v;
  osla_notify_wait(f->store, rank_at(v, prow, v->pcol), LU_COLUMN, exchange + 1);
  return slot_at(f, exchange, slot);
}

osla_err osli_lu_combine(lu *f, const lu_step *s, void *record, size_t bytes, lu_add *add)
{
  const local_view *v = &f->v;
  uint64_t exchange = f->column_exchanges++;
  int me = v->prow, rounds = rounds_of(v->p), below = 1 << rounds;
  /* waits for the posts of two exchanges ago, which used the same set of slots */
  OSLA_CALL(osli_lu_finish_posts(f, f->column_posts, exchange));
  if (me >= below) {
    OSLA_CALL(send(f, exchange, me - below, IN_SLOT, record, bytes));
    osli_move_message(record, receive(f, exchange, me - below, OUT_SLOT), bytes);
    return OSLA_OK;
  }
  if (me + below < v->p) OSLA_CALL(add(f, s, record, receive(f, exchange, me + below, IN_SLOT)));
  for (int r = 0; r < rounds; r++) {
    int partner = me ^ (1 << r);
    OSLA_CALL(send(f, exchange, partner, ROUND_SLOT + r, record, bytes));
    OSLA_CALL(add(f, s, record, receive(f, exchange, partner, ROUND_SLOT + r)));
  }
  if (me + below < v->p) OSLA_CALL(send(f, exchange, me + below, OUT_SLOT, record, bytes));
  return OSLA_OK;
}
