/* Replays a recorded run of an iteration. The part of each rank makes its next sweep as soon as the
 * messages that this sweep read are available. When a part reaches a state that another part reads,
 * the message is packed at once, so that only messages that were sent and not yet read are stored.
 */
#include "tests/kernels/replay_reference.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A message with the values of a halo of one rank's part. */
typedef struct message message;
struct message {
  message *next;
  int64_t depth;
  double values[];
};
typedef struct inlet {
  int from;   /* rank that sends the halo */
  int theirs; /* index of the halo in the list of the sending rank */
  int64_t *versions;
  int64_t n;             /* number of versions of the halo that the run read */
  int64_t packed;        /* number of versions that the replay has packed so far */
  message *first, *last; /* first and last of the messages that were packed and not yet read */
  int64_t depth;         /* depth of the message read last */
} inlet;

typedef struct part {
  const osla_fixed_point *p;
  const osla_record *record;
  double *x, *spare, *memory, *returned;
  inlet *links; /* [n_halos] */
  int64_t sweeps, reading;
  int64_t depth, returned_depth;
} part;

typedef struct replay {
  int n;
  double omega;
  part *parts;
} replay;

/* ---- set-up of a replay ---- */

static osla_err find_sender(const replay *r, int to, int h, inlet *out)
{
  const osla_halo *mine = &r->parts[to].p->halos[h];
  const bool there = mine->peer >= 0 && mine->peer < r->n && mine->peer != to;
  out->theirs = -1;
  for (int k = 0; there && k < r->parts[mine->peer].p->n_halos; k++) {
    const osla_halo *halo = &r->parts[mine->peer].p->halos[k];
    if (halo->peer == to && halo->tag == mine->tag && halo->send == mine->recv) out->theirs = k;
  }
  out->from = mine->peer;
  OSLA_CHECK(out->theirs >= 0, OSLA_ERR_ARG,
             "replay: halo %d of rank %d (peer %d, tag %d, %" PRId64 " numbers) has no sender", h,
             to, mine->peer, mine->tag, mine->recv);
  return OSLA_OK;
}

static osla_err check_record(const part *p, int rank)
{
  const osla_record *r = p->record;
  OSLA_CHECK(r->complete, OSLA_ERR_ARG, "replay: the record of rank %d is not complete", rank);
  OSLA_CHECK(r->returned >= 0 && r->returned <= r->sweeps && r->n_readings >= 0, OSLA_ERR_ARG,
             "replay: the record of rank %d has %" PRId64 " readings, and returned sweep %" PRId64
             " of %" PRId64,
             rank, r->n_readings, r->returned, r->sweeps);
  for (int h = 0; h < p->p->n_halos; h++)
    OSLA_CHECK(!r->values || r->stride >= p->p->halos[h].recv, OSLA_ERR_ARG,
               "replay: rank %d has %" PRId64 " values for each reading, and its halo %d %" PRId64,
               rank, r->stride, h, p->p->halos[h].recv);
  for (int64_t k = 0; k < r->n_readings; k++) {
    const osla_reading *one = &r->readings[k];
    OSLA_CHECK(one->halo >= 0 && one->halo < p->p->n_halos &&
                 one->sweep >= (k > 0 ? one[-1].sweep : 0) && one->version >= 0,
               OSLA_ERR_ARG,
               "replay: reading %" PRId64 " of rank %d: sweep %" PRId64 ", version %" PRId64
               ", halo %d",
               k, rank, one->sweep, one->version, one->halo);
  }
  return OSLA_OK;
}

static osla_err list_versions(part *p, int rank)
{
  const osla_record *r = p->record;
  for (int64_t k = 0; k < r->n_readings; k++)
    p->links[r->readings[k].halo].n++;
  for (int h = 0; h < p->p->n_halos; h++) {
    p->links[h].versions = calloc((size_t)p->links[h].n + 1, sizeof *p->links[h].versions);
    OSLA_CHECK(p->links[h].versions, OSLA_ERR_MEM, "replay: readings of rank %d", rank);
    p->links[h].n = 0;
  }
  for (int64_t k = 0; k < r->n_readings; k++) {
    const osla_reading *one = &r->readings[k];
    inlet *l = &p->links[one->halo];
    OSLA_CHECK(l->n == 0 || one->version >= l->versions[l->n - 1], OSLA_ERR_ARG,
               "replay: rank %d reads version %" PRId64 " of halo %d after version %" PRId64, rank,
               one->version, one->halo, l->versions[l->n - 1]);
    l->versions[l->n++] = one->version;
  }
  return OSLA_OK;
}

static osla_err open_part(replay *r, int rank, double *x)
{
  part *p = &r->parts[rank];
  OSLA_CHECK(p->p->length >= 0 && p->p->n_halos >= 0, OSLA_ERR_ARG,
             "replay: rank %d has a state of %" PRId64 " numbers and %d halos", rank, p->p->length,
             p->p->n_halos);
  const size_t bytes = ((size_t)p->p->length + 1) * sizeof(double);
  p->x = x;
  p->links = calloc((size_t)p->p->n_halos + 1, sizeof *p->links);
  p->memory = malloc(bytes);
  p->returned = malloc(bytes);
  OSLA_CHECK(p->links && p->memory && p->returned, OSLA_ERR_MEM,
             "replay: two states of %" PRId64 " numbers", p->p->length);
  p->spare = p->memory;
  memcpy(p->memory, x, bytes - sizeof(double));
  OSLA_CALL(check_record(p, rank));
  for (int h = 0; h < p->p->n_halos; h++)
    OSLA_CALL(find_sender(r, rank, h, &p->links[h]));
  return p->record->values ? OSLA_OK : list_versions(p, rank);
}

static void drop_first(inlet *l)
{
  message *m = l->first;
  l->first = m->next;
  if (!l->first) l->last = NULL;
  free(m);
}

static void close_part(part *p)
{
  for (int h = 0; p->links && h < p->p->n_halos; h++) {
    while (p->links[h].first)
      drop_first(&p->links[h]);
    free(p->links[h].versions);
  }
  free(p->links);
  free(p->memory);
  free(p->returned);
}

/* ---- sweeps of a replay ---- */

/* Packs the messages for all parts that read the present state of the part of `rank`. */
static osla_err pack_messages(replay *r, int rank)
{
  part *p = &r->parts[rank];
  for (int h = 0; h < p->p->n_halos; h++) {
    const osla_halo *halo = &p->p->halos[h];
    part *to = &r->parts[halo->peer];
    for (int k = 0; k < to->p->n_halos; k++) {
      inlet *l = &to->links[k];
      if (l->from != rank || l->theirs != h) continue;
      for (; l->packed < l->n && l->versions[l->packed] == p->sweeps; l->packed++) {
        message *m = malloc(sizeof *m + (size_t)halo->send * sizeof *m->values);
        OSLA_CHECK(m, OSLA_ERR_MEM, "replay: a message of %" PRId64 " numbers", halo->send);
        m->next = NULL;
        m->depth = p->depth;
        p->p->pack(p->p->arg, h, p->x, m->values);
        if (l->last)
          l->last->next = m;
        else
          l->first = m;
        l->last = m;
      }
    }
  }
  return OSLA_OK;
}

static void unpack_both(part *p, int h, const double *values)
{
  p->p->unpack(p->p->arg, h, values, p->x);
  p->p->unpack(p->p->arg, h, values, p->spare);
}

/* Reads the messages that the next sweep of a part uses. Returns false if one of them is not
 * available yet. */
static bool read_halos(part *p)
{
  const osla_record *r = p->record;
  for (; p->reading < r->n_readings && r->readings[p->reading].sweep == p->sweeps; p->reading++) {
    const int h = r->readings[p->reading].halo;
    if (r->values) {
      unpack_both(p, h, r->values + p->reading * r->stride);
      continue;
    }
    inlet *l = &p->links[h];
    if (!l->first) return false;
    unpack_both(p, h, l->first->values);
    l->depth = l->first->depth;
    drop_first(l);
  }
  return true;
}

static void save_returned(part *p)
{
  if (p->sweeps != p->record->returned) return;
  if (p->p->length > 0) memcpy(p->returned, p->x, (size_t)p->p->length * sizeof *p->x);
  p->returned_depth = p->depth;
}

static osla_err sweep_part(replay *r, int rank)
{
  part *p = &r->parts[rank];
  int64_t depth = p->depth;
  for (int h = 0; h < p->p->n_halos; h++)
    if (p->links[h].depth < depth) depth = p->links[h].depth;
  (void)p->p->sweep(p->p->arg, r->omega, p->x, p->spare);
  double *from = p->x;
  p->x = p->spare;
  p->spare = from;
  p->sweeps++;
  p->depth = depth + 1;
  save_returned(p);
  return pack_messages(r, rank);
}

static osla_err report_stuck(const replay *r)
{
  for (int rank = 0; rank < r->n; rank++) {
    const part *p = &r->parts[rank];
    if (p->sweeps == p->record->sweeps) continue;
    const osla_reading *at = &p->record->readings[p->reading];
    return osla_error_set(OSLA_ERR_ARG,
                          "replay: sweep %" PRId64 " of rank %d reads version %" PRId64
                          " of rank %d, which cannot have been made",
                          p->sweeps, rank, at->version, p->links[at->halo].from);
  }
  return OSLA_OK;
}

static osla_err make_sweeps(replay *r)
{
  bool moves = true;
  for (int rank = 0; rank < r->n; rank++) {
    save_returned(&r->parts[rank]);
    OSLA_CALL(pack_messages(r, rank));
  }
  while (moves) {
    moves = false;
    for (int rank = 0; rank < r->n; rank++) {
      part *p = &r->parts[rank];
      for (; p->sweeps < p->record->sweeps && read_halos(p); moves = true)
        OSLA_CALL(sweep_part(r, rank));
    }
  }
  return report_stuck(r);
}

/* Copies the state that each rank returned, with its halos, to x. */
static osla_err copy_returned(replay *r, double *const *x)
{
  for (int rank = 0; rank < r->n; rank++) {
    const part *p = &r->parts[rank];
    if (p->p->length > 0) memcpy(x[rank], p->returned, (size_t)p->p->length * sizeof **x);
  }
  for (int rank = 0; rank < r->n; rank++) {
    const part *p = &r->parts[rank];
    for (int h = 0; h < p->p->n_halos; h++) {
      const part *from = &r->parts[p->links[h].from];
      double *values = malloc(((size_t)p->p->halos[h].recv + 1) * sizeof *values);
      OSLA_CHECK(values, OSLA_ERR_MEM, "replay: a message");
      from->p->pack(from->p->arg, p->links[h].theirs, x[p->links[h].from], values);
      p->p->unpack(p->p->arg, h, values, x[rank]);
      free(values);
    }
  }
  return OSLA_OK;
}

osla_err replay_records(int n, const osla_fixed_point *parts, const osla_record *records,
                        double omega, double *const *x, int64_t *depth)
{
  OSLA_CHECK(n >= 1, OSLA_ERR_ARG, "replay: %d ranks", n);
  replay r = {
    .n = n, .omega = omega == 0.0 ? 1.0 : omega, .parts = calloc((size_t)n, sizeof *r.parts)};
  OSLA_CHECK(r.parts, OSLA_ERR_MEM, "replay: %d ranks", n);
  osla_err err = OSLA_OK;
  for (int rank = 0; rank < n; rank++) {
    r.parts[rank].p = &parts[rank];
    r.parts[rank].record = &records[rank];
    if (!records[rank].values != !records[0].values)
      err = osla_error_set(OSLA_ERR_ARG, "replay: of ranks 0 and %d one has values", rank);
  }
  for (int rank = 0; err == OSLA_OK && rank < n; rank++)
    err = open_part(&r, rank, x[rank]);
  if (err == OSLA_OK) err = make_sweeps(&r);
  if (err == OSLA_OK) err = copy_returned(&r, x);
  int64_t least = INT64_MAX;
  for (int rank = 0; rank < n; rank++) {
    const part *p = &r.parts[rank];
    if (p->record->values) least = 0;
    if (p->p->length > 0 && p->returned_depth < least) least = p->returned_depth;
    close_part(&r.parts[rank]);
  }
  if (depth) *depth = least == INT64_MAX ? 0 : least;
  free(r.parts);
  return err;
}
