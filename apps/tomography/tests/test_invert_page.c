/* Tests of the HTML report of `osla invert --report` with an artificial job: all its parts,
 * hostile names, and rules for replacing files. With OSLA_TEST_PAGE=DIR the full page is left in
 * DIR. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/tomography/report/invert_page.h"
#include "tests/osla_test.h"
#include "tools/common/command.h"
#include "tools/common/report_directory.h"

static osla_transport *transport;
static char folder[64]; /* folder of the running case */

enum { MEASURES = 32, SCANNED = 9 };

typedef struct made_job {
  invert_job job;
  invert_options options;
  command_line line;
  double *m, *m_true, *density, *deviation, *resolution, *row;
  tomo_measure measure[MEASURES];
  int64_t data[MEASURES], unknown[1];
  double before[MEASURES], after[MEASURES], spread_km[1];
  double damping[SCANNED], smoothing[SCANNED], misfit[SCANNED], norm[SCANNED], freedom[SCANNED];
  double gcv[SCANNED], gcv_error[SCANNED];
} made_job;

static bool parse(made_job *m, char *report)
{
  static char *argv[] = {
    "invert", /* words of the command line, which the report shows */
    "--report", NULL,         "--mesh",       "6",         "--center",
    "10",       "--stations", "a<b>&\"'.csv", "--section", "10,20/-40,100/0,-170/0,170",
    NULL};
  int status;
  argv[2] = report;
  return invert_parse(11, argv, 1, &m->options, &m->line, &status);
}

/* Fills the misfit of two measurement types, Rayleigh phase and Love group delays, each with 2
 * branches of 8 periods. */
static void fill_fit(made_job *m)
{
  for (int i = 0; i < MEASURES; i++) {
    const int branch = i / 8 % 2;
    m->measure[i] = (tomo_measure){.wave = i < 16 ? TOMO_RAYLEIGH : TOMO_LOVE,
                                   .observable = i < 16 ? TOMO_PHASE : TOMO_GROUP,
                                   .branch = branch,
                                   .period_s = 40.0 + 30.0 * (i % 8)};
    m->data[i] = 1000;
    m->before[i] = 1000.0 * (4.0 + branch + 8.0 / (1 + i % 8));
    m->after[i] = 1000.0 * (0.95 + 0.05 * branch);
  }
  m->job.fit = (invert_fit){.count = MEASURES,
                            .measure = m->measure,
                            .data = m->data,
                            .before = m->before,
                            .after = m->after};
}

static void fill_scan(made_job *m)
{
  for (int i = 0; i < SCANNED; i++) {
    const double x = pow(10.0, -3.0 + 0.5 * i);
    m->damping[i] = x;
    m->smoothing[i] = 0.5;
    m->misfit[i] = 1e5 * (1.0 + 2.0 * x / (1.0 + x));
    m->norm[i] = 50.0 + 1000.0 / (1.0 + 10.0 * x);
    m->freedom[i] = 900.0 / (1.0 + x);
    m->gcv[i] = 1.0 + 0.1 * pow(log10(x) + 1.0, 2.0);
    m->gcv_error[i] = 0.01;
  }
  static int line_corner[] = {4};
  m->job.scan = (invert_scan){.count = SCANNED,
                              .lines = 1,
                              .of_damping = true,
                              .line_corner = line_corner,
                              .damping = m->damping,
                              .smoothing = m->smoothing,
                              .misfit = m->misfit,
                              .norm = m->norm,
                              .freedom = m->freedom,
                              .gcv = m->gcv,
                              .gcv_error = m->gcv_error,
                              .corner = 4,
                              .lowest = 4};
}

/* Fills a model whose paths cover the half of the Earth around 0 degrees east. */
static void fill_model(made_job *m)
{
  invert_job *job = &m->job;
  for (int64_t l = 0; l < job->knots; l++) {
    const double *v = tomo_mesh_knot(job->mesh, l);
    m->density[l] = v[0] > 0.0 ? 1e5 * (0.1 + v[0]) : 0.0;
    for (int r = 0; r < m->options.n_radial; r++) {
      const int64_t at = l * m->options.n_radial + r;
      m->m_true[at] = 3.0 * sin(5.0 * v[1]) * cos(4.0 * v[2] + r);
      m->m[at] = v[0] > 0.0 ? 0.9 * m->m_true[at] : 0.0;
      m->resolution[at] = v[0] > 0.0 ? 0.9 * v[0] : 0.0;
      m->deviation[at] = 2.0 * (1.0 - 0.8 * m->resolution[at]);
      m->row[at] = exp(-20.0 * ((v[0] - 1.0) * (v[0] - 1.0) + v[1] * v[1])) * (r == 1 ? 0.5 : 0.1);
    }
  }
  m->unknown[0] = 1;
  m->spread_km[0] = 900.0;
  job->posterior = (invert_posterior){.deviation = m->deviation,
                                      .resolution = m->resolution,
                                      .trace = 1234.5,
                                      .points = 1,
                                      .unknown = m->unknown,
                                      .row = m->row,
                                      .spread_km = m->spread_km};
}

static bool make_job(made_job *m, char *report)
{
  memset(m, 0, sizeof *m);
  if (!parse(m, report)) return false;
  invert_job *job = &m->job;
  job->options = &m->options;
  job->t = transport;
  job->knots = tomo_mesh_knots_of(m->options.frequency);
  job->n = job->knots * m->options.n_radial;
  const size_t n = (size_t)job->n;
  double *memory = calloc(6 * n, sizeof *memory);
  if (!memory) return false;
  m->m = memory;
  m->m_true = memory + n;
  m->density = memory + 2 * n;
  m->deviation = memory + 3 * n;
  m->resolution = memory + 4 * n;
  m->row = memory + 5 * n;
  job->m = m->m;
  job->m_true = m->m_true;
  job->density = m->density;
  OSLA_ASSERT_OK(tomo_mesh_create(m->options.frequency, &job->mesh));
  OSLA_ASSERT_OK(tomo_radial_create(m->options.n_radial, 1000.0, 0.3, &job->radial));
  job->result = (invert_result){.data = 32000, .misfit_before = 2e5, .misfit_after = 3.1e4};
  fill_model(m);
  fill_fit(m);
  fill_scan(m);
  return true;
}

static void free_job(made_job *m)
{
  tomo_mesh_destroy(&m->job.mesh);
  tomo_radial_destroy(&m->job.radial);
  free(m->m);
  command_release(&m->line);
}

/* Returns the text of the page, which the caller frees, or "" if the page does not exist. */
static char *read_page(const char *directory)
{
  enum { ROOM = 1 << 25 };
  char name[600];
  char *text = calloc(1, ROOM);
  snprintf(name, sizeof name, "%s/index.html", directory);
  FILE *file = fopen(name, "rb");
  CU_ASSERT(file && text && fread(text, 1, ROOM - 1, file) > 0);
  if (file) fclose(file);
  return text ? text : strdup("");
}

static int count(const char *text, const char *what)
{
  int n = 0;
  for (const char *at = strstr(text, what); at; at = strstr(at + 1, what))
    n++;
  return n;
}

/* Number of entries of the folder, hidden ones included. */
static int entries(const char *directory)
{
  int n = 0;
  DIR *dir = opendir(directory);
  for (struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir))
    n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
  if (dir) closedir(dir);
  return n;
}

static void make_folder(void)
{
  snprintf(folder, sizeof folder, "/tmp/osla-test-page-XXXXXX");
  CU_ASSERT(mkdtemp(folder) != NULL);
}

static void remove_folder(void)
{
  static const char *const names[] = {"report/index.html", "report", "place/index.html", "place"};
  char name[600];
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    snprintf(name, sizeof name, "%s/%s", folder, names[i]);
    (void)remove(name);
  }
  (void)rmdir(folder);
}

static void judge_pictures(const char *text)
{
  const int pictures = count(text, "<img ");
  if (strstr(text, "No pictures:")) {
    CU_ASSERT(pictures == 0 && strstr(text, "gnuplot is not installed"));
    return;
  }
  /* pictures: 4 kinds of maps at 4 depths; 2 sections of 2 models; density, tracks and spread; 2
   * misfits; 2 of the scan */
  CU_ASSERT(pictures == 16 + 4 + 3 + 2 + 2);
  CU_ASSERT(count(text, "src=\"data:image/svg+xml;base64,") == pictures);
  CU_ASSERT(count(text, "alt=\"\"") == 0 && count(text, "<figcaption></figcaption>") == 0);
  CU_ASSERT(strstr(text, "Grey: less than") != NULL);
}

static void test_full_page(void)
{
  char directory[512];
  const char *kept = getenv("OSLA_TEST_PAGE");
  made_job m;
  invert_phase_times spread = {{0.0}, {0.0}, {0.0}};
  make_folder();
  snprintf(directory, sizeof directory, "%s/report", folder);
  if (kept) snprintf(directory, sizeof directory, "%s", kept);
  OSLA_ASSERT_OK(osla_transport_create(MPI_COMM_WORLD, NULL, &transport));
  const bool made = make_job(&m, directory);
  CU_ASSERT(made);
  if (!made) {
    remove_folder();
    return;
  }
  OSLA_ASSERT_OK(invert_write_page(&m.job, &spread));
  char *text = read_page(directory);
  judge_pictures(text);
  CU_ASSERT(strstr(text, "a&lt;b&gt;&amp;&quot;&#39;.csv") != NULL);
  CU_ASSERT(!strstr(text, "<script") && !strstr(text, "http:") && !strstr(text, "https:") &&
            !strstr(text, "url(") && !strstr(text, "<link"));
  CU_ASSERT(strstr(text, "1234") && strstr(text, "overtone 1") && strstr(text, "corner"));
  CU_ASSERT(count(text, "<section>") == count(text, "</section>") && strstr(text, "</html>\n"));
  free(text);

  /* makes a second page, without the optional parts */
  m.job.m_true = NULL;
  m.job.posterior = (invert_posterior){.trace = 0.0};
  m.job.fit.count = 0;
  m.job.scan.count = 0;
  if (!kept) {
    OSLA_ASSERT_OK(invert_write_page(&m.job, &spread));
    text = read_page(directory);
    CU_ASSERT(!strstr(text, "How sure") && !strstr(text, "Misfit per datum in") &&
              !strstr(text, "Choice of the prior") && !strstr(text, "True model"));
    CU_ASSERT(entries(folder) == 1 && entries(directory) == 1);
    free(text);
  }
  free_job(&m);
  osla_transport_destroy(&transport);
  remove_folder();
}

static void write_file(const char *name, const char *text)
{
  FILE *file = fopen(name, "wb");
  CU_ASSERT(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* True if a hidden file has appeared in the watched directory. A process that is killed would leave
 * such a file.
 */
static bool saw_hidden(int watch)
{
  _Alignas(struct inotify_event) char events[4096];
  bool hidden = false;
  for (ssize_t n; (n = read(watch, events, sizeof events)) > 0;)
    for (const char *at = events; at < events + n;) {
      const struct inotify_event *event = (const void *)at;
      hidden |= event->len > 0 && event->name[0] == '.';
      at += sizeof *event + event->len;
    }
  return hidden;
}

static void test_no_hidden_names(void)
{
  char directory[400], file[600];
  struct stat status;
  make_folder();
  snprintf(directory, sizeof directory, "%s/place", folder);
  snprintf(file, sizeof file, "%s/index.html", directory);
  const int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  CU_ASSERT(watch >= 0 && inotify_add_watch(watch, folder, IN_CREATE | IN_MOVED_TO) >= 0);
  OSLA_ASSERT_OK(report_directory_check(directory));
  OSLA_ASSERT_OK(
    report_directory_write(directory, report_directory_mark, strlen(report_directory_mark)));
  CU_ASSERT(stat(file, &status) == 0 && !saw_hidden(watch));
  close(watch);
  /* the directory is now in the state that a process leaves if it is killed before it writes the
   * page */
  CU_ASSERT(unlink(file) == 0);
  OSLA_ASSERT_OK(report_directory_check(directory));
  OSLA_ASSERT_OK(
    report_directory_write(directory, report_directory_mark, strlen(report_directory_mark)));
  CU_ASSERT(entries(directory) == 1 && unlink(file) == 0 && rmdir(directory) == 0);
  remove_folder();
}

static void test_place(void)
{
  char directory[400], file[600], text[256];
  struct stat status;
  make_folder();
  snprintf(directory, sizeof directory, "%s/place", folder);
  snprintf(file, sizeof file, "%s/index.html", directory);
  snprintf(text, sizeof text, "%sone", report_directory_mark);
  OSLA_ASSERT_OK(report_directory_check(directory));
  CU_ASSERT(stat(directory, &status) != 0);
  OSLA_ASSERT_OK(report_directory_write(directory, text, strlen(text)));
  CU_ASSERT(stat(file, &status) == 0 && status.st_size == (off_t)strlen(text));
  OSLA_ASSERT_OK(report_directory_check(directory));
  OSLA_ASSERT_OK(report_directory_write(directory, text, strlen(text) - 1));
  CU_ASSERT(stat(file, &status) == 0 && status.st_size == (off_t)strlen(text) - 1);

  write_file(file, "<!DOCTYPE html>\n<p>mine");
  OSLA_ASSERT_ERR(report_directory_check(directory), OSLA_ERR_IO);
  OSLA_ASSERT_ERR(report_directory_write(directory, text, strlen(text)), OSLA_ERR_IO);
  CU_ASSERT(stat(file, &status) == 0 && status.st_size == 23);
  OSLA_ASSERT_ERR(report_directory_check(file), OSLA_ERR_IO);
  OSLA_ASSERT_ERR(report_directory_check(""), OSLA_ERR_IO);
  snprintf(file, sizeof file, "%s/absent/report", folder);
  OSLA_ASSERT_ERR(report_directory_check(file), OSLA_ERR_IO);
  OSLA_ASSERT_ERR(report_directory_write(file, text, strlen(text)), OSLA_ERR_IO);
  remove_folder();
}

static void test_text(void)
{
  static const char *const given[] = {"<&>\"'", "a\xff\xc3z\x01", "\xc3\xa9\xe2\x82\xac",
                                      "\xed\xa0\x80", "\xf0\x9f\x8c\x8d\xf8"};
  static const char *const wanted[] = {
    "&lt;&amp;&gt;&quot;&#39;", "a\xef\xbf\xbd\xef\xbf\xbdz ", "\xc3\xa9\xe2\x82\xac",
    "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", "\xf0\x9f\x8c\x8d\xef\xbf\xbd"};
  for (int i = 0; i < 5; i++) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (out) page_text(out, given[i]);
    CU_ASSERT(out && fclose(out) == 0 && strcmp(text, wanted[i]) == 0);
    free(text);
  }
}

static void test_sections(void)
{
  static const char *const wrong[] = {"",         "1",         "1,2",        "1,2/3",   "1,2/",
                                      "1,2/3,4/", "91,2/3,4",  "1,2/3,400",  "1,2/1,2", "0,0/0,180",
                                      "1,2/3,4x", "nan,2/3,4", "1,2/3,4/5,6"};
  invert_section section[INVERT_SECTIONS_MAX];
  int n = -1;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    OSLA_ASSERT_ERR(invert_parse_sections(wrong[i], section, &n), OSLA_ERR_ARG);
  OSLA_ASSERT_OK(invert_parse_sections(NULL, section, &n));
  CU_ASSERT(n == 0);
  OSLA_ASSERT_OK(invert_parse_sections("1,2/-3,4/5,-6/7,8", section, &n));
  CU_ASSERT(n == 2 && section[1].longitude[0] == -6.0 && section[0].latitude[1] == -3.0);
}

static const osla_test_case cases[] = {{"full page", test_full_page},
                                       {"text", test_text},
                                       {"no hidden names", test_no_hidden_names},
                                       {"place", test_place},
                                       {"sections", test_sections},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_invert_page, cases);
