/* Record of a run: the readings, in memory that is allocated before the run, and a selection of the
 * estimates. */
#include "kernels/iterate/iterate.h"
#include "osla_clock.h"
#include "osla_segment.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ESTIMATES = 4096 };

/* Returns the number of readings for which there is room. In mode RACY each reading needs room for
 * the longest message. */
static int64_t room_for(const osla_iteration *it)
{
  const int64_t left = it->o.record_bytes - (int64_t)sizeof(osla_reading);
  if (left < 0 || it->r.stride > left / (int64_t)sizeof(double)) return 0;
  return it->o.record_bytes /
         ((int64_t)sizeof(osla_reading) + it->r.stride * (int64_t)sizeof(double));
}

osla_err osli_record_create(osla_iteration *it)
{
  recorder *r = &it->r;
  if (it->o.record_bytes == 0) return OSLA_OK;
  for (int h = 0; it->o.mode == OSLA_ITERATE_RACY && h < it->p.n_halos; h++)
    if (it->p.halos[h].recv > r->stride) r->stride = it->p.halos[h].recv;
  r->room = room_for(it);
  r->readings = malloc(((size_t)r->room + 1) * sizeof *r->readings);
  r->estimates = malloc(MOST_ESTIMATES * sizeof *r->estimates);
  const bool has_values = it->o.mode == OSLA_ITERATE_RACY;
  if (has_values)
    r->values = malloc((size_t)r->room * (size_t)r->stride * sizeof *r->values + sizeof *r->values);
  OSLA_CHECK(r->readings && r->estimates && (r->values || !has_values), OSLA_ERR_MEM,
             "no memory for a record of %" PRId64 " bytes", it->o.record_bytes);
  return OSLA_OK;
}

void osli_record_destroy(osla_iteration *it)
{
  free(it->r.readings);
  free(it->r.values);
  free(it->r.estimates);
}

void osli_record_begin(osla_iteration *it)
{
  recorder *r = &it->r;
  r->n = r->returned = 0;
  r->is_full = false;
  r->n_estimates = 0;
  r->rounds = 0;
  r->every = 1;
  r->since = osla_clock();
}

void osli_record_reading(osla_iteration *it, int h, int64_t version)
{
  recorder *r = &it->r;
  if (!r->readings) return;
  if (r->n == r->room) {
    r->is_full = true;
    return;
  }
  if (r->values && it->p.halos[h].recv > 0)
    memcpy(r->values + r->n * r->stride, it->message[h],
           (size_t)it->p.halos[h].recv * sizeof *r->values);
  r->readings[r->n++] = (osla_reading){.sweep = it->sweeps, .version = version, .halo = h};
}

/* When the list is full, every second estimate is removed, and from then on only half as many
 * estimates are recorded. */
void osli_record_estimate(osla_iteration *it, double residual)
{
  recorder *r = &it->r;
  if (!r->estimates || r->rounds++ % r->every != 0) return;
  if (r->n_estimates == MOST_ESTIMATES) {
    for (int k = 0; k < MOST_ESTIMATES / 2; k++)
      r->estimates[k] = r->estimates[2 * k];
    r->n_estimates = MOST_ESTIMATES / 2;
    r->every *= 2;
  }
  r->estimates[r->n_estimates++] = (osla_estimate){osla_clock() - r->since, residual};
}

static osla_err get_record(const osla_iteration *it, osla_record *out)
{
  const recorder *r = &it->r;
  *out = (osla_record){0};
  OSLA_CHECK(r->readings && it->run > 0, OSLA_ERR_STATE,
             "iteration: no run was recorded (record_bytes = %" PRId64 ")", it->o.record_bytes);
  *out = (osla_record){.sweeps = it->sweeps,
                       .returned = r->returned,
                       .n_readings = r->n,
                       .readings = r->readings,
                       .values = r->values,
                       .stride = r->stride,
                       .complete = !r->is_full,
                       .n_estimates = r->n_estimates,
                       .estimates = r->estimates};
  return OSLA_OK;
}

/* ---- records of all ranks ---- */

/* A rank's segment holds its record, followed by three pieces: readings, estimates and values. */
typedef struct piece {
  void *at;
  size_t bytes;
} piece;
enum { PIECES = 3 };

static void pieces_of(const osla_record *r, piece out[PIECES])
{
  out[0] = (piece){r->readings, (size_t)r->n_readings * sizeof *r->readings};
  out[1] = (piece){r->estimates, (size_t)r->n_estimates * sizeof *r->estimates};
  out[2] =
    (piece){r->values, r->values ? (size_t)(r->n_readings * r->stride) * sizeof *r->values : 0};
}

static osla_err publish_record(osla_transport *t, const osla_record *mine, osla_segment **segment)
{
  piece pieces[PIECES];
  size_t bytes = sizeof *mine;
  pieces_of(mine, pieces);
  for (int k = 0; k < PIECES; k++)
    bytes += pieces[k].bytes;
  OSLA_CALL(osla_segment_create(t, bytes, 0, segment));
  osla_segment_steers(*segment);
  unsigned char *to = osla_segment_local(*segment);
  memcpy(to, mine, sizeof *mine);
  to += sizeof *mine;
  for (int k = 0; k < PIECES; k++) {
    if (pieces[k].bytes > 0) memcpy(to, pieces[k].at, pieces[k].bytes);
    to += pieces[k].bytes;
  }
  return osla_barrier(t);
}

static osla_err fetch_record(osla_segment *segment, int rank, osla_record *out)
{
  piece pieces[PIECES];
  size_t offset = sizeof *out;
  osla_record theirs;
  OSLA_CALL(osla_segment_read(segment, rank, 0, &theirs, sizeof theirs));
  /* uses only the sizes, because the pointers in `theirs` belong to another process */
  pieces_of(&theirs, pieces);
  for (int k = 0; k < PIECES; k++) {
    pieces[k].at = malloc(pieces[k].bytes + 1);
    if (k == 0) theirs.readings = pieces[k].at;
    if (k == 1) theirs.estimates = pieces[k].at;
    if (k == 2) theirs.values = theirs.values ? pieces[k].at : NULL;
  }
  if (!theirs.values) free(pieces[2].at);
  *out = theirs; /* set before the checks, so that the caller frees the memory after an error */
  OSLA_CHECK(theirs.readings && theirs.estimates && (theirs.values || pieces[2].bytes == 0),
             OSLA_ERR_MEM, "no memory for record of rank %d", rank);
  for (int k = 0; k < PIECES; k++) {
    OSLA_CALL(osla_segment_read(segment, rank, offset, pieces[k].at, pieces[k].bytes));
    offset += pieces[k].bytes;
  }
  return OSLA_OK;
}

static osla_err fetch_records(osla_segment *segment, int size, osla_record **out)
{
  *out = calloc((size_t)size, sizeof **out);
  OSLA_CHECK(*out, OSLA_ERR_MEM, "no memory for records of %d ranks", size);
  for (int rank = 0; rank < size; rank++)
    OSLA_CALL(fetch_record(segment, rank, &(*out)[rank]));
  return OSLA_OK;
}

osla_err osla_iteration_gather(osla_iteration *it, int root, osla_record **out)
{
  const int size = osla_transport_size(it->t);
  osla_segment *segment = NULL;
  osla_record mine;
  *out = NULL;
  OSLA_CALL(osli_watch_check(it));
  osla_err err = get_record(it, &mine);
  if (root < 0 || root >= size)
    err = osla_error_set(OSLA_ERR_ARG, "root = %d is none of %d ranks", root, size);
  const osla_argument same[] = {{"root", root}};
  OSLA_CALL(osla_agree_same(it->t, err, "osla_iteration_gather", same, 1));
  err = publish_record(it->t, &mine, &segment);
  if (err == OSLA_OK)
    err = osla_transport_rank(it->t) == root ? fetch_records(segment, size, out) : OSLA_OK;
  err = osla_agree(it->t, err);
  osla_segment_destroy(&segment);
  if (err != OSLA_OK) osla_records_free(size, out);
  return err;
}

void osla_records_free(int n, osla_record **records)
{
  if (!records || !*records) return;
  for (int i = 0; i < n; i++) {
    free((*records)[i].readings);
    free((*records)[i].values);
    free((*records)[i].estimates);
  }
  free(*records);
  *records = NULL;
}

void osla_record_lags(const osla_record *r, int n_halos, int64_t most, int64_t *count)
{
  const int64_t known = r->n_readings > 0 ? r->readings[r->n_readings - 1].sweep : 0;
  const int64_t end = r->complete ? r->sweeps : known;
  for (int h = 0; h < n_halos; h++) {
    const osla_reading *holds = NULL;
    for (int64_t k = 0; k <= r->n_readings; k++) {
      const osla_reading *next = k < r->n_readings ? &r->readings[k] : NULL;
      if (next && next->halo != h) continue;
      const int64_t until = next ? next->sweep : end;
      for (int64_t s = holds ? holds->sweep : until; s < until; s++) {
        const int64_t lag = s - holds->version;
        count[most + (lag < -most ? -most : lag > most ? most : lag)]++;
      }
      holds = next;
    }
  }
}
