/* Helpers of the kernels' tests: grids of every shape, matrices owned by the library or wrapped, a
 * serial copy of distributed matrices on every rank, matrices with exact factors, and delays.
 * Exact matrices have factors with whole numbers, and powers of two on the diagonal. So every
 * intermediate result of a factorisation or a solve is a whole number, and the result is the same
 * to the last bit for every grid, block size and order of operations. */
#ifndef KERNEL_REFERENCE_H
#define KERNEL_REFERENCE_H

#include "osla_forward.h"
#include "osla_matrix.h"
#include "tests/osla_test.h"

/* Process grid number `which`. First come all shapes p x q with p q = number of ranks, with
 * positions in row-major order, then the same shapes with permuted positions (column-major, last
 * rank first), then smaller grids, in which rank 0 or the last ranks have no position. NULL if
 * there are fewer grids. The caller frees the grid. Collective. */
osla_grid *kernel_grid(osla_transport *t, int which);
/* Returns the number of grids that kernel_grid makes. Collective. */
int kernel_n_grids(osla_transport *t);

/* Value number `which` of the enum osla_forward, cyclically. */
osla_forward kernel_forward(int which);

/* A matrix whose memory the library owns, or a wrapped matrix. The memory of a wrapped matrix
 * belongs to the test, is not aligned to 16 bytes, and has another leading dimension on every
 * rank. */
typedef struct kernel_matrix {
  osla_matrix *a;
  unsigned char *memory; /* allocated memory of a wrapped matrix, otherwise NULL */
  size_t bytes, shift;
} kernel_matrix;

/* Makes a distributed matrix, owned by the library or wrapped. Collective. */
kernel_matrix kernel_make(osla_grid *grid, osla_dtype dtype, int64_t m, int64_t n, int64_t mb,
                          int64_t nb, bool wrapped);
/* Makes a triangular matrix (osla_matrix_create_triangle). Collective. */
kernel_matrix kernel_make_triangle(osla_grid *grid, osla_dtype dtype, int64_t n, int64_t nb);
/* Frees a matrix. Asserts that nothing was written between the columns of a wrapped array.
 * Collective. */
void kernel_free(kernel_matrix *matrix);

/* A dense column-major array of doubles with leading dimension m. Complex elements are two
 * doubles. */
typedef struct dense {
  int64_t m, n;
  int parts; /* 1 for real, 2 for complex elements */
  double *at;
} dense;

/* A matrix of zeros. Ends all ranks if there is no memory. */
dense dense_make(int64_t m, int64_t n, int parts);
void dense_free(dense *d);
static inline double *dense_at(const dense *d, int64_t i, int64_t j)
{
  return d->at + (i + j * d->m) * d->parts;
}

/* Returns a copy of the whole distributed matrix on every rank. Collective. */
dense dense_gather(const osla_matrix *a);

/* Fills a distributed matrix with the elements of a dense one of equal size. Collective. */
void dense_scatter(const dense *d, osla_matrix *a);

/* C += alpha A B by a plain loop, for real or complex matrices. Only the columns first, first +
 * stride, ... of C are computed. */
void dense_multiply(double alpha, const dense *a, const dense *b, dense *c, int64_t first,
                    int64_t stride);
dense dense_transpose(const dense *d);
dense dense_absolute(const dense *d);

/* Largest column sum of magnitudes among the columns first, first + stride, ... of a matrix; NaN if
 * one of them contains a NaN. */
double dense_norm_one(const dense *d, int64_t first, int64_t stride);

/* Matrices with whole numbers, chosen by a seed: a unit lower triangle, an upper triangle, and a
 * lower triangle with powers of two on the diagonal. */
dense exact_unit_lower(int64_t n, uint64_t seed);
dense exact_upper(int64_t n, uint64_t seed);
dense exact_lower(int64_t n, uint64_t seed);
/* Returns an m x n matrix of whole numbers from -4 to 4. */
dense exact_whole(int64_t m, int64_t n, uint64_t seed);
dense dense_product(const dense *a, const dense *b);

/* Asserts that every element of the distributed matrix equals that of the dense matrix (NaN equals
 * NaN). The printf-style text says what is compared. Collective. */
bool kernel_expect(const osla_matrix *a, const dense *expected, const char *format, ...)
  __attribute__((format(printf, 3, 4)));

/* Asserts |A - F G|_1 / (n eps |A|_1) < 16. Each rank computes some of the columns. `what` is
 * printed on failure. */
bool kernel_backward(const char *what, const dense *a, const dense *f, const dense *g,
                     osla_dtype dtype);

/* Description of a matrix for messages, such as "2 x 3 grid, n = 7, nb = 2, double, wrapped". The
 * next call overwrites it. */
const char *kernel_label(const osla_matrix *a, bool wrapped);

double kernel_eps(osla_dtype dtype);

/* Delays: each rank sleeps for up to 300 us in progress steps, which kernels make too. A seed
 * determines in which steps. */
typedef struct delays {
  osla_transport *t;
  uint64_t seed, calls;
} delays;
void delays_begin(delays *d, osla_transport *t, uint64_t seed);
void delays_end(delays *d);

/* True if a test runs this pair of a grid and a variant. With one or two ranks all pairs are run,
 * with three or four ranks one pair in five, with more ranks one pair in nine. Creating a matrix on
 * several nodes takes a tenth of a second if ranks outnumber cores, because MPI polls. */
bool kernel_turn(int grid, int variant);

/* Number of rounds of a stress loop: the environment variable OSLA_TEST_ROUNDS if set; otherwise
 * `usual`, or half of `usual` with more than two ranks. */
int kernel_rounds(int usual);

#endif
