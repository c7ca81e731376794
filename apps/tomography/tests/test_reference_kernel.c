/* Compares the depth kernels of surface waves with the effects of perturbed models; tests models
 * from files and the shipped table. No communication. */
#include "tests/osla_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/tomography/earth/tomo_reference.h"
#include "apps/tomography/readers/tomo_io.h"
#include "apps/tomography/reference/mode.h"
#include "apps/tomography/tests/earth_check.h"

enum { DEPTHS_MAX = 200 };

typedef struct seen {
  int n;
  double *depth, c, u, by_c[DEPTHS_MAX], by_u[DEPTHS_MAX];
} seen;

/* Computes the row of a reference table for a model; the caller frees the depths. */
static seen look(const earth_model *model, radial_kind kind, double period, int branch,
                 double vp_ratio)
{
  const radial_options options = {.size = 10.0, .vp_ratio = vp_ratio};
  static seen s;
  bool found = false;
  radial_system *system = check_system(model, kind, &options);
  surface_row row = {.by_c = s.by_c, .by_u = s.by_u};
  OSLA_ASSERT_OK(surface_depths(model, &s.n, &s.depth));
  if (s.n <= DEPTHS_MAX)
    OSLA_ASSERT_OK(surface_row_make(system, period, branch, 10.0, s.n, s.depth, &row, &found));
  OSLA_ASSERT_MSG(found, "kind %d, branch %d at %g s", (int)kind, branch, period);
  s.c = row.c;
  s.u = row.u;
  check_system_end(&system);
  return s;
}

/* The integral of a kernel between two listed depths. */
static double between(const seen *s, const double *kernel, double top, double bottom)
{
  double sum = 0.0;
  for (int i = 0; i + 1 < s->n; i++)
    if (s->depth[i] >= top && s->depth[i + 1] <= bottom)
      sum += 0.5 * (kernel[i] + kernel[i + 1]) * (s->depth[i + 1] - s->depth[i]);
  return sum;
}

static void scale(double *polynomial, double factor)
{
  for (int i = 0; i < EARTH_TERMS; i++)
    polynomial[i] *= factor;
}

/* Asserts that a change of Vs and Vp in the shells `first` to `last` changes c and U as the kernels
 * predict. The model must have discontinuities below the first and above the last of these
 * shells. */
static void check_shells(radial_kind kind, double period, int branch, double vp_ratio, int first,
                         int last)
{
  static const double step = 2e-3;
  earth_model *model;
  double log_c[2], log_u[2];
  OSLA_ASSERT_OK(earth_prem(true, false, &model));
  model->dispersive = false;
  const double top = model->radius - model->shell[last].top;
  const double bottom = model->radius - model->shell[first].bottom;
  seen s = look(model, kind, period, branch, vp_ratio);
  const double by_c = between(&s, s.by_c, top, bottom), by_u = between(&s, s.by_u, top, bottom);
  free(s.depth);
  earth_destroy(&model);
  for (int side = 0; side < 2; side++) {
    const double grown = side == 0 ? 1.0 + step : 1.0 - step;
    OSLA_ASSERT_OK(earth_prem(true, false, &model));
    model->dispersive = false;
    for (int i = first; i <= last; i++) {
      scale(model->shell[i].vsv, grown);
      scale(model->shell[i].vsh, grown);
      scale(model->shell[i].vpv, 1.0 + vp_ratio * (grown - 1.0));
      scale(model->shell[i].vph, 1.0 + vp_ratio * (grown - 1.0));
    }
    s = look(model, kind, period, branch, vp_ratio);
    log_c[side] = log(s.c);
    log_u[side] = log(s.u);
    free(s.depth);
    earth_destroy(&model);
  }
  const double change_c = (log_c[0] - log_c[1]) / (2.0 * step);
  const double change_u = (log_u[0] - log_u[1]) / (2.0 * step);
  OSLA_ASSERT_CLOSE(by_c, change_c, 1e-3 * fabs(change_c) + 1e-6);
  OSLA_ASSERT_CLOSE(by_u, change_u, 3e-3 * fabs(change_u) + 3e-5);
}

static void test_perturbed(void)
{
  enum { TRANSITION = 7, SLOW = 8, LID = 9, CRUST = 11 };
  check_shells(RADIAL_TOROIDAL, 100.0, 0, 0.0, SLOW, LID);
  check_shells(RADIAL_TOROIDAL, 40.0, 2, 0.0, TRANSITION, TRANSITION);
  check_shells(RADIAL_SPHEROIDAL, 60.0, 0, 0.0, SLOW, LID);
  check_shells(RADIAL_SPHEROIDAL, 250.0, 0, 0.5, TRANSITION, TRANSITION);
  check_shells(RADIAL_SPHEROIDAL, 50.0, 1, 0.5, SLOW, LID);
  check_shells(RADIAL_SPHEROIDAL, 25.0, 0, 0.0, CRUST, CRUST);
}

/* If the velocities of all shells grow by a factor, so do the frequencies at fixed order l. For
 * Love waves without dispersion, the integral of the kernel of c is therefore c / U. */
static void test_integral(void)
{
  earth_model *model;
  OSLA_ASSERT_OK(earth_prem(true, false, &model));
  model->dispersive = false;
  for (int branch = 0; branch < 3; branch++) {
    seen s = look(model, RADIAL_TOROIDAL, 60.0, branch, 0.0);
    OSLA_ASSERT_CLOSE(between(&s, s.by_c, 0.0, model->radius), s.c / s.u, 2e-5);
    /* in the ocean Love waves do not depend on Vs */
    for (int i = 0; i < s.n && s.depth[i + 1] <= 3.0; i++)
      CU_ASSERT(s.by_c[i] == 0.0 && s.by_u[i] == 0.0);
    free(s.depth);
  }
  earth_destroy(&model);
}

/* Writes PREM as a table in Mineos' format. */
static void write_deck(const earth_model *model, const char *file)
{
  enum { PARTS = 8 };
  FILE *out = fopen(file, "w");
  if (!OSLA_ASSERT_MSG(out, "%s", file)) return;
  (void)fprintf(out, "PREM in a table\n 1 1.0 1\n %d 0 0\n", model->n_shells * (PARTS + 1));
  for (int i = 0; i < model->n_shells; i++)
    for (int j = 0; j <= PARTS; j++) {
      const earth_shell *s = &model->shell[i];
      const double r = s->bottom + (s->top - s->bottom) * j / PARTS, x = r / model->radius;
      const double *p[6] = {s->rho, s->vpv, s->vsv, s->vph, s->vsh, s->eta};
      double v[6];
      for (int k = 0; k < 6; k++)
        v[k] = p[k][0] + x * (p[k][1] + x * (p[k][2] + x * p[k][3]));
      (void)fprintf(out, "%.1f %.4f %.4f %.4f %.3f %.3f %.4f %.4f %.6f\n", 1e3 * r, 1e3 * v[0],
                    1e3 * v[1], 1e3 * v[2], 1.0 / s->q_kappa, s->q_mu > 0.0 ? 1.0 / s->q_mu : 0.0,
                    1e3 * v[3], 1e3 * v[4], v[5]);
    }
  (void)fclose(out);
}

static void test_deck(void)
{
  const char file[] = "test_reference_deck.txt";
  earth_model *prem, *read;
  OSLA_ASSERT_OK(earth_prem(true, false, &prem));
  write_deck(prem, file);
  if (OSLA_ASSERT_OK(earth_read(file, &read))) {
    CU_ASSERT(strcmp(read->title, "PREM in a table") == 0);
    for (int kind = 0; kind < 2; kind++) {
      const double period = kind == 0 ? 80.0 : 150.0;
      seen a = look(prem, (radial_kind)kind, period, 1, 0.0);
      free(a.depth);
      seen b = look(read, (radial_kind)kind, period, 1, 0.0);
      free(b.depth);
      OSLA_ASSERT_CLOSE(b.c, a.c, 2e-4 * a.c);
      OSLA_ASSERT_CLOSE(b.u, a.u, 2e-4 * a.u);
    }
    earth_destroy(&read);
  }
  (void)remove(file);
  earth_destroy(&prem);
}

/* Writes a text to a file, and asserts the error of reading it. */
static void refuses(const char *text, const char *message)
{
  const char file[] = "test_reference_bad.txt";
  earth_model *model;
  FILE *out = fopen(file, "w");
  if (!OSLA_ASSERT_MSG(out, "%s", file)) return;
  (void)fputs(text, out);
  (void)fclose(out);
  OSLA_ASSERT_ERR(earth_read(file, &model), OSLA_ERR_IO);
  OSLA_ASSERT_MSG(strstr(osla_error_text(), message), "'%s' does not say '%s'", osla_error_text(),
                  message);
  CU_ASSERT(!model);
  (void)remove(file);
}

static void test_bad_decks(void)
{
  refuses("", "the file is empty");
  refuses("m\n", ": anisotropy, reference period and form");
  refuses("m\n1 nan 1\n", ":2: reference period nan");
  refuses("m\n1 1 0\n", ":2: form");
  refuses("m\n1 1 1\n99999999 1 1\n", ":3: number of lines 99999999 is outside");
  refuses("m\n1 1 1\n66.9 1 1\n", ":3: number of lines: '66.9' is not whole");
  refuses("m\n2 1 1\n2 1 1\n", ":2: anisotropy (0 or 1) 2 is outside");
  refuses("m\n1 1 1\n2 1 1\n", "ends too early");
  refuses("m\n1 1 1\n2 1 1\n5 1 1 1 1 1 1 1\n", ":4: 8 columns");
  refuses("m\n1 1 1\n2 1 1\n5 4e3 8e3 4e3 1 1 8e3 4e3 1\n", ":4: radius 5 m");
  refuses("m\n1 1 1\n2 1 1\n0 4e3 8e3 4e3 1 1 8e3 0 1\n", ":4: vsv is 4000 and vsh 0");
  refuses("m\n1 1 1\n2 1 1\n0 4e3 8e3 0 1 1 8e3 0 1\n6e6 4e3 8e3 4e3 1 1 8e3 4e3 1\n",
          ":5: vsv changes");
  refuses("m\n1 1 1\n2 1 1\n0 4e3 8e3 4e3 1 1 8e3 4e3 1\n6 4e3 8e3 4e3 1 1 8e3 4e3 1\n",
          ":5: the surface is at 6 m");
  refuses("m\n1 1 1\n2 1 1\n0 4e3 8e3 4e3 1 1 8e3 4e3 1\n6e6 4e3 8e3 4e3 1 1 8e3 4e3 1\n7e6 1\n",
          ":6: more than the 2 lines");
}

/* A model in Mineos' format that is isotropic has zeros in the columns Vph, Vsh and eta. */
static void test_isotropic_deck(void)
{
  const char file[] = "test_reference_isotropic.txt";
  earth_model *model;
  FILE *out = fopen(file, "w");
  if (!OSLA_ASSERT_MSG(out, "%s", file)) return;
  (void)fputs("m\n0 1 1\n2 1 1\n0 4e3 8e3 4e3 1 1 0 0 0\n6e6 4e3 8e3 4e3 1 1 0 0 0\n", out);
  (void)fclose(out);
  if (OSLA_ASSERT_OK(earth_read(file, &model))) {
    const earth_shell *s = &model->shell[0];
    OSLA_ASSERT_CLOSE(s->vph[0], s->vpv[0], 0.0);
    OSLA_ASSERT_CLOSE(s->vsh[0], 4.0, 1e-12);
    OSLA_ASSERT_CLOSE(s->eta[0], 1.0, 0.0);
    earth_destroy(&model);
  }
  (void)remove(file);
}

/* Compares velocities and kernels of the shipped table at a period, which need not be one of the
 * table's, with those of the computed mode. */
static void check_row(const tomo_reference *table, const earth_model *model, radial_kind kind,
                      int branch, double period, double tolerance)
{
  tomo_measure measure = {kind == RADIAL_TOROIDAL ? TOMO_LOVE : TOMO_RAYLEIGH, TOMO_PHASE, branch,
                          period};
  seen s = look(model, kind, period, branch, 0.0);
  if (OSLA_ASSERT_OK(tomo_measure_check(table, &measure))) {
    double largest[2] = {0.0, 0.0}, off[2] = {0.0, 0.0};
    OSLA_ASSERT_CLOSE(tomo_measure_velocity(table, &measure), s.c, 0.1 * tolerance * s.c);
    measure.observable = TOMO_GROUP;
    OSLA_ASSERT_CLOSE(tomo_measure_velocity(table, &measure), s.u, tolerance * s.u);
    /* compares at midpoints of depths, because a kernel has two values at a jump */
    for (int i = 0; i + 1 < s.n; i++)
      for (int which = 0; which < 2; which++) {
        const double *k = which == 0 ? s.by_c : s.by_u;
        measure.observable = which == 0 ? TOMO_PHASE : TOMO_GROUP;
        if (s.depth[i + 1] <= s.depth[i]) continue;
        const double here =
          tomo_measure_kernel(table, &measure, 0.5 * (s.depth[i] + s.depth[i + 1]));
        largest[which] = fmax(largest[which], fabs(k[i]));
        off[which] = fmax(off[which], fabs(here - 0.5 * (k[i] + k[i + 1])));
      }
    OSLA_ASSERT_MSG(off[0] <= 10.0 * tolerance * largest[0] &&
                      off[1] <= 30.0 * tolerance * largest[1],
                    "kernels of branch %d at %g s are off by %g and %g of %g and %g", branch,
                    period, off[0], off[1], largest[0], largest[1]);
  }
  free(s.depth);
}

static void test_shipped(void)
{
  const char *source = getenv("SRCDIR");
  char name[4200];
  void *text;
  size_t length;
  tomo_reference *table;
  earth_model *model;
  (void)snprintf(name, sizeof name, "%s/data/prem.txt", source ? source : ".");
  if (!OSLA_ASSERT_OK(tomo_file_read(name, &text, &length))) return;
  OSLA_ASSERT_OK(earth_prem(true, false, &model));
  if (OSLA_ASSERT_OK(tomo_reference_parse(name, text, length, &table))) {
    CU_ASSERT(strstr(tomo_reference_head(table, HEAD_TITLE), "PREM") != NULL);
    for (int kind = 0; kind < 2; kind++) {
      check_row(table, model, (radial_kind)kind, 0, 25.0, 1e-4);
      check_row(table, model, (radial_kind)kind, 0, 300.0, 1e-4);
      check_row(table, model, (radial_kind)kind, 0, 100.0, 5e-4);
      check_row(table, model, (radial_kind)kind, 1, 70.0, 5e-4);
      check_row(table, model, (radial_kind)kind, 3, 41.5, 2e-3);
    }
    tomo_reference_destroy(&table);
  }
  earth_destroy(&model);
  free(text);
}

static const osla_test_case cases[] = {{"perturbed", test_perturbed},
                                       {"integral", test_integral},
                                       {"deck", test_deck},
                                       {"bad_decks", test_bad_decks},
                                       {"isotropic_deck", test_isotropic_deck},
                                       {"shipped", test_shipped},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_reference_kernel, cases);
