/* Sums over all ranks in a fixed order.
 *
 * Up to 32 ranks: each reads the parts of all, one broadcast of a forest whose roots have a leaf on
 * every rank, and adds them up by rank. Of more, groups of consecutive ranks, about the square root
 * of their number: the first of a group reads its members' parts, then the sums of the other
 * groups, and the members read the whole from it.
 *
 * Values lie in two places in turn, and nobody waits for readers: a rank that comes back to a place
 * has got the sum before it, to which every rank that read the place had added after reading.
 * Messages: one to every other rank of a node or group between nodes; on a node, loads. */
#include "osla_krylov.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ALONE = 32, PLACES = 2, MOST_STEPS = 3 };

/* One transfer: my value to those that are joined to it; theirs to `leaves`. */
typedef struct sum_step {
  osla_forest *forest;
  int leaves;    /* whose values I read; 0: I only give */
  double *given; /* [PLACES][most], read by others */
  double *taken; /* [leaves * most] */
} sum_step;

struct osla_sums {
  osla_transport *t;
  int most, n_steps;
  uint64_t calls;
  sum_step step[MOST_STEPS];
};

/* The ranks whose values this rank reads in a step: first, first + stride, ... */
typedef struct read_list {
  int first, count, stride;
} read_list;

static int group_size(int size)
{
  return size <= ALONE ? size : (int)ceil(sqrt((double)size));
}

static read_list whom_to_read(int step, int size, int rank)
{
  const int group = group_size(size), leader = rank - rank % group;
  const int members = leader + group <= size ? group : size - leader;
  if (size <= ALONE) return (read_list){0, size, 1};
  if (step == 0) return (read_list){leader, rank == leader ? members : 0, 1};
  if (step == 1) return (read_list){0, rank == leader ? (size + group - 1) / group : 0, group};
  return (read_list){leader, rank == leader ? 0 : 1, 1};
}

static osla_err make_step(osla_sums *s, int number)
{
  sum_step *step = &s->step[number];
  const read_list list = whom_to_read(number, osla_transport_size(s->t), osla_transport_rank(s->t));
  osla_root *root = malloc(((size_t)list.count + 1) * sizeof *root);
  step->leaves = list.count;
  step->taken = calloc((size_t)list.count * (size_t)s->most + 1, sizeof *step->taken);
  osla_err err = root && step->taken ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "parts of sums");
  err = osla_agree(s->t, err);
  for (int i = 0; err == OSLA_OK && i < list.count; i++)
    root[i] = (osla_root){list.first + i * list.stride, 0};
  if (err == OSLA_OK) err = osla_forest_create(s->t, 1, list.count, NULL, root, &step->forest);
  free(root);
  void *memory = NULL;
  if (err == OSLA_OK)
    err = osla_vertices_create(s->t, PLACES * (size_t)s->most * sizeof(double), &memory);
  step->given = memory;
  return err;
}

osla_err osla_sums_create(osla_transport *t, int most, osla_sums **out)
{
  *out = NULL;
  osla_sums *s = calloc(1, sizeof *s);
  osla_err err = s ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "sums object");
  if (err == OSLA_OK && most < 1) err = osla_error_set(OSLA_ERR_ARG, "sums of %d numbers", most);
  const osla_argument same[] = {{"most", most}};
  err = osla_agree_same(t, err, "osla_sums_create", same, 1);
  if (err != OSLA_OK) {
    free(s);
    return err;
  }
  s->t = t;
  s->most = most;
  s->n_steps = osla_transport_size(t) <= ALONE ? 1 : MOST_STEPS;
  for (int i = 0; i < s->n_steps && err == OSLA_OK; i++)
    err = make_step(s, i);
  if (err == OSLA_OK)
    *out = s;
  else
    (void)osla_sums_destroy(&s);
  return err;
}

osla_err osla_sums_destroy(osla_sums **sums)
{
  osla_sums *s = *sums;
  if (!s) return OSLA_OK;
  for (int i = 0; i < s->n_steps; i++) {
    sum_step *step = &s->step[i];
    void *memory = step->given;
    OSLA_CALL(osla_forest_destroy(&step->forest));
    if (memory) OSLA_CALL(osla_vertices_free(s->t, &memory));
    step->given = NULL;
    free(step->taken);
    step->taken = NULL;
  }
  free(s);
  *sums = NULL;
  return OSLA_OK;
}

/* value := the sum of those that I read; kept where I read none. */
static osla_err run_step(osla_sums *s, sum_step *step, int n, double *value)
{
  double *given = step->given + s->calls % PLACES * (uint64_t)s->most;
  const osla_unit unit = {OSLA_UNIT_DOUBLE, n, 0};
  osla_forest_run run;
  memcpy(given, value, (size_t)n * sizeof *value);
  OSLA_CALL(osla_forest_bcast_begin(step->forest, unit, given, step->taken, OSLA_REPLACE, &run));
  OSLA_CALL(osla_forest_end_read(&run));
  for (int i = 0; i < step->leaves; i++)
    for (int j = 0; j < n; j++)
      value[j] = i == 0 ? step->taken[j] : value[j] + step->taken[i * n + j];
  return OSLA_OK;
}

osla_err osla_sums_all(osla_sums *s, int n, double *value)
{
  OSLA_CHECK(n >= 1 && n <= s->most, OSLA_ERR_ARG, "%d sums, not 1 to %d", n, s->most);
  s->calls++;
  for (int i = 0; i < s->n_steps; i++)
    OSLA_CALL(run_step(s, &s->step[i], n, value));
  return OSLA_OK;
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
