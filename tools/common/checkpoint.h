/* Checkpoints of a job that distributes its data over all ranks by a shared counter (layer 4).
 *
 * When the interval is over, rank 0 adds a large number to the counter. Each rank sees the addition
 * when it fetches its next work, and takes part in the checkpoint before it continues. Therefore
 * the ranks need not poll, and fetching costs no more than without checkpoints. A rank without work
 * waits for the next checkpoint or the end of the pass, and serves transfers meanwhile.
 *
 * If the file exists when the job begins, the job resumes from it. At the end of the job the file
 * is removed; if `keep` is set, it stays and contains all data. A checkpoint that cannot be written
 * is reported on stderr, and the job continues, unless a bound of the order-independent mode was
 * exceeded. */
#ifndef OSLA_CHECKPOINT_H
#define OSLA_CHECKPOINT_H

#include "osla_unstable.h"

typedef struct checkpoint {
  /* Members that the caller sets: */
  const char *command; /* name of the sub-command, for messages */
  const char *data;    /* plural name of the data that have ids, for messages: "updates" */
  const char *file;    /* name of the checkpoint file; NULL: no checkpoints */
  double interval;     /* seconds between checkpoints */
  /* true: write a final checkpoint with all data, and do not remove the file */
  bool keep;
  bool quiet;    /* true: do not print that the job resumes from a file */
  char job[256]; /* identification of the data; all ranks use that of rank 0 */
  int64_t total; /* number of data */
  /* Members that the functions below set: */
  osla_transport *t;
  osla_hessian *hessian;
  int64_t resumed;   /* number of data that the file already contained */
  int64_t rounds;    /* number of checkpoint rounds so far */
  bool is_requested, /* true: rank 0 has requested a checkpoint */
    has_ended;       /* true: there are no more checkpoint rounds */
  double last,       /* time of the latest checkpoint, read from osla_clock */
    seconds;         /* seconds spent on all checkpoints */
  int written;
} checkpoint;

/* Checks before the work that this build of OSLA can write checkpoints. Local. Errors: UNSUPPORTED.
 */
osla_err checkpoint_check_support(const checkpoint *c);

/* Sets *there to 1 if the file exists for rank 0, else to 0. Collective. Errors: MPI. */
osla_err checkpoint_exists(const checkpoint *c, int32_t *there);

/* Restores the accumulator from the file, if the file exists, and prints that the job resumes.
 * Collective. Errors: IO (the file belongs to another job, or is damaged). */
osla_err checkpoint_restore(checkpoint *c, osla_hessian *hessian);

/* Fetches work as osla_counter_next does; *first is at least c->total if no work is left. Exactly
 * one thread of each rank, the leading thread, calls with `lead` true. Its call may write a
 * checkpoint together with the leading threads of all ranks; when no work is left, the call returns
 * only after the leading threads of all ranks have arrived. For other threads the call is local.
 * Errors: MPI, RANGE (a bound was exceeded), or the error that another rank passed to
 * checkpoint_abandon. */
osla_err checkpoint_next(checkpoint *c, osla_counter *counter, int64_t step, bool lead,
                         int64_t *first);

/* A leading thread must call this if it fails between calls of checkpoint_next, because the other
 * ranks would wait for it. Does nothing after the last checkpoint round. */
void checkpoint_abandon(checkpoint *c, osla_err err);

/* Writes the final checkpoint if c->keep is set. The caller guarantees that all data have been
 * added and that no thread adds more. Collective. Errors: RANGE (a bound was exceeded). */
osla_err checkpoint_write_final(checkpoint *c);

/* Rank 0 removes the file at the end of the job, unless c->keep is set. */
void checkpoint_remove(const checkpoint *c);

/* Returns the 64-bit hash (FNV-1a) of the data hashed so far and `size` more bytes; with hash = 0
 * it begins a new hash. Local, pure. */
uint64_t checkpoint_hash(uint64_t hash, const void *bytes, size_t size);

#endif
