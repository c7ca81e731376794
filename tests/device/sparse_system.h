/* Helpers of the tests of sparse matrices on a device. They make a system A x = b with vectors on
 * the device and in host memory, and count the calls that a solver makes to the device. */
#ifndef SPARSE_SYSTEM_H
#define SPARSE_SYSTEM_H

#include "osla_krylov.h"
#include "osla_sparse_device.h"
#include "tests/device/device_help.h"
#include "tests/kernels/sparse_model.h"

/* A system A x = b. The matrix is in host memory, and to_device adds a copy on the device. b and x
 * exist in host memory and on the device. */
typedef struct sparse_system {
  device_bench bench;
  sparse_model m;
  osla_csr *a;
  osla_operator op;
  osla_segment *segment;
  int64_t rows, columns;
  double *b_on;    /* [rows] b on the device */
  double *x_on;    /* [columns] x on the device, which ranks of the node can read in place */
  double *x_apart; /* [columns] another x on the device, which other ranks cannot read in place */
  double *b;       /* [rows] b in host memory */
  double *x;       /* [columns] x in host memory */
} sparse_system;

/* Opens a device and makes a system whose m x n matrix is multiplied by `factor`. Returns false if
 * no device can be opened, or if the job has several ranks and the device has no kernels, which
 * products then need. In the second case the call also checks that osla_csr_to_device refuses the
 * matrix. Collective. */
bool open_system(sparse_system *system, bool early, sparse_kind kind, int64_t m, int64_t n,
                 double factor);
/* Copies the matrix to the device. Collective. */
void to_device(sparse_system *system);
void close_system(sparse_system *system); /* Collective. */

/* Copies n numbers from host memory to the device. Local. */
void put(const double *from, int64_t n, double *on_device);
/* Copies n numbers from the device to host memory, without waiting for queued work. Local. */
void peek(const double *on_device, int64_t n, double *to);

/* Fills b and x in host memory with a right-hand side and with a first guess that is not 0. */
void fill_vectors(sparse_system *system);

/* Copies b and the first guess x from host memory to the device, and solves there. Copies the
 * solution to `out`, or, if `out` is NULL, to x in host memory. Collective. */
osla_krylov_result solve_on_device(sparse_system *system, const osla_krylov_options *options,
                                   double *out);

/* Returns the largest difference between two elements of equal index; NaN if an element is NaN. */
double distance(int64_t n, const double *x, const double *y);

#endif
