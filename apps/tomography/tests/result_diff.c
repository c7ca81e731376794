/* result_diff FILE FILE TOLERANCE: compares the arrays of two result files of `osla invert`, of
 * either format. Exit status 0 if differences are at most TOLERANCE times the largest element of
 * an array, else 1. No MPI. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/tomography/readers/tomo_store.h"

/* True if two arrays agree within the tolerance; otherwise prints the largest difference. */
static int same(const char *name, const double *a, const double *b, int64_t count, double tolerance)
{
  double difference = 0.0, scale = 0.0;
  for (int64_t i = 0; i < count; i++) {
    if (!(fabs(a[i]) <= scale)) scale = fabs(a[i]);
    if (!(fabs(a[i] - b[i]) <= difference)) difference = fabs(a[i] - b[i]);
  }
  if (difference <= tolerance * scale && scale > 0.0) return 1;
  printf("%s: the largest difference is %g, the largest element %g\n", name, difference, scale);
  return 0;
}

static int same_in_files(const char *name, char **file, double tolerance)
{
  double *array[2] = {NULL, NULL};
  int64_t count[2] = {0, 0};
  int good = 1;
  for (int i = 0; i < 2 && good; i++)
    if (tomo_store_read_array(file[i], name, &array[i], &count[i]) != OSLA_OK) {
      printf("%s\n", osla_error_text());
      good = 0;
    }
  if (good && count[0] != count[1]) {
    printf("%s: %" PRId64 " and %" PRId64 " elements\n", name, count[0], count[1]);
    good = 0;
  }
  if (good) good = same(name, array[0], array[1], count[0], tolerance);
  free(array[0]);
  free(array[1]);
  return good;
}

/* True if both files have the array. Only results of synthetic tests have a true model. */
static int is_in_both(const char *name, char **file)
{
  int there = 1;
  for (int i = 0; i < 2; i++) {
    double *array = NULL;
    int64_t count;
    if (tomo_store_read_array(file[i], name, &array, &count) != OSLA_OK) there = 0;
    free(array);
  }
  return there;
}

int main(int argc, char **argv)
{
  static const char *const names[] = {"model",     "gradient",    "latitude",
                                      "longitude", "ray_density", "depth"};
  static const char truth[] = "true_model_coefficients";
  if (argc != 4) {
    fprintf(stderr, "usage: result_diff FILE FILE TOLERANCE\n");
    return 2;
  }
  int good = 1;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!same_in_files(names[i], argv + 1, atof(argv[3]))) good = 0;
  if (is_in_both(truth, argv + 1) && !same_in_files(truth, argv + 1, atof(argv[3]))) good = 0;
  return good ? 0 : 1;
}
