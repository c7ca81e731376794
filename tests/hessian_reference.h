/* Helpers for tests of the accumulator: seeded updates, their serial sum, and an exact comparison
 * of the distributed matrix with that sum.
 *
 * All values are small integers, so that every sum is exact in float and double, in any order.
 * Elements that no update may read (rows of G and U beyond their own) are NaN.
 */
#ifndef HESSIAN_REFERENCE_H
#define HESSIAN_REFERENCE_H

#include "osla_hessian.h"
#include "tests/osla_test_help.h"

/* An update with G (k >= 0) or with a block U (k = -1), and values for the gradient at ix. */
typedef struct test_update {
  osla_dtype dtype;
  int64_t rows, cols, k, ld; /* cols = rows for G */
  int64_t *ix, *jx;          /* jx = NULL for G */
  void *values;
  double *gradient; /* [rows] */
} test_update;

/* Element type of H. */
static inline osla_dtype type_of(const osla_hessian_options *o)
{
  return o->single ? OSLA_FLOAT : OSLA_DOUBLE;
}

/* Returns update `number` of the random stream `seed`, equal on every rank: G or U, k from 0 to
 * 130, 0 to `most` indices below n, ascending or not, some of them twice. */
test_update update_random(uint64_t seed, int64_t number, int64_t n, int64_t most, osla_dtype dtype);

/* Returns an update with the indices n - 1 to 0, descending, and a G with k rows of ones. */
test_update update_ones(int64_t n, int64_t k, osla_dtype dtype);

/* Passes the update to the accumulator, then overwrites and frees its arrays at once, which reveals
 * an accumulator that still reads them. Local. */
osla_err update_push(osla_hessian *h, test_update u);
/* Passes the update, its gradient and its id to the accumulator in one call, then overwrites and
 * frees its arrays. *skipped := true if the accumulator already had the id. Local. */
osla_err update_push_once(osla_hessian *h, test_update u, uint64_t id, bool *skipped);
void update_free(test_update *u);

/* Serial sum of updates, for comparison. */
typedef struct serial_sum {
  int64_t n, elements; /* order; elements added so far */
  osla_uplo uplo;
  double (*combine)(double old, double value); /* NULL for the sum */
  double *h, *gradient;                        /* [n * n], zeros in the other triangle; [n] */
} serial_sum;

serial_sum sum_create(int64_t n, osla_uplo uplo);
void sum_add(serial_sum *sum, test_update u, double times); /* frees u */
void sum_clear(serial_sum *sum);
void sum_fill(serial_sum *sum, double initial); /* clears the gradient, sets all H to initial */
void sum_free(serial_sum *sum);

/* Commits, then asserts that matrix and gradient equal the sum exactly on all ranks, both in the
 * owners' memory and as osla_matrix_get_block reads them. The printf-style text names the case in
 * messages. Collective. */
bool sum_assert(const serial_sum *sum, osla_hessian *h, const char *format, ...)
  __attribute__((format(printf, 3, 4)));

/* Returns grid number `which`, from 0: nearly square, P x 1, 1 x P, nearly square with the ranks in
 * descending order, then smaller grids that leave ranks idle; NULL after the last. Collective. */
osla_grid *hessian_grid(osla_transport *t, int which);

/* Makes an accumulator, and ends the job if that fails. Collective. */
osla_hessian *hessian_create_or_end(osla_grid *grid, int64_t n,
                                    const osla_hessian_options *options);

/* Number of rounds of a test's loop: OSLA_TEST_ROUNDS of the environment if set, else `usual`. */
int hessian_rounds(int usual);

#endif
