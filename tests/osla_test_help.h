/* What the tests of several floors share: a transport, a list of grids, texts, seeded bytes and
 * matrix elements. */
#ifndef OSLA_TEST_HELP_H
#define OSLA_TEST_HELP_H

#include "osla_matrix.h"
#include "osla_transport.h"
#include "tests/osla_test.h"

/* Zeroed memory, which the caller frees. Ends all ranks if there is none. */
void *osla_test_allocate(size_t count, size_t size);

/* A transport on MPI_COMM_WORLD with default options. Collective. Ends all ranks on failure: no
 * case can go on without one. */
osla_transport *osla_test_transport(void);

/* The grid of all ranks that is nearest to square, p <= q; by nodes where there are several.
 * Collective. */
osla_grid *osla_test_square_grid(osla_transport *transport);

/* Does it move data by ARMCI? Some promises are those of the MPI transport alone. Local. */
bool osla_test_on_armci(const osla_transport *transport);

/* A list of grids that suit the rank count, 1 to 7 of them: nearest to square, P x 1, nearest to
 * square with the ranks in reverse order, 1 x 1 (others idle), 1 x P, 2 x 2 and 2 x 1 with idle
 * ranks; each shape once. Their number, and the which-th (collective; the caller frees it). */
int osla_test_n_grids(osla_transport *transport);
osla_grid *osla_test_grid(osla_transport *transport, int which);

/* The latest error text holds `part`; otherwise both are printed. */
#define OSLA_ASSERT_TEXT(part) osla_test_text((part), __FILE__, __LINE__)
bool osla_test_text(const char *part, const char *file, int line);

/* The latest error text is the same on all ranks. Collective. */
#define OSLA_ASSERT_SAME_TEXT() osla_test_same_text(__FILE__, __LINE__)
bool osla_test_same_text(const char *file, int line);

/* A number from 0 to below - 1, the same for the same (seed, i) everywhere. below >= 1. */
int64_t osla_test_choose(uint64_t seed, int64_t i, int64_t below);

/* The seeded byte at an offset of a stream. */
unsigned char osla_test_byte(int64_t stream, size_t offset);

/* Fills count bytes with the stream from `first` on; counts those that differ from it. */
void osla_test_write(unsigned char *bytes, int64_t stream, size_t first, size_t count);
int64_t osla_test_differ(const unsigned char *bytes, int64_t stream, size_t first, size_t count);

/* Matrix elements that tell their place: (i, j) holds 256 i + j + 1, exact in every type for
 * i, j < 256; the imaginary part is the negative of that. Written to and counted (those that
 * differ) in a column-major buffer whose first element is (i, j), and in the local array of a
 * matrix. */
void osla_test_write_block(osla_dtype dtype, void *buffer, int64_t i, int64_t j, int64_t m,
                           int64_t n, int64_t ld);
int64_t osla_test_differ_block(osla_dtype dtype, const void *buffer, int64_t i, int64_t j,
                               int64_t m, int64_t n, int64_t ld);
void osla_test_write_local(osla_matrix *matrix);
int64_t osla_test_differ_local(const osla_matrix *matrix);

/* A matrix on the which-th grid; the second frees both. Collective. */
osla_matrix *osla_test_make(osla_transport *t, int which, osla_dtype dtype, int64_t m, int64_t n,
                            int64_t mb, int64_t nb);
void osla_test_drop(osla_matrix *a);

/* More ranks than this repeat less: a window costs 0.1 s and more where cores are few. */
enum { FEW_RANKS = 4 };

/* Element `at` of an array of any type; a real one has and takes no imaginary part. */
void osla_test_store(osla_dtype dtype, void *array, int64_t at, osla_complex value);
osla_complex osla_test_load(osla_dtype dtype, const void *array, int64_t at);

/* Real part of element `at` of an array. */
double osla_test_real(osla_dtype dtype, const void *array, int64_t at);

#endif
