/* Global arrays of all distributions with seeded whole numbers, and their contents on every rank,
 * for the tests of ga_adapt. Everything is in the C interface's index order. */
#ifndef GA_HELP_H
#define GA_HELP_H

#include "osla_ga.h"
#include "tests/osla_test_help.h"

/* Starts GA, once. */
void ga_start(void);

typedef enum ga_kind {
  GA_REGULAR,
  GA_IRREGULAR,
  GA_CYCLIC,    /* blocks dealt round robin */
  GA_SCALAPACK, /* blocks on a grid */
  GA_TILED,     /* the same, each block contiguous; 4 ranks: else GA 5.8.2 fails, regular */
  GA_RESTRICTED,
  GA_GHOSTS, /* regular where there is no room */
  GA_KINDS
} ga_kind;

const char *ga_kind_name(ga_kind kind);

/* An array of dims {rows, cols}, in blocks of block[0] x block[1] where it has blocks; regular if
 * there are too few blocks for the ranks. Collective; ends all ranks if GA makes none. */
int ga_make(ga_kind kind, osla_dtype dtype, int64_t rows, int64_t cols, const int block[2]);

/* Puts element(i, j, arg) everywhere; complex arrays get (x, element(j, i)). Collective. */
typedef double ga_element(int64_t i, int64_t j, void *arg);
void ga_fill(int array, ga_element *element, void *arg);

/* A whole number from -8 to 8; *seed is a uint64_t. */
double ga_whole(int64_t i, int64_t j, void *seed);

/* All elements, row after row, as complex numbers; the caller frees them: as they are (collective),
 * or as ga_fill would make them (local). */
osla_complex *ga_read(int array);
osla_complex *ga_contents(int array, ga_element *element, void *arg);

/* Elements of the array that differ from `expected` by more than `bound`, or are NaN. */
int64_t ga_count_wrong(int array, const osla_complex *expected, double bound);

#endif
