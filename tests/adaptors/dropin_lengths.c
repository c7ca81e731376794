/* Preloaded between the drop-in and ScaLAPACK: checks that the lengths of all CHARACTER arguments,
 * which Fortran passes last, reach the real routine. Ends the program if a length is missing. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void function(void);

static function *next(const char *symbol, const size_t *lengths, int count)
{
  function *real;
  void *at = dlsym(RTLD_NEXT, symbol);
  for (int i = 0; i < count; i++)
    if (lengths[i] != 1) {
      (void)fprintf(stderr, "%s: length %d is %zu\n", symbol, i + 1, lengths[i]);
      abort();
    }
  if (!at) abort();
  memcpy(&real, &at, sizeof at);
  return real;
}

#define TAKE_7  void *a, void *b, void *c, void *d, void *e, void *f, void *g
#define TAKE_12 TAKE_7, void *h, void *i, void *j, void *k, void *l
#define TAKE_13 TAKE_12, void *m
#define TAKE_14 TAKE_13, void *n
#define TAKE_15 TAKE_14, void *o
#define TAKE_18 TAKE_15, void *p, void *q, void *r
#define TAKE_19 TAKE_18, void *s
#define GIVE_7  a, b, c, d, e, f, g
#define GIVE_12 GIVE_7, h, i, j, k, l
#define GIVE_13 GIVE_12, m
#define GIVE_14 GIVE_13, n
#define GIVE_15 GIVE_14, o
#define GIVE_18 GIVE_15, p, q, r
#define GIVE_19 GIVE_18, s
#define SIZES_1 size_t l1
#define SIZES_2 SIZES_1, size_t l2
#define SIZES_4 SIZES_2, size_t l3, size_t l4
#define ALL_1   l1
#define ALL_2   ALL_1, l2
#define ALL_4   ALL_2, l3, l4

#define ROUTINE(name, count, letters)                                                              \
  void name(TAKE_##count, SIZES_##letters)                                                         \
  {                                                                                                \
    function *real = next(#name, (size_t[]){ALL_##letters}, letters);                              \
    ((void (*)(TAKE_##count, SIZES_##letters))real)(GIVE_##count, ALL_##letters);                  \
  }

ROUTINE(pdgemm_, 19, 2)
ROUTINE(pdsyrk_, 14, 2)
ROUTINE(pdsymm_, 18, 2)
ROUTINE(pdtrmm_, 15, 4)
ROUTINE(pdtrsm_, 15, 4)
ROUTINE(pdgeadd_, 13, 1)
ROUTINE(pzgetrs_, 13, 1)
ROUTINE(pdpotrf_, 7, 1)
ROUTINE(pdpotrs_, 12, 1)
ROUTINE(pdposv_, 12, 1)
