/* What the accumulator's tests share: updates made from a seed, their serial sum, and the
 * comparison of the distributed matrix with that sum, to the last bit.
 *
 * All values are small whole numbers, so that every sum is exact in float and double and in any
 * order; what no update may read (G's and U's rows below their own) is NaN.
 */
#ifndef HESSIAN_REFERENCE_H
#define HESSIAN_REFERENCE_H

#include "osla_hessian.h"
#include "tests/osla_test_help.h"

/* One update with G (k >= 0) or with a block U (k = -1), and values for the gradient at ix. */
typedef struct test_update {
  osla_dtype dtype;
  int64_t rows, cols, k, ld; /* cols = rows for G */
  int64_t *ix, *jx;          /* jx = NULL for G */
  void *values;
  double *gradient; /* [rows] */
} test_update;

/* Of H. */
static inline osla_dtype type_of(const osla_hessian_options *o)
{
  return o->single ? OSLA_FLOAT : OSLA_DOUBLE;
}

/* The number-th update of a stream, the same on every rank: of all kinds, k from 0 to 130, 0 to
 * `most` indices below n, ascending or not, some twice. */
test_update update_random(uint64_t seed, int64_t number, int64_t n, int64_t most, osla_dtype dtype);

/* All indices 0 to n - 1 in falling order and a G of k rows of ones. */
test_update update_ones(int64_t n, int64_t k, osla_dtype dtype);

/* Gives the update to the accumulator, spoils its arrays at once and frees them: an accumulator
 * that still needed them would show. Local. */
osla_err update_push(osla_hessian *h, test_update u);
/* The same with an id, gradient and all in one call. */
osla_err update_push_once(osla_hessian *h, test_update u, uint64_t id, bool *skipped);
void update_free(test_update *u);

/* The serial sum of updates. */
typedef struct serial_sum {
  int64_t n, elements; /* order; elements added so far */
  osla_uplo uplo;
  double (*combine)(double old, double value); /* NULL: the sum */
  double *h, *gradient;                        /* [n * n] with zeros in the other triangle, [n] */
} serial_sum;

serial_sum sum_make(int64_t n, osla_uplo uplo);
void sum_add(serial_sum *sum, test_update u, double times); /* u is freed */
void sum_clear(serial_sum *sum);
void sum_fill(serial_sum *sum, double initial); /* as sum_clear, but H = initial everywhere */
void sum_free(serial_sum *sum);

/* Commits; then matrix and gradient equal the sum bit for bit, on all ranks, in the owners' memory
 * and by osla_matrix_get_block. Collective. The printf-style text tells what was compared. */
bool sum_expect(const serial_sum *sum, osla_hessian *h, const char *format, ...)
  __attribute__((format(printf, 3, 4)));

/* The which-th grid: nearest to square, P x 1, 1 x P, nearest to square with the ranks in falling
 * order, and smaller ones that leave ranks idle. Collective; NULL past the end. */
osla_grid *hessian_grid(osla_transport *t, int which);

/* Makes an accumulator; ends all ranks if that fails. Collective. */
osla_hessian *hessian_make(osla_grid *grid, int64_t n, const osla_hessian_options *options);

/* Rounds of a loop: OSLA_TEST_ROUNDS of the environment, else `usual`. */
int hessian_rounds(int usual);

#endif
