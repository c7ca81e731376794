/* Writing and restoring of checkpoints; see checkpoint.h. */
#include "config.h"

#include "src/base/hash.h"
#include "src/base/new_file.h"
#include "tools/common/checkpoint.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

/* counter increment by which rank 0 requests a checkpoint; far above any number of data */
#define ROUND (INT64_C(1) << 42)

uint64_t checkpoint_hash(uint64_t hash, const void *bytes, size_t size)
{
  return hash_extend(hash == 0 ? HASH_OF_NO_BYTES : hash, bytes, size);
}

osla_err checkpoint_check_support(const checkpoint *c)
{
#ifndef HAVE_HDF5
  OSLA_CHECK(!c->file, OSLA_ERR_UNSUPPORTED, "--checkpoint: this build has no HDF5");
#endif
  (void)c;
  return OSLA_OK;
}

osla_err checkpoint_exists(const checkpoint *c, int32_t *there)
{
  *there = c->file && access(c->file, F_OK) == 0;
  return osla_bcast(c->t, there, 1, MPI_INT32_T, 0);
}

osla_err checkpoint_restore(checkpoint *c, osla_hessian *hessian)
{
  if (!c->file) return OSLA_OK;
  c->hessian = hessian;
  c->last = osla_clock();
  int32_t there;
  OSLA_CALL(checkpoint_exists(c, &there));
  OSLA_CALL(osla_bcast(c->t, c->job, sizeof c->job, MPI_CHAR, 0));
  if (!there) return OSLA_OK;
  OSLA_CALL(osla_hessian_restore(hessian, c->file, c->job));
  c->resumed = osla_hessian_get_stats(hessian).ids_restored;
  if (c->quiet || osla_transport_rank(c->t) > 0) return OSLA_OK;
  (void)printf("resumed from %s: %" PRId64 " of %" PRId64 " %s\n", c->file, c->resumed, c->total,
               c->data);
  (void)fflush(stdout);
  return OSLA_OK;
}

static osla_err write_file(checkpoint *c)
{
  double start = osla_clock();
  osla_err err = osla_hessian_checkpoint(c->hessian, c->file, c->job);
  if (err == OSLA_ERR_RANGE) return err;
  if (err == OSLA_OK)
    c->written++;
  else if (osla_transport_rank(c->t) == 0)
    (void)fprintf(stderr, "osla %s: no checkpoint: %s\n", c->command, osla_error_text());
  c->last = osla_clock();
  c->seconds += c->last - start;
  return OSLA_OK;
}

static bool is_due(const checkpoint *c)
{
  return osla_transport_rank(c->t) == 0 && osla_clock() - c->last >= c->interval;
}

/* A step that the leading threads of all ranks make together. It writes a checkpoint if a rank has
 * work left or if a checkpoint is due. An error of that checkpoint ends the job only if a bound of
 * the order-independent mode was exceeded. */
static osla_err run_round(checkpoint *c, bool more, osla_err local)
{
  enum { MORE = 1, DUE = 2 };
  int32_t flags = (more ? MORE : 0) | (is_due(c) ? DUE : 0);
  osla_err err = osla_agree(c->t, local);
  if (err == OSLA_OK) err = osla_allreduce(c->t, &flags, 1, MPI_INT32_T, MPI_BOR);
  c->rounds++;
  c->is_requested = false;
  if (err == OSLA_OK && flags != 0) err = write_file(c);
  c->has_ended = err != OSLA_OK || !(flags & MORE);
  return err;
}

osla_err checkpoint_next(checkpoint *c, osla_counter *counter, int64_t step, bool lead,
                         int64_t *first)
{
  int64_t before, ignored;
  OSLA_CALL(osla_counter_next(counter, step, &before));
  *first = before % ROUND;
  if (!c->file || !lead) return OSLA_OK;
  bool more = *first < c->total;
  if (more && !c->is_requested && is_due(c)) {
    OSLA_CALL(osla_counter_next(counter, ROUND, &ignored));
    c->is_requested = true;
  }
  if (more && !c->is_requested && before / ROUND <= c->rounds) return OSLA_OK;
  do {
    OSLA_CALL(run_round(c, more, OSLA_OK));
  } while (!more && !c->has_ended);
  return OSLA_OK;
}

void checkpoint_abandon(checkpoint *c, osla_err err)
{
  if (c->file && !c->has_ended) (void)run_round(c, false, err);
}

osla_err checkpoint_write_final(checkpoint *c)
{
  return c->file && c->keep ? write_file(c) : OSLA_OK;
}

void checkpoint_remove(const checkpoint *c)
{
  if (c->file && !c->keep && osla_transport_rank(c->t) == 0) osli_new_file_remove(c->file);
}
