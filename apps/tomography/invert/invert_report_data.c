/* The text report: the command line, the data, and the rejected rows of the table. */
#include "apps/tomography/invert/invert.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Writes a word so that a shell reads it as one word. */
static void put_word(const char *word, FILE *out)
{
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "-_=./,:+@%";
  const char *quote = word[strspn(word, plain)] != '\0' || *word == '\0' ? "'" : "";
  (void)fprintf(out, " %s", quote);
  for (; *word; word++) {
    if (*word == '\'')
      (void)fputs("'\\''", out);
    else
      (void)fputc(*word, out);
  }
  (void)fputs(quote, out);
}

void invert_put_command(const invert_options *o, FILE *out)
{
  (void)fputs("osla", out);
  for (char *const *word = o->words; word && *word; word++)
    put_word(*word, out);
}

/* Prints the numbers of rejected measurements by reason, and the first messages with their lines.
 */
static void print_notes(const invert_job *job)
{
  const tomo_data_notes *n = &job->notes;
  if (n->sigma_missing > 0)
    (void)printf("           %" PRId64 " without sigma: %g of the period\n", n->sigma_missing,
                 job->options->kernel.sigma_fraction);
  if (n->distant > 0)
    (void)printf("           %" PRId64 " left out: not between %g and %g degrees\n", n->distant,
                 job->options->min_distance, job->options->max_distance);
  if (n->unmatched == 0) return;
  (void)printf("Not used   %" PRId64 " of %" PRId64 " measurements%s\n", n->unmatched, n->rows,
               n->unmatched > n->listed ? ", the first:" : ":");
  for (int64_t i = 0; i < n->listed; i++)
    (void)printf("           %s:%" PRId64 ": %s\n", job->options->data, n->place[i], n->note[i]);
}

void invert_print_data(const invert_job *job)
{
  const invert_options *o = job->options;
  (void)printf("Data       %" PRId64 " paths (%" PRId64 " stations, %" PRId64 " earthquakes)",
               job->n_paths, job->n_stations, job->n_events);
  if (!o->data) {
    (void)printf(" x %" PRId64 " measurements\n", job->data.n_measures);
  } else {
    (void)printf(", %" PRId64 " measurements of %" PRId64 " kinds\n",
                 tomo_data_first(&job->data, job->n_paths), job->data.n_measures);
    print_notes(job);
  }
  (void)printf("Reference  %s\n", strcmp(job->earth, "stand-in") == 0
                                    ? "stand-in formulas (--reference)"
                                    : job->earth);
}
