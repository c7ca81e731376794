/* Global Arrays of all distributions with seeded integers, and their contents on every rank, for
 * the tests of ga_adapt. All indices are in the order of the C interface. */
#ifndef GA_HELP_H
#define GA_HELP_H

#include "osla_ga.h"
#include "tests/osla_test_help.h"

/* Starts GA when it is called for the first time. */
void ga_start(void);

typedef enum ga_kind {
  GA_REGULAR,
  GA_IRREGULAR,
  GA_CYCLIC,    /* blocks in cyclic order over the ranks */
  GA_SCALAPACK, /* block-cyclic distribution on a process grid */
  /* tiles on a process grid; only with 4 ranks, otherwise a regular distribution, because GA 5.8.2
   * fails */
  GA_TILED,
  GA_RESTRICTED,
  /* ghost cells around each part; a regular distribution if the ghost cells do not fit */
  GA_GHOSTS,
  GA_KINDS
} ga_kind;

const char *ga_kind_name(ga_kind kind);

/* Creates an array of dims {rows, cols}. If its kind has blocks, they have block[0] x block[1]
 * elements; the distribution is regular if there are fewer blocks than ranks. Collective; ends all
 * ranks if GA fails. */
int ga_make(ga_kind kind, osla_dtype dtype, int64_t rows, int64_t cols, const int block[2]);

/* Sets all elements to element(i, j, arg); the imaginary part of complex elements is element(j, i,
 * arg). Collective. */
typedef double ga_element(int64_t i, int64_t j, void *arg);
void ga_fill(int array, ga_element *element, void *arg);

/* Returns a random integer from -8 to 8. `seed` points to a uint64_t. */
double ga_whole(int64_t i, int64_t j, void *seed);

/* Returns all elements, row after row, as complex numbers, which the caller frees. The elements
 * are read from the array (collective), or computed as by ga_fill (local). */
osla_complex *ga_read(int array);
osla_complex *ga_contents(int array, ga_element *element, void *arg);

/* Number of elements that differ from `expected` by more than `bound`, or are NaN. */
int64_t ga_count_wrong(int array, const osla_complex *expected, double bound);

#endif
