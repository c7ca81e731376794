/* Messages over channels: what the implementations of the cases share (floor 4).
 *
 *   bench_channel.c       the kernel: cases, ours, check
 *   channel_message.c     the contents of a message
 *   channel_mpi.c         the reference by two-sided messages
 *   channel_shared.c      those by hand in shared memory
 */
#ifndef OSLA_BENCH_CHANNEL_H
#define OSLA_BENCH_CHANNEL_H

#include "bench/bench.h"
#include "osla_channel.h"

typedef enum channel_case { CHANNEL_PINGPONG, CHANNEL_HALO, CHANNEL_STREAM } channel_case;
#define CHANNEL_CASES "pingpong,halo,stream" /* as the enum, for --case */

enum { CHANNEL_IN_FLIGHT = 8, CHANNEL_CASE_COUNT = 3 };

struct channel_mpi;
struct channel_shared;

/* One implementation. Ranks 0 and 1 are the pair; the others have nothing to do. */
typedef struct channel_data {
  bench_job *job;
  channel_case which;
  size_t count;   /* 8-byte elements of a message */
  int operations; /* messages of a run */
  bool in_pair;
  uint64_t round; /* the latest one, of all runs; the same on both */
  bool is_wrong;  /* a message that I received in this run */
  osla_channels *set;
  struct channel_mpi *mpi;
  struct channel_shared *shared;
} channel_data;

/* Fills a message with what depends on its round and on each place, and reads all of it: adds it up
 * and notes in d when the sum is wrong. The same code for all implementations. Local. */
void channel_write(const channel_data *d, uint64_t *message, uint64_t round);
void channel_read(channel_data *d, const uint64_t *message, uint64_t round);

/* As bench_impl's calls. */
osla_err channel_mpi_setup(void *data);
osla_err channel_mpi_run(void *data);
void channel_mpi_teardown(void *data);

/* Of the halo on one node alone: read in place, and copied first. */
osla_err channel_shared_setup(void *data);
osla_err channel_loop_run(void *data);
osla_err channel_memcpy_run(void *data);
void channel_shared_teardown(void *data);

#endif
