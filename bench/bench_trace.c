/* --trace: writes the trace file, and prints how much time each kind of event took. See bench.h. */
#include "bench/bench.h"
#include "osla_trace.h"
#include "tools/common/command.h"

#include <inttypes.h>
#include <math.h>

/* Amount of a kind of event as text: "1.5 GiB", "2.1 GF", "3000"; "" if the kind has no amount. */
static command_text amount_text(osla_trace_kind kind, double amount)
{
  command_text text = {""};
  const char *unit = osla_trace_unit(kind);
  if (unit[0] == 'b') text = format_bytes((uint64_t)amount);
  if (unit[0] == 'f') (void)snprintf(text.s, sizeof text.s, "%.4g GF", 1e-9 * amount);
  if (unit[0] == 'e') (void)snprintf(text.s, sizeof text.s, "%.4g", amount);
  return text;
}

static void print_summary(const bench_job *job, const osla_trace_summary *s)
{
  (void)printf("\ntrace of %s, n = %" PRId64 ", the last repetition of osla: %.4g s%s; in %s\n",
               job->traced, job->traced_n, s->seconds, osla_simulated_machine() ? " simulated" : "",
               job->settings->trace);
  (void)printf("%-12s %10s %12s %12s  %s\n", "what", "events", "sum s", "largest s", "amount");
  for (int kind = 0; kind < OSLA_TRACE_KINDS; kind++) {
    const osla_trace_total *total = &s->kind[kind];
    if (total->events == 0) continue;
    (void)printf("%-12s %10" PRId64 " %12.4g %12.4g  %s\n", osla_trace_name((osla_trace_kind)kind),
                 total->events, total->seconds, total->seconds_largest,
                 amount_text((osla_trace_kind)kind, total->amount).s);
  }
  if (isnan(s->overlap))
    (void)printf("overlap      no transfers\n");
  else
    (void)printf(
      "overlap      %.3f: of %.4g s with transfers in flight the ranks were held %.4g s\n",
      s->overlap, s->in_flight, s->exposed);
  if (s->dropped > 0)
    (void)printf("%" PRId64 " further events were not recorded; the sums lack them\n", s->dropped);
  (void)fflush(stdout);
}

osla_err bench_trace_report(bench_job *job)
{
  osla_trace_summary summary;
  if (!job->settings->trace) return OSLA_OK;
  OSLA_CALL(osla_trace_write(job->transport, job->settings->trace));
  OSLA_CALL(osla_trace_summarise(job->transport, &summary));
  if (job->rank == 0) print_summary(job, &summary);
  return OSLA_OK;
}
