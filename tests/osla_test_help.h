/* What the tests of several floors share: a transport, a list of grids, texts, seeded choices. */
#ifndef OSLA_TEST_HELP_H
#define OSLA_TEST_HELP_H

#include "osla_grid.h"
#include "osla_test.h"
#include "osla_transport.h"

/* A transport on MPI_COMM_WORLD with default options. Collective. Ends all ranks on failure: no
 * case can go on without one. */
osla_transport *osla_test_transport(void);

/* The which-th of a list of grids that suit the rank count: nearest to square, 1 x P, P x 1,
 * nearest to square with the ranks in reverse order, 1 x 1 (others idle), and 2 x 2 and 2 x 1 with
 * idle ranks where there are more. Repeats of one shape are kept out. Collective; NULL past the
 * end. The caller frees it. */
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

#endif
