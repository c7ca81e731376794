/* Tests sparse exchanges of letters, by an all-to-all and by messages, also if memory is lacking on
 * a rank. */
#include "src/base/futex.h"
#include "src/transport/exchange.h"
#include "tests/failing_allocation.h"
#include "tests/osla_test_help.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 60, MOST = OSLA_MOST_LETTER };

/* Makes a transport that exchanges letters by messages (sparse is true), or by an all-to-all. */
static osla_transport *transport_of(bool sparse)
{
  osla_transport *t = NULL;
  char *was = getenv("OSLA_SPARSE_FROM") ? strdup(getenv("OSLA_SPARSE_FROM")) : NULL;
  (void)setenv("OSLA_SPARSE_FROM", sparse ? "1" : "1000000", 1);
  OSLA_ASSERT_OK(osla_transport_create(MPI_COMM_WORLD, NULL, &t));
  if (was)
    (void)setenv("OSLA_SPARSE_FROM", was, 1);
  else
    (void)unsetenv("OSLA_SPARSE_FROM");
  free(was);
  return t;
}

/* Does `from` send a letter to `to` in this round? The pattern changes from round to round: no
 * letters, from all ranks to all, from all to one, from one to all, then between a third of the
 * pairs. */
static bool writes(int round, int from, int to)
{
  const int size = osla_test_size();
  switch (round % 6) {
    case 0: return false;
    case 1: return true;
    case 2: return to == round % size;
    case 3: return from == round % size;
    default: return osla_test_choose(9, ((int64_t)round * size + from) * size + to, 3) == 0;
  }
}

static int bytes_of(int round)
{
  static const int bytes[] = {8, 1, 64, 13, MOST};
  return bytes[round % (int)(sizeof bytes / sizeof *bytes)];
}

static int64_t stream_of(int round, int from, int to)
{
  return ((int64_t)round * osla_test_size() + from) * osla_test_size() + to;
}

static int count_from(int round, int to)
{
  int n = 0;
  for (int from = 0; from < osla_test_size(); from++)
    n += writes(round, from, to);
  return n;
}

static osla_err write_letters(int round, osla_letters *out)
{
  const int me = osla_test_rank();
  unsigned char letter[MOST];
  *out = (osla_letters){.bytes = bytes_of(round)};
  for (int to = osla_test_size() - 1; to >= 0; to--) { /* letters may be added in any order */
    if (!writes(round, me, to)) continue;
    osla_test_write(letter, stream_of(round, me, to), 0, (size_t)out->bytes);
    OSLA_CALL(osli_letters_add(out, to, letter));
  }
  return OSLA_OK;
}

/* Number of wrong or missing letters of this round. */
static int check_letters(int round, const osla_letters *in)
{
  const int me = osla_test_rank();
  int wrong = in->n != count_from(round, me), i = 0;
  for (int from = 0; from < osla_test_size(); from++) {
    const unsigned char *letter = osli_letter_of(in, from);
    wrong += (letter != NULL) != writes(round, from, me);
    if (!letter || i >= in->n) continue;
    wrong += osli_letter_rank(in, i) != from || osli_letter(in, i) != letter;
    wrong += osla_test_differ(letter, stream_of(round, from, me), 0, (size_t)in->bytes) != 0;
    i++;
  }
  return wrong;
}

/* Makes exchanges one after the other, with delays on some ranks, so that fast ranks send letters
 * to ranks that are still waiting. */
static void exchange_rounds(osla_transport *t, bool known)
{
  osla_exchange *x = NULL;
  int wrong = 0;
  OSLA_ASSERT_OK(osli_exchange_open(t, MOST, &x));
  for (int round = 0; round < ROUNDS; round++) {
    osla_letters out, in = {0};
    OSLA_ASSERT_OK(write_letters(round, &out));
    if (osla_test_choose(10, round, osla_test_size()) == osla_test_rank()) osli_nap(300);
    const int expected = known ? count_from(round, osla_test_rank()) : -1;
    OSLA_ASSERT_OK(osli_exchange_run(x, &out, expected, &in));
    wrong += check_letters(round, &in);
    osli_letters_free(&out);
    osli_letters_free(&in);
  }
  CU_ASSERT(wrong == 0);
  osli_exchange_close(&x);
  CU_ASSERT_PTR_NULL(x);
}

static void test_dense(void)
{
  osla_transport *t = transport_of(false);
  exchange_rounds(t, false);
  exchange_rounds(t, true);
  osla_transport_destroy(&t);
}

static void test_sparse(void)
{
  osla_transport *t = transport_of(true);
  exchange_rounds(t, false);
  exchange_rounds(t, true);
  exchange_rounds(t, false);
  osla_transport_destroy(&t);
}

static void test_too_long(void)
{
  osla_transport *t = transport_of(true);
  osla_exchange *x = NULL;
  osla_letters out = {.bytes = 16}, in = {0};
  OSLA_ASSERT_OK(osli_exchange_open(t, 8, &x));
  OSLA_ASSERT_ERR(osli_exchange_run(x, &out, -1, &in), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("letters of 16 bytes: at most 8 are possible");
  CU_ASSERT(osli_letter_of(&in, 0) == NULL);
  osli_exchange_close(&x);
  osla_transport_destroy(&t);
}

/* An exchange of letters from all ranks to all ranks, during which an allocation fails. */
typedef struct lack {
  osla_transport *t;
  osla_letters out;
  int wrong;
} lack;

static osla_err exchange_once(void *arg)
{
  lack *l = arg;
  osla_exchange *x = NULL;
  osla_letters in = {0};
  osla_err err = osla_agree(l->t, osli_exchange_open(l->t, MOST, &x));
  if (err == OSLA_OK) {
    err = osli_exchange_run(x, &l->out, -1, &in);
    if (err == OSLA_OK) l->wrong += check_letters(1, &in);
    err = osla_agree(l->t, err);
  }
  osli_letters_free(&in);
  osli_exchange_close(&x);
  return err;
}

/* Tests that no rank hangs, whichever allocation fails. If memory for MPI requests is lacking,
 * letters are sent one by one. The test does not run in simulations, whose ranks share their
 * allocations.
 */
static void test_lack(void)
{
  const int ways = osla_simulated_machine() ? 0 : 2;
  CU_ASSERT(ways >= 0);
  for (int sparse = 0; sparse < ways; sparse++) {
    lack l = {.t = transport_of(sparse)};
    int failures = 0, hit = 1, n = 0;
    OSLA_ASSERT_OK(write_letters(1, &l.out));
    for (; hit && n < 1000; n++)
      failures += call_with_failing_allocation(n, exchange_once, &l, &hit) != OSLA_OK;
    OSLA_ASSERT_MSG(failures >= 2 && n < 1000, "%d of %d allocations failed", failures, n);
    CU_ASSERT(l.wrong == 0);
    osli_letters_free(&l.out);
    osla_transport_destroy(&l.t);
  }
}

static const osla_test_case cases[] = {
  {"dense", test_dense}, {"sparse", test_sparse}, {"too_long", test_too_long}, {"lack", test_lack},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_exchange, cases);
