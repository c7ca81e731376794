/* A trace of what every rank does and when (floor 0).
 *
 * Between start and stop the library notes each transfer, wait, collective and local product with
 * its times; then the trace is written as a file for a trace viewer (chrome://tracing,
 * ui.perfetto.dev), or summed up. What was recorded stays with the transport until the next start.
 * When tracing is off, each place that could note something tests one pointer. An event takes 32
 * bytes. A rank keeps at most OSLA_TRACE_MAX_EVENTS; those beyond are counted, and not kept.
 *
 * Threads: as osla_transport.h says of collective and of local calls; recording is thread-safe.
 * Part: may change in any release (osla_unstable.h).
 */
#ifndef OSLA_TRACE_H
#define OSLA_TRACE_H

#include "osla_api.h"
#include "osla_transport.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a rank can be at. An event's amount is bytes, floating-point operations or elements. Events
 * may lie inside others: a wait serves other ranks, and this may be an UPDATE. */
typedef enum osla_trace_kind {
  OSLA_TRACE_GET,         /* bytes; off the node, from the call to the completion that was seen */
  OSLA_TRACE_PUT,         /* the same; it may run while its rank does something else */
  OSLA_TRACE_ISSUE,       /* bytes; inside the call that starts such a get or put */
  OSLA_TRACE_WAIT,        /* for a get or put that was not complete */
  OSLA_TRACE_COPY,        /* bytes; data of another rank that this processor has moved, such as a
                             get or put on the node, which is complete on return */
  OSLA_TRACE_FLUSH,       /* until all puts to a rank have arrived there */
  OSLA_TRACE_NOTIFY,      /* bytes; a notify, and the data that goes with it */
  OSLA_TRACE_FORWARD,     /* bytes; inside the calls that pass another rank's panel on */
  OSLA_TRACE_NOTIFY_WAIT, /* for the notify of another rank, which is at work on something */
  OSLA_TRACE_FETCH_ADD,   /* a step of a shared counter */
  OSLA_TRACE_LOCK,        /* until the stripes of a lock were free */
  OSLA_TRACE_BARRIER,
  OSLA_TRACE_ALLREDUCE, /* bytes, here and below */
  OSLA_TRACE_BCAST,
  OSLA_TRACE_ALLTOALL,
  OSLA_TRACE_ALLGATHER,
  OSLA_TRACE_PACK, /* bytes; data or indices put in order in this rank's own memory */
  OSLA_TRACE_GEMM, /* flops, here and below */
  OSLA_TRACE_SYRK,
  OSLA_TRACE_TRSM,
  OSLA_TRACE_PANEL,  /* a diagonal block is factored */
  OSLA_TRACE_ROWS,   /* elements; rows exchanged, or taken over a whole panel of columns */
  OSLA_TRACE_UPDATE, /* elements; added to the matrix or right-hand side that they belong to */
  OSLA_TRACE_KINDS
} osla_trace_kind;

enum { OSLA_TRACE_MAX_EVENTS = 1 << 22 };

/* Clears what was recorded, sets all ranks to the clock of rank 0, and starts. Collective; a
 * barrier. Clocks that differ by less than it takes to compare them count as one: so on one host
 * nothing is shifted. No transfer should be under way: those begun before are not noted.
 * Errors, on all ranks together: MEM, MPI. */
OSLA_API osla_err osla_trace_start(osla_transport *transport);

/* Stops; what was recorded stays. Local: each rank stops when it is done. No effect when off. */
OSLA_API void osla_trace_stop(osla_transport *transport);

/* Gathers the events of all ranks, piece by piece, and writes them from rank 0. Collective; stops
 * first, may be called again.
 *   path [in] a file in the trace event format of Chrome: one JSON array. Process: node; thread:
 *             rank (its other threads: rank + thread * ranks); times in microseconds since the
 *             start, on rank 0's clock. Complete events ("X"); GET and PUT as asynchronous pairs
 *             ("b", "e"). It appears under its name when it is complete, an older one of this name
 *             stays until then and passes on its rights; pipes and devices are written as they
 *             stand; of significance on rank 0 alone
 * Errors, on all ranks together: STATE (never started), IO, MEM, MPI. */
OSLA_API osla_err osla_trace_write(osla_transport *transport, const char *path);

/* --- for who records: local, thread-safe, no effect when off --- */

/* The time now, for the next call; negative when tracing is off. */
OSLA_API double osla_trace_now(const osla_transport *transport);

/* Notes something that lasted from `since`, a result of osla_trace_now, until now.
 *   since  [in] negative: nothing is noted
 *   amount [in] of this rank, in the unit of the kind; 0 where it has none */
OSLA_API void osla_trace_add(osla_transport *transport, osla_trace_kind kind, double since,
                             double amount);

/* The same for something that ended at `until`. */
OSLA_API void osla_trace_add_until(osla_transport *transport, osla_trace_kind kind, double since,
                                   double until, double amount);

/* --- what comes of it --- */

typedef struct osla_trace_total {
  int64_t events;         /* of all ranks */
  double seconds;         /* summed over all ranks */
  double seconds_largest; /* of one rank */
  double amount;          /* summed over all ranks */
} osla_trace_total;

/* overlap: how much of the communication was hidden. Of each rank we take the time in which at
 * least one transfer was in flight, from its first call to the completion that was seen, and the
 * part of it in which the rank was held by its transfers and could not compute:
 *
 *   in_flight = length of the union of its GET, PUT, ISSUE, WAIT, COPY, FLUSH, NOTIFY
 *   exposed   = length of the union of its           ISSUE, WAIT, COPY, FLUSH, NOTIFY
 *   overlap   = 1 - (sum of exposed over the ranks) / (sum of in_flight over the ranks)
 *
 * So overlap lies in 0 .. 1, transfers that run side by side count once, and what is complete on
 * return (COPY, on the node) is exposed. Data that the node reads in place is no transfer. Waits
 * for another rank's work (NOTIFY_WAIT, LOCK, collectives) tell of balance, not of overlap, and do
 * not count. A rank with several threads is held when one of them is. */
typedef struct osla_trace_summary {
  osla_trace_total kind[OSLA_TRACE_KINDS];
  double seconds;   /* from start to stop, the largest over the ranks */
  double in_flight; /* summed over the ranks */
  double exposed;   /* summed over the ranks */
  double overlap;   /* NaN: nothing was in flight */
  int64_t dropped;  /* events of all ranks that were not kept; if any, the rest here is too low */
} osla_trace_summary;

/* Sums up the events of all ranks. Collective; stops first.
 *   out [out] the same on all ranks
 * Errors, on all ranks together: STATE (never started), MEM, MPI. */
OSLA_API osla_err osla_trace_summarise(osla_transport *transport, osla_trace_summary *out);

/* A kind's name ("notify_wait") and the unit of its amount ("bytes"; "" for none). Local. */
OSLA_API const char *osla_trace_name(osla_trace_kind kind);
OSLA_API const char *osla_trace_unit(osla_trace_kind kind);

#ifdef __cplusplus
}
#endif
#endif
