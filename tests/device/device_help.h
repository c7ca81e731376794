/* Helpers of the tests of device memory, which open a device and make pairs of matrices with equal
 * elements, in host memory and on the device. */
#ifndef DEVICE_HELP_H
#define DEVICE_HELP_H

#include "osla_device.h"
#include "osla_matrix.h"
#include "src/device/device.h"
#include "tests/osla_test_help.h"

enum {
  PAIRS = 3,           /* number of matrix pairs that can exist at the same time */
  PAIR_BYTES = 1 << 20 /* bytes of device memory for the device matrix of a pair on each rank */
};

/* What a test of device memory needs on each rank. */
typedef struct device_bench {
  osla_transport *t;              /* transport of all ranks */
  osla_transport *self;           /* transport of this rank alone */
  osla_device *device;            /* device on the transport `t` */
  osla_grid *alone;               /* 1 x 1 grid of this rank alone, on the transport `self` */
  osla_segment *on_device[PAIRS]; /* device memory of each pair; NULL until the pair is made */
  bool used[PAIRS];               /* true while the pair exists */
} device_bench;

/* Opens a device of the kind that OSLA_TEST_DEVICE names (default: fake). The fake device runs work
 * at once if `early` is true, otherwise as late as possible. Plants the faults of
 * OSLA_TEST_DEVICE_FAULT (src/device/device.h). Returns false, without a device, if the device
 * cannot be opened. Collective. */
bool bench_open(device_bench *bench, bool early);
void bench_close(device_bench *bench);

/* Runs a check on each grid of osla_test_grid, first with a device that runs work as late as
 * possible, then with one that runs work at once. `which` is the number of the grid. Collective. */
void on_all_grids(void (*check)(device_bench *bench, osla_grid *grid, int which));

extern const osla_dtype all_types[4];

/* A host matrix and a device matrix that pair_make has filled with equal elements. */
typedef struct matrix_pair {
  osla_matrix *host, *device;
  bool *used; /* the element of device_bench.used for this pair */
} matrix_pair;

/* Makes an m x n host matrix on host_grid, filled by osla_matrix_fill, and a device matrix with
 * equal elements on `grid`. host_grid is `grid` or the grid `alone` of the bench, on which each
 * rank has the whole host matrix, so that calls on it need no other rank. On return this rank's
 * elements of the device matrix are set, but those of other ranks perhaps not yet. Collective. */
matrix_pair pair_make(device_bench *bench, osla_grid *host_grid, osla_grid *grid, osla_dtype dtype,
                      int64_t m, int64_t n, int64_t mb, int64_t nb, osla_fill fill, uint64_t seed);
void pair_free(matrix_pair *pair);

/* Asserts that the elements of the device matrix differ from those of the host matrix by at most
 * `factor` times the machine epsilon times the largest element of the host matrix. The printf-style
 * text says what is compared. Collective. */
void pair_expect(const matrix_pair *pair, double factor, const char *format, ...)
  __attribute__((format(printf, 3, 4)));

/* Rank 0 overwrites a device matrix with zeros; the other ranks do nothing. Called after a kernel,
 * so that work which still reads the matrix gives wrong results. */
void device_overwrite(osla_matrix *a);

/* Allocates zeroed memory on a device that is not in the library's table of device memory, as if
 * the program had called cudaMalloc. */
void *program_memory_allocate(const osla_device *device, size_t bytes);
/* Frees memory of program_memory_allocate. */
void program_memory_free(const osla_device *device, void *memory, size_t bytes);

/* Memory on a device that this rank has not opened as an osla_device. */
typedef struct unopened_memory {
  void *address;
  size_t bytes;
  int ordinal; /* number of the device */
  const device_ops *ops;
  device_state *state;
} unopened_memory;
/* Allocates zeroed memory on a device of the kind of `device` that has another number. Returns
 * false if there is no other device. Local. */
bool unopened_allocate(const osla_device *device, size_t bytes, unopened_memory *out);
void unopened_free(unopened_memory *memory);

/* Numbers of calls that this rank has made to a device. */
typedef struct device_calls {
  int waits;          /* waits for queued work */
  int copies;         /* copies between the device and host memory */
  int panel_combines; /* pieces of work of kind COMBINE in LANE_PANEL */
} device_calls;

/* Begins to count the calls that this rank makes to a device. One device at a time can be counted.
 * Local. */
void count_begin(const osla_device *device);
/* Ends the count, and returns the numbers of calls since count_begin. Local. */
device_calls count_end(const osla_device *device);

/* Copies `size` bytes to this rank's memory of a device segment. The copy does not wait for queued
 * work, and is complete on return. */
osla_err device_upload(osla_segment *segment, const void *bytes, size_t size);

#endif
