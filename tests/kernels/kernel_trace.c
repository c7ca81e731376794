#include "tests/kernels/kernel_trace.h"

#include "src/transport/trace.h"
#include "tests/osla_test.h"

#include <inttypes.h>
#include <math.h>

static bool is_work(int32_t kind)
{
  return kind == OSLA_TRACE_PANEL || kind == OSLA_TRACE_GEMM || kind == OSLA_TRACE_SYRK ||
         kind == OSLA_TRACE_TRSM || kind == OSLA_TRACE_ROWS;
}

static bool is_collective(int32_t kind)
{
  return kind == OSLA_TRACE_BARRIER || kind == OSLA_TRACE_ALLREDUCE || kind == OSLA_TRACE_BCAST ||
         kind == OSLA_TRACE_ALLTOALL || kind == OSLA_TRACE_ALLGATHER;
}

loop_trace loop_trace_of(osla_transport *t)
{
  loop_trace l = {0};
  double first = (double)INFINITY, last = -(double)INFINITY;
  osla_trace_stop(t);
  for (int64_t i = 0; i < t->trace->count; i++) {
    const trace_event *e = trace_at(t->trace, i);
    if (!is_work(e->kind)) continue;
    l.work++;
    first = fmin(first, e->start), last = fmax(last, e->end);
  }
  for (int64_t i = 0; i < t->trace->count; i++) {
    const trace_event *e = trace_at(t->trace, i);
    if (!is_collective(e->kind)) continue;
    bool inside = e->end > first && e->start < last;
    l.inside += inside, l.outside += !inside;
  }
  return l;
}

bool loop_trace_expect(osla_transport *t, const char *what)
{
  loop_trace l = loop_trace_of(t);
  int64_t dropped = t->trace->dropped, all[] = {l.work, l.inside, l.outside, dropped};
  OSLA_ASSERT_OK(osla_allreduce(t, all, 4, MPI_INT64_T, MPI_SUM));
  return osla_test_check(
    l.inside == 0 && all[0] > 0 && all[2] > 0 && all[3] == 0, __FILE__, __LINE__,
    "%s: %" PRId64 " collectives inside the loop here, %" PRId64 " on all ranks; outside %" PRId64
    ", work events %" PRId64 ", lost %" PRId64,
    what, l.inside, all[1], all[2], all[0], all[3]);
}
