/* Checkpoints of a job that distributes its data over all ranks by a shared counter (floor 4).
 *
 * When the interval is over, rank 0 adds ROUND to the counter: whoever asks for work next sees it,
 * and takes part in the checkpoint before it goes on. So nobody polls, and asking costs what it did
 * before. A rank without work waits, with progress, for the next checkpoint or the common end.
 *
 * If the file is there when the job begins, the job goes on from it; at the job's end it is
 * removed, or kept with all data in it. A checkpoint that cannot be written is reported on stderr,
 * and the job goes on; but not if a bound of the order-independent mode was not kept.
 */
#ifndef OSLA_CHECKPOINT_H
#define OSLA_CHECKPOINT_H

#include "osla_unstable.h"

typedef struct checkpoint {
  /* set by the caller */
  const char *command; /* "assemble": for messages */
  const char *data;    /* what one id stands for, in the plural */
  const char *file;    /* NULL: no checkpoints */
  double interval;     /* seconds between them */
  bool keep;           /* take one when all data are in, and do not remove it */
  bool quiet;          /* do not tell that the job goes on from a file */
  char job[256];       /* what the data are; rank 0's counts */
  int64_t total;       /* number of data */
  /* kept here */
  osla_transport *t;
  osla_hessian *hessian;
  int64_t resumed;      /* data that were in the file */
  int64_t rounds;       /* meetings so far */
  bool asked, ended;    /* rank 0 has asked for one; there are no more */
  double last, seconds; /* when the latest was written; in all of them */
  int written;
} checkpoint;

/* Before the computation: does this build write checkpoints? Local. Errors: UNSUPPORTED. */
osla_err checkpoint_check(const checkpoint *c);

/* Is the file there, as rank 0 sees it? Collective. Errors: MPI. */
osla_err checkpoint_look(const checkpoint *c, int32_t *there);

/* Goes on from the file, if it is there, and says so. Collective. Errors: IO (FILE is of another
 * job, or damaged). */
osla_err checkpoint_begin(checkpoint *c, osla_hessian *hessian);

/* As osla_counter_next: *first is at least c->total when there is no work left. `lead` is true in
 * one thread of each rank, false in all others; in it the call may take a checkpoint, and returns
 * past the end only when all ranks' leading threads have come there. Local (the lead's calls meet
 * those of other ranks). Errors: MPI, RANGE (a bound, see above), or that of another rank's
 * checkpoint_leave. */
osla_err checkpoint_next(checkpoint *c, osla_counter *counter, int64_t step, bool lead,
                         int64_t *first);

/* Called by a leading thread that fails between calls of checkpoint_next, so that the others do not
 * wait for it. Does nothing when all have met at the end. */
void checkpoint_leave(checkpoint *c, osla_err err);

/* All data are in, and no thread adds any more: takes the checkpoint that is to be kept.
 * Collective. Errors: RANGE (a bound, see above). */
osla_err checkpoint_complete(checkpoint *c);

/* The job is done: removes the file, if it is not to be kept. Rank 0 acts. */
void checkpoint_remove(const checkpoint *c);

/* A running 64-bit hash (FNV-1a) of what the data are; begins with 0. */
uint64_t checkpoint_hash(uint64_t hash, const void *bytes, size_t size);

#endif
