/* Tests of a serial inversion of the shipped sample: the checkerboard is recovered where rays are
 * dense, the data are fitted to their noise, and the picture is made if gnuplot is installed.
 *
 * Size: mesh frequency 4 (162 knots) x 3 radial functions, about 1600 paths x 100 data. */
#include "tests/osla_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/tomography/draw/tomo_map.h"
#include "apps/tomography/tests/invert_reference.h"
#include "apps/tomography/tests/invert_test_job.h"

static void draw(const invert_job *job, const invert_reference *r)
{
  char name[] = "/tmp/osla-test-map-XXXXXX";
  const int fd = mkstemp(name);
  const char *source = getenv("SRCDIR");
  char data[512], magic[4] = "";
  snprintf(data, sizeof data, "%s/data", source ? source : ".");
  tomo_map map = {.mesh = job->mesh,
                  .radial = job->radial,
                  .m_true = job->m_true,
                  .m_recovered = r->model,
                  .density = r->density,
                  .depth_km = 100.0,
                  .world = {.frame = tomo_frame_world(TOMO_MAP_CENTRE),
                            .data_directory = data,
                            .stations = job->stations,
                            .events = job->events,
                            .n_stations = job->n_stations,
                            .n_events = job->n_events},
                  .title = "a 'title' with \"quotes\" and \\ and $HOME"};
  CU_ASSERT(fd >= 0);
  const osla_err err = tomo_map_write(&map, name);
  if (err != OSLA_ERR_UNSUPPORTED) {
    OSLA_ASSERT_OK(err);
    FILE *file = fopen(name, "rb");
    CU_ASSERT(file && fread(magic, 1, 4, file) == 4 && memcmp(magic, "\x89PNG", 4) == 0);
    if (file) fclose(file);
  }
  map.m_true = NULL;
  map.world.data_directory = NULL;
  if (err == OSLA_OK) OSLA_ASSERT_OK(tomo_map_write(&map, name));
  OSLA_ASSERT_ERR(tomo_map_write(&map, "/tmp/osla-absent/map.png"), OSLA_ERR_IO);
  if (fd >= 0) close(fd);
  unlink(name);
}

static void check_recovery(const invert_job *job, const invert_reference *r)
{
  const double data = (double)tomo_data_first(&job->data, job->n_paths);
  /* the residuals are as large as the noise */
  OSLA_ASSERT_CLOSE(r->misfit_after / data, 1.0, 0.02);
  CU_ASSERT(r->misfit_before / data > 2.0);
  const double median = tomo_density_quantile(r->density, job->knots, 0.5);
  const tomo_recovery dense = tomo_model_compare(job->m_true, r->model, r->density, job->knots,
                                                 job->options->n_radial, median, 0);
  OSLA_ASSERT_MSG(dense.correlation > 0.9, "correlation %g", dense.correlation);
  OSLA_ASSERT_MSG(dense.amplitude > 0.8 && dense.amplitude < 1.2, "amplitude %g", dense.amplitude);
}

static void test_recovery(void)
{
  test_job s;
  invert_reference r = {0};
  if (test_job_open(&s, "", "") && reference_assemble(&s.job, &r) && reference_solve(&s.job, &r)) {
    check_recovery(&s.job, &r);
    draw(&s.job, &r);
  }
  reference_free(&r);
  test_job_close(&s);
}

static const osla_test_case cases[] = {{"recovery", test_recovery}, {NULL, NULL}};
OSLA_TEST_SUITE(test_tomo_recovery, cases);
