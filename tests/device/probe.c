/* Probes a device for tests/device/check. `probe KIND copies` lets each rank read device memory of
 * the next rank, or of itself if it is alone. `probe KIND info` compares the info of LAPACK on the
 * device with the info on the host, for matrices of which some cannot be factored. Prints a line
 * for each result. Exit status: 0 all results are right, 1 a result is wrong, 2 wrong usage, 3 the
 * device cannot be opened or mapped. */
#include "osla_blas.h"
#include "osla_device.h"
#include "src/device/device.h"

#include <inttypes.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 1 << 19, N = 300, BAD = 200 };

static int report(const char *what, osla_err err)
{
  if (err != OSLA_OK) (void)fprintf(stderr, "%s: %s\n", what, osla_error_text());
  return err == OSLA_OK ? 0 : 3;
}

/* Element i of the data in device memory of a rank. */
static double pattern(int rank, int i)
{
  return 1e6 * rank + i;
}

static osla_err put_own(osla_segment *segment, int rank, const double *values)
{
  osla_transfer transfer;
  OSLA_CALL(osla_segment_put(segment, rank, 0, values, COUNT * sizeof *values, &transfer));
  return osla_transfer_wait(segment, &transfer);
}

static int probe_copies(osla_transport *t, osla_segment *segment)
{
  const int rank = osla_transport_rank(t), next = (rank + 1) % osla_transport_size(t);
  double *values = malloc(COUNT * sizeof *values);
  int wrong = 0;
  if (!values) return 3;
  for (int i = 0; i < COUNT; i++)
    values[i] = pattern(rank, i);
  int status = report("put", put_own(segment, rank, values));
  memset(values, 0xff, COUNT * sizeof *values);
  if (status == 0) status = report("barrier", osla_barrier(t));
  if (status == 0)
    status = report("read", osla_segment_read(segment, next, 0, values, COUNT * sizeof *values));
  for (int i = 0; i < COUNT && status == 0; i++)
    wrong += values[i] != pattern(next, i);
  if (status == 0)
    (void)printf("rank %d reads device memory of rank %d: %d of %d elements are wrong\n", rank,
                 next, wrong, COUNT);
  free(values);
  return status ? status : wrong > 0;
}

/* Kinds of a symmetric matrix: its factorisations succeed (REGULAR), fail in column BAD (FAILING),
 * or meet a NaN in row and column BAD (WITH_NAN). */
typedef enum kind_of_matrix { REGULAR, FAILING, WITH_NAN, KINDS } kind_of_matrix;

static void fill(double *a, bool is_lu, kind_of_matrix kind)
{
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++)
      a[i + j * N] = i == j ? 4 : 1.0 / (1 + abs(i - j));
  for (int i = 0; i < N && kind == FAILING && is_lu; i++)
    a[i + BAD * N] = 0; /* in a column of zeros, pivot BAD is exactly zero */
  if (kind == FAILING && !is_lu) a[BAD + BAD * N] = -1;
  if (kind == WITH_NAN) a[BAD + BAD * N] = NAN;
}

/* Factors `a`, which lies on a device or in host memory, and sets LAPACK's info. */
static osla_err factor(bool is_lu, double *a, int64_t *pivots, int64_t *info)
{
  return is_lu ? osla_lapack_getrf(OSLA_DOUBLE, N, N, a, N, pivots, info)
               : osla_lapack_potrf(OSLA_DOUBLE, OSLA_LOWER, N, a, N, info);
}

static int probe_info(osla_segment *segment)
{
  static double host[N * N];
  static int64_t pivots[N];
  static const char *const names[KINDS] = {"regular", "failing", "with NaN"};
  double *on_device = osla_segment_local(segment);
  int wrong = 0;
  for (int is_lu = 0; is_lu < 2; is_lu++)
    for (int kind = 0; kind < KINDS; kind++) {
      int64_t here = -1, there = -1;
      fill(host, is_lu, (kind_of_matrix)kind);
      osli_device_copy_bytes((size_t)(N * N) * sizeof *host, host, on_device);
      int status = report("device", factor(is_lu, on_device, pivots, &there));
      if (status == 0) status = report("host", factor(is_lu, host, pivots, &here));
      if (status) return status;
      const bool differs = here != there;
      (void)printf("%s %s: info %" PRId64 " on the device, %" PRId64 " on the host%s\n",
                   is_lu ? "getrf" : "potrf", names[kind], there, here,
                   differs ? ", DIFFERENT" : "");
      wrong += differs && kind != WITH_NAN; /* for NaN any info is right */
    }
  return wrong > 0;
}

int main(int argc, char **argv)
{
  osla_transport *t = NULL;
  osla_device *device = NULL;
  osla_segment *segment = NULL;
  if (argc != 3) return 2;
  MPI_Init(&argc, &argv);
  const osla_device_options options = {.kind = argv[1]};
  int status = report("transport", osla_transport_create(MPI_COMM_WORLD, NULL, &t));
  if (status == 0) status = report("open", osla_device_open(t, &options, &device));
  if (status == 0)
    status = report("segment", osla_segment_create_on(device, COUNT * sizeof(double), 0, &segment));
  if (status == 0)
    status = strcmp(argv[2], "info") == 0 ? probe_info(segment) : probe_copies(t, segment);
  (void)MPI_Allreduce(MPI_IN_PLACE, &status, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  osla_segment_destroy(&segment);
  osla_device_close(&device);
  osla_transport_destroy(&t);
  MPI_Finalize();
  return status;
}
