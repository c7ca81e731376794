/* Helpers for tests of the accumulator: seeded updates, their serial sum, and an exact comparison
 * of the distributed matrix with that sum.
 *
 * All values are small integers, so that every sum is exact in float and double, in any order.
 * Elements that no update may read (rows of G and U beyond their own) are NaN.
 */
#ifndef HESSIAN_REFERENCE_H
#define HESSIAN_REFERENCE_H

#include "osla_device.h"
#include "osla_hessian.h"
#include "tests/osla_test_help.h"

/* One update of H: by G^T G (k >= 0 is the number of rows of G) or by a block U (k = -1). It also
 * has values for the gradient at the indices ix. */
typedef struct test_update {
  osla_dtype dtype;
  int64_t rows, cols, k, ld; /* an update by G has cols = rows */
  int64_t *ix, *jx;          /* NULL for an update by G */
  void *values;
  double *gradient; /* [rows] */
} test_update;

/* Element type of H: double, or float if so set. */
static inline osla_dtype type_of(const osla_hessian_options *o)
{
  return o->single ? OSLA_FLOAT : OSLA_DOUBLE;
}

/* Returns update `number` of the random stream `seed`, equal on every rank: G or U, k from 0 to
 * 130, 0 to `most` indices below n, ascending or not, some of them twice. */
test_update update_random(uint64_t seed, int64_t number, int64_t n, int64_t most, osla_dtype dtype);

/* Returns an update with the indices n - 1 to 0, descending, and a G with k rows of ones. */
test_update update_ones(int64_t n, int64_t k, osla_dtype dtype);

/* Adds the update to the accumulator, then overwrites and frees the update's arrays at once. An
 * accumulator that still reads them gets wrong values. Local. */
osla_err update_push(osla_hessian *h, test_update u);
/* Passes the update, its gradient and its id to the accumulator in one call, then overwrites and
 * frees its arrays. *skipped := true if the accumulator already had the id. Local. */
osla_err update_push_once(osla_hessian *h, test_update u, uint64_t id, bool *skipped);
void update_free(test_update *u);

/* The sum of updates, computed serially on each rank. */
typedef struct serial_sum {
  int64_t n;        /* order of H */
  int64_t elements; /* number of elements added so far */
  osla_uplo uplo;
  double (*combine)(double old, double value); /* NULL means the sum old + value */
  double *h;        /* [n * n] H, with zeros in the triangle that is not stored */
  double *gradient; /* [n] the gradient */
} serial_sum;

serial_sum sum_create(int64_t n, osla_uplo uplo);
/* adds the update `times` times and frees it */
void sum_add(serial_sum *sum, test_update u, double times);
void sum_clear(serial_sum *sum);
/* sets the gradient to 0 and every element of H to `initial` */
void sum_fill(serial_sum *sum, double initial);
void sum_free(serial_sum *sum);

/* Commits, then asserts that matrix and gradient equal the sum exactly on all ranks, both in the
 * owners' memory and as osla_matrix_get_block reads them. The printf-style text names the case in
 * messages. Collective. */
bool sum_assert(const serial_sum *sum, osla_hessian *h, const char *format, ...)
  __attribute__((format(printf, 3, 4)));

/* Reads the whole matrix to all [n * n]. The triangle that a triangular matrix does
 * not store becomes 0, as it is in the accumulator's full matrix. */
void hessian_read(const osla_matrix *a, void *all);

/* Returns grid number `which`, from 0: nearly square, P x 1, 1 x P, nearly square with the ranks in
 * descending order, then smaller grids that leave ranks idle; NULL after the last. Collective. */
osla_grid *hessian_grid(osla_transport *t, int which);

/* Makes an accumulator, and ends the job if that fails. If OSLA_TEST_HESSIAN_DEVICE names a kind of
 * device and no option is a function of the user, H lies on a device of this kind. If
 * OSLA_TEST_TRIANGLE is set and the lower triangle is stored, H is triangular. In tests
 * osla_hessian_destroy is hessian_destroy, which also destroys the device matrix and closes the
 * device. Collective. */
osla_hessian *hessian_create_or_end(osla_grid *grid, int64_t n,
                                    const osla_hessian_options *options);
void hessian_destroy(osla_hessian **h);
#define osla_hessian_destroy(h) hessian_destroy(h)

/* Adds updates first .. last - 1 to the sum. Of these updates, each rank passes its share to the
 * accumulator, with the number of the update as id. Collective. */
void push_ids(osla_hessian *h, serial_sum *sum, int first, int last);

enum {
  PRODUCERS = 3,       /* number of threads of a rank that pass updates at the same time */
  PRODUCER_UPDATES = 5 /* number of updates that each of these threads passes */
};

/* Adds the updates of PRODUCERS threads of each rank to the sum. The threads of this rank pass
 * their updates to the accumulator. Collective. */
void push_by_threads(osla_hessian *h, serial_sum *sum);

/* Asserts that osla_hessian_create_on fails with the code `err` and a message that contains `text`,
 * on all ranks. */
void hessian_refused(osla_matrix *a, const osla_hessian_options *o, osla_err err, const char *text);

/* Number of rounds of a test's loop: the environment variable OSLA_TEST_ROUNDS if set, otherwise
 * `usual`. */
int hessian_rounds(int usual);

#endif
