/* Messages over channels: data and functions shared by the implementations of the cases. README.md
 * lists the files. */
#ifndef OSLA_BENCH_CHANNEL_H
#define OSLA_BENCH_CHANNEL_H

#include "bench/bench.h"
#include "osla_channel.h"

typedef enum channel_case { CHANNEL_PINGPONG, CHANNEL_HALO, CHANNEL_STREAM } channel_case;
/* names of the cases for --case, in the order of the enum */
#define CHANNEL_CASES "pingpong,halo,stream"

enum { CHANNEL_IN_FLIGHT = 8, CHANNEL_CASE_COUNT = 3 };

struct channel_mpi;
struct channel_shared;

/* One implementation. Ranks 0 and 1 exchange messages; the other ranks are idle. */
typedef struct channel_data {
  bench_job *job;
  channel_case which;
  size_t count;   /* number of 8-byte elements in a message */
  int operations; /* number of messages in a run */
  bool in_pair;
  uint64_t round; /* number of the latest round, counted through all runs; the same on both ranks */
  bool is_wrong;  /* true if a message that this rank received in the run was wrong */
  osla_channels *set;
  struct channel_mpi *mpi;
  struct channel_shared *shared;
} channel_data;

/* write: fills a message with values that depend on the round and the index. read: sums the
 * message, and sets d->is_wrong if the sum is not that of the round. All implementations use the
 * same code. Local. */
void channel_write(const channel_data *d, uint64_t *message, uint64_t round);
void channel_read(channel_data *d, const uint64_t *message, uint64_t round);

/* Reference implementation `mpi`. The parameters are those of the functions of bench_impl. */
osla_err channel_mpi_setup(void *data);
osla_err channel_mpi_run(void *data);
void channel_mpi_teardown(void *data);

/* Reference implementations of the case halo on one node: `loop` reads the message in place,
 * `memcpy` copies it first. */
osla_err channel_shared_setup(void *data);
osla_err channel_loop_run(void *data);
osla_err channel_memcpy_run(void *data);
void channel_shared_teardown(void *data);

#endif
