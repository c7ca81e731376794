/* Fills and checks the messages of the kernel channel. Element i of the message of round r is r *
 * FACTOR + i, so that the sum of all elements of a message is known. An element of another round
 * makes the sum wrong, since FACTOR is odd and there are fewer than 2^64 rounds. */
#include "bench/bench_channel.h"

static const uint64_t FACTOR = UINT64_C(0x9e3779b97f4a7c15);

void channel_write(const channel_data *d, uint64_t *message, uint64_t round)
{
  const size_t n = d->count;
  const uint64_t base = round * FACTOR;
  for (size_t i = 0; i < n; i++)
    message[i] = base + i;
}

/* Four partial sums shorten the chain of dependent additions. */
static uint64_t add_up(const uint64_t *message, size_t n)
{
  enum { SUMS = 4 };
  uint64_t sum[SUMS] = {0};
  size_t i = 0;
  for (; i + SUMS <= n; i += SUMS)
    for (int k = 0; k < SUMS; k++)
      sum[k] += message[i + (size_t)k];
  for (; i < n; i++)
    sum[0] += message[i];
  return sum[0] + sum[1] + sum[2] + sum[3];
}

void channel_read(channel_data *d, const uint64_t *message, uint64_t round)
{
  const uint64_t n = d->count;
  /* sum of the indices of all elements */
  const uint64_t index_sum = n % 2 ? (n - 1) / 2 * n : n / 2 * (n - 1);
  if (add_up(message, d->count) != n * (round * FACTOR) + index_sum) d->is_wrong = true;
}
