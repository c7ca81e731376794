/* Tables of a reference Earth (doc/reference.md): makes correct and damaged tables, calls the
 * reader, and parses them independently, from the description. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/tomography/earth/tomo_reference_table.h"
#include "tests/fuzz/fuzz_parse.h"

/* ---- making of input tables ---- */

static bool make(uint64_t seed, const char *path)
{
  fuzz_random random = fuzz_begin(seed);
  fuzz_bytes b = {NULL, 0};
  const bool damaged = !fuzz_one_in(&random, 12), jump = fuzz_one_in(&random, 2);
  fuzz_print(&b, "%sosla-reference 1\n", fuzz_one_in(&random, 4) ? "# a table\n\n" : "");
  fuzz_print(&b, "title    an Earth\nmapping  dln Vs\n");
  if (fuzz_one_in(&random, 2)) fuzz_print(&b, "source   a book\nmade     by hand\n");
  fuzz_print(&b, "depth_km 0 15%s 60.5 400\n", jump ? " 15" : "");
  for (int wave = 0; wave < 2; wave++)
    for (int branch = 0; branch < 2; branch++) {
      const bool grouped = fuzz_one_in(&random, 2);
      for (int64_t row = 0, rows = 1 + fuzz_below(&random, 3); row < rows; row++) {
        fuzz_print(&b, "mode %s %d %g 4.%lld%s\n", wave ? "love" : "rayleigh", branch,
                   20.0 + 7.5 * (double)row, (long long)fuzz_below(&random, 900),
                   grouped ? " 3.7" : "");
        for (int u = 0; u <= grouped; u++)
          fuzz_print(&b, "%s 1e-3 %.3g%s -2e-4 0\n", u ? "dlnU" : "dlnc",
                     1e-5 * (double)fuzz_below(&random, 1000), jump ? " 3e-3" : "");
      }
    }
  for (int64_t n = damaged ? 1 + fuzz_below(&random, 3) : 0; n > 0; n--)
    fuzz_damage_text(&random, &b);
  fuzz_save(path, b);
  free(b.at);
  return damaged;
}

/* ---- the digest of a table ---- */

static uint64_t hash_values(uint64_t hash, const double *value, int n)
{
  for (int i = 0; i < n; i++) {
    const double x = value[i] + 0.0; /* turns a negative zero into a positive one */
    hash = fuzz_hash(hash, &x, sizeof x);
  }
  return hash;
}

static uint64_t hash_rows(const tomo_reference *r)
{
  uint64_t hash = hash_values(0, r->depth, r->n_depths);
  for (int i = 0; i < r->n_rows; i++) {
    const reference_row *row = &r->row[i];
    const double head[5] = {(double)row->wave, (double)row->branch, row->period, row->velocity[0],
                            row->velocity[1]};
    hash = hash_values(hash, head, 5);
    for (int u = 0; u < 2; u++)
      if (row->kernel[u]) hash = hash_values(hash, row->kernel[u], r->n_depths);
  }
  return hash;
}

static void read_ours(const char *path, fuzz_result *result)
{
  fuzz_bytes b = fuzz_load(path);
  tomo_reference *reference = NULL;
  if (tomo_reference_parse(path, b.at, b.size, &reference) != OSLA_OK) {
    fuzz_reject(result, "%s", osla_error_text());
    if (reference) strcpy(result->text, "a reference in spite of an error");
  } else {
    result->digest = hash_rows(reference);
    result->state = FUZZ_ACCEPTED;
    /* interpolates at periods between and beyond the rows */
    for (int w = 0; w < 2; w++)
      for (double period = 1.0; period < 1e5; period *= 1.3) {
        const tomo_measure m = {(tomo_wave)w, w ? TOMO_GROUP : TOMO_PHASE, 0, period};
        if (tomo_measure_check(reference, &m) == OSLA_OK &&
            !isfinite(tomo_measure_velocity(reference, &m) +
                      tomo_measure_kernel(reference, &m, period)))
          result->digest = 0;
      }
    tomo_reference_destroy(&reference);
  }
  free(b.at);
}

/* ---- the independent parser of tables ---- */

enum { WORDS = 4096, MOST_ROWS = 512, TEXT = 1 << 20 };

typedef struct second {
  char text[TEXT], *line, *word[WORDS];
  int words;
  const char *wrong;
  reference_row row[MOST_ROWS];
  tomo_reference r;
} second;

static bool reject(second *s, const char *why)
{
  if (!s->wrong) s->wrong = why;
  return false;
}

/* Splits the next line that is neither blank nor a comment into words; returns false at the end of
 * the table. */
static bool next(second *s)
{
  for (;;) {
    if (!s->line || !*s->line) return false;
    char *line = s->line, *end = strchr(line, '\n');
    s->line = end ? end + 1 : NULL;
    if (end) *end = '\0';
    line += strspn(line, " \t\r");
    s->words = 0;
    if (!*line || *line == '#') continue;
    for (char *c = line; *c;) {
      if (s->words == WORDS) return reject(s, "many words");
      s->word[s->words++] = c;
      c += strcspn(c, " \t\r");
      while (*c && strchr(" \t\r", *c))
        *c++ = '\0';
    }
    return true;
  }
}

static double number(second *s, const char *word, double low, double high)
{
  static fuzz_text t;
  double x = 0.0;
  t.wrong = NULL;
  if (strlen(word) >= 40 || !fuzz_text_number(&t, word, low, high, &x)) (void)reject(s, "a number");
  return x;
}

static void read_head(second *s)
{
  static const char *const keys[] = {"title", "mapping", "source", "made"};
  bool there[4] = {false, false, false, false};
  if (!next(s) || s->words != 2 || strcmp(s->word[0], "osla-reference") != 0 ||
      strcmp(s->word[1], "1") != 0)
    (void)reject(s, "the first line");
  while (!s->wrong && next(s) && strcmp(s->word[0], "depth_km") != 0) {
    int k = 0;
    while (k < 4 && strcmp(s->word[0], keys[k]) != 0)
      k++;
    if (k == 4 || there[k] || s->words < 2) (void)reject(s, "the head");
    if (k < 4) there[k] = true;
  }
  const int n = s->words - 1;
  if (s->wrong || s->words < 3 || strcmp(s->word[0], "depth_km") != 0 || n > 2000 || !there[0] ||
      !there[1]) {
    (void)reject(s, "depths, title or mapping");
    return;
  }
  double *z = s->r.depth = calloc((size_t)n, sizeof *z);
  fuzz_require(z, "memory");
  s->r.n_depths = n;
  for (int i = 0; i < n; i++) {
    z[i] = number(s, s->word[i + 1], 0.0, 1e4);
    if ((i > 0 && z[i] < z[i - 1]) || (i > 1 && z[i] <= z[i - 2])) (void)reject(s, "the order");
  }
  if (z[0] >= z[1] || z[n - 1] <= z[n - 2]) (void)reject(s, "a jump at an end");
}

static double *read_kernel(second *s, const char *keyword)
{
  if (!next(s) || strcmp(s->word[0], keyword) != 0 || s->words != s->r.n_depths + 1) {
    (void)reject(s, "a kernel");
    return NULL;
  }
  double *k = calloc((size_t)s->r.n_depths, sizeof *k);
  fuzz_require(k, "memory");
  for (int i = 0; i < s->r.n_depths; i++)
    k[i] = number(s, s->word[i + 1], -1e3, 1e3);
  return k;
}

static void read_row(second *s)
{
  if (s->r.n_rows == MOST_ROWS || strcmp(s->word[0], "mode") != 0 || s->words < 5 || s->words > 6) {
    (void)reject(s, "a mode");
    return;
  }
  reference_row *row = &s->row[s->r.n_rows];
  const bool love = strcmp(s->word[1], "love") == 0, grouped = s->words == 6;
  if (!love && strcmp(s->word[1], "rayleigh") != 0) (void)reject(s, "the wave");
  const double branch = number(s, s->word[2], 0.0, 99.0);
  if (branch != floor(branch)) (void)reject(s, "the branch");
  row->wave = love ? TOMO_LOVE : TOMO_RAYLEIGH;
  row->branch = (int)branch;
  row->period = number(s, s->word[3], 0.01, 1e5);
  row->velocity[0] = number(s, s->word[4], 0.01, 100.0);
  if (grouped) row->velocity[1] = number(s, s->word[5], 0.01, 100.0);
  s->r.n_rows++;
  if (!s->wrong) row->kernel[0] = read_kernel(s, "dlnc");
  if (!s->wrong && grouped) row->kernel[1] = read_kernel(s, "dlnU");
}

static int compare(const void *x, const void *y)
{
  const reference_row *a = x, *b = y;
  if (a->wave != b->wave) return a->wave < b->wave ? -1 : 1;
  if (a->branch != b->branch) return a->branch < b->branch ? -1 : 1;
  return a->period < b->period ? -1 : a->period > b->period;
}

static void judge(const char *path, fuzz_result *result)
{
  static second s;
  memset(&s, 0, sizeof s);
  fuzz_bytes b = fuzz_load(path);
  const bool begins = b.size >= 3 && memcmp(b.at, "\xef\xbb\xbf", 3) == 0;
  if (b.size >= TEXT || memchr(b.at, '\0', b.size))
    (void)reject(&s, "a zero byte, or a large file");
  if (!s.wrong) memcpy(s.text, b.at + (begins ? 3 : 0), b.size - (begins ? 3 : 0));
  s.line = s.text;
  if (!s.wrong) read_head(&s);
  while (!s.wrong && next(&s))
    read_row(&s);
  if (s.r.n_rows == 0) (void)reject(&s, "no mode");
  qsort(s.row, (size_t)s.r.n_rows, sizeof *s.row, compare);
  for (int i = 1; !s.wrong && i < s.r.n_rows; i++) {
    const reference_row *a = &s.row[i - 1], *c = &s.row[i];
    if (compare(a, c) == 0) (void)reject(&s, "a period twice");
    if (a->wave == c->wave && a->branch == c->branch && !a->kernel[1] != !c->kernel[1])
      (void)reject(&s, "U here and not there");
  }
  s.r.row = s.row;
  result->state = FUZZ_ACCEPTED;
  if (!s.wrong) result->digest = hash_rows(&s.r);
  if (s.wrong) fuzz_reject(result, "%s", s.wrong);
  for (int i = 0; i < s.r.n_rows; i++) {
    free(s.row[i].kernel[0]);
    free(s.row[i].kernel[1]);
  }
  free(s.r.depth);
  free(b.at);
}

/* All made tables have the fundamental Rayleigh mode at 20 s, which these options use. */
static void command(const char *path, const char *out, const char *argv[24])
{
  const char *const words[] = {"invert", "--reference", path, "--output",     out,  "--mesh",
                               "2",      "--radial",    "2",  "--max-paths",  "20", "--periods",
                               "1",      "--branches",  "1",  "--period-min", "20", "--period-max",
                               "20",     "--quiet",     NULL};
  memcpy(argv, words, sizeof words);
}

const fuzz_kind fuzz_reference = {.name = "reference",
                                  .batch = FUZZ_BATCH,
                                  .make = make,
                                  .read = read_ours,
                                  .judge = judge,
                                  .command = command};
