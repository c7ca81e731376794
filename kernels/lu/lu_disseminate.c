/* Dissemination of records between teams. Two sets of slots, used alternately, are enough: a rank
 * that begins exchange e + 2 has received data from all ranks in exchange e + 1, and each of them
 * had finished exchange e before. */
#include "kernels/lu/lu_disseminate.h"
#include "src/blas/move.h"

enum { TEAM = 4 }; /* Most members of a team; each member notifies all others. */

/* Divides each run of consecutive process rows on one node into teams of nearly equal size. If
 * ranks share cores, every rank is a team of its own, because the members of a larger team would
 * wait for one another's turn on a core. */
void osli_lu_teams_choose(lu *f)
{
  const local_view *v = &f->v;
  lu_teams *t = &f->teams;
  t->count = 0;
  t->carriers = TEAM;
  for (int prow = 0, run; v->pcol >= 0 && prow < v->p; prow += run) {
    int node = osla_transport_node_of(v->t, rank_at(v, prow, v->pcol));
    for (run = 1; f->has_own_cores && prow + run < v->p; run++)
      if (osla_transport_node_of(v->t, rank_at(v, prow + run, v->pcol)) != node) break;
    int parts = (run + TEAM - 1) / TEAM;
    for (int i = 0; i < parts; i++) {
      int first = prow + (int)((int64_t)run * i / parts);
      int end = prow + (int)((int64_t)run * (i + 1) / parts);
      if (v->prow >= first && v->prow < end) t->mine = t->count;
      if (end - first < t->carriers) t->carriers = end - first;
      t->first[t->count++] = first;
    }
  }
  t->first[t->count] = v->p;
}

/* Number of rounds between teams. Each set has slots for the own record in each combination of a
 * team, for the record received in each round, and for the record sent in each round. */
static int rounds_of(int teams, int carriers)
{
  int rounds = 0;
  for (int64_t known = 1; known < teams; known *= carriers + 1)
    rounds++;
  return rounds;
}

int osli_lu_dissemination_slots(int p)
{
  return 3 * rounds_of(p, 1) + 1;
}

/* A dissemination under way. */
typedef struct dissemination {
  uint64_t exchange, word; /* index of the exchange; notify value before its first message */
  int rounds;
  void *record;
  size_t bytes;
} dissemination;

static unsigned char *slot_at(const lu *f, int prow, const dissemination *x, int slot)
{
  unsigned char *store = osla_segment_peer(f->store, rank_at(&f->v, prow, f->v.pcol));
  return store + osli_lu_slot_offset(f, x->exchange, slot);
}

/* Combines the records of this rank's team into x->record. */
static osla_err combine_in_team(lu *f, const lu_step *s, const dissemination *x, int meeting,
                                lu_add *add)
{
  const local_view *v = &f->v;
  const lu_teams *t = &f->teams;
  const int first = t->first[t->mine], end = t->first[t->mine + 1];
  const uint64_t word = x->word + 2 * (uint64_t)meeting + 1;
  if (end - first == 1) return OSLA_OK;
  memcpy(slot_at(f, v->prow, x, meeting), x->record, x->bytes);
  for (int prow = first; prow < end; prow++)
    if (prow != v->prow)
      OSLA_CALL(osla_notify(f->store, rank_at(v, prow, v->pcol), LU_COLUMN, word));
  for (int prow = first; prow < end; prow++) {
    if (prow == v->prow) continue;
    osla_notify_wait(f->store, rank_at(v, prow, v->pcol), LU_COLUMN, word);
    OSLA_CALL(add(f, s, x->record, slot_at(f, prow, x, meeting)));
  }
  return OSLA_OK;
}

/* One round between teams: sends x->record to the team `step` positions after this rank's team, and
 * adds the record of the team `step` positions before it. The partner is the member with this
 * rank's number in its team. */
static osla_err exchange_with_teams(lu *f, const lu_step *s, const dissemination *x, int round,
                                    int step, lu_add *add)
{
  const local_view *v = &f->v;
  const lu_teams *t = &f->teams;
  const int number = v->prow - t->first[t->mine];
  const int to = t->first[(t->mine + step) % t->count] + number;
  const int from = t->first[(t->mine + t->count - step) % t->count] + number;
  const int in = x->rounds + 1 + round, out = in + x->rounds;
  const uint64_t word = x->word + 2 * (uint64_t)round + 2;
  unsigned char *copy = slot_at(f, v->prow, x, out);
  memcpy(copy, x->record, x->bytes);
  OSLA_CALL(osla_put_notify_post(
    f->store, rank_at(v, to, v->pcol), osli_lu_slot_offset(f, x->exchange, in), copy, x->bytes,
    LU_COLUMN, word, &f->column_posts[(x->exchange % 2) * (uint64_t)v->p + (uint64_t)round]));
  osla_notify_wait(f->store, rank_at(v, from, v->pcol), LU_COLUMN, word);
  return add(f, s, x->record, slot_at(f, v->prow, x, in));
}

osla_err osli_lu_disseminate(lu *f, const lu_step *s, void *record, size_t bytes, lu_add *add)
{
  const lu_teams *t = &f->teams;
  const int number = f->v.prow - t->first[t->mine];
  dissemination x = {.exchange = f->column_exchanges++, .record = record, .bytes = bytes};
  x.rounds = rounds_of(t->count, t->carriers);
  x.word = x.exchange * (2 * (uint64_t)x.rounds + 2);
  /* posts that used this set two exchanges ago */
  OSLA_CALL(osli_lu_finish_posts(f, f->column_posts, x.exchange));
  OSLA_CALL(combine_in_team(f, s, &x, 0, add));
  for (int round = 0, known = 1; round < x.rounds; round++, known *= t->carriers + 1) {
    int step = (int)((int64_t)(number + 1) * known % t->count);
    if (number < t->carriers && step > 0)
      OSLA_CALL(exchange_with_teams(f, s, &x, round, step, add));
    OSLA_CALL(combine_in_team(f, s, &x, round + 1, add));
  }
  return OSLA_OK;
}
