/* Sums that do not depend on the order of addition. See order_free.h. */
#include "tools/common/order_free.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BIN_BITS = 30, LOWEST = -1022 };

__extension__ typedef unsigned __int128 wide;
__extension__ typedef __int128 signed_wide;

osla_err order_free_create(int64_t count, order_free_sums *out)
{
  *out = (order_free_sums){.count = count};
  out->digit = calloc(ORDER_FREE_BINS * (size_t)count + 1, sizeof *out->digit);
  OSLA_CHECK(out->digit, OSLA_ERR_MEM, "no memory for %" PRId64 " sums", count);
  return OSLA_OK;
}

void order_free_destroy(order_free_sums *sums)
{
  free(sums->digit);
  *sums = (order_free_sums){0};
}

/* Moves the bins down so that `top` becomes the index of the highest bin; the lowest bins are lost.
 */
static void raise_top(order_free_sums *s, int top)
{
  int by = top - s->top;
  if (by <= 0) return;
  for (int bin = ORDER_FREE_BINS - 1; bin >= 0; bin--) {
    int64_t *to = s->digit + bin * s->count;
    if (bin >= by)
      memcpy(to, s->digit + (bin - by) * s->count, (size_t)s->count * sizeof *to);
    else
      memset(to, 0, (size_t)s->count * sizeof *to);
  }
  s->top = top;
}

void order_free_add(order_free_sums *s, int64_t i, double term)
{
  uint64_t bits;
  if (!(term <= DBL_MAX)) term = DBL_MAX;
  if (term < DBL_MIN) return;
  memcpy(&bits, &term, sizeof bits);
  /* position of the leading bit of the term, where bit 2^LOWEST has the position 0 */
  int place = (int)(bits >> 52) - 1023 - LOWEST;
  int bin = place / BIN_BITS;
  uint64_t mantissa = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
  /* The term, in units of the third bin below that of its leading bit: 53 bits, of which the
   * leading bit has a position from 60 to 89. */
  wide number = (wide)mantissa << (place % BIN_BITS + 2 * BIN_BITS - 52);
  raise_top(s, bin);
  const int64_t mask = (INT64_C(1) << BIN_BITS) - 1;
  for (int k = s->top - bin, shift = 2 * BIN_BITS; k < ORDER_FREE_BINS; k++, shift -= BIN_BITS)
    s->digit[k * s->count + i] += (int64_t)(number >> shift) & mask;
}

void order_free_merge(order_free_sums *into, const order_free_sums *from)
{
  raise_top(into, from->top);
  int by = into->top - from->top;
  for (int bin = by; bin < ORDER_FREE_BINS; bin++)
    for (int64_t i = 0; i < into->count; i++)
      into->digit[bin * into->count + i] += from->digit[(bin - by) * into->count + i];
}

osla_err order_free_reduce(osla_transport *t, order_free_sums *s)
{
  int top = s->top;
  OSLA_CALL(osla_allreduce(t, &top, 1, MPI_INT, MPI_MAX));
  raise_top(s, top);
  return osla_allreduce(t, s->digit, ORDER_FREE_BINS * s->count, MPI_INT64_T, MPI_SUM);
}

double order_free_value(const order_free_sums *s, int64_t i)
{
  signed_wide sum = 0;
  for (int bin = 0; bin < ORDER_FREE_BINS; bin++)
    sum = sum * ((signed_wide)1 << BIN_BITS) + s->digit[bin * s->count + i];
  return ldexp((double)sum, LOWEST + (s->top - (ORDER_FREE_BINS - 1)) * BIN_BITS);
}

double order_free_largest(const order_free_sums *s)
{
  double largest = 0.0;
  for (int64_t i = 0; i < s->count; i++)
    largest = fmax(largest, order_free_value(s, i));
  return largest;
}
