/* Tests of the memory of `osla invert`: its predictions for writing files, and the method that it
 * chooses for the posterior when memory is short. */
#include "apps/tomography/readers/tomo_grid_file.h"
#include "apps/tomography/readers/tomo_store.h"
#include "apps/tomography/tests/invert_test_job.h"
#include "tests/osla_test_help.h"

#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t memory_left = UINT64_MAX; /* bytes that osla_memory_check allows on this rank */
static bool inverse_fails;

osla_err __real_osla_memory_check(osla_transport *t, uint64_t bytes);
osla_err __wrap_osla_memory_check(osla_transport *t, uint64_t bytes);
osla_err __real_osla_potri(osla_uplo uplo, osla_matrix *a, const osla_chol_options *options,
                           int64_t *info);
osla_err __wrap_osla_potri(osla_uplo uplo, osla_matrix *a, const osla_chol_options *options,
                           int64_t *info);

osla_err __wrap_osla_memory_check(osla_transport *t, uint64_t bytes)
{
  const bool fits = bytes <= memory_left;
  OSLA_CALL(osla_agree(
    t, fits ? OSLA_OK
            : osla_error_set(OSLA_ERR_MEM, "%llu bytes on purpose", (unsigned long long)bytes)));
  return __real_osla_memory_check(t, bytes);
}

osla_err __wrap_osla_potri(osla_uplo uplo, osla_matrix *a, const osla_chol_options *options,
                           int64_t *info)
{
  if (inverse_fails) return osla_error_set(OSLA_ERR_MEM, "an inverse on purpose");
  return __real_osla_potri(uplo, a, options, info);
}

static const char few[] = "--max-paths 50 --resolution 0 --nb 32 --posterior";

/* With limited memory a job computes the posterior with as many columns of the inverse at a time as
 * fit. */
static void run_less_memory(const char *inverse, int64_t columns)
{
  test_job s;
  char options[200];
  snprintf(options, sizeof options, "%s %s", few, inverse);
  if (!test_job_open(&s, options, "")) return;
  s.job.posterior.width = columns;
  memory_left = invert_predict_bytes(&s.job);
  if (OSLA_ASSERT_OK(invert_check_memory(&s.job)))
    OSLA_ASSERT_MSG(s.job.posterior.width == columns, "%s: %lld columns, not %lld", inverse,
                    (long long)s.job.posterior.width, (long long)columns);
  CU_ASSERT(s.job.result.bytes == memory_left);
  memory_left = UINT64_MAX;
  test_job_close(&s);
}

static void test_choice(void)
{
  static const int64_t columns[] = {64, 16, 4, 1};
  run_less_memory("--inverse in-place", 0);
  run_less_memory("--inverse columns", 256);
  for (int i = 0; i < 4; i++) {
    run_less_memory("--inverse columns", columns[i]);
    run_less_memory("--solver lu", columns[i]);
  }
  test_job s;
  if (!test_job_open(&s, few, "")) return;
  CU_ASSERT(s.job.posterior.width == 0);
  s.job.posterior.width = 1;
  const uint64_t least = invert_predict_bytes(&s.job);
  s.job.posterior.width = 0;
  /* the inverse in place needs memory for panels, too */
  const bool fewer = least < s.job.result.bytes;
  memory_left = fewer ? s.job.result.bytes - 1 : least;
  if (OSLA_ASSERT_OK(invert_check_memory(&s.job))) CU_ASSERT((s.job.posterior.width > 0) == fewer);
  memory_left = 1000;
  OSLA_ASSERT_ERR(invert_check_memory(&s.job), OSLA_ERR_MEM);
  OSLA_ASSERT_TEXT("486 unknowns do not fit: ");
  OSLA_ASSERT_SAME_TEXT();
  memory_left = UINT64_MAX;
  test_job_close(&s);
}

static bool find(test_job *s, const char *inverse)
{
  char options[200];
  snprintf(options, sizeof options, "%s %s", few, inverse);
  return test_job_open(s, options, "") && OSLA_ASSERT_OK(invert_assemble(&s->job)) &&
         OSLA_ASSERT_OK(invert_solve(&s->job));
}

/* If the inverse in place fails for lack of memory, the posterior is computed by columns, unless
 * the user asked for --inverse in-place. */
static void test_too_late(void)
{
  test_job in_place, other;
  if (!find(&in_place, "--inverse in-place") || !find(&other, "")) return;
  OSLA_ASSERT_OK(invert_find_posterior(&in_place.job));
  inverse_fails = true;
  OSLA_ASSERT_OK(invert_find_posterior(&other.job));
  const invert_posterior *a = &in_place.job.posterior, *b = &other.job.posterior;
  CU_ASSERT(a->width == 0 && b->width == 16);
  test_job_compare("deviations", b->deviation, a->deviation, other.job.n, 1e-10);
  test_job_compare("resolution", b->resolution, a->resolution, other.job.n, 1e-10);
  OSLA_ASSERT_CLOSE(b->trace / a->trace, 1.0, 1e-10);
  test_job_close(&in_place);
  test_job_close(&other);
  if (find(&other, "--inverse in-place"))
    OSLA_ASSERT_ERR(invert_find_posterior(&other.job), OSLA_ERR_MEM);
  inverse_fails = false;
  test_job_close(&other);
}

/* Reads an entry of a file such as /proc/self/status, in bytes. Returns 0 if the file has no such
 * entry, or if `gnuplot` is true and the file does not describe a process of gnuplot. */
static uint64_t status_of(const char *name, const char *entry, bool gnuplot)
{
  char line[200];
  unsigned long long kib = 0;
  FILE *file = fopen(name, "r");
  while (file && fgets(line, sizeof line, file)) {
    if (gnuplot && strncmp(line, "Name:", 5) == 0 && !strstr(line, "gnuplot")) break;
    if (strncmp(line, entry, strlen(entry)) == 0)
      (void)sscanf(line + strlen(entry), ": %llu", &kib);
  }
  if (file) fclose(file);
  return 1024 * kib;
}

static uint64_t status(const char *entry)
{
  return status_of("/proc/self/status", entry, false);
}

/* Resets the peak memory of this process; false if the kernel does not support it. */
static bool forget_peak(void)
{
  malloc_trim(0);
  FILE *file = fopen("/proc/self/clear_refs", "w");
  const bool done = file && fputs("5", file) >= 0;
  return file && fclose(file) == 0 && done;
}

/* Peak memory of the gnuplot processes of this process, sampled while they run. */
typedef struct watch {
  _Atomic bool ended;
  int count;
  int process[16];
  uint64_t peak[16];
} watch;

static void look_at(watch *w, int process)
{
  char file[64];
  (void)snprintf(file, sizeof file, "/proc/%d/status", process);
  const uint64_t peak = status_of(file, "VmHWM", true);
  for (int i = 0; i < w->count; i++)
    if (w->process[i] == process) {
      if (peak > w->peak[i]) w->peak[i] = peak;
      return;
    }
  if (peak == 0 || w->count == 16) return;
  w->process[w->count] = process;
  w->peak[w->count++] = peak;
}

static void *look(void *arg)
{
  watch *w = arg;
  char file[64];
  (void)snprintf(file, sizeof file, "/proc/self/task/%d/children", (int)getpid());
  while (!w->ended) {
    int process;
    FILE *children = fopen(file, "r");
    while (children && fscanf(children, "%d", &process) == 1)
      look_at(w, process);
    if (children) fclose(children);
    usleep(3000);
  }
  return NULL;
}

/* Writes a file of a job, and asserts that the memory used is at most the predicted memory and at
 * least `least` times it. */
static void measure(const char *options, double least)
{
  test_job s;
  if (!test_job_open(&s, options, "")) return;
  invert_job *job = &s.job;
  for (int64_t l = 0; l < job->knots; l++)
    job->density[l] = 1e4;
  for (int64_t i = 0; i < job->n; i++)
    job->m[i] = (double)(i % 7) - 3.0;
  if (osla_test_rank() != 0 || !forget_peak()) {
    OSLA_ASSERT_OK(invert_write_output(job));
  } else {
    const uint64_t before = status("VmRSS"), predicted = invert_files_bytes(job);
    watch w = {.count = 0};
    pthread_t watcher;
    const bool watched = pthread_create(&watcher, NULL, look, &w) == 0;
    OSLA_ASSERT_OK(invert_write_output(job));
    uint64_t took = status("VmHWM") - before;
    w.ended = true;
    if (watched) (void)pthread_join(watcher, NULL);
    for (int i = 0; i < w.count; i++)
      took += w.peak[i];
    /* no gnuplot process was observed */
    if (w.count == 0 && (s.options.map || s.options.report)) least = 0.0;
    OSLA_ASSERT_MSG(took <= predicted && (double)took >= least * (double)predicted,
                    "%s: predicted %llu bytes, took %llu, %d gnuplots", options,
                    (unsigned long long)predicted, (unsigned long long)took, w.count);
    if (getenv("OSLA_TEST_FIGURES"))
      printf("predicted %.1f MB, took %.1f: %s\n", 1e-6 * (double)predicted, 1e-6 * (double)took,
             options);
  }
  test_job_close(&s);
}

#ifdef __SANITIZE_ADDRESS__
enum { MEASURES = 0 }; /* the sanitizer allocates memory itself, so nothing is measured */
#else
enum { MEASURES = 1 };
#endif

static void test_files(void)
{
  static const struct {
    const char *options, *needs;
    double least;
  } files[] = {
    {"--mesh 40 --netcdf m --netcdf-step 0.5 --slices 0,100,200,300,400,500", "netcdf", 0.6},
    {"--mesh 40 --radial 16 --output m.h5", "hdf5", 0.6},
    {"--mesh 40 --radial 8 --output m.h5 --xdmf m.xmf", "hdf5", 0.6},
    {"--mesh 40 --radial 16 --output m.osla", "", 0.3},
    {"--mesh 20 --map m.png", "", 0.5},
    {"--mesh 20 --map m.png --region=90/150/-10/50 --station-region=90/150/-10/50", "", 0.5},
    {"--mesh 20 --map m.svg", "", 0.5},
    {"--mesh 20 --report r", "", 0.5}};
  char folder[] = "/tmp/osla-test-memory-XXXXXX", options[400], back[1000];
  if (!MEASURES) {
    CU_PASS("with a sanitizer's own memory");
    return;
  }
  if (!OSLA_ASSERT_MSG(getcwd(back, sizeof back) && mkdtemp(folder) && chdir(folder) == 0, "%s",
                       folder))
    return;
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    if (strcmp(files[i].needs, "netcdf") == 0 && !tomo_grid_can_write()) continue;
    if (strcmp(files[i].needs, "hdf5") == 0 && strcmp(tomo_store_suffix(), ".h5") != 0) continue;
    (void)snprintf(options, sizeof options, "--solver lsqr %s", files[i].options);
    measure(options, files[i].least);
  }
  static const char *const names[] = {"m",     "m.h5",  "m.xmf",        "m.osla",
                                      "m.png", "m.svg", "r/index.html", "r"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    (void)remove(names[i]);
  OSLA_ASSERT_MSG(chdir(back) == 0 && rmdir(folder) == 0, "%s is not empty", folder);
}

static const osla_test_case cases[] = {
  {"choice", test_choice}, {"too late", test_too_late}, {"files", test_files}, {NULL, NULL}};
OSLA_TEST_SUITE(test_invert_memory, cases);
