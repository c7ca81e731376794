/* Writes the record of a run as a line of JSON, for the plots. See bench_jacobi.h. */
#include "bench/bench_jacobi.h"
#include "osla_iterate_record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LAG = 4096, FACES = 6 };

static void write_rank(FILE *file, int rank, const osla_record *r, int n_halos, int64_t *count)
{
  (void)fprintf(file,
                "%s{\"rank\": %d, \"sweeps\": %" PRId64 ", \"complete\": %s, \"staleness\": [",
                rank > 0 ? ", " : "", rank, r->sweeps, r->complete ? "true" : "false");
  memset(count, 0, (2 * MOST_LAG + 1) * sizeof *count);
  osla_record_lags(r, n_halos, MOST_LAG, count);
  const char *comma = "";
  for (int lag = -MOST_LAG; lag <= MOST_LAG; lag++) {
    if (count[MOST_LAG + lag] == 0) continue;
    (void)fprintf(file, "%s[%d, %" PRId64 "]", comma, lag, count[MOST_LAG + lag]);
    comma = ", ";
  }
  (void)fprintf(file, "]}");
}

static void write_line(FILE *file, const jacobi_data *d, const osla_record *records, int64_t *count)
{
  static const char *const modes[] = {"async", "racy", "sync"};
  const osla_record *first = &records[0];
  (void)fprintf(file, "{\"mode\": \"%s\", \"ranks\": [", modes[d->mode]);
  for (int rank = 0; rank < d->problem->job->size; rank++)
    write_rank(file, rank, &records[rank], FACES, count);
  (void)fprintf(file, "], \"profile\": [");
  for (int k = 0; k < first->n_estimates; k++)
    (void)fprintf(file, "%s[%.9g, %.9g]", k > 0 ? ", " : "", first->estimates[k].seconds,
                  first->estimates[k].residual / d->result.start);
  (void)fprintf(file, "]}\n");
}

static osla_err append(const jacobi_data *d, const osla_record *records)
{
  const char *path = d->problem->job->settings->record;
  int64_t *count = malloc((2 * MOST_LAG + 1) * sizeof *count);
  OSLA_CHECK(count, OSLA_ERR_MEM, "lags of a record");
  errno = 0;
  FILE *file = fopen(path, "a");
  if (file) write_line(file, d, records, count);
  const bool failed = !file || ferror(file);
  const bool closed = file && fclose(file) == 0;
  free(count);
  OSLA_CHECK(!failed && closed, OSLA_ERR_IO, "--record: %s cannot be written: %s", path,
             strerror(errno));
  return OSLA_OK;
}

osla_err jacobi_record_write(const jacobi_data *d)
{
  osla_record *records;
  OSLA_CALL(osla_iteration_gather(d->iteration, 0, &records));
  const osla_err err = records ? append(d, records) : OSLA_OK;
  osla_records_free(d->problem->job->size, &records);
  return osla_agree(d->problem->job->transport, err);
}
