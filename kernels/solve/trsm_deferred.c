/* Deferred products of a stationary solve. X(k) updates all remaining rows, but the next step needs
 * only one block row of them. So each product stays in a queue, with the range of rows that it has
 * not updated yet. A rank that has to wait for a message computes a piece of the product that is
 * needed next, and tests for the message again. If a rank computed long products as a whole, a
 * message that arrives soon would still have to wait, and all following ranks would be delayed.
 *
 * Memory per rank: MOST block rows of B if there are several process rows. */
#include "kernels/solve/trsm.h"
#include "osla_trace.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 8 };

/* A product that has still to update rows [first, last). */
typedef struct deferred_product {
  trsm_step s;
  int64_t first, last, ldx;
  const unsigned char *x;
} deferred_product;

typedef struct deferred_products {
  deferred_product rest[MOST]; /* ring of queued products */
  int head, count;             /* index of the oldest product; number of queued products */
  /* [MOST] copies of block rows X(k) that other process rows own, stored after this struct; NULL
   * if no copies are needed */
  unsigned char *copies;
} deferred_products;

static bool has_copies(int p)
{
  return p > 1;
}

osla_err osli_trsm_deferred_create(trsm *f)
{
  size_t copies = has_copies(f->a.p) ? MOST * block_row_bytes(f) : 0;
  f->deferred = calloc(1, sizeof *f->deferred + copies);
  OSLA_CHECK(f->deferred, OSLA_ERR_MEM, "products of a triangular solve");
  if (copies > 0) f->deferred->copies = (unsigned char *)(f->deferred + 1);
  return OSLA_OK;
}

uint64_t osli_trsm_deferred_memory(const osla_shape *s, size_t piece)
{
  return sizeof(deferred_products) + (has_copies(s->nprow) ? MOST * piece : 0);
}

int64_t osli_trsm_tile_rows(const trsm *f, int64_t size)
{
  const int64_t operations = 8000000, bytes = 1 << 20;
  int64_t one = f->a.dtype == OSLA_FLOAT || f->a.dtype == OSLA_DOUBLE ? 2 : 8;
  int64_t rows = operations / (one * size * f->b.n);
  int64_t most = bytes / (size * (int64_t)f->a.element);
  if (rows > most) rows = most;
  return rows > 64 ? rows : 64;
}

static deferred_product *rest_at(deferred_products *r, int i)
{
  return &r->rest[(r->head + i) % MOST];
}

static bool is_done(const deferred_product *r)
{
  return r->first >= r->last;
}

/* Updates rows [first, last) of this rank's share by the product. */
static osla_err subtract_rows(const trsm *f, const deferred_product *r, int64_t first, int64_t last)
{
  const local_view *a = &f->a;
  const operand column = own_column(f, &r->s, first);
  double since = osla_trace_now(a->t);
  double one = a->dtype == OSLA_FLOAT || a->dtype == OSLA_DOUBLE ? 2 : 8;
  OSLA_CALL(osla_blas_gemm(a->dtype, OSLA_NOTRANS, OSLA_NOTRANS, last - first, f->b.n, r->s.size,
                           -1.0, column.at, column.ld, r->x, r->ldx, 1.0, share_at(f, first, 0),
                           f->share_ld));
  osla_trace_add(a->t, OSLA_TRACE_GEMM, since,
                 one * (double)(last - first) * (double)r->s.size * (double)f->b.n);
  osla_progress(a->t);
  return OSLA_OK;
}

/* Number of rows in a unit, a multiple of the block size. Rows are updated in whole units with
 * fixed borders, and each unit is updated by older products first. So the bits of a solution do not
 * depend on the time at which messages arrive. Pure. */
static int64_t unit_rows(const trsm *f)
{
  const int64_t nb = f->a.nb, wanted = osli_trsm_tile_rows(f, nb) / 4;
  return wanted > nb ? (wanted + nb - 1) / nb * nb : nb;
}

/* Returns the index of the next unit of rows that a product has to update. */
static int64_t next_unit(const trsm *f, const deferred_product *r)
{
  return (f->forward ? r->first : r->last - 1) / unit_rows(f);
}

/* Updates the next unit of rows of a product. */
static osla_err advance(const trsm *f, deferred_product *r)
{
  const int64_t rows = unit_rows(f), unit = next_unit(f, r);
  int64_t first = unit * rows, last = first + rows;
  if (first < r->first) first = r->first;
  if (last > r->last) last = r->last;
  if (f->forward)
    r->first = last;
  else
    r->last = first;
  return subtract_rows(f, r, first, last);
}

static void drop_done(deferred_products *r)
{
  while (r->count > 0 && is_done(rest_at(r, 0))) {
    r->head = (r->head + 1) % MOST;
    r->count--;
  }
}

osla_err osli_trsm_deferred_add(trsm *f, const trsm_step *s, const void *x)
{
  deferred_products *all = f->deferred;
  if (s->first >= s->last) return OSLA_OK;
  if (all->count == MOST) {
    deferred_product *oldest = rest_at(all, 0);
    while (!is_done(oldest))
      OSLA_CALL(advance(f, oldest));
    drop_done(all);
  }
  deferred_product *r = rest_at(all, all->count);
  *r = (deferred_product){.s = *s, .first = s->first, .last = s->last, .ldx = s->size};
  if (f->a.prow == s->prow) {
    r->x = share_at(f, s->row, 0);
    r->ldx = f->share_ld;
  } else {
    unsigned char *copy = all->copies + (size_t)(r - all->rest) * block_row_bytes(f);
    memcpy(copy, x, (size_t)(s->size * f->b.n) * f->a.element);
    r->x = copy;
  }
  all->count++;
  return OSLA_OK;
}

osla_err osli_trsm_deferred_finish_rows(trsm *f, const trsm_step *s)
{
  for (int i = 0; i < f->deferred->count; i++) {
    deferred_product *r = rest_at(f->deferred, i);
    while (!is_done(r) && (f->forward ? r->first < s->row + s->size : r->last > s->row))
      OSLA_CALL(advance(f, r));
  }
  drop_done(f->deferred);
  return OSLA_OK;
}

osla_err osli_trsm_deferred_advance(trsm *f, bool *any)
{
  deferred_product *next = NULL;
  for (int i = 0; i < f->deferred->count; i++) {
    deferred_product *r = rest_at(f->deferred, i);
    if (is_done(r)) continue;
    int64_t unit = next_unit(f, r), least = next ? next_unit(f, next) : 0;
    if (!next || (f->forward ? unit < least : unit > least))
      next = r; /* of several products with this range of rows, the oldest remains */
  }
  *any = next != NULL;
  if (next) OSLA_CALL(advance(f, next));
  drop_done(f->deferred);
  return OSLA_OK;
}
