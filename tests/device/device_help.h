/* Helpers of the tests of device memory: a fake device, and matrices that exist twice, on the host
 * and on the device. */
#ifndef DEVICE_HELP_H
#define DEVICE_HELP_H

#include "osla_device.h"
#include "osla_matrix.h"
#include "tests/osla_test_help.h"

/* A transport and a fake device on it. */
typedef struct device_bench {
  osla_transport *t;
  osla_device *device;
} device_bench;

/* Opens a fake device whose work runs at once (early) or as late as possible, and plants the faults
 * of the environment variable OSLA_TEST_DEVICE_FAULT (src/device/device.h). Returns false, without
 * a device, if the job has several nodes. Collective. */
bool bench_open(device_bench *bench, bool early);
void bench_close(device_bench *bench);

/* Two matrices with equal elements. */
typedef struct matrix_pair {
  osla_matrix *host, *device;
} matrix_pair;

/* Makes both matrices on a grid. The elements come from osla_matrix_fill. Collective. */
matrix_pair pair_make(const device_bench *bench, osla_grid *grid, osla_dtype dtype, int64_t m,
                      int64_t n, int64_t mb, int64_t nb, osla_fill fill, uint64_t seed);
void pair_free(matrix_pair *pair);

/* Asserts that the matrices differ by at most `factor` units of the precision times the largest
 * element of the host's matrix. The printf-style text says what is compared. Collective. */
void pair_expect(const matrix_pair *pair, double factor, const char *format, ...)
  __attribute__((format(printf, 3, 4)));

#endif
