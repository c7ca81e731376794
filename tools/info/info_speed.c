/* Measures the latency of notify and the bandwidth of put and get, between one pair of ranks on a
 * node and one pair across nodes; the other ranks sleep. */
#include "osla_clock.h"
#include "osla_segment.h"
#include "tools/info/info.h"

#include <stdlib.h>
#include <string.h>

/* Each transfer uses another piece of the target's memory, to reduce the effect of caches. */
enum { ROUND_TRIPS = 200, MAX_PIECES = 8, BYTES = 8 << 20 };

static int by_value(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Sets *one_way on rank `origin` to half the median round trip of a notify, in seconds. */
static osla_err time_notify(osla_segment *s, int me, int origin, int target, double *one_way)
{
  double took[ROUND_TRIPS];
  for (int i = 0; i < ROUND_TRIPS; i++) {
    uint64_t value = (uint64_t)i + 1;
    double start = osla_clock();
    if (me == origin) {
      OSLA_CALL(osla_notify(s, target, 0, value));
      osla_notify_wait(s, target, 0, value);
    } else if (me == target) {
      osla_notify_wait(s, origin, 0, value);
      OSLA_CALL(osla_notify(s, origin, 0, value));
    }
    took[i] = osla_clock() - start;
  }
  qsort(took, ROUND_TRIPS, sizeof *took, by_value);
  *one_way = took[ROUND_TRIPS / 2] / 2;
  return OSLA_OK;
}

/* Sets *rate on the origin to the median rate in bytes per second of one transfer of BYTES bytes to
 * each piece of the target's memory. A first pass, which maps the pages, is not timed. */
static osla_err time_transfers(osla_segment *s, int target, bool put, void *buffer, int pieces,
                               double *rate)
{
  double took[MAX_PIECES];
  for (int i = 0; i < 2 * pieces; i++) {
    size_t at = (size_t)(i % pieces) * BYTES;
    osla_transfer transfer;
    double start = osla_clock();
    if (put)
      OSLA_CALL(osla_segment_put(s, target, at, buffer, BYTES, &transfer));
    else
      OSLA_CALL(osla_segment_get(s, target, at, buffer, BYTES, &transfer));
    OSLA_CALL(osla_transfer_wait(s, &transfer));
    if (put) OSLA_CALL(osla_segment_flush(s, target));
    took[i % pieces] = osla_clock() - start;
  }
  qsort(took, (size_t)pieces, sizeof *took, by_value);
  *rate = BYTES / took[pieces / 2];
  return OSLA_OK;
}

static osla_err measure(osla_transport *t, int origin, int target, int pieces, info_speed *speed)
{
  int me = osla_transport_rank(t);
  osla_segment *s = NULL;
  void *buffer = me == origin ? malloc(BYTES) : NULL;
  osla_err err = OSLA_OK;
  if (me == origin && !buffer) err = osla_error_set(OSLA_ERR_MEM, "no memory for %d bytes", BYTES);
  err = osla_agree(t, err);
  if (err == OSLA_OK)
    err = osla_segment_create(t, me == target ? (size_t)pieces * BYTES : 0, 1, &s);
  if (err == OSLA_OK) {
    if (buffer) memset(buffer, 1, BYTES);
    if (me == origin || me == target) err = time_notify(s, me, origin, target, &speed->notify);
    err = osla_agree(t, err);
  }
  if (err == OSLA_OK) {
    if (me == origin) {
      err = time_transfers(s, target, true, buffer, pieces, &speed->put);
      if (err == OSLA_OK) err = time_transfers(s, target, false, buffer, pieces, &speed->get);
    }
    err = osla_agree(t, err);
  }
  osla_segment_destroy(&s);
  free(buffer);
  OSLA_CALL(err);
  speed->measured = true;
  return osla_bcast(t, speed, sizeof *speed, MPI_BYTE, origin);
}

/* Returns the number of pieces that need at most a quarter of the free memory; the same on all
 * ranks. */
static int choose_pieces(const info_system *system)
{
  uint64_t least = UINT64_MAX;
  for (int rank = 0; rank < system->size; rank++) {
    const info_rank *r = &system->ranks[rank];
    if (r->shared_bytes < least) least = r->shared_bytes;
    if (r->available_bytes < least) least = r->available_bytes;
  }
  uint64_t pieces = least / 4 / BYTES;
  return pieces > MAX_PIECES ? MAX_PIECES : (int)pieces;
}

void info_measure_speed(osla_transport *t, const info_system *system, info_watchdog *dog,
                        info_findings *findings)
{
  int pieces = choose_pieces(system);
  if (pieces == 0 && system->size > 1) {
    info_add(findings, "speed", INFO_SKIPPED, "needs %s free in /dev/shm",
             format_bytes(4 * (uint64_t)BYTES).s);
    return;
  }
  info_watchdog_begin(dog, "speed");
  for (int way = 0; way < INFO_WAYS; way++) {
    if (system->origin[way] < 0) continue;
    if (measure(t, system->origin[way], system->partner[way], pieces, &findings->speed[way]) !=
        OSLA_OK)
      info_add(findings, "speed", INFO_FAILED, "%s", osla_error_text());
  }
}
