/* Sums over all ranks in a fixed order. The part of a rank is the rank's contribution to a sum.
 *
 * Up to 32 ranks: each rank reads the parts of all ranks and adds them in rank order. With more
 * ranks, consecutive ranks form groups of about sqrt(ranks): the first rank of a group reads the
 * parts of its members, then the sums of the other groups; the members read the result from the
 * first rank.
 *
 * A part is stored as a line of memory: the values, and a tag that holds the number of the call and
 * the count of values. Ranks of the node read the line in place; for ranks of other nodes the
 * values are put into their memory, followed by the tag. A rank that reads a count different from
 * its own forwards a description of the mismatch instead of a sum. Each rank alternates between two
 * lines, and no rank waits for its readers: before a rank writes a line again, it has received the
 * sum of the call in between. Each reader of the line contributed to that sum after it had read the
 * line. Memory of a rank per step: two lines of its own, and two lines for each rank whose part it
 * reads. */
#include "osla_krylov.h"
#include "src/transport/live_objects.h"

#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "osla_clock.h"

enum { ALONE = 32, SLOTS = 2, MOST_STEPS = 3, LINE_BYTES = 64 };

/* One rank's contribution to a sum, in a segment. It takes `bytes` bytes, at least LINE_BYTES. */
typedef struct sum_line {
  _Atomic uint64_t tag; /* number of the call, and count of the values (see tag_of) */
  double value[];
} sum_line;

/* Result of comparing the counts that ranks passed. If counts differ, a part holds this result
 * instead of values. */
typedef struct difference {
  bool found;
  int first; /* count that the first rank passed */
  int rank;  /* lowest rank that passed another count */
  int other; /* count that the rank `rank` passed */
} difference;

enum { DIFFERENCE_VALUES = 3, COUNT_BITS = 32, CALL_START = COUNT_BITS + 1 };

/* The ranks first, first + stride, first + 2 stride, ...; `count` ranks in all. */
typedef struct rank_list {
  int first, count, stride;
} rank_list;

typedef struct sum_step {
  rank_list read;    /* ranks whose parts this rank reads */
  rank_list readers; /* ranks that read this rank's part */
  int slot;          /* index of this rank's part among all parts that a reader reads */
  /* offset in the segment of this rank's own lines, followed by the lines of the ranks whose parts
   * it reads */
  size_t offset;
} sum_step;

struct osla_sums {
  osla_transport *t;
  osla_segment *segment;
  int most, n_steps;
  int n; /* count of values that the caller has passed to the current call, even if it is invalid */
  uint64_t tag; /* tag of the parts of the current call */
  difference differs;
  bool far;     /* true if a rank of another node reads this rank's part */
  size_t bytes; /* bytes of a line (the memory of one part) */
  uint64_t calls;
  sum_step step[MOST_STEPS];
  osla_posted *posted; /* [MOST_STEPS][SLOTS][size] puts in flight from this rank's lines */
  /* step for whose parts this rank waits; number of parts of this step that have arrived; number of
   * polls so far */
  const sum_step *waits;
  int arrived, polls;
  bool unlike; /* true if a part with another count has arrived */
};

static int group_size(int size)
{
  return size <= ALONE ? size : (int)ceil(sqrt((double)size));
}

static int rank_of(const rank_list *l, int i)
{
  return l->first + i * l->stride;
}

static sum_step make_step(int number, int size, int rank)
{
  const int group = group_size(size), leader = rank - rank % group;
  const int groups = (size + group - 1) / group;
  const int members = leader + group <= size ? group : size - leader;
  const rank_list nobody = {0, 0, 1}, all = {0, size, 1}, leaders = {0, groups, group};
  const rank_list mine = {leader, members, 1}, my_leader = {leader, 1, 1};
  const rank_list followers = {leader + 1, members - 1, 1};
  const bool leads = rank == leader;
  if (size <= ALONE) return (sum_step){.read = all, .readers = all, .slot = rank};
  if (number == 0)
    return (sum_step){.read = leads ? mine : nobody, .readers = my_leader, .slot = rank - leader};
  if (number == 1)
    return (sum_step){
      .read = leads ? leaders : nobody, .readers = leads ? leaders : nobody, .slot = rank / group};
  return (sum_step){.read = leads ? nobody : my_leader, .readers = leads ? followers : nobody};
}

/* Computes the steps, and the offsets of their lines in the segment: SLOTS own lines, and SLOTS
 * lines for each rank whose part is read. Each rank knows the offsets at its readers, because all
 * ranks have room for equally many lines. Returns the bytes of all lines. */
static size_t lay_out(osla_sums *s)
{
  const int size = osla_transport_size(s->t), rank = osla_transport_rank(s->t);
  const int group = group_size(size), groups = (size + group - 1) / group;
  const int most_read[MOST_STEPS] = {group, groups, 1};
  size_t offset = 0;
  for (int i = 0; i < s->n_steps; i++) {
    s->step[i] = make_step(i, size, rank);
    s->step[i].offset = offset;
    offset += SLOTS * s->bytes * (size_t)(1 + most_read[i]);
  }
  s->far = osla_transport_n_nodes(s->t) > 1;
  return offset;
}

osla_err osla_sums_create(osla_transport *t, int most, osla_sums **out)
{
  OSLA_MAKES("osla_sums_create", "osla_sums_destroy");
  const size_t size = (size_t)osla_transport_size(t);
  *out = NULL;
  osla_sums *s = calloc(1, sizeof *s);
  osla_posted *posted = calloc(SLOTS * MOST_STEPS * size, sizeof *posted);
  osla_err err = s && posted ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "no memory for sums object");
  if (err == OSLA_OK && most < 1)
    err = osla_error_set(OSLA_ERR_ARG, "osla_sums_create: most = %d is less than 1", most);
  const osla_argument same[] = {{"most", most}};
  err = osla_agree_same(t, err, "osla_sums_create", same, 1);
  if (err != OSLA_OK) {
    free(s);
    free(posted);
    return err;
  }
  s->t = t;
  s->most = most;
  s->posted = posted;
  s->n_steps = size <= ALONE ? 1 : MOST_STEPS;
  s->bytes = sizeof(sum_line) + (size_t)most * sizeof(double) + LINE_BYTES - 1;
  s->bytes -= s->bytes % LINE_BYTES;
  err = osla_segment_create(t, lay_out(s), 0, &s->segment);
  if (err == OSLA_OK)
    *out = s;
  else
    (void)osla_sums_destroy(&s);
  return err;
}

/* Returns the tag of a part: the number of the call (as many low bits as fit), a bit that marks a
 * mismatch, and the count of values. */
static uint64_t tag_of(const osla_sums *s)
{
  return s->calls << CALL_START | (uint32_t)s->n;
}

static uint64_t own_tag(const osla_sums *s)
{
  return s->tag | (uint64_t)s->differs.found << COUNT_BITS;
}

/* Returns the number of values to add: the count, or 0 if the count is out of range. */
static int count_of(const osla_sums *s)
{
  return s->n >= 1 && s->n <= s->most ? s->n : 0;
}

/* Returns a line of this call in the memory of a rank: the rank's own line if source = -1,
 * otherwise the line into which rank number `source` of the step's list puts its part. */
static sum_line *line_of(const osla_sums *s, const void *memory, const sum_step *step, int source)
{
  const size_t index = (size_t)(1 + source) * SLOTS + s->calls % SLOTS;
  return (sum_line *)((char *)(uintptr_t)memory + step->offset + index * s->bytes);
}

/* Returns the line that holds the part of rank number i of a step's list. */
static const sum_line *part_of(const osla_sums *s, const sum_step *step, int i)
{
  const void *near = osla_segment_peer(s->segment, rank_of(&step->read, i));
  if (near) return line_of(s, near, step, -1);
  return line_of(s, osla_segment_local(s->segment), step, i);
}

static osla_posted *posted_to(osla_sums *s, const sum_step *step, int reader)
{
  const size_t size = (size_t)osla_transport_size(s->t), at = (size_t)(step - s->step);
  return &s->posted[(at * SLOTS + s->calls % SLOTS) * size + (size_t)reader];
}

static osla_err put_to(osla_sums *s, const sum_step *step, int reader, int count,
                       const sum_line *mine)
{
  const char *local = osla_segment_local(s->segment);
  const size_t there = (size_t)((char *)line_of(s, local, step, step->slot) - local);
  return osla_put_word_post(s->segment, reader, there + offsetof(sum_line, value), mine->value,
                            (size_t)count * sizeof *mine->value, there + offsetof(sum_line, tag),
                            own_tag(s), posted_to(s, step, reader));
}

/* Ends the job after an error, because the other ranks wait and the error cannot be sent to
 * them. */
static void abort_on_error(const osla_sums *s, osla_err err)
{
  if (err != OSLA_OK) osla_transport_abort(s->t, err);
}

/* Publishes this rank's part of a step: its values, or the description of a mismatch. */
static void publish_part(osla_sums *s, const sum_step *step, const double *value)
{
  const difference *d = &s->differs;
  const int count = d->found ? DIFFERENCE_VALUES : count_of(s);
  const int me = osla_transport_rank(s->t), readers = step->readers.count;
  sum_line *mine = line_of(s, osla_segment_local(s->segment), step, -1);
  if (readers == 0) return;
  /* waits, because a put that was started two calls ago may still read from this line */
  for (int i = 0; s->far && i < readers; i++)
    abort_on_error(s, osla_posted_wait(s->segment, posted_to(s, step, rank_of(&step->readers, i))));
  if (d->found)
    mine->value[0] = d->first, mine->value[1] = d->rank, mine->value[2] = d->other;
  else
    memcpy(mine->value, value, (size_t)count * sizeof *value);
  osla_clock_settle();
  atomic_store_explicit(&mine->tag, own_tag(s), memory_order_release);
  for (int i = 0; i < readers; i++) {
    const int reader = rank_of(&step->readers, i);
    if (reader == me) continue;
    if (osla_segment_peer(s->segment, reader))
      osla_segment_wake(s->segment, reader);
    else
      abort_on_error(s, put_to(s, step, reader, count, mine));
  }
}

/* Tests whether all parts have arrived. Makes a progress step now and then, because other ranks may
 * wait for this rank. */
static bool parts_arrived(void *arg)
{
  enum { POLLS = 64 };
  osla_sums *s = arg;
  for (; s->arrived < s->waits->read.count; s->arrived++) {
    const sum_line *part = part_of(s, s->waits, s->arrived);
    const uint64_t tag = atomic_load_explicit(&part->tag, memory_order_acquire);
    if (tag == s->tag) continue;
    if (tag >> CALL_START == s->tag >> CALL_START) {
      s->unlike = true;
      continue;
    }
    if (++s->polls % POLLS == 0) osla_progress(s->t);
    return false;
  }
  return true;
}

/* Returns the mismatch that part number i of a step reports. If the part reports no mismatch, the
 * member `first` of the result is the part's count of values. */
static difference difference_of_part(const osla_sums *s, const sum_step *step, int i)
{
  const sum_line *part = part_of(s, step, i);
  const uint64_t tag = atomic_load_explicit(&part->tag, memory_order_relaxed);
  if (tag >> COUNT_BITS & 1)
    return (difference){true, (int)part->value[0], (int)part->value[1], (int)part->value[2]};
  return (difference){.first = (int)(uint32_t)tag};
}

static difference find_difference(const osla_sums *s, const sum_step *step)
{
  difference found = difference_of_part(s, step, 0);
  for (int i = 1; i < step->read.count && !found.found; i++) {
    const difference next = difference_of_part(s, step, i);
    if (next.first != found.first)
      found = (difference){true, found.first, rank_of(&step->read, i), next.first};
    else
      found = next;
  }
  return found;
}

/* Publishes `value`, then replaces it by the sum of the parts that this rank reads. `value` stays
 * unchanged if this rank reads no parts, or if counts differ. */
static void run_step(osla_sums *s, const sum_step *step, double *value)
{
  const int n = count_of(s);
  publish_part(s, step, value);
  s->waits = step;
  s->arrived = 0;
  s->unlike = false;
  if (!parts_arrived(s)) osla_segment_wait(s->segment, parts_arrived, s);
  if (s->unlike) {
    s->differs = find_difference(s, step);
    return;
  }
  for (int i = 0; i < step->read.count; i++) {
    const double *part = part_of(s, step, i)->value;
    for (int j = 0; j < n; j++)
      value[j] = i == 0 ? part[j] : value[j] + part[j];
  }
}

osla_err osla_sums_all(osla_sums *s, int n, double *value)
{
  s->calls++;
  s->n = n;
  s->tag = tag_of(s);
  s->differs.found = false;
  for (int i = 0; i < s->n_steps && osla_transport_size(s->t) > 1; i++)
    run_step(s, &s->step[i], value);
  const difference *d = &s->differs;
  OSLA_CHECK(!d->found, OSLA_ERR_ARG,
             "osla_sums_all: n is %d on rank 0, but %d on rank %d: all ranks must pass the same",
             d->first, d->other, d->rank);
  OSLA_CHECK(count_of(s) > 0, OSLA_ERR_ARG, "osla_sums_all: n = %d is outside 1 to %d", n, s->most);
  return OSLA_OK;
}

/* Waits until this rank's puts are complete and no rank reads this rank's memory any more. */
osla_err osla_sums_destroy(osla_sums **sums)
{
  osla_sums *s = sums ? *sums : NULL;
  if (!s) return OSLA_OK;
  const size_t posts = SLOTS * MOST_STEPS * (size_t)osla_transport_size(s->t);
  osla_err err = OSLA_OK;
  for (size_t i = 0; s->segment && i < posts; i++)
    if (err == OSLA_OK) err = osla_posted_wait(s->segment, &s->posted[i]);
  if (s->segment) err = osla_agree(s->t, err);
  osla_segment_destroy(&s->segment);
  free(s->posted);
  free(s);
  *sums = NULL;
  return err;
}

double osla_dot_local(int64_t n, const double *x, const double *y)
{
  double sum[4] = {0.0};
  int64_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (int k = 0; k < 4; k++)
      sum[k] += x[i + k] * y[i + k];
  for (; i < n; i++)
    sum[0] += x[i] * y[i];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}
