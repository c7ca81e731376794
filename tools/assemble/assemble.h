/* `osla assemble`: sums the updates of HDF5 files into H and g (floor 4). The steps of one job. */
#ifndef OSLA_ASSEMBLE_H
#define OSLA_ASSEMBLE_H

#include "osla_unstable.h"
#include "tools/assemble/updates_reader.h"
#include "tools/common/checkpoint.h"
#include "tools/common/command.h"
#include "tools/common/reproducible.h"

typedef struct assemble_options {
  char *output, *json;
  char *checkpoint;          /* file; NULL: none */
  double interval;           /* seconds */
  int keep, quiet;           /* int: what popt sets; keep: the checkpoint */
  reproducible reproducible; /* as asked for */
  long long n, nb;
  osla_dtype dtype;
  osla_uplo uplo;
  int nprow, npcol; /* 0: chosen */
  char **files;     /* [n_files] */
  int n_files;
} assemble_options;

#define ASSEMBLE_GOOD "good"

typedef struct assemble_job {
  const assemble_options *options;
  osla_transport *t;
  osla_grid *grid;
  osla_hessian *hessian;
  updates_reader *reader; /* each rank's */
  checkpoint checkpoint;
  reproducible reproducible;
  bool symmetric;  /* the pass for bounds has found that all blocks are */
  int64_t *before; /* [n_files + 1] updates in the files before each */
  int64_t updates; /* in all files */
  int64_t elements;
  double seconds_read, seconds_add; /* of the slowest rank */
  double seconds_assemble, seconds_write;
  char verdict[64]; /* ASSEMBLE_GOOD, or what is not finite */
} assemble_job;

/* Parses the command line. Returns false after help or an error; *status as in command.h. */
bool assemble_parse(int argc, char **argv, int ranks, assemble_options *options, command_line *line,
                    int *status);

/* Checks all files against the schema (updates.h) and counts their updates. Collective. */
osla_err assemble_look(assemble_job *job);

/* What the updates are, as far as rank 0 can tell without reading them, for the checkpoint. */
void assemble_describe(const assemble_job *job, char *text, size_t size);

/* The bounds of --reproducible, by a pass over all updates if they are not known. Before there is
 * an accumulator. Collective. */
osla_err assemble_find_bounds(assemble_job *job);

/* Adds all updates and commits. Collective. */
osla_err assemble_add(assemble_job *job);

/* Sets the verdict: are H and g finite? The same on all ranks. Collective. */
osla_err assemble_judge(assemble_job *job);

#endif
