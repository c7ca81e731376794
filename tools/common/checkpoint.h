/* Checkpoints of a job that distributes its data over all ranks by a shared counter (layer 4).
 *
 * When the interval is over, rank 0 adds ROUND to the counter. Each rank sees the addition when it
 * fetches its next work, and takes part in the checkpoint before it continues. The ranks do not
 * poll, and fetching costs no more than without checkpoints. A rank without work waits, and serves
 * transfers meanwhile, until the next checkpoint or the end of the pass.
 *
 * If the file exists when the job begins, the job resumes from it. At the end of the job the file
 * is removed, or stays with all data in it. A checkpoint that cannot be written is reported on
 * stderr, and the job continues, unless a bound of the order-independent mode was exceeded.
 */
#ifndef OSLA_CHECKPOINT_H
#define OSLA_CHECKPOINT_H

#include "osla_unstable.h"

typedef struct checkpoint {
  /* Members that the caller sets: */
  const char *command; /* name of the sub-command, for messages */
  const char *data;    /* plural name of the things with ids: "updates" */
  const char *file;    /* NULL: no checkpoints */
  double interval;     /* seconds between checkpoints */
  bool keep;           /* write a final checkpoint with all data, and do not remove it */
  bool quiet;          /* do not print that the job resumes from a file */
  char job[256];       /* identification of the data; that of rank 0 is used */
  int64_t total;       /* number of data */
  /* Members that the functions below set: */
  osla_transport *t;
  osla_hessian *hessian;
  int64_t resumed;              /* number of data that the file already contained */
  int64_t rounds;               /* number of checkpoint rounds so far */
  bool is_requested, has_ended; /* rank 0 has requested a checkpoint; no more rounds follow */
  /* time of the latest checkpoint (osla_clock); seconds spent in all of them */
  double last, seconds;
  int written;
} checkpoint;

/* Checks before the work that this build can write checkpoints. Local. Errors: UNSUPPORTED. */
osla_err checkpoint_check_support(const checkpoint *c);

/* *there := the file exists, as rank 0 sees it. Collective. Errors: MPI. */
osla_err checkpoint_exists(const checkpoint *c, int32_t *there);

/* Restores the accumulator from the file, if it exists, and prints a line. Collective. Errors: IO
 * (the file belongs to another job, or is damaged). */
osla_err checkpoint_restore(checkpoint *c, osla_hessian *hessian);

/* Fetches work as osla_counter_next does; *first is at least c->total if no work is left. `lead`
 * must be true in exactly one thread of each rank. A call with lead may write a checkpoint
 * together with the leading threads of all ranks; at the end of the data it returns only when the
 * leading threads of all ranks have arrived. Local for other threads. Errors: MPI, RANGE (a bound
 * was exceeded), or the error that another rank passed to checkpoint_abandon. */
osla_err checkpoint_next(checkpoint *c, osla_counter *counter, int64_t step, bool lead,
                         int64_t *first);

/* Must be called by a leading thread that fails between calls of checkpoint_next; otherwise the
 * other ranks would wait for it. Does nothing after the last round. */
void checkpoint_abandon(checkpoint *c, osla_err err);

/* Writes the final checkpoint if c->keep. The caller guarantees that all data have been added and
 * that no thread adds more. Collective. Errors: RANGE (a bound was exceeded). */
osla_err checkpoint_write_final(checkpoint *c);

/* Removes the file at the end of the job, unless c->keep. Rank 0 acts. */
void checkpoint_remove(const checkpoint *c);

/* Updates a 64-bit hash (FNV-1a) by `size` bytes; hash 0 starts a new one. Local, pure. */
uint64_t checkpoint_hash(uint64_t hash, const void *bytes, size_t size);

#endif
