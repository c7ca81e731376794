/* What the kernels' tests share: grids of every shape, matrices owned or wrapped, a replicated
 * serial view of distributed matrices, matrices whose factors are exact, and delays.
 *
 * Exact matrices: their factors are whole numbers with powers of two on the diagonal, so that every
 * intermediate of a factorisation or a solve is a whole number too, and the result is the same to
 * the last bit for every grid, block size and order of operations.
 */
#ifndef KERNEL_REFERENCE_H
#define KERNEL_REFERENCE_H

#include "osla_forward.h"
#include "osla_matrix.h"
#include "tests/osla_test.h"

/* The which-th grid: all p x q = ranks, row-major; the same with places permuted (column-major,
 * last rank first); smaller grids in which rank 0 or the last ranks are idle. Collective; NULL past
 * the end. The caller frees it. */
osla_grid *kernel_grid(osla_transport *t, int which);
int kernel_n_grids(osla_transport *t); /* collective */

/* The ways to forward panels, in turn. */
osla_forward kernel_forward(int which);

/* A matrix that the library owns, or one of this test's memory (wrapped: not 16-byte aligned, with
 * its own leading dimension on every rank). */
typedef struct kernel_matrix {
  osla_matrix *a;
  unsigned char *memory; /* wrapped: as allocated; else NULL */
  size_t bytes, shift;
} kernel_matrix;

/* Collective. */
kernel_matrix kernel_make(osla_grid *grid, osla_dtype dtype, int64_t m, int64_t n, int64_t mb,
                          int64_t nb, bool wrapped);
/* Collective. Asserts that nothing was written between the columns of a wrapped array. */
void kernel_free(kernel_matrix *matrix);

/* A dense column-major array of doubles, ld = m; complex elements are two doubles. */
typedef struct dense {
  int64_t m, n;
  int parts; /* 1 real, 2 complex */
  double *at;
} dense;

dense dense_make(int64_t m, int64_t n, int parts); /* zero; ends all ranks if there is no memory */
void dense_free(dense *d);
static inline double *dense_at(const dense *d, int64_t i, int64_t j)
{
  return d->at + (i + j * d->m) * d->parts;
}

/* The whole matrix on every rank. Collective. */
dense dense_gather(const osla_matrix *a);

/* Fills a distributed matrix with a dense one of its size. Collective. */
void dense_scatter(const dense *d, osla_matrix *a);

/* C += alpha A B. Naive. real: the columns [first, C.n) in steps of `stride` alone. */
void dense_multiply(double alpha, const dense *a, const dense *b, dense *c, int64_t first,
                    int64_t stride);
dense dense_transpose(const dense *d);
dense dense_absolute(const dense *d);

/* Largest column sum of magnitudes among the columns [first, n) in steps of `stride`; NaN if there
 * is one. */
double dense_norm_one(const dense *d, int64_t first, int64_t stride);

/* Exact factors of order n from a seed: unit lower, upper; and symmetric use of the lower one with
 * powers of two on the diagonal. */
dense exact_unit_lower(int64_t n, uint64_t seed);
dense exact_upper(int64_t n, uint64_t seed);
dense exact_lower(int64_t n, uint64_t seed);
dense exact_whole(int64_t m, int64_t n, uint64_t seed); /* from -4 to 4 */
dense dense_product(const dense *a, const dense *b);

/* Every element of the distributed matrix equals the dense one (NaN equals NaN). Collective. The
 * printf-style text tells what was compared. */
bool kernel_expect(const osla_matrix *a, const dense *expected, const char *format, ...)
  __attribute__((format(printf, 3, 4)));

/* |A - F G|_1 / (n eps |A|_1) < 16, the columns shared out between the ranks; the formula is
 * printed on failure. */
bool kernel_backward(const char *what, const dense *a, const dense *f, const dense *g,
                     osla_dtype dtype);

/* "2 x 3 grid, n = 7, nb = 2, double, wrapped": for messages; overwritten by the next call. */
const char *kernel_label(const osla_matrix *a, bool wrapped);

double kernel_eps(osla_dtype dtype);

/* Delays: in every progress step (so in the midst of a kernel, too) each rank sleeps now and then
 * for up to 300 us, by a seed. */
typedef struct delays {
  osla_transport *t;
  uint64_t seed, calls;
} delays;
void delays_begin(delays *d, osla_transport *t, uint64_t seed);
void delays_end(delays *d);

/* Is this pair of a grid and a variant to be run? Up to two ranks all are, up to four one in five,
 * else one in nine: where ranks outnumber cores, making a matrix on several nodes costs a tenth of
 * a second (MPI spins). */
bool kernel_turn(int grid, int variant);

/* Rounds of a stress loop: OSLA_TEST_ROUNDS of the environment, else `usual`, or half of that with
 * more ranks than two. */
int kernel_rounds(int usual);

#endif
