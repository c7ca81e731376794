/* A trace: a record of what every rank does at which time (layer 0).
 *
 * Between start and stop the library records each transfer, wait, collective and local product with
 * its times. Then the trace can be written to a file for a trace viewer (chrome://tracing,
 * ui.perfetto.dev), or summed up. The record stays with the transport until the next start. When
 * tracing is off, each place that records tests one pointer. An event takes 32 bytes. A rank stores
 * at most OSLA_TRACE_MAX_EVENTS events; further ones are only counted.
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

/* Kinds of events. The amount of an event is in bytes, floating-point operations or elements.
 * Events may be nested. For example, a wait that serves other ranks may contain an UPDATE. */
typedef enum osla_trace_kind {
  /* a get between nodes, from the call to the observed completion; amount in bytes */
  OSLA_TRACE_GET,
  /* a put between nodes, from the call to the observed completion, during which the rank may do
     other work; amount in bytes */
  OSLA_TRACE_PUT,
  OSLA_TRACE_ISSUE, /* the call that starts a GET or PUT; amount in bytes */
  OSLA_TRACE_WAIT,  /* a wait for an incomplete get or put */
  /* a copy of another rank's data by this processor, such as a get or put on the node, which is
     complete on return; amount in bytes */
  OSLA_TRACE_COPY,
  OSLA_TRACE_FLUSH,       /* a wait until all puts to a rank have arrived */
  OSLA_TRACE_NOTIFY,      /* a notify and its data; amount in bytes */
  OSLA_TRACE_FORWARD,     /* a call that forwards another rank's panel; amount in bytes */
  OSLA_TRACE_NOTIFY_WAIT, /* a wait for the notify of another rank, which is working */
  OSLA_TRACE_FETCH_ADD,   /* a step of a shared counter */
  OSLA_TRACE_LOCK,        /* a wait for the stripes of a lock */
  OSLA_TRACE_BARRIER,
  OSLA_TRACE_ALLREDUCE, /* the amount of ALLREDUCE, BCAST, ALLTOALL and ALLGATHER is in bytes */
  OSLA_TRACE_BCAST,
  OSLA_TRACE_ALLTOALL,
  OSLA_TRACE_ALLGATHER,
  OSLA_TRACE_PACK, /* data or indices are rearranged in this rank's own memory; amount in bytes */
  OSLA_TRACE_GEMM, /* the amount of GEMM, SYRK, TRSM and PANEL is in floating-point operations */
  OSLA_TRACE_SYRK,
  OSLA_TRACE_TRSM,
  OSLA_TRACE_PANEL, /* factorisation of a diagonal block */
  /* rows are interchanged, or interchanges are applied to a whole panel of columns; amount in
     elements */
  OSLA_TRACE_ROWS,
  OSLA_TRACE_UPDATE, /* additions to the matrix or right-hand side; amount in elements */
  /* a sweep of an iteration over the rank's part of x, or one of the two parts of a sweep; amount
     in elements, all of them with the second part */
  OSLA_TRACE_SWEEP,
  OSLA_TRACE_KINDS
} osla_trace_kind;

enum { OSLA_TRACE_MAX_EVENTS = 1 << 22 };

/* Clears the record, synchronises all ranks to the clock of rank 0, and starts. Clocks that differ
 * by less than the error of the comparison count as equal, so clocks of one host are not shifted.
 * No transfer should be under way, because earlier transfers are not recorded. Collective; a
 * barrier. Errors, on all ranks together: MEM, MPI. */
OSLA_API osla_err osla_trace_start(osla_transport *transport);

/* Stops recording; the record stays. Each rank stops by itself. No effect when tracing is off.
 * Local. */
OSLA_API void osla_trace_stop(osla_transport *transport);

/* Gathers the events of all ranks, in pieces, and writes them from rank 0. It stops the trace
 * first, and may be called repeatedly. Collective.
 *   path [in] name of a file in the trace event format of Chrome, a JSON array; used on rank 0
 *             only. In the viewer a process stands for a node, and a thread for a rank (further
 *             threads of a rank: rank + thread * ranks). Times are in microseconds since the start,
 *             on the clock of rank 0. Events are complete ("X"); GET and PUT are asynchronous pairs
 *             ("b", "e"). The file gets its name when it is complete; an older file of that name
 *             stays until then, and its permissions are kept. Pipes and devices are written
 *             directly.
 * Errors, on all ranks together: STATE (never started), IO, MEM, MPI. */
OSLA_API osla_err osla_trace_write(osla_transport *transport, const char *path);

/* --- recording: local, thread-safe, no effect when tracing is off --- */

/* The current time, for osla_trace_add; negative when tracing is off. */
OSLA_API double osla_trace_now(const osla_transport *transport);

/* Records an event from `since`, a result of osla_trace_now, until now.
 *   since  [in] negative: nothing is recorded
 *   amount [in] of this rank, in the unit of the kind; 0 for kinds without a unit */
OSLA_API void osla_trace_add(osla_transport *transport, osla_trace_kind kind, double since,
                             double amount);

/* --- results --- */

typedef struct osla_trace_total {
  int64_t events;         /* number of events of this kind, of all ranks */
  double seconds;         /* duration of these events, summed over all ranks, in s */
  double seconds_largest; /* largest total duration of these events on a rank, in s */
  double amount;          /* amount of these events, summed over all ranks */
} osla_trace_total;

/* Summary of a trace. The overlap says how much of the communication was hidden. For each rank it
 * uses the time in which at least one transfer was in flight, from its first call to its observed
 * completion, and the part of that time in which the rank was busy with its transfers and could not
 * compute:
 *
 *   in_flight = length of the union of its GET, PUT, ISSUE, WAIT, COPY, FLUSH, NOTIFY
 *   exposed   = length of the union of its           ISSUE, WAIT, COPY, FLUSH, NOTIFY
 *   overlap   = 1 - (sum of exposed over the ranks) / (sum of in_flight over the ranks)
 *
 * So the overlap lies between 0 and 1, concurrent transfers count once, and a transfer on the node
 * (COPY), which is complete on return, counts as exposed. Data that a node reads in place are not
 * transferred. Waits for the work of another rank (NOTIFY_WAIT, LOCK, collectives) show load
 * imbalance and do not count. A rank with several threads is busy if one of them is. */
typedef struct osla_trace_summary {
  osla_trace_total kind[OSLA_TRACE_KINDS];
  double seconds;   /* time from start to stop of the trace, largest over the ranks, in s */
  double in_flight; /* time with a transfer in flight, summed over the ranks, in s */
  /* time in which ranks were busy with their transfers, summed over the ranks, in s */
  double exposed;
  double overlap; /* share of hidden communication, 0 to 1; NaN if nothing was in flight */
  int64_t
    dropped; /* events of all ranks that were not stored; if > 0, all other values are too low */
} osla_trace_summary;

/* Sums up the events of all ranks. It stops the trace first. Collective.
 *   out [out] equal on all ranks
 * Errors, on all ranks together: STATE (never started), MEM, MPI. */
OSLA_API osla_err osla_trace_summarise(osla_transport *transport, osla_trace_summary *out);

/* Name of a kind ("notify_wait"), and the unit of its amount ("bytes"; "" if it has none).
 * Local. */
OSLA_API const char *osla_trace_name(osla_trace_kind kind);
OSLA_API const char *osla_trace_unit(osla_trace_kind kind);

#ifdef __cplusplus
}
#endif
#endif
