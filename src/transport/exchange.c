#include "src/transport/exchange.h"
#include "osla_trace.h"
#include "src/device/device.h"
#include "src/transport/transport_ops.h"

#include <stdlib.h>
#include <string.h>

/* Number of ranks from which letters travel as single messages instead of an all-to-all, unless
 * OSLA_SPARSE_FROM sets it. */
enum { SPARSE_FROM = 1024 };

/* bytes of the head of a letter, which holds the letter's rank or, in an all-to-all, whether there
 * is a letter */
enum { LETTER_HEAD = sizeof(int64_t) };

struct osla_exchange {
  osla_transport *t;
  int most_bytes;
  unsigned char *send, /* send buffer of the all-to-all; NULL if letters travel as messages */
    *recv;             /* receive buffer of the all-to-all; NULL if letters travel as messages */
};

/* ---- lists of letters ---- */

static size_t letter_stride(const osla_letters *l)
{
  return LETTER_HEAD + ((size_t)l->bytes + LETTER_HEAD - 1) / LETTER_HEAD * LETTER_HEAD;
}

static unsigned char *letter_at(const osla_letters *l, int i)
{
  return l->memory + (size_t)i * letter_stride(l);
}

osla_err osli_letters_reserve(osla_letters *l, int room)
{
  if (room <= l->room) return OSLA_OK;
  unsigned char *more = realloc(l->memory, (size_t)room * letter_stride(l));
  OSLA_CHECK(more, OSLA_ERR_MEM, "%d letters of %d bytes", room, l->bytes);
  l->memory = more;
  l->room = room;
  return OSLA_OK;
}

osla_err osli_letters_add(osla_letters *l, int rank, const void *letter)
{
  enum { FIRST_ROOM = 16 };
  if (l->n == l->room) OSLA_CALL(osli_letters_reserve(l, l->n > 0 ? 2 * l->n : FIRST_ROOM));
  const int64_t head = rank;
  unsigned char *at = letter_at(l, l->n++);
  memcpy(at, &head, sizeof head);
  memcpy(at + LETTER_HEAD, letter, (size_t)l->bytes);
  return OSLA_OK;
}

void osli_letters_free(osla_letters *l)
{
  free(l->memory);
  *l = (osla_letters){.bytes = l->bytes};
}

static int rank_at(const void *at)
{
  int64_t rank;
  memcpy(&rank, at, sizeof rank);
  return (int)rank;
}

int osli_letter_rank(const osla_letters *l, int i)
{
  return rank_at(letter_at(l, i));
}

const void *osli_letter(const osla_letters *l, int i)
{
  return letter_at(l, i) + LETTER_HEAD;
}

static int compare_ranks(const void *a, const void *b)
{
  return rank_at(a) - rank_at(b);
}

const void *osli_letter_of(const osla_letters *l, int rank)
{
  const int64_t key = rank;
  const unsigned char *at =
    l->n > 0 ? bsearch(&key, l->memory, (size_t)l->n, letter_stride(l), compare_ranks) : NULL;
  return at ? at + LETTER_HEAD : NULL;
}

/* ---- exchanges of letters ---- */

osla_err osli_exchange_open(osla_transport *t, int most_bytes, osla_exchange **out)
{
  const int from = t->settings.sparse_from > 0 ? t->settings.sparse_from : SPARSE_FROM;
  const osla_letters most = {.bytes = most_bytes};
  const size_t bytes = (size_t)t->size * letter_stride(&most);
  osla_exchange *x = calloc(1, sizeof *x);
  *out = x;
  OSLA_CHECK(x, OSLA_ERR_MEM, "exchange object");
  x->t = t;
  x->most_bytes = most_bytes;
  if (t->size >= from) return OSLA_OK;
  x->send = calloc(2, bytes);
  if (!x->send) osli_exchange_close(out);
  OSLA_CHECK(*out, OSLA_ERR_MEM, "letters of %d ranks, %zu bytes", t->size, 2 * bytes);
  x->recv = x->send + bytes;
  return OSLA_OK;
}

void osli_exchange_close(osla_exchange **exchange)
{
  if (*exchange) free((*exchange)->send);
  free(*exchange);
  *exchange = NULL;
}

static osla_err run_dense(const osla_exchange *x, const osla_letters *out, osla_letters *in)
{
  const size_t each = letter_stride(out);
  const int64_t yes = 1;
  memset(x->send, 0, (size_t)x->t->size * each);
  for (int i = 0; i < out->n; i++) {
    unsigned char *at = x->send + (size_t)osli_letter_rank(out, i) * each;
    memcpy(at, &yes, sizeof yes);
    memcpy(at + LETTER_HEAD, osli_letter(out, i), (size_t)out->bytes);
  }
  OSLA_CALL(osla_alltoall(x->t, x->send, x->recv, (int)(each / LETTER_HEAD), MPI_INT64_T));
  osla_err err = OSLA_OK;
  for (int rank = 0; rank < x->t->size && err == OSLA_OK; rank++) {
    const unsigned char *at = x->recv + (size_t)rank * each;
    int64_t has;
    memcpy(&has, at, sizeof has);
    if (has) err = osli_letters_add(in, rank, at + LETTER_HEAD);
  }
  return err;
}

/* Exchanges letters by messages; a letter of this rank to itself is copied. */
static osla_err run_sparse(const osla_exchange *x, const osla_letters *out, int expected,
                           osla_letters *in)
{
  osla_transport *t = x->t;
  const double since = osla_trace_now(t);
  const void *own = NULL;
  for (int i = 0; i < out->n; i++)
    if (osli_letter_rank(out, i) == t->rank) own = osli_letter(out, i);
  const osla_sparse what = {.number = t->exchanges++,
                            .out = out,
                            .in = in,
                            .expected = expected < 0 ? expected : expected - (own != NULL)};
  osla_err err = own ? osli_letters_add(in, t->rank, own) : OSLA_OK;
  osla_err done = t->ops->exchange(t, &what);
  if (err == OSLA_OK) err = done;
  if (in->n > 0) qsort(in->memory, (size_t)in->n, letter_stride(in), compare_ranks);
  osla_trace_add(t, OSLA_TRACE_ALLTOALL, since, (double)out->bytes * out->n);
  return err;
}

osla_err osli_exchange_run(osla_exchange *x, const osla_letters *out, int expected,
                           osla_letters *in)
{
  *in = (osla_letters){.bytes = out->bytes};
  OSLA_CHECK(out->bytes <= x->most_bytes && x->most_bytes <= OSLA_MOST_LETTER, OSLA_ERR_ARG,
             "letters of %d bytes: at most %d are possible", out->bytes, x->most_bytes);
  osli_device_settle_kept(SETTLE_COLLECTIVE);
  atomic_thread_fence(memory_order_seq_cst);
  osla_err err = x->send ? run_dense(x, out, in) : run_sparse(x, out, expected, in);
  atomic_thread_fence(memory_order_seq_cst);
  return err;
}
