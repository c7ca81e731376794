/* Describes and tests the devices of the kind that OSLA_DEVICE names. The tests are copies, a
 * product, Cholesky, LU, and a copy between two devices. Copies must be exact, a product must agree
 * with that of the host, and solutions must have a small residual. `osla info` fails if a result is
 * wrong, but not if a device cannot be opened. */
#include "osla_chol.h"
#include "osla_gemm.h"
#include "osla_lu.h"
#include "osla_solve.h"
#include "src/memory/segment.h"
#include "tools/info/info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  ORDER = 200,          /* order of the matrices */
  BLOCK = 48,           /* block size of the matrices */
  RIGHT_HAND_SIDES = 5, /* number of right-hand sides */
  PIECE = 100003        /* number of bytes that are copied between two devices */
};

static const double
  /* largest accepted difference between an element of a product on the device and on the host */
  most_error = 1e-10,
  /* largest accepted scaled residual of a solution */
  most_residual = 30;

/* Indices of the test matrices. Matrices H_... are in host memory, matrices D_... are on the
 * device. H_B holds right-hand sides, H_X and D_X hold solutions. The other matrices are square. */
enum { H_A, H_C, H_D, H_B, H_X, D_A, D_C, D_X, MATRICES };

typedef struct trial {
  osla_transport *t;
  osla_device *device;
  osla_grid *grid;
  osla_matrix *matrix[MATRICES];
  int64_t *ipiv;
} trial;

static osla_err create(trial *r)
{
  OSLA_CALL(osla_grid_create(r->t, 0, 0, &r->grid));
  for (int i = 0; i < MATRICES; i++) {
    const int64_t n = i == H_B || i == H_X || i == D_X ? RIGHT_HAND_SIDES : ORDER;
    if (i < D_A)
      OSLA_CALL(osla_matrix_create(r->grid, OSLA_DOUBLE, ORDER, n, BLOCK, BLOCK, &r->matrix[i]));
    else
      OSLA_CALL(osla_matrix_create_on(r->device, r->grid, OSLA_DOUBLE, ORDER, n, BLOCK, BLOCK,
                                      &r->matrix[i]));
  }
  r->ipiv = calloc((size_t)osla_matrix_local_rows(r->matrix[H_A]) + 1, sizeof *r->ipiv);
  OSLA_CALL(
    osla_agree(r->t, r->ipiv ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "no memory for the pivots")));
  OSLA_CALL(osla_matrix_fill(r->matrix[H_A], OSLA_FILL_UNIFORM, 1));
  return osla_matrix_fill(r->matrix[H_B], OSLA_FILL_UNIFORM, 2);
}

static void destroy(trial *r)
{
  for (int i = MATRICES - 1; i >= 0; i--)
    osla_matrix_destroy(&r->matrix[i]);
  osla_grid_destroy(&r->grid);
  free(r->ipiv);
}

/* Checks that no element of matrix b differs from that of matrix a by more than `bound`. Overwrites
 * b. */
static osla_err compare(const osla_matrix *a, osla_matrix *b, double bound)
{
  double difference = 0;
  OSLA_CALL(osla_matrix_add(-1, a, 1, b));
  OSLA_CALL(osla_matrix_norm(b, OSLA_NORM_MAX, &difference));
  OSLA_CHECK(difference <= bound, OSLA_ERR_STATE, "an element differs by %g from that of the host",
             difference);
  return OSLA_OK;
}

static osla_err test_copies(trial *r)
{
  OSLA_CALL(osla_matrix_copy(r->matrix[H_A], r->matrix[D_A]));
  OSLA_CALL(osla_matrix_copy(r->matrix[D_A], r->matrix[H_C]));
  return compare(r->matrix[H_A], r->matrix[H_C], 0);
}

static osla_err test_gemm(trial *r)
{
  osla_matrix **m = r->matrix;
  OSLA_CALL(osla_matrix_copy(m[H_A], m[D_A]));
  OSLA_CALL(osla_gemm(OSLA_NOTRANS, OSLA_TRANS, 1, osla_whole(m[D_A]), osla_whole(m[D_A]), 0,
                      osla_whole(m[D_C]), NULL));
  OSLA_CALL(osla_gemm(OSLA_NOTRANS, OSLA_TRANS, 1, osla_whole(m[H_A]), osla_whole(m[H_A]), 0,
                      osla_whole(m[H_C]), NULL));
  OSLA_CALL(osla_matrix_copy(m[D_C], m[H_D]));
  return compare(m[H_C], m[H_D], most_error);
}

/* Copies the solution D_X from the device to host memory, and checks that its scaled residual is at
 * most most_residual. */
static osla_err check_solution(trial *r)
{
  double residual = 0;
  OSLA_CALL(osla_matrix_copy(r->matrix[D_X], r->matrix[H_X]));
  OSLA_CALL(osla_residual(r->matrix[H_A], r->matrix[H_X], r->matrix[H_B], &residual));
  OSLA_CHECK(residual <= most_residual, OSLA_ERR_STATE,
             "the solution has a scaled residual of %g, not at most %g", residual, most_residual);
  return OSLA_OK;
}

static osla_err test_cholesky(trial *r)
{
  osla_matrix **m = r->matrix;
  int64_t info = 0;
  OSLA_CALL(osla_matrix_fill(m[H_A], OSLA_FILL_SPD, 3));
  OSLA_CALL(osla_matrix_copy(m[H_A], m[D_A]));
  OSLA_CALL(osla_matrix_copy(m[H_B], m[D_X]));
  OSLA_CALL(osla_potrf(OSLA_LOWER, m[D_A], NULL, &info));
  OSLA_CHECK(info == 0, OSLA_ERR_STATE, "a positive definite matrix gives info = %lld",
             (long long)info);
  OSLA_CALL(osla_potrs(OSLA_LOWER, m[D_A], m[D_X]));
  return check_solution(r);
}

static osla_err test_lu(trial *r)
{
  osla_matrix **m = r->matrix;
  osla_lu_result result;
  OSLA_CALL(osla_matrix_fill(m[H_A], OSLA_FILL_UNIFORM, 4));
  OSLA_CALL(osla_matrix_copy(m[H_A], m[D_A]));
  OSLA_CALL(osla_matrix_copy(m[H_B], m[D_X]));
  OSLA_CALL(osla_getrf(m[D_A], r->ipiv, NULL, &result));
  OSLA_CHECK(result.info == 0, OSLA_ERR_STATE, "a regular matrix gives info = %lld",
             (long long)result.info);
  OSLA_CALL(osla_getrs(OSLA_NOTRANS, m[D_A], r->ipiv, m[D_X]));
  return check_solution(r);
}

/* Gets PIECE bytes at `offset` of segment s from the device of rank `rank`. The caller chooses
 * whether the destination `dest` is in host memory or in device memory. */
static osla_err get(osla_segment *s, int rank, size_t offset, void *dest)
{
  osla_transfer transfer;
  OSLA_CALL(osla_segment_get(s, rank, offset, dest, PIECE, &transfer));
  return osla_transfer_wait(s, &transfer);
}

static osla_err get_from_next(trial *r, osla_segment *s, unsigned char *piece)
{
  const int rank = osla_transport_rank(r->t), next = (rank + 1) % osla_transport_size(r->t);
  OSLA_CALL(get(s, next, 0, (unsigned char *)osla_segment_local(s) + PIECE));
  OSLA_CALL(get(s, rank, PIECE, piece));
  for (int i = 0; i < PIECE; i++)
    OSLA_CHECK(piece[i] == (unsigned char)(1 + (next * 37 + i) % 251), OSLA_ERR_STATE,
               "rank %d to rank %d: byte %d of %d is wrong", next, rank, i, PIECE);
  return OSLA_OK;
}

static osla_err put_own(trial *r, osla_segment *s, unsigned char *piece)
{
  const int rank = osla_transport_rank(r->t);
  osla_transfer transfer;
  for (int i = 0; i < PIECE; i++)
    piece[i] = (unsigned char)(1 + (rank * 37 + i) % 251);
  OSLA_CALL(osla_segment_put(s, rank, 0, piece, PIECE, &transfer));
  OSLA_CALL(osla_transfer_wait(s, &transfer));
  return osla_segment_flush(s, rank);
}

/* Each rank copies PIECE bytes from the next rank's device to its own device, and checks every
 * byte. */
static osla_err test_next_device(trial *r)
{
  osla_segment *s = NULL;
  unsigned char *piece = malloc(PIECE);
  osla_err err =
    osla_agree(r->t, piece ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "no memory for a buffer"));
  if (err == OSLA_OK) err = osla_segment_create_on(r->device, (size_t)2 * PIECE, 1, &s);
  if (err == OSLA_OK) err = osla_agree(r->t, put_own(r, s, piece));
  if (err == OSLA_OK) err = osla_agree(r->t, get_from_next(r, s, piece));
  osla_segment_destroy(&s);
  free(piece);
  return err;
}

static void add_result(info_findings *findings, const char *name, osla_err err, const char *good)
{
  if (err == OSLA_OK)
    info_add(findings, name, INFO_OK, "%s", good);
  else
    info_add(findings, name,
             err == OSLA_ERR_UNSUPPORTED || err == OSLA_ERR_MEM ? INFO_SKIPPED : INFO_FAILED, "%s",
             osla_error_text());
}

static void test_all(trial *r, info_watchdog *dog, info_findings *findings)
{
  static const struct {
    const char *name;
    osla_err (*run)(trial *);
    const char *good;
  } tests[] = {
    {"device copies", test_copies, "host to device and back, without a change"},
    {"device BLAS", test_gemm, "a product equals that of the host"},
    {"device Cholesky", test_cholesky, "potrf and potrs solve a system"},
    {"device LU", test_lu, "getrf and getrs solve a system"},
    {"device to device", test_next_device, "copies from the device of the next rank arrive whole"}};
  info_watchdog_begin(dog, "device memory");
  osla_err err = create(r);
  if (err != OSLA_OK) add_result(findings, "device memory", err, "");
  for (size_t i = 0; i < sizeof tests / sizeof *tests && err == OSLA_OK; i++) {
    if (tests[i].run == test_next_device && osla_transport_size(r->t) == 1) {
      info_add(findings, tests[i].name, INFO_SKIPPED, "needs 2 ranks");
      continue;
    }
    info_watchdog_begin(dog, tests[i].name);
    add_result(findings, tests[i].name, osla_agree(r->t, tests[i].run(r)), tests[i].good);
  }
  info_watchdog_begin(dog, "device memory");
  destroy(r);
}

/* Stores the number and the descriptions of the devices that this rank sees. */
static void describe(const char *kind, info_devices *devices)
{
  const device_ops *ops = NULL;
  if (osli_device_backend(kind, &ops) != OSLA_OK || ops->count(&devices->count) != OSLA_OK) return;
  for (int i = 0; i < devices->count && i < INFO_MAX_DEVICES; i++)
    if (ops->describe(i, devices->text[i], sizeof devices->text[i]) != OSLA_OK)
      (void)snprintf(devices->text[i], sizeof devices->text[i], "%s", osla_error_text());
}

void info_test_devices(osla_transport *t, info_watchdog *dog, info_findings *findings)
{
  info_devices *devices = &findings->devices;
  const char *kind = getenv("OSLA_DEVICE");
  if (!kind || !kind[0]) return;
  (void)snprintf(devices->kind, sizeof devices->kind, "%s", kind);
  info_watchdog_begin(dog, "opening of devices");
  trial r = {.t = t};
  osla_err err = osla_device_open(t, NULL, &r.device);
  if (err != OSLA_OK)
    (void)snprintf(devices->failure, sizeof devices->failure, "%s", osla_error_text());
  if (osla_transport_rank(t) == 0) describe(kind, devices);
  devices->ranks = osla_transport_largest_node(t);
  if (err == OSLA_OK) test_all(&r, dog, findings);
  osla_device_close(&r.device);
}
