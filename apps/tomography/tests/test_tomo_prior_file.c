/* Tests of priors from files, good and bad. No communication. */
#include "tests/osla_test_help.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#ifdef HAVE_HDF5
#include <hdf5.h>
#endif

#include "apps/tomography/readers/tomo_prior_file.h"
#include "apps/tomography/readers/tomo_store.h"

/* with a depth of 900 km and stretch 0 the Greville depths of the 4 functions are 0, 300, 600 and
 * 900 km */
enum { KNOTS = 7, N_RADIAL = 4 };

static char path[64];
static tomo_radial *radial;

static bool open_all(void)
{
  strcpy(path, "/tmp/osla-test-XXXXXX");
  const int fd = mkstemp(path);
  if (fd >= 0) close(fd);
  CU_ASSERT(fd >= 0);
  return OSLA_ASSERT_OK(tomo_radial_create(N_RADIAL, 900.0, 0.0, &radial));
}

static void close_all(void)
{
  tomo_radial_destroy(&radial);
  unlink(path);
}

static osla_err read_text(const char *content, tomo_prior_factors *factors)
{
  FILE *file = fopen(path, "w");
  CU_ASSERT(file && fputs(content, file) >= 0);
  if (file) fclose(file);
  return tomo_prior_read(path, NULL, KNOTS, radial, factors);
}

static void test_layers(void)
{
  const double sigma[N_RADIAL] = {5.0, 2.0, 2.0, 0.5};
  tomo_prior_factors f;
  if (!open_all()) return;
  if (OSLA_ASSERT_OK(
        read_text("# crust and mantle\nsigma_percent,top_km,bottom_km,note,smoothing\n"
                  "2,300,900,upper,1.5\n5,0,300,\"crust, mostly\",0\n0.5,900,6371,,3\n",
                  &f))) {
    for (int64_t i = 0; i < KNOTS * N_RADIAL; i++)
      CU_ASSERT(f.damping[i] == 1.0 / (sigma[i % N_RADIAL] * sigma[i % N_RADIAL]));
    CU_ASSERT(f.lateral && f.lateral[0] == 0.0 && f.lateral[1] == 1.5 && f.lateral[3] == 3.0);
    tomo_prior_factors_free(&f);
  }
  if (OSLA_ASSERT_OK(read_text("depth_top_km;depth_bottom_km;sigma\n0;900;4", &f))) {
    CU_ASSERT(!f.lateral && f.damping[KNOTS * N_RADIAL - 1] == 1.0 / 16.0);
    tomo_prior_factors_free(&f);
  }
  close_all();
}

static void test_bad_layers(void)
{
  static const char head[] = "top,bottom,sigma,smoothing\n";
  static const struct {
    const char *rows, *expected;
  } cases[] = {
    {"", ": no layer holds the radial function at 0 km"},
    {"0,500,1,1\n", ": no layer holds the radial function at 600 km"},
    {"0,500,1,1\n200,900,1,1\n", ":3: 200 to 900 km overlaps the layer of line 2 at 300 km"},
    {"0,900,0,1\n", ":2: sigma_percent 0 is outside 1e-06 to 1e+06"},
    {"0,900,nan,1\n", ":2: sigma_percent nan is not finite"},
    {"0,900,-3,1\n", ":2: sigma_percent -3 is outside 1e-06 to 1e+06"},
    {"0,900,1,-1\n", ":2: smoothing -1 is outside 0 to 1e+12"},
    {"900,0,1,1\n", ":2: depth_bottom_km 0 is not below depth_top_km 900"},
    {"0,9000,1,1\n", ":2: depth_bottom_km 9000 is outside 0 to 6371"},
    {"0,900,1\n", ":2: 3 fields, but the header has 4"},
    {"0,900,five,1\n", ":2: sigma_percent \"five\" is not a number"}};
  tomo_prior_factors f;
  char text[400], expected[200];
  if (!open_all()) return;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    snprintf(text, sizeof text, "%s%s", head, cases[i].rows);
    snprintf(expected, sizeof expected, "%s%s", path, cases[i].expected);
    OSLA_ASSERT_ERR(read_text(text, &f), OSLA_ERR_IO);
    OSLA_ASSERT_MSG(strcmp(osla_error_text(), expected) == 0, "got \"%s\", not \"%s\"",
                    osla_error_text(), expected);
    CU_ASSERT(!f.damping && !f.lateral);
  }
  OSLA_ASSERT_ERR(read_text("", &f), OSLA_ERR_IO);
  OSLA_ASSERT_TEXT("no layer in this file");
  OSLA_ASSERT_ERR(read_text("top,bottom\n0,900\n", &f), OSLA_ERR_IO);
  OSLA_ASSERT_TEXT("the header has no column sigma_percent");
  OSLA_ASSERT_ERR(read_text("OSLA-RESULT 1\nend\n", &f), OSLA_ERR_IO);
  OSLA_ASSERT_ERR(tomo_prior_read("/nowhere/prior.csv", NULL, KNOTS, radial, &f), OSLA_ERR_IO);
  OSLA_ASSERT_TEXT("/nowhere/prior.csv: No such file");
  close_all();
}

/* Writes a result file with `count` deviations, the fourth of which is `bad`, and reads a prior
 * from it. */
static osla_err read_result(int64_t count, double bad, tomo_prior_factors *factors)
{
  double *deviation = malloc((size_t)count * sizeof *deviation);
  tomo_store *store = NULL;
  for (int64_t i = 0; i < count; i++)
    deviation[i] = i == 3 ? bad : 1.0 + 0.1 * (double)i;
  OSLA_ASSERT_OK(tomo_store_create(&store));
  OSLA_ASSERT_OK(tomo_store_add_array(store, "deviation", "percent", 1, &count, deviation));
  OSLA_ASSERT_OK(tomo_store_write(store, path));
  tomo_store_destroy(&store);
  free(deviation);
  return tomo_prior_read(path, NULL, KNOTS, radial, factors);
}

static void test_result(void)
{
  tomo_prior_factors f;
  if (!open_all()) return;
  if (OSLA_ASSERT_OK(read_result(KNOTS * N_RADIAL, 2.0, &f))) {
    CU_ASSERT(!f.lateral && f.damping[3] == 0.25 && f.damping[10] == 0.25);
    tomo_prior_factors_free(&f);
  }
  OSLA_ASSERT_ERR(read_result(KNOTS * N_RADIAL - 1, 2.0, &f), OSLA_ERR_IO);
  OSLA_ASSERT_TEXT("deviation has 27 values, and this model has 28 unknowns");
  OSLA_ASSERT_ERR(read_result(KNOTS * N_RADIAL, NAN, &f), OSLA_ERR_IO);
  OSLA_ASSERT_TEXT("deviation of unknown 3 is nan");
  OSLA_ASSERT_ERR(read_result(KNOTS * N_RADIAL, 0.0, &f), OSLA_ERR_IO);
  CU_ASSERT(!f.damping);
  close_all();
}

#ifdef HAVE_HDF5
static bool shuffles; /* write_set uses the shuffle filter for its chunks */

/* Writes an HDF5 data set of n ones with an element type, in chunks if chunk > 0. With `unwritten`
 * the data set gets no values. */
static void write_set(hid_t type, hsize_t n, hsize_t chunk, bool unwritten)
{
  const double ones[KNOTS * N_RADIAL] = {[0 ... KNOTS * N_RADIAL - 1] = 1.0};
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  hid_t space = H5Screate_simple(1, &n, NULL), create = H5Pcreate(H5P_DATASET_CREATE);
  if (chunk > 0) H5Pset_chunk(create, 1, &chunk);
  if (shuffles) H5Pset_shuffle(create);
  hid_t set = H5Dcreate2(file, "deviation", type, space, H5P_DEFAULT, create, H5P_DEFAULT);
  CU_ASSERT(set >= 0);
  if (!unwritten)
    CU_ASSERT(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, ones) >= 0);
  H5Dclose(set);
  H5Pclose(create);
  H5Sclose(space);
  H5Fclose(file);
}

/* Reads valid files of other forms than osla writes, and small files that declare gigabytes or
 * sizes that overflow.
 */
static void test_others(void)
{
  const hsize_t n = KNOTS * N_RADIAL, many = 1 << 16;
  const struct {
    hid_t type;
    hsize_t n, chunk;
    bool unwritten;
  } other[] = {{H5T_IEEE_F64LE, n, 8, false},
               {H5T_IEEE_F32LE, n, 0, false},
               {H5T_IEEE_F64BE, n, 0, false},
               {H5T_IEEE_F64LE, n, 0, true},
               {H5T_IEEE_F64LE, (hsize_t)1 << 31, many, true},
               {H5T_STD_I8LE, (hsize_t)1 << 61, many, true}};
  tomo_prior_factors f;
  if (!open_all()) return;
  write_set(H5T_IEEE_F64LE, n, 0, false);
  if (OSLA_ASSERT_OK(tomo_prior_read(path, NULL, KNOTS, radial, &f))) {
    CU_ASSERT(f.damping[0] == 1.0 && f.damping[n - 1] == 1.0);
    tomo_prior_factors_free(&f);
  }
  for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
    write_set(other[i].type, other[i].n, other[i].chunk, other[i].unwritten);
    OSLA_ASSERT_ERR(tomo_prior_read(path, NULL, KNOTS, radial, &f), OSLA_ERR_IO);
    OSLA_ASSERT_TEXT("no array deviation as osla writes it");
  }
  shuffles = true;
  write_set(H5T_IEEE_F64LE, n, 8, false);
  shuffles = false;
  OSLA_ASSERT_ERR(tomo_prior_read(path, NULL, KNOTS, radial, &f), OSLA_ERR_IO);
  OSLA_ASSERT_TEXT("deviation: is stored with filter 'shuffle' (2), and osla reads its data as");
  close_all();
}

static size_t read_file(unsigned char *bytes, size_t most)
{
  FILE *file = fopen(path, "rb");
  const size_t size = file ? fread(bytes, 1, most, file) : 0;
  if (file) fclose(file);
  return size;
}

/* Increments each nonzero byte of an HDF5 file's metadata in turn; they precede the data and have
 * no checksums. Reading such a file, on which HDF5 may crash, returns an error or deviations within
 * bounds. */
static void test_damage(void)
{
  static unsigned char bytes[1 << 16];
  tomo_prior_factors f;
  if (!open_all()) return;
  write_set(H5T_IEEE_F64LE, KNOTS * N_RADIAL, 0, false);
  const size_t size = read_file(bytes, sizeof bytes);
  int tried = 0, refused = 0, crashed = 0;
  for (size_t i = 0; i + KNOTS * N_RADIAL * sizeof(double) < size; i++) {
    if (bytes[i] == 0) continue;
    bytes[i]++;
    FILE *file = fopen(path, "wb");
    CU_ASSERT_FATAL(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
    const osla_err err = tomo_prior_read(path, NULL, KNOTS, radial, &f);
    CU_ASSERT(err == OSLA_OK || err == OSLA_ERR_IO);
    if (err == OSLA_OK) tomo_prior_factors_free(&f);
    tried++;
    refused += err != OSLA_OK;
    crashed += err != OSLA_OK && strstr(osla_error_text(), "HDF5 crashes");
    bytes[i]--;
  }
  printf("%zu bytes, %d changed: %d refused, of %d HDF5 crashes\n", size, tried, refused, crashed);
  CU_ASSERT(refused > 50 && tried > refused);
  close_all();
}
#endif

static const osla_test_case cases[] = {{"layers", test_layers},
                                       {"bad layers", test_bad_layers},
                                       {"result", test_result},
#ifdef HAVE_HDF5
                                       {"others", test_others},
                                       {"damage", test_damage},
#endif
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_tomo_prior_file, cases);
