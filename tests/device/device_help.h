/* Helpers of the tests of device memory: a fake device, and matrices that exist twice, on the host
 * and on the device. */
#ifndef DEVICE_HELP_H
#define DEVICE_HELP_H

#include "osla_device.h"
#include "osla_matrix.h"
#include "tests/osla_test_help.h"

/* Number of matrix pairs that can exist at a time, and bytes of a device matrix on a rank. */
enum { PAIRS = 3, PAIR_BYTES = 1 << 20 };

/* A transport, a fake device on it, device memory for pairs of matrices (made when it is
 * needed), and a grid of this rank alone. */
typedef struct device_bench {
  osla_transport *t, *self;
  osla_device *device;
  osla_grid *alone;
  osla_segment *on_device[PAIRS];
  bool used[PAIRS];
} device_bench;

/* Opens a device of the kind that OSLA_TEST_DEVICE names (default: fake). Its work runs at once
 * (early) or as late as possible. Plants the faults of OSLA_TEST_DEVICE_FAULT
 * (src/device/device.h). Returns false, without a device, if the device cannot be opened.
 * Collective. */
bool bench_open(device_bench *bench, bool early);
void bench_close(device_bench *bench);

/* Runs a check on each grid, with work that runs late and with work that runs at once. */
void on_all_grids(void (*check)(device_bench *bench, osla_grid *grid, int which));

extern const osla_dtype all_types[4];

/* Two matrices with equal elements. */
typedef struct matrix_pair {
  osla_matrix *host, *device;
  bool *used;
} matrix_pair;

/* Makes a host matrix, filled by osla_matrix_fill, on host_grid, which is the grid of the device
 * matrix, or `alone`: then each rank has the whole host matrix, and calls on it need no other rank.
 * The device matrix is complete on this rank. Collective. */
matrix_pair pair_make(device_bench *bench, osla_grid *host_grid, osla_grid *grid, osla_dtype dtype,
                      int64_t m, int64_t n, int64_t mb, int64_t nb, osla_fill fill, uint64_t seed);
void pair_free(matrix_pair *pair);

/* Asserts, on the elements of each rank, that the matrices differ by at most `factor` units of the
 * precision times the largest element of the host's matrix. The printf-style text says what is
 * compared. Collective. */
void pair_expect(const matrix_pair *pair, double factor, const char *format, ...)
  __attribute__((format(printf, 3, 4)));

/* Overwrites a device matrix by puts of rank 0, as soon as rank 0 has returned from a call. */
void device_overwrite(osla_matrix *a);

/* Copies bytes to this rank's memory of a device segment at once, before work that is queued. */
osla_err device_upload(osla_segment *segment, const void *bytes, size_t size);

#endif
