/* Options of osla-bench for channels. See bench_options.h. */
#include "config.h"

#include "bench/bench_channel.h"
#include "bench/bench_options.h"

#include <inttypes.h>
#include <string.h>

void bench_channel_table(bench_raw_channel *raw, struct poptOption table[BENCH_CHANNEL_OPTIONS])
{
  const struct poptOption channel[] = {{"case", '\0', POPT_ARG_STRING, &raw->cases, 0,
                                        "Cases, of " CHANNEL_CASES " (default: all)", "LIST"},
                                       POPT_TABLEEND};
  _Static_assert(sizeof channel / sizeof *channel == BENCH_CHANNEL_OPTIONS, "room for all");
  memcpy(table, channel, sizeof channel);
}

int bench_channel_parse(const bench_kernel *kernel, const bench_raw_channel *raw,
                        bench_settings *settings)
{
  int status = OSLA_EXIT_OK;
  if (!kernel->channel) return status;
  settings->cases = (1U << CHANNEL_CASE_COUNT) - 1;
  if (raw->cases)
    status = bench_parse_names(kernel, "--case", CHANNEL_CASES, raw->cases, &settings->cases);
  for (int i = 0; i < settings->n_count && !status; i++) {
    if (settings->n[i] % (int64_t)sizeof(uint64_t) != 0)
      status = bench_error(kernel, "--bytes: %" PRId64 " is not a multiple of 8", settings->n[i]);
    else if (settings->n[i] > (int64_t)1 << 30)
      status = bench_error(kernel, "--bytes: more than 1 GiB in one message");
  }
  /* The single size 0 stands for the default sizes of each case. */
  if (settings->n_count == 0) settings->n_count = 1;
  return status;
}
