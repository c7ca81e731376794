/* Row interchanges, all in one: as a permutation.
 *
 * All ranks know all pivots, so each works out which row goes where. Each process column exchanges
 * its own part of the rows, some columns at a time: a rank packs the rows that leave it, those for
 * one rank together, puts them there with a notify (pieces.h), and places what arrives.
 *
 * Not one piece with the exchange of LU (lu_rows.c), but for the copying: there each row goes to
 * all ranks of the process column, read in place through two sets of buffers without credits; here
 * each goes to one rank, and packs run ahead as far as credits allow.
 *
 * Memory per rank: m + 2 m / p indices, a few numbers for each process row, and 8 buffers of about
 * 1 MiB (more only where a column of B alone is longer). Work on each rank: two passes over the m
 * rows. Messages: for every pack of columns one put_notify to each process row that gets rows from
 * here.
 */
#include "row_swap.h"

#include "local_view.h"
#include "pieces.h"
#include "row_copy.h"
#include "work.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PACK_BYTES = 1 << 20 };

/* ---- pivots ---- */

static osla_err check_pivots(const int64_t *pivots, int64_t n)
{
  for (int64_t i = 0; i < n; i++)
    OSLA_CHECK(pivots[i] >= 0 && pivots[i] < n, OSLA_ERR_ARG,
               "solve: ipiv of row %" PRId64 " is %" PRId64 ", not from 1 to %" PRId64, i,
               pivots[i] + 1, n);
  return OSLA_OK;
}

osla_err osla_pivots_gather(const osla_matrix *a, const int64_t *ipiv, int64_t **out)
{
  local_view v = view_of(to_read(a));
  int given[2] = {v.rows > 0 && ipiv, v.rows > 0 && !ipiv};
  *out = NULL;
  OSLA_CALL(osla_allreduce(v.t, given, 2, MPI_INT, MPI_SUM));
  if (given[0] == 0) return OSLA_OK;
  OSLA_CHECK(given[1] == 0, OSLA_ERR_ARG, "solve: ipiv is NULL on %d of %d ranks with rows of A",
             given[1], given[0] + given[1]);
  int64_t *pivots = calloc((size_t)v.n + 1, sizeof *pivots);
  osla_err err = OSLA_OK;
  if (!pivots) err = osla_error_set(OSLA_ERR_MEM, "%" PRId64 " pivots", v.n);
  OSLA_TRY(osla_agree(v.t, err));
  for (int64_t l = 0; v.pcol == 0 && l < v.rows; l++)
    pivots[osla_index_global(l, v.mb, v.prow, v.p)] = ipiv[l] - 1;
  OSLA_TRY(osla_allreduce(v.t, pivots, v.n, MPI_INT64_T, MPI_SUM));
  OSLA_TRY(check_pivots(pivots, v.n));
  *out = pivots;
  return OSLA_OK;
cleanup:
  free(pivots);
  return err;
}

/* ---- who sends what ---- */

/* Of the rows that are to move, for one process row. */
typedef struct row_counts {
  int64_t going, coming;   /* from me there, from there to me */
  int64_t before;          /* there from others: in its arrival buffer they lie before mine */
  int64_t others, all;     /* there from others, and from itself, too */
  int64_t *leave, *arrive; /* where the next one of mine is listed */
} row_counts;

typedef struct osla_row_swap {
  local_view v;
  int64_t *from;        /* [m] new row i is old row from[i] */
  row_counts *rows;     /* [p] */
  int64_t *leave;       /* my local rows that leave, by destination */
  int64_t *arrive;      /* my local rows that are replaced, by source */
  int64_t width;        /* columns of a pack */
  unsigned char *packs; /* one for each set of the pieces' buffers */
  size_t pack_bytes;
  osla_pieces *pieces;
} moves;

static void follow(moves *x, const int64_t *pivots, bool backward)
{
  int64_t m = x->v.m;
  for (int64_t i = 0; i < m; i++)
    x->from[i] = i;
  for (int64_t k = 0; k < m; k++) {
    int64_t i = backward ? m - 1 - k : k, row = x->from[i];
    x->from[i] = x->from[pivots[i]];
    x->from[pivots[i]] = row;
  }
}

/* The process rows that new row i comes from and goes to. False: it stays where it is. */
static bool is_moved(const moves *x, int64_t i, int *source, int *dest)
{
  const local_view *v = &x->v;
  if (x->from[i] == i) return false;
  *source = osla_index_owner(x->from[i], v->mb, v->p);
  *dest = osla_index_owner(i, v->mb, v->p);
  return true;
}

static void count_moves(moves *x)
{
  const local_view *v = &x->v;
  int source, dest;
  for (int64_t i = 0; i < v->m; i++) {
    if (!is_moved(x, i, &source, &dest)) continue;
    row_counts *there = &x->rows[dest];
    there->all++;
    there->others += source != dest;
    there->before += source != dest && source < v->prow;
    there->going += source == v->prow;
    x->rows[source].coming += dest == v->prow;
  }
}

/* Lists mine by the other process row, those for one in the order of the new rows. */
static void list_moves(moves *x)
{
  const local_view *v = &x->v;
  int64_t *leave = x->leave, *arrive = x->arrive;
  int source, dest;
  if (v->prow < 0) return;
  for (row_counts *c = x->rows; c < x->rows + v->p; c++) {
    c->leave = leave;
    c->arrive = arrive;
    leave += c->going;
    arrive += c->coming;
  }
  for (int64_t i = 0; i < v->m; i++) {
    if (!is_moved(x, i, &source, &dest)) continue;
    if (source == v->prow) *x->rows[dest].leave++ = osla_index_local(x->from[i], v->mb, v->p);
    if (dest == v->prow) *x->rows[source].arrive++ = osla_index_local(i, v->mb, v->p);
  }
}

/* ---- the exchange ---- */

/* Between `count` rows of B and a dense array, columns [col, col + cols). */
static void pack_rows(const local_view *v, int64_t count, const int64_t *rows, int64_t col,
                      int64_t cols, unsigned char *to)
{
  for (int64_t c = 0; c < cols; c++, to += (size_t)count * v->element)
    take_rows(v->element, count, local_at(v, 0, col + c), rows, to);
  osla_work_did(OSLA_WORK_LASWP, v->dtype, 1, cols, (count + 1) / 2);
}

static void unpack_rows(const local_view *v, int64_t count, const int64_t *rows, int64_t col,
                        int64_t cols, const unsigned char *from)
{
  for (int64_t c = 0; c < cols; c++, from += (size_t)count * v->element)
    place_rows(v->element, count, from, local_at(v, 0, col + c), rows);
  osla_work_did(OSLA_WORK_LASWP, v->dtype, 1, cols, (count + 1) / 2);
}

static osla_err exchange(moves *x, int64_t step, int64_t col, int64_t cols)
{
  const local_view *v = &x->v;
  size_t row = (size_t)cols * v->element;
  unsigned char *mine = NULL;
  unsigned char *pack = x->packs + (size_t)(step % osla_pieces_depth(x->pieces)) * x->pack_bytes;
  const int64_t *leave = x->leave, *arrive = x->arrive;
  OSLA_CALL(osla_pieces_posted(x->pieces, step)); /* what was packed there has arrived */
  for (int prow = 0; prow < v->p; prow++) {
    int64_t count = x->rows[prow].going;
    pack_rows(v, count, leave, col, cols, pack);
    if (prow == v->prow)
      mine = pack;
    else if (count > 0)
      OSLA_CALL(osla_pieces_post(x->pieces, step, rank_at(v, prow, v->pcol),
                                 (size_t)(x->rows[prow].before * x->width) * v->element, pack,
                                 (size_t)count * row));
    leave += count;
    pack += (size_t)count * row;
  }
  const unsigned char *buffer = osla_pieces_buffer(x->pieces, step);
  for (int prow = 0; prow < v->p; prow++) {
    int64_t count = x->rows[prow].coming;
    if (prow != v->prow && count > 0) osla_pieces_wait(x->pieces, step, rank_at(v, prow, v->pcol));
    unpack_rows(v, count, arrive, col, cols, prow == v->prow ? mine : buffer);
    arrive += count;
    if (prow != v->prow) buffer += (size_t)(count * x->width) * v->element;
  }
  return osla_pieces_finish(x->pieces, step);
}

/* Buffers for the rank with most to pack or to take; the same width everywhere. */
static osla_err set_up(moves *x, const int64_t *pivots, bool backward)
{
  local_view *v = &x->v;
  int64_t arrivals = 0, rows = 0;
  x->from = malloc((size_t)v->m * sizeof *x->from + 1);
  x->leave = malloc((size_t)v->rows * sizeof *x->leave + 1);
  x->arrive = malloc((size_t)v->rows * sizeof *x->arrive + 1);
  x->rows = calloc((size_t)v->p, sizeof *x->rows);
  osla_err err = OSLA_OK;
  if (!x->from || !x->leave || !x->arrive || !x->rows)
    err = osla_error_set(OSLA_ERR_MEM, "interchanges of %" PRId64 " rows", v->m);
  OSLA_CALL(osla_agree(v->t, err));
  follow(x, pivots, backward);
  count_moves(x);
  list_moves(x);
  for (int prow = 0; prow < v->p; prow++) {
    if (x->rows[prow].others > arrivals) arrivals = x->rows[prow].others;
    if (x->rows[prow].all > rows) rows = x->rows[prow].all;
  }
  int64_t most_cols = osla_index_count(v->n, v->nb, 0, v->q);
  x->width = PACK_BYTES / (int64_t)v->element / (rows > 0 ? rows : 1);
  if (x->width > most_cols) x->width = most_cols;
  if (x->width < 1) x->width = 1;
  OSLA_CALL(
    osla_pieces_create(v->grid, (size_t)(arrivals * x->width) * v->element, 1, false, &x->pieces));
  x->pack_bytes = (size_t)(rows * x->width) * v->element;
  x->packs = malloc((size_t)osla_pieces_depth(x->pieces) * x->pack_bytes + 1);
  if (!x->packs) err = osla_error_set(OSLA_ERR_MEM, "packs of %" PRId64 " rows", rows);
  return osla_agree(v->t, err);
}

uint64_t osla_row_swap_memory(const osla_shape *s, int64_t widest)
{
  uint64_t column = (uint64_t)s->rows * s->element, p = (uint64_t)s->nprow;
  uint64_t pack = column * (uint64_t)widest;
  if (pack > PACK_BYTES) pack = column > PACK_BYTES ? column : PACK_BYTES;
  return ((uint64_t)s->n + 2 * (uint64_t)s->rows) * sizeof(int64_t) + p * sizeof(row_counts) +
         (uint64_t)osla_pieces_depth_for(1) * pack + osla_pieces_memory(p > 1 ? pack : 0, 1, s);
}

osla_err osla_row_swap_open(osla_matrix *b, const int64_t *pivots, bool backward,
                            osla_row_swap **out)
{
  osla_transport *t = osla_grid_transport(osla_matrix_grid(b));
  moves *x = *out = calloc(1, sizeof *x);
  OSLA_CALL(osla_agree(t, x ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "interchanges of rows")));
  x->v = view_of(b);
  trim_blocks(&x->v);
  return set_up(x, pivots, backward);
}

osla_err osla_row_swap_run(osla_row_swap *x)
{
  osla_err err = OSLA_OK;
  if (x->v.rows > 0)
    for (int64_t col = 0, step = 0; col < x->v.cols && err == OSLA_OK; col += x->width, step++) {
      osla_at_step(x->v.t, "row interchanges", step);
      int64_t left = x->v.cols - col;
      err = exchange(x, step, col, left < x->width ? left : x->width);
    }
  if (err != OSLA_OK) osla_transport_abort(x->v.t, err); /* the others wait for my rows */
  return osla_barrier(x->v.t);                           /* B is complete everywhere */
}

void osla_row_swap_close(osla_row_swap *x)
{
  if (!x) return;
  osla_pieces_destroy(&x->pieces);
  free(x->from);
  free(x->leave);
  free(x->arrive);
  free(x->rows);
  free(x->packs);
  free(x);
}
