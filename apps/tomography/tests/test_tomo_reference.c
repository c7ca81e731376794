/* Tests of tables of a reference Earth: format, interpolation, errors. No communication. */
#include "tests/osla_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/tomography/earth/tomo_reference.h"
#include "osla_random.h"

#define HEAD "osla-reference 1\ntitle t\nmapping m\n"
static const char good[] = "# a comment\n\nosla-reference 1\r\n"
                           "title    my model \nsource me\nmade by hand\n"
                           "mapping  Vsv = Vsh\n"
                           "depth_km 0 10 10 30\n"
                           "mode rayleigh 0 80 4.0 3.8\ndlnc 1 2 3 4\ndlnU 2 2 -2 -2\n"
                           "mode rayleigh 0 20 3.6 3.0\ndlnc 0 0 0 0\n\ndlnU 1 1 1 1\n"
                           "mode rayleigh 0 40 3.8 3.4\ndlnc 1 1 1 1\ndlnU 3 3 3 3\n"
                           "mode rayleigh 0 160 4.4 3.6\ndlnc 5 5 5 5\ndlnU 0 0 0 0\n"
                           "mode love 2 50 5.0\ndlnc 1 2 3 4\n";

static void test_table(void)
{
  tomo_reference *table;
  const double *depth;
  if (!OSLA_ASSERT_OK(tomo_reference_parse("good", good, strlen(good), &table))) return;
  CU_ASSERT(strcmp(tomo_reference_head(table, HEAD_TITLE), "my model") == 0);
  CU_ASSERT(strcmp(tomo_reference_head(table, HEAD_MAPPING), "Vsv = Vsh") == 0);
  CU_ASSERT(tomo_reference_depths(table, &depth) == 4 && depth[3] == 30.0);
  tomo_measure m = {TOMO_RAYLEIGH, TOMO_PHASE, 0, 80.0};
  OSLA_ASSERT_OK(tomo_measure_check(table, &m));
  OSLA_ASSERT_CLOSE(tomo_measure_velocity(table, &m), 4.0, 1e-14);
  OSLA_ASSERT_CLOSE(tomo_measure_kernel(table, &m, 0.0), 1.0, 1e-13);
  OSLA_ASSERT_CLOSE(tomo_measure_kernel(table, &m, 5.0), 1.5, 1e-13);
  OSLA_ASSERT_CLOSE(tomo_measure_kernel(table, &m, 9.999999), 2.0, 1e-6);
  OSLA_ASSERT_CLOSE(tomo_measure_kernel(table, &m, 10.0), 3.0, 1e-13);
  OSLA_ASSERT_CLOSE(tomo_measure_kernel(table, &m, 30.0), 4.0, 1e-13);
  OSLA_ASSERT_CLOSE(tomo_measure_kernel(table, &m, 30.1), 0.0, 0.0);
  m.observable = TOMO_GROUP;
  OSLA_ASSERT_CLOSE(tomo_measure_velocity(table, &m), 3.8, 1e-14);
  OSLA_ASSERT_CLOSE(tomo_measure_kernel(table, &m, 20.0), -2.0, 1e-13);
  m.period_s = 20.0 * (1.0 - 1e-12);
  OSLA_ASSERT_OK(tomo_measure_check(table, &m));
  OSLA_ASSERT_CLOSE(tomo_measure_velocity(table, &m), 3.0, 1e-14);
  m = (tomo_measure){TOMO_LOVE, TOMO_PHASE, 2, 50.0};
  OSLA_ASSERT_OK(tomo_measure_check(table, &m));
  OSLA_ASSERT_CLOSE(tomo_measure_velocity(table, &m), 5.0, 0.0);
  tomo_reference_destroy(&table);
  CU_ASSERT(!table);
}

/* Interpolation between uneven periods reproduces a table whose columns are parabolas in ln T. */
static void test_periods(void)
{
  static const double period[] = {20, 24, 31, 45, 50, 77, 90, 133};
  enum { COUNT = sizeof period / sizeof *period };
  char text[4096];
  tomo_reference *table;
  int used = snprintf(text, sizeof text, HEAD "depth_km 0 100\n");
  for (int i = COUNT - 1; i >= 0; i--) {
    const double x = log(period[i]), y = 3.0 + 0.1 * x + 0.05 * x * x;
    used += snprintf(text + used, sizeof text - (size_t)used,
                     "mode love 1 %.17g %.17g %.17g\ndlnc %.17g 0\ndlnU 0 %.17g\n", period[i], y,
                     y - 1.0, 0.1 * y, -y);
  }
  if (!OSLA_ASSERT_OK(tomo_reference_parse("periods", text, (size_t)used, &table))) return;
  for (double t = 20.0; t <= 133.0; t *= 1.01) {
    const double x = log(t), y = 3.0 + 0.1 * x + 0.05 * x * x;
    tomo_measure m = {TOMO_LOVE, TOMO_PHASE, 1, t};
    OSLA_ASSERT_CLOSE(tomo_measure_velocity(table, &m), y, 1e-12);
    OSLA_ASSERT_CLOSE(tomo_measure_kernel(table, &m, 50.0), 0.05 * y, 1e-12);
    m.observable = TOMO_GROUP;
    OSLA_ASSERT_CLOSE(tomo_measure_velocity(table, &m), y - 1.0, 1e-12);
    OSLA_ASSERT_CLOSE(tomo_measure_kernel(table, &m, 25.0), -0.25 * y, 1e-12);
  }
  tomo_reference_destroy(&table);
}

static void not_covered(const tomo_reference *table, tomo_measure m, const char *message)
{
  OSLA_ASSERT_ERR(tomo_measure_check(table, &m), OSLA_ERR_ARG);
  OSLA_ASSERT_MSG(strstr(osla_error_text(), message), "'%s' does not say '%s'", osla_error_text(),
                  message);
}

static void test_covers(void)
{
  tomo_reference *table;
  if (!OSLA_ASSERT_OK(tomo_reference_parse("good", good, strlen(good), &table))) return;
  not_covered(table, (tomo_measure){TOMO_RAYLEIGH, TOMO_PHASE, 1, 50.0},
              "phase velocity of rayleigh branch 1 at 50 s: the reference table (my model) has no");
  not_covered(table, (tomo_measure){TOMO_RAYLEIGH, TOMO_GROUP, 0, 19.9}, "covers 20 to 160 s");
  not_covered(table, (tomo_measure){TOMO_RAYLEIGH, TOMO_PHASE, 0, 160.1}, "at 160.1 s");
  not_covered(table, (tomo_measure){TOMO_RAYLEIGH, TOMO_PHASE, 0, NAN}, "covers");
  not_covered(table, (tomo_measure){TOMO_LOVE, TOMO_GROUP, 2, 50.0}, "no group velocities");
  not_covered(table, (tomo_measure){TOMO_LOVE, TOMO_PHASE, 2, 51.0}, "covers 50 to 50 s");
  tomo_reference_destroy(&table);
}

static void refuses(const char *text, const char *message)
{
  tomo_reference *table = NULL;
  OSLA_ASSERT_ERR(tomo_reference_parse("f", text, strlen(text), &table), OSLA_ERR_IO);
  OSLA_ASSERT_MSG(strcmp(osla_error_text(), message) == 0, "'%s' is not '%s'", osla_error_text(),
                  message);
  CU_ASSERT(!table);
}

static void test_bad_heads(void)
{
  refuses("", "f: not a reference table: the file is empty");
  refuses("period,c\n", "f:1: not a reference table: the first line must be \"osla-reference 1\"");
  refuses("osla-reference 2\n",
          "f:1: not a reference table: the first line must be \"osla-reference 1\"");
  refuses("osla-reference 1\ntitle\n", "f:2: title: the value is missing");
  refuses("osla-reference 1\ntitle a\ntitle b\n", "f:3: title: given twice");
  refuses("osla-reference 1\ncolour red\n",
          "f:2: colour: none of title, mapping, source, made, depth_km");
  refuses("osla-reference 1\ntitle a\n", "f:2: depth_km: missing in the head");
  refuses("osla-reference 1\ntitle a\ndepth_km 0 1\n", "f:3: mapping: missing in the head");
  refuses(HEAD "depth_km 5\n", "f:4: depth_km: 1 depths are outside 2 to 2000");
  refuses(HEAD "depth_km 5 4\n", "f:4: depth_km: 4 comes after 5; depths ascend");
  refuses(HEAD "depth_km 0 4 4 4 9\n", "f:4: depth_km: 4 is given three times");
  refuses(HEAD "depth_km 0 4 4\n", "f:4: depth_km: the first and the last depth cannot be jumps");
  refuses(HEAD "depth_km 0 nan\n", "f:4: depth_km: nan is not finite");
  refuses(HEAD "depth_km -1 4\n", "f:4: depth_km: -1 is outside 0 to 10000");
  refuses(HEAD "depth_km 0 4km\n", "f:4: depth_km: \"4km\" is not a number");
  refuses(HEAD "depth_km 0 0x4\n", "f:4: depth_km: \"0x4\" is not a number");
}

#define DEPTHS HEAD "depth_km 0 1\n"
static void test_bad_rows(void)
{
  refuses(DEPTHS, "f:4: mode: the table has no mode");
  refuses(DEPTHS "dlnc 1 2\n", "f:5: dlnc: mode was expected");
  refuses(DEPTHS "mode\n", "f:5: wave: missing at the end of the line");
  refuses(DEPTHS "mode stoneley 0 20 3\n", "f:5: wave: stoneley is neither rayleigh nor love");
  refuses(DEPTHS "mode love 0.5 20 3\n", "f:5: branch: 0.5 is not a whole number");
  refuses(DEPTHS "mode love -1 20 3\n", "f:5: branch: -1 is outside 0 to 99");
  refuses(DEPTHS "mode love 0 -20 3\n", "f:5: period: -20 is outside 0.01 to 100000");
  refuses(DEPTHS "mode love 0 inf 3\n", "f:5: period: inf is not finite");
  refuses(DEPTHS "mode love 0 20\n", "f:5: c: missing at the end of the line");
  refuses(DEPTHS "mode love 0 20 0\n", "f:5: c: 0 is outside 0.01 to 100");
  refuses(DEPTHS "mode love 0 20 3 1e9\n", "f:5: U: 1e9 is outside 0.01 to 100");
  refuses(DEPTHS "mode love 0 20 3 3 3\n", "f:5: mode: 3 is one value too many");
  refuses(DEPTHS "mode love 0 20 3\n", "f:5: dlnc: expected after the line of its mode");
  refuses(DEPTHS "mode love 0 20 3\ndlnc 1\n", "f:6: dlnc: 1 values, but there are 2 depths");
  refuses(DEPTHS "mode love 0 20 3\ndlnc 1 2 3\n", "f:6: dlnc: 3 values, but there are 2 depths");
  refuses(DEPTHS "mode love 0 20 3\ndlnc 1 nan\n", "f:6: dlnc: nan is not finite");
  refuses(DEPTHS "mode love 0 20 3\ndlnc 1 1e9\n", "f:6: dlnc: 1e9 is outside -1000 to 1000");
  refuses(DEPTHS "mode love 0 20 3 3\ndlnc 1 2\nmode love 0 30 3 3\n",
          "f:7: dlnU: expected after the line of its mode");
  refuses(DEPTHS "mode love 0 20 3\ndlnc 1 2\nmode love 0 20 3\ndlnc 1 2\n",
          "f:7: period: love branch 0 at 20 s is also in line 5");
  refuses(DEPTHS "mode love 0 20 3\ndlnc 1 2\nmode love 0 30 3 3\ndlnc 1 2\ndlnU 1 2\n",
          "f:7: U: love branch 0 has a group velocity at 30 s and none at 20 s");
  refuses(DEPTHS "mode love 0 00000000000000000000000000000000000000000020 3\n",
          "f:5: period: 0000000000000000000000000000000000000000... is too long for a number");
}

/* Parses a table with wrong, missing or additional bytes and without a final zero: the result is an
 * error or a table, never a crash. */
static void test_mutated(void)
{
  const size_t length = strlen(good);
  for (uint64_t seed = 0; seed < 4000; seed++) {
    size_t n = length;
    char *text = malloc(length);
    tomo_reference *table = NULL;
    if (!OSLA_ASSERT_MSG(text, "no memory")) return;
    memcpy(text, good, length);
    if (seed % 4 == 0) n = (size_t)(osla_random_bits(11, seed, 0) % (length + 1));
    char *exact = malloc(n > 0 ? n : 1);
    if (!OSLA_ASSERT_MSG(exact, "no memory")) return;
    for (uint64_t i = 1; seed % 4 != 0 && i <= seed % 4; i++)
      text[osla_random_bits(11, seed, i) % length] = (char)(osla_random_bits(12, seed, i) & 0xff);
    memcpy(exact, text, n);
    osla_err err = tomo_reference_parse("mutated", exact, n, &table);
    CU_ASSERT((err == OSLA_OK) == (table != NULL));
    if (table) {
      const tomo_measure m = {TOMO_RAYLEIGH, TOMO_PHASE, 0, 50.0};
      if (tomo_measure_check(table, &m) == OSLA_OK)
        CU_ASSERT(isfinite(tomo_measure_kernel(table, &m, 12.0)));
    }
    tomo_reference_destroy(&table);
    free(exact);
    free(text);
  }
}

static const osla_test_case cases[] = {{"table", test_table},
                                       {"periods", test_periods},
                                       {"covers", test_covers},
                                       {"bad_heads", test_bad_heads},
                                       {"bad_rows", test_bad_rows},
                                       {"mutated", test_mutated},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_tomo_reference, cases);
