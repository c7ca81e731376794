/* Helpers that tests of several folders share: a transport, a list of grids, texts, seeded bytes
 * and matrix elements. */
#ifndef OSLA_TEST_HELP_H
#define OSLA_TEST_HELP_H

#include "osla_matrix.h"
#include "osla_transport.h"
#include "tests/osla_test.h"

/* Zeroed memory, which the caller frees. Ends all ranks if memory runs out. */
void *osla_test_allocate(size_t count, size_t size);

/* Stops this process by SIGSTOP, and returns when it has continued. A child process continues it by
 * SIGCONT after the given seconds. Local. */
void osla_test_stop_process(double seconds);

/* A transport on MPI_COMM_WORLD with default options. Collective. Ends all ranks on failure,
 * because no case can run without one. */
osla_transport *osla_test_transport(void);

/* As osla_test_transport, on the transport `name`, such as "shmem"; NULL for the default. */
osla_transport *osla_test_transport_on(const char *name);

/* Calls osla_transport_create with the option transport = name, and returns its error. */
osla_err osla_test_try_transport(MPI_Comm comm, const char *name, osla_transport **out);

/* The most nearly square grid of all ranks, p <= q, in the order OSLA_GRID_NODES if there are
 * several nodes. Collective. */
osla_grid *osla_test_square_grid(osla_transport *transport);

/* True for a transport on ARMCI or OpenSHMEM, which do not keep all promises of the MPI transport.
 * Local. */
bool osla_test_on_offered(const osla_transport *transport);

/* A list of 1 to 7 process grids, each shape once: nearly square, P x 1, nearly square with the
 * ranks in descending order, 1 x 1, 1 x P, 2 x 2 and 2 x 1, the small ones with idle ranks.
 * osla_test_n_grids returns its length, and osla_test_grid makes grid number `which` (collective;
 * the caller destroys it). */
int osla_test_n_grids(osla_transport *transport);
osla_grid *osla_test_grid(osla_transport *transport, int which);

/* Asserts that the latest error text contains `part`; otherwise prints both texts. */
#define OSLA_ASSERT_TEXT(part) osla_test_text((part), __FILE__, __LINE__)
bool osla_test_text(const char *part, const char *file, int line);

/* Asserts that the latest error text is the same on all ranks. Collective. */
#define OSLA_ASSERT_SAME_TEXT() osla_test_same_text(__FILE__, __LINE__)
bool osla_test_same_text(const char *file, int line);

/* A random integer from 0 to below - 1 that depends only on seed and i. Requires below >= 1. */
int64_t osla_test_choose(uint64_t seed, int64_t i, int64_t below);

/* The byte at this offset of a stream of random bytes. `stream` is the seed. */
unsigned char osla_test_byte(int64_t stream, size_t offset);

/* osla_test_write fills `count` bytes with a stream of random bytes, beginning at its offset
 * `first`. osla_test_differ returns how many of the `count` bytes differ from the stream. */
void osla_test_write(unsigned char *bytes, int64_t stream, size_t first, size_t count);
int64_t osla_test_differ(const unsigned char *bytes, int64_t stream, size_t first, size_t count);

/* Matrix elements that identify their position: element (i, j) has the real part x = 256 i + j + 1
 * and the imaginary part -x, which are exact in every type for i, j < 256. The functions write
 * these elements to, or count the elements that differ from them in, a column-major buffer whose
 * first element is (i, j), or the local array of a matrix. */
void osla_test_write_block(osla_dtype dtype, void *buffer, int64_t i, int64_t j, int64_t m,
                           int64_t n, int64_t ld);
int64_t osla_test_differ_block(osla_dtype dtype, const void *buffer, int64_t i, int64_t j,
                               int64_t m, int64_t n, int64_t ld);
void osla_test_write_local(osla_matrix *matrix);
int64_t osla_test_differ_local(const osla_matrix *matrix);

/* Makes a matrix on grid number `which` of osla_test_grid. osla_test_destroy destroys the matrix
 * and its grid. Collective. */
osla_matrix *osla_test_make(osla_transport *t, int which, osla_dtype dtype, int64_t m, int64_t n,
                            int64_t mb, int64_t nb);
void osla_test_destroy(osla_matrix *a);

/* From this number of ranks on, tests make fewer repetitions, because creating a window takes 0.1 s
 * or more if ranks outnumber cores. */
enum { FEW_RANKS = 4 };

/* Write or read element `at` of an array of any type. For real types the imaginary part is dropped.
 */
void osla_test_store(osla_dtype dtype, void *array, int64_t at, osla_complex value);
osla_complex osla_test_load(osla_dtype dtype, const void *array, int64_t at);

/* Returns the real part of element `at` of an array of any type. */
double osla_test_real(osla_dtype dtype, const void *array, int64_t at);

#endif
