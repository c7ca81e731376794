/* Self-test of the transport: data must arrive complete, at the right address, and by the time that
 * the contract says. Every rank communicates with the ranks 1, 2, 4, ... after it, so that pairs on
 * a node, pairs across nodes and all power-of-two distances are tested in O(log ranks) steps. */
#include "osla_clock.h"
#include "osla_counter.h"
#include "osla_segment.h"
#include "tools/info/info.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { PIECE = 65536 + 24, MAX_STEPS = 31, ROUNDS = 10, FETCHES = 50 };

/* Offsets and sizes of test transfers within a slot of PIECE bytes; most are not multiples of a
 * word. */
static const struct {
  size_t at, bytes;
} parts[] = {{0, 8}, {13, 1}, {21, 3}, {29, 65521}};
enum { N_PARTS = sizeof parts / sizeof *parts };

void info_add(info_findings *findings, const char *name, info_verdict verdict, const char *format,
              ...)
{
  if (findings->n_tests == INFO_MAX_TESTS) return;
  info_test *test = &findings->test[findings->n_tests++];
  test->name = name;
  test->verdict = verdict;
  va_list args;
  va_start(args, format);
  (void)vsnprintf(test->text, sizeof test->text, format, args);
  va_end(args);
}

static unsigned char pattern(int origin, int target, int salt, size_t i)
{
  size_t x = (size_t)origin * 131 + (size_t)target * 17 + (size_t)salt * 5 + i * 3 + i / 251;
  return (unsigned char)(1 + x % 255); /* never 0, because memory of a new segment is 0 */
}

static void fill(unsigned char *piece, int origin, int target, int salt)
{
  for (size_t i = 0; i < PIECE; i++)
    piece[i] = pattern(origin, target, salt, i);
}

static osla_err check(const unsigned char *piece, size_t at, size_t bytes, int origin, int target,
                      int salt)
{
  for (size_t i = at; i < at + bytes; i++)
    OSLA_CHECK(piece[i] == pattern(origin, target, salt, i), OSLA_ERR_STATE,
               "rank %d to rank %d: byte %zu of %d is wrong", origin, target, i, PIECE);
  return OSLA_OK;
}

static int count_steps(int size)
{
  int steps = 0;
  while (steps < MAX_STEPS && 1 << steps < size)
    steps++;
  return steps;
}

/* Returns the rank that follows this rank at `distance`, cyclically; a negative distance means a
 * preceding rank. */
static int partner(osla_transport *t, int distance)
{
  int size = osla_transport_size(t);
  return ((osla_transport_rank(t) + distance) % size + size) % size;
}

static osla_err put_all(osla_transport *t, osla_segment *s, unsigned char *piece)
{
  int me = osla_transport_rank(t);
  for (int step = 0; step < count_steps(osla_transport_size(t)); step++) {
    int target = partner(t, 1 << step);
    fill(piece, me, target, step);
    for (int i = 0; i < N_PARTS; i++) {
      osla_transfer transfer;
      OSLA_CALL(osla_segment_put(s, target, (size_t)step * PIECE + parts[i].at, piece + parts[i].at,
                                 parts[i].bytes, &transfer));
      OSLA_CALL(osla_transfer_wait(s, &transfer));
    }
    OSLA_CALL(osla_segment_flush(s, target));
  }
  return OSLA_OK;
}

static osla_err check_puts(osla_transport *t, osla_segment *s)
{
  const unsigned char *mine = osla_segment_local(s);
  for (int step = 0; step < count_steps(osla_transport_size(t)); step++)
    for (int i = 0; i < N_PARTS; i++)
      OSLA_CALL(check(mine + (size_t)step * PIECE, parts[i].at, parts[i].bytes,
                      partner(t, -(1 << step)), osla_transport_rank(t), step));
  return OSLA_OK;
}

static osla_err get_all(osla_transport *t, osla_segment *s, unsigned char *piece)
{
  for (int step = 0; step < count_steps(osla_transport_size(t)); step++) {
    int target = partner(t, 1 << step);
    for (int i = 0; i < N_PARTS; i++) {
      osla_transfer transfer;
      OSLA_CALL(
        osla_segment_get(s, target, parts[i].at, piece + parts[i].at, parts[i].bytes, &transfer));
      OSLA_CALL(osla_transfer_wait(s, &transfer));
      OSLA_CALL(check(piece, parts[i].at, parts[i].bytes, target, target, 0));
    }
  }
  return OSLA_OK;
}

typedef struct awaited {
  osla_segment *segment;
  int origin, purpose;
  uint64_t value;
  double end;
} awaited;

static bool reached_or_late(void *arg)
{
  awaited *a = arg;
  return osla_notify_read(a->segment, a->origin, a->purpose) >= a->value || osla_clock() > a->end;
}

static osla_err wait_for(osla_segment *s, int origin, int purpose, uint64_t value, double end)
{
  awaited a = {s, origin, purpose, value, end};
  osla_segment_wait(s, reached_or_late, &a);
  OSLA_CHECK(osla_notify_read(s, origin, purpose) >= value, OSLA_ERR_STATE,
             "a notify of rank %d does not arrive", origin);
  return OSLA_OK;
}

/* Exchanges notifies. Those with purpose 0 say that data have arrived; those with purpose 1 say
 * that the data have been checked and may be overwritten. */
static osla_err notify_all(osla_transport *t, osla_segment *s, unsigned char *piece,
                           double limit_seconds)
{
  double end = osla_clock() + limit_seconds;
  int me = osla_transport_rank(t);
  uint64_t value = 0;
  for (int step = 0; step < count_steps(osla_transport_size(t)); step++) {
    int to = partner(t, 1 << step), from = partner(t, -(1 << step));
    size_t at = (size_t)step * PIECE;
    for (int round = 0; round < ROUNDS; round++) {
      value++;
      fill(piece, me, to, round);
      OSLA_CALL(osla_put_notify(s, to, at, piece, PIECE, 0, value));
      OSLA_CALL(wait_for(s, from, 0, value, end));
      OSLA_CALL(check((unsigned char *)osla_segment_local(s) + at, 0, PIECE, from, me, round));
      OSLA_CALL(osla_notify(s, from, 1, value));
      OSLA_CALL(wait_for(s, to, 1, value, end));
    }
  }
  return OSLA_OK;
}

static osla_err fetch_all(osla_transport *t)
{
  osla_counter *counter = NULL;
  int64_t sum = 0, highest = -1, total = (int64_t)FETCHES * osla_transport_size(t);
  OSLA_CALL(osla_counter_create(t, &counter));
  osla_err err = OSLA_OK;
  for (int i = 0; i < FETCHES && err == OSLA_OK; i++) {
    int64_t got = -1;
    err = osla_counter_next(counter, 1, &got);
    sum += got;
    if (got > highest) highest = got;
  }
  err = osla_agree(t, err);
  osla_counter_destroy(&counter);
  if (err == OSLA_OK) err = osla_allreduce(t, &sum, 1, MPI_INT64_T, MPI_SUM);
  if (err == OSLA_OK) err = osla_allreduce(t, &highest, 1, MPI_INT64_T, MPI_MAX);
  if (err == OSLA_OK && (highest != total - 1 || sum != total * (total - 1) / 2))
    err = osla_error_set(OSLA_ERR_STATE,
                         "%" PRId64 " tickets were drawn, but not each of 0 to %" PRId64 " once",
                         total, total - 1);
  return err;
}

static void add_result(info_findings *findings, const char *name, osla_err err, const char *good)
{
  if (err == OSLA_OK)
    info_add(findings, name, INFO_OK, "%s", good);
  else
    info_add(findings, name, INFO_FAILED, "%s", osla_error_text());
}

/* Tests put, get and notify. Returns false if no segment can be created. */
static bool test_pairs(osla_transport *t, info_watchdog *dog, info_findings *findings)
{
  osla_segment *s = NULL;
  unsigned char *piece = malloc(PIECE);
  size_t bytes = (size_t)PIECE * (size_t)count_steps(osla_transport_size(t));
  osla_err err =
    osla_agree(t, piece ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "no memory for %d bytes", PIECE));
  if (err == OSLA_OK) err = osla_segment_create(t, bytes, 2, &s);
  if (err != OSLA_OK) {
    add_result(findings, "segment", err, "");
    free(piece);
    return false;
  }
  info_watchdog_begin(dog, "put");
  err = osla_agree(t, put_all(t, s, piece));
  if (err == OSLA_OK) err = osla_agree(t, check_puts(t, s));
  add_result(findings, "put", err, "arrives whole, at any byte offset");

  info_watchdog_begin(dog, "get");
  fill(osla_segment_local(s), osla_transport_rank(t), osla_transport_rank(t), 0);
  err = osla_barrier(t);
  err = osla_agree(t, err == OSLA_OK ? get_all(t, s, piece) : err);
  add_result(findings, "get", err, "arrives whole, from any byte offset");

  info_watchdog_begin(dog, "put and notify");
  err = osla_agree(t, notify_all(t, s, piece, info_watchdog_limit(dog) / 2));
  add_result(findings, "put and notify", err, "the data is there when its notify is seen");
  osla_segment_destroy(&s);
  free(piece);
  return true;
}

bool info_test_transport(osla_transport *t, info_watchdog *dog, info_findings *findings)
{
  if (osla_transport_size(t) > 1) {
    if (!test_pairs(t, dog, findings)) return false;
  } else {
    info_add(findings, "put", INFO_SKIPPED, "needs 2 ranks");
    info_add(findings, "get", INFO_SKIPPED, "needs 2 ranks");
    info_add(findings, "put and notify", INFO_SKIPPED, "needs 2 ranks");
  }
  info_watchdog_begin(dog, "fetch-and-add");
  add_result(findings, "fetch-and-add", fetch_all(t),
             "every ticket of a shared counter drawn once");
  return true;
}
