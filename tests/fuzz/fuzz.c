/* Usage: fuzz [--seed S] [--count N] [--jobs N] [--seconds T] [KIND [SEED]] (see fuzz.h).
 *
 * Gives N inputs of each kind to the readers, and the first few (--jobs) also to the command, on 2
 * ranks (if OSLA and MPIEXEC are set). With --seconds it repeats with new seeds until the time is
 * over. Each failure is reported in one line, and its input is saved in the current directory.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const fuzz_kind *const kinds[] = {&fuzz_stations,    &fuzz_fdsn,         &fuzz_events,
                                         &fuzz_services,    &fuzz_ndk,          &fuzz_updates,
                                         &fuzz_checkpoints, &fuzz_triangles,    &fuzz_stationxml,
                                         &fuzz_quakeml,     &fuzz_measurements, &fuzz_reference};
enum { KINDS = sizeof kinds / sizeof *kinds };

typedef struct job {
  const fuzz_kind *kind;
  char scratch[64];
  uint64_t seed[FUZZ_BATCH];
  bool damaged[FUZZ_BATCH];
  fuzz_result *read;   /* [FUZZ_BATCH] results of the reader under test */
  fuzz_result *judged; /* [FUZZ_BATCH] results of the judge, which is the independent parser */
  int walked;          /* index of the first input of the batch that fuzz_walk reads */
  int done, accepted, rejected, hdf5, unjudged, failed;
} job;

typedef struct file_name {
  char s[128];
} file_name;

static file_name name_of(const job *j, const char *what, int i)
{
  file_name name;
  (void)snprintf(name.s, sizeof name.s, "%s/%s-%d", j->scratch, what, i);
  return name;
}

static void report_failure(job *j, int i, const char *where, const char *why, const char *detail)
{
  char kept[128];
  fuzz_bytes b = fuzz_load(name_of(j, "in", i).s);
  (void)snprintf(kept, sizeof kept, "fuzz-%s-%016llx", j->kind->name,
                 (unsigned long long)j->seed[i]);
  fuzz_save(kept, b);
  free(b.at);
  printf("FAIL %s 0x%016llx %s: %s%s%s\n", j->kind->name, (unsigned long long)j->seed[i], where,
         why, *detail ? ": " : "", detail);
  j->failed++;
}

/* Counts the lines in a child's standard error, without the sanitizer's remarks on large
 * allocations that it rejected. `first` gets the first line. */
static int count_lines(const fuzz_bytes *errors, char first[300])
{
  int lines = 0;
  const char *at = errors->at;
  first[0] = '\0';
  while (*at) {
    int n = (int)strcspn(at, "\n");
    if (n > 0 && !memmem(at, (size_t)n, "failed to allocate", 18)) {
      if (lines++ == 0) (void)snprintf(first, 300, "%.*s", n < 290 ? n : 290, at);
    }
    at += n + (at[n] == '\n');
  }
  return lines;
}

/* Returns the sanitizer's summary line, or "". */
static const char *headline(const fuzz_bytes *errors)
{
  static char text[200];
  const char *at = strstr(errors->at, "ERROR: ");
  if (!at) at = strstr(errors->at, "runtime error");
  text[0] = '\0';
  if (at) (void)snprintf(text, sizeof text, "%.*s", (int)strcspn(at, "\n"), at);
  return text;
}

static void walk_input(void *context, int i, fuzz_result *result)
{
  const job *j = context;
  fuzz_walk(name_of(j, "in", j->walked + i).s);
  result->state = FUZZ_ACCEPTED;
}

/* Checks whether plain HDF5 calls crash or hang on the input as well. */
static bool fails_in_hdf5(job *j, int i)
{
  static fuzz_result *one;
  if (!j->kind->hdf5) return false;
  if (!one) one = fuzz_make_results();
  file_name errors = name_of(j, "walk", 0);
  j->walked = i;
  fuzz_batch b = {0, 1, walk_input, NULL, NULL, j, errors.s, one};
  fuzz_run_batch(&b);
  return one[0].state == FUZZ_RUNNING;
}

static bool is_one_line(const char *text)
{
  for (const char *c = text; *c; c++)
    if ((unsigned char)*c < ' ' || *c == '\x7f') return false;
  return *text != '\0';
}

static void check_death(job *j, int i, const fuzz_result *r, const fuzz_bytes *errors)
{
  char why[64] = "hangs";
  if (fails_in_hdf5(j, i)) {
    j->hdf5++;
    printf("HDF5 %s 0x%016llx: %s in HDF5 itself\n", j->kind->name, (unsigned long long)j->seed[i],
           r->status == -1 ? "hangs" : "dies");
    return;
  }
  if (r->status != -1 && WIFSIGNALED(r->status))
    (void)snprintf(why, sizeof why, "dies of signal %d", WTERMSIG(r->status));
  else if (r->status != -1)
    (void)snprintf(why, sizeof why, "dies with status %d", WEXITSTATUS(r->status));
  report_failure(j, i, "reader", why, headline(errors));
}

/* Compares the results of the reader and the judge for one input. */
static void check_input(job *j, int i)
{
  const fuzz_result *r = &j->read[i], *judged = &j->judged[i];
  char first[300];
  fuzz_bytes errors = fuzz_load(name_of(j, "read", i).s);
  int lines = count_lines(&errors, first);
  j->done++;
  if (r->state == FUZZ_RUNNING)
    check_death(j, i, r, &errors);
  else if (r->leaks)
    report_failure(j, i, "reader", "leaks", "");
  else if (lines > 0)
    report_failure(j, i, "reader", "lines on stderr", first);
  else if (r->state == FUZZ_REJECTED && !is_one_line(r->text))
    report_failure(j, i, "reader", "not one line", r->text);
  else if (r->state == FUZZ_REJECTED && !j->damaged[i])
    report_failure(j, i, "reader", "refuses what is right", r->text);
  else if (r->state == FUZZ_REJECTED)
    j->rejected++;
  else if (judged->state == FUZZ_RUNNING || judged->state == FUZZ_NOT_RUN)
    j->unjudged++;
  else if (judged->state == FUZZ_REJECTED)
    report_failure(j, i, "reader", "takes what is wrong", judged->text);
  else if (judged->digest != r->digest)
    report_failure(j, i, "reader", "reads other values", "");
  else
    j->accepted++;
  free(errors.at);
}

static void read_input(void *context, int i, fuzz_result *result)
{
  const job *j = context;
  j->kind->read(name_of(j, "in", i).s, result);
}

static void judge_input(void *context, int i, fuzz_result *result)
{
  const job *j = context;
  j->kind->judge(name_of(j, "in", i).s, result);
}

static void judge_all(job *j, int count)
{
  memset(j->judged, 0, FUZZ_BATCH * sizeof *j->judged);
  if (!j->kind->hdf5) {
    for (int i = 0; i < count; i++)
      judge_input(j, i, &j->judged[i]);
    return;
  }
  file_name errors = name_of(j, "judge", 0);
  fuzz_batch b = {0, count, judge_input, NULL, NULL, j, errors.s, j->judged};
  fuzz_run_batch(&b);
}

/* Makes `count` inputs of a seed, from index `first` on, and gives them to the reader and the
 * judge. If first < 0, makes one input, whose seed is `seed`. */
static void run_readers(job *j, uint64_t seed, int first, int count)
{
  file_name errors;
  (void)snprintf(errors.s, sizeof errors.s, "%s/read", j->scratch);
  for (int i = 0; i < count; i++) {
    uint64_t words[2] = {seed, (uint64_t)(first + i)};
    j->seed[i] = first < 0 ? seed : fuzz_hash(0, words, sizeof words);
    j->damaged[i] = j->kind->make(j->seed[i], name_of(j, "in", i).s);
  }
  fuzz_batch b = {0, count, read_input, j->kind->before, j->kind->after, j, errors.s, j->read};
  fuzz_run_batch(&b);
  for (int i = 0; i < count && count > 1; i++)
    /* repeats the input alone, because an earlier input of the batch may be the cause */
    if (j->read[i].state == FUZZ_RUNNING || j->read[i].leaks) {
      b.first = i;
      b.count = i + 1;
      fuzz_run_batch(&b);
    }
  judge_all(j, count);
  for (int i = 0; i < count; i++)
    check_input(j, i);
}

/* Gives one input to the command. The command may also reject a correct list that is useless for
 * its job. */
static void run_command(job *j, int i)
{
  const char *argv[32] = {getenv("MPIEXEC"), "-n", "2", getenv("OSLA")};
  char first[300];
  file_name in = name_of(j, "in", i), out = name_of(j, "out.h5", i), errors = name_of(j, "err", i),
            print_totals = name_of(j, "report", i);
  j->kind->command(in.s, out.s, argv + 4);
  int status = fuzz_run_program(argv, print_totals.s, errors.s);
  fuzz_bytes text = fuzz_load(errors.s);
  int lines = count_lines(&text, first);
  bool accepted = status == 0;
  const fuzz_result *judged = &j->judged[i];
  bool right =
    j->kind->accept ? accepted && j->kind->accept(judged, out.s) : judged->state == FUZZ_ACCEPTED;
  j->done++;
  if (accepted && !right)
    report_failure(j, i, "command", "takes what is wrong", judged->text);
  else if (accepted && lines > 0)
    report_failure(j, i, "command", "says with status 0", first);
  else if (!accepted && !(lines == 1 && strncmp(first, "osla ", 5) == 0) && fails_in_hdf5(j, i))
    j->hdf5++;
  else if (status == -1)
    report_failure(j, i, "command", "hangs", "");
  else if (!accepted && (lines != 1 || strncmp(first, "osla ", 5) != 0 || !is_one_line(first)))
    report_failure(j, i, "command", lines == 1 ? "a line that is not its own" : "not one line",
                   first);
  else if (!accepted && !j->damaged[i])
    report_failure(j, i, "command", "refuses what is right", first);
  else
    accepted ? j->accepted++ : j->rejected++;
  free(text.at);
  (void)unlink(out.s);
}

static void print_totals(job *j, const char *what, uint64_t seed)
{
  printf(
    "%-11s %s: seed %llu: %d inputs, %d taken, %d refused, %d not judged, %d times HDF5 itself, "
    "%d failed\n",
    j->kind->name, what, (unsigned long long)seed, j->done, j->accepted, j->rejected, j->unjudged,
    j->hdf5, j->failed);
  (void)fflush(stdout);
  j->done = j->accepted = j->rejected = j->hdf5 = j->unjudged = j->failed = 0;
}

/* Runs all inputs of one kind. Returns the number of failures. */
static int run_kind(job *j, uint64_t seed, int count, int jobs)
{
  int failed = 0, step = j->kind->batch;
  for (int i = 0; i < count; i += step)
    run_readers(j, seed, i, count - i < step ? count - i : step);
  failed += j->failed;
  print_totals(j, "readers", seed);
  if (!getenv("OSLA") || !getenv("MPIEXEC") || jobs == 0) return failed;
  for (int i = 0; i < jobs; i++) {
    uint64_t words[2] = {seed, (uint64_t)i};
    j->seed[0] = fuzz_hash(0, words, sizeof words);
    j->damaged[0] = j->kind->make(j->seed[0], name_of(j, "in", 0).s);
    judge_all(j, 1);
    run_command(j, 0);
  }
  failed += j->failed;
  print_totals(j, "command", seed);
  return failed;
}

typedef struct options {
  uint64_t seed, one;
  int count, jobs;
  double seconds;
  const char *kind;
  bool single;
} options;

static options parse(int argc, char **argv)
{
  static const struct option table[] = {{"seed", 1, NULL, 's'},
                                        {"count", 1, NULL, 'n'},
                                        {"jobs", 1, NULL, 'j'},
                                        {"seconds", 1, NULL, 't'},
                                        {NULL, 0, NULL, 0}};
  options o = {.seed = 1, .count = 300, .jobs = 20};
  for (int c; (c = getopt_long(argc, argv, "", table, NULL)) != -1;) {
    if (c == 's') o.seed = strtoull(optarg, NULL, 0);
    if (c == 'n') o.count = atoi(optarg);
    if (c == 'j') o.jobs = atoi(optarg);
    if (c == 't') o.seconds = atof(optarg);
    if (c == '?') exit(2);
  }
  if (optind < argc) o.kind = argv[optind];
  o.single = optind + 1 < argc;
  if (o.single) o.one = strtoull(argv[optind + 1], NULL, 0);
  return o;
}

/* Runs all kinds, or the requested one. Returns the number of failures. */
static int run_round(const options *o, job jobs[KINDS], const bool ready[KINDS])
{
  int failed = 0;
  for (int k = 0; k < KINDS; k++) {
    if (!ready[k]) continue;
    if (o->single) {
      run_readers(&jobs[k], o->one, -1, 1);
      printf("ours:  %s %s\njudge: %s %s\n", jobs[k].read[0].state == FUZZ_ACCEPTED ? "taken" : "",
             jobs[k].read[0].text, jobs[k].judged[0].state == FUZZ_ACCEPTED ? "taken" : "",
             jobs[k].judged[0].text);
      if (getenv("OSLA") && getenv("MPIEXEC")) run_command(&jobs[k], 0);
      failed += jobs[k].failed;
    } else {
      failed += run_kind(&jobs[k], o->seed, o->count, o->jobs);
    }
  }
  return failed;
}

static void remove_all(const char *directory)
{
  char command[128];
  (void)snprintf(command, sizeof command, "rm -rf '%s'", directory);
  if (system(command) != 0) printf("%s stays\n", directory);
}

int main(int argc, char **argv)
{
  static job jobs[KINDS];
  bool ready[KINDS];
  options o = parse(argc, argv);
  /* the scratch folder lies in the current directory, in which test_fuzz.sh looks for files left
   * behind */
  char scratch[] = "scratch-XXXXXX";
  int failed = 0;
  time_t begin = time(NULL);
#ifndef __SANITIZE_ADDRESS__
  printf("without sanitizers: the compiler has none\n");
#endif
  fuzz_require(mkdtemp(scratch), scratch);
  for (int k = 0; k < KINDS; k++) {
    jobs[k] = (job){.kind = kinds[k], .read = fuzz_make_results(), .judged = fuzz_make_results()};
    strcpy(jobs[k].scratch, scratch);
    ready[k] = !o.kind || strcmp(o.kind, kinds[k]->name) == 0;
    if (ready[k] && kinds[k]->prepare && !kinds[k]->prepare(scratch)) {
      printf("%s: cannot be prepared here\n", kinds[k]->name);
      ready[k] = false;
    }
  }
  do {
    failed += run_round(&o, jobs, ready);
    o.seed++;
  } while ((double)(time(NULL) - begin) < o.seconds);
  remove_all(scratch);
  printf("%d failed\n", failed);
  return failed > 0;
}
