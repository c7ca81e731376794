/* `osla assemble`: sums the updates of HDF5 files into H and g (layer 4). This header declares the
 * steps of a job. */
#ifndef OSLA_ASSEMBLE_H
#define OSLA_ASSEMBLE_H

#include "osla_unstable.h"
#include "tools/assemble/updates.h"
#include "tools/common/checkpoint.h"
#include "tools/common/command.h"
#include "tools/common/reproducible.h"

typedef struct assemble_options {
  char *output, *json;
  char *checkpoint; /* checkpoint file; NULL: none */
  double interval;  /* seconds between checkpoints */
  /* 0 or 1, int because popt sets them. keep: the checkpoint file stays after the job. full: H is
   * stored as a square in memory and files. both: the output has both triangles of H. */
  int keep, quiet, full, both;
  /* settings of --reproducible as the user gave them; the job copies and completes them */
  reproducible reproducible;
  long long n, nb;
  osla_dtype dtype;
  osla_uplo uplo;
  int nprow, npcol; /* process grid; 0: chosen by the library */
  char **files;     /* [n_files] */
  int n_files;
} assemble_options;

/* Returns whether only the lower triangle of H is stored, in memory and in checkpoints, and in the
 * output unless it has both triangles. */
static inline bool assemble_stores_triangle(const assemble_options *o)
{
  return !o->full && o->uplo == OSLA_LOWER;
}

#define ASSEMBLE_GOOD "good"

typedef struct assemble_job {
  const assemble_options *options;
  osla_transport *t;
  osla_grid *grid;
  osla_hessian *hessian;
  updates_reader *reader; /* child process of this rank that reads the files */
  checkpoint checkpoint;
  reproducible reproducible;
  bool symmetric;  /* true if the pass for bounds has checked that all blocks are symmetric */
  int64_t *before; /* [n_files + 1] number of updates in all preceding files */
  int64_t updates; /* number of updates in all files */
  int64_t elements;
  /* maximum over the ranks of the seconds spent on reading and on adding */
  double seconds_read, seconds_add;
  double seconds_assemble, seconds_write;
  char verdict[64]; /* ASSEMBLE_GOOD, or a text that names the first element that is not finite */
} assemble_job;

/* Parses the command line. Returns false after help or an error, with the exit status in *status as
 * command_parse does (command.h). */
bool assemble_parse(int argc, char **argv, int ranks, assemble_options *options, command_line *line,
                    int *status);

/* Checks all files against the schema (updates.h) and counts their updates. Collective. */
osla_err assemble_count_updates(assemble_job *job);

/* Writes the text that identifies the updates in the checkpoint. It is made from facts that rank 0
 * finds without reading the updates: sizes and times of the files. Local. */
void assemble_identify(const assemble_job *job, char *text, size_t size);

/* Finds the bounds of --reproducible by a pass over all updates, unless the bounds are known. Must
 * precede the creation of the accumulator. Collective. */
osla_err assemble_find_bounds(assemble_job *job);

/* Adds all updates to H and g, and commits. Collective. */
osla_err assemble_add_updates(assemble_job *job);

#endif
