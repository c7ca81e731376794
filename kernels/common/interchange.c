/* All interchanges of rows or columns of a matrix, applied as one permutation. A "line" is a row or
 * a column.
 *
 * All ranks know all pivots, so each rank computes which line moves where. Each process column
 * exchanges its part of the rows, or each process row exchanges its part of the columns. The ranks
 * exchange one pack at a time, which contains some elements of every line. A rank packs the lines
 * that leave it, grouped by destination, puts them to the destinations with a notification
 * (pieces.h), and stores the lines that arrive.
 *
 * The exchange of rows in LU (lu_rows.c) is separate: there each row goes to all ranks of the
 * process column and is read in place, with two sets of buffers and no credits. Here each line goes
 * to one rank, and packs are sent ahead as far as credits allow.
 *
 * Memory per rank for m lines on p processes: m + 2 m / p indices, a few numbers for each process,
 * and 8 buffers of about 1 MiB (more only if one element of each line takes more). Work per rank:
 * two passes over the m lines. Messages: for every pack, one put_notify to each process that
 * receives lines from this rank. */
#include "kernels/common/interchange.h"

#include "kernels/common/local_view.h"
#include "kernels/common/pieces.h"
#include "kernels/common/row_copy.h"
#include "osla_blas.h"
#include "src/blas/move.h"
#include "src/blas/work.h"
#include "src/matrix/memory_kind.h"
#include "src/transport/transport_ops.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PACK_BYTES = 1 << 20 };

/* ---- pivots ---- */

static osla_err check_pivots(const int64_t *pivots, int64_t n)
{
  for (int64_t i = 0; i < n; i++)
    OSLA_CHECK(pivots[i] >= 0 && pivots[i] < n, OSLA_ERR_ARG,
               "ipiv of row %" PRId64 " is %" PRId64 ", not from 1 to %" PRId64, i, pivots[i] + 1,
               n);
  return OSLA_OK;
}

osla_err osli_pivots_gather(const osla_matrix *a, const int64_t *ipiv, int64_t **out)
{
  local_view v = view_of(without_const(a));
  int given[2] = {v.rows > 0 && ipiv, v.rows > 0 && !ipiv};
  *out = NULL;
  OSLA_CALL(osla_allreduce(v.t, given, 2, MPI_INT, MPI_SUM));
  if (given[0] == 0) return OSLA_OK;
  OSLA_CHECK(given[1] == 0, OSLA_ERR_ARG, "ipiv is NULL on %d of %d ranks with rows of A", given[1],
             given[0] + given[1]);
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

/* ---- lists of moving rows or columns ---- */

/* Counts and lists of the rows (or columns) that move between this rank and one other process, the
 * partner. */
typedef struct line_counts {
  int64_t going;  /* number of rows (or columns) that this rank sends to the partner */
  int64_t coming; /* number of rows (or columns) that this rank receives from the partner */
  /* number of rows (or columns) from other ranks that precede this rank's in the partner's receive
   * buffer */
  int64_t before;
  /* number of rows (or columns) that the partner receives from other processes */
  int64_t others;
  /* number of rows (or columns) that the partner receives from all processes, including itself */
  int64_t all;
  int64_t *leave;  /* next free entry in the list of leaving rows (or columns) */
  int64_t *arrive; /* next free entry in the list of arriving rows (or columns) */
} line_counts;

typedef struct osla_interchange {
  local_view v;
  osla_lines lines;
  int64_t n;     /* number of rows (or columns) of the matrix */
  int64_t block; /* block size of the rows (or columns) */
  int processes; /* number of processes that share the rows (or columns) */
  /* index of this rank among the processes that share the rows (or columns); -1 if this rank has no
   * part of the matrix */
  int position;
  int64_t mine;   /* number of rows (or columns) on this rank */
  int64_t length; /* local length of one row (or column) */
  /* [n] row (or column) i after the interchanges is the one that had index from[i] before */
  int64_t *from;
  const int64_t *pivots; /* list of interchanges that the caller passed to osli_interchange_open */
  bool backward;
  line_counts *there; /* [processes] counts and lists for each process as partner */
  /* local indices of the rows (or columns) that leave this rank, ordered by destination */
  int64_t *leave;
  int64_t *arrive; /* local indices of the rows (or columns) that are replaced, ordered by source */
  int64_t width;   /* number of elements of each row (or column) that one pack contains */
  unsigned char *packs; /* send buffers, one for each set of receive buffers */
  /* device memory for one pack of rows, if B lies on a device and has several process rows */
  unsigned char *on_device;
  size_t pack_bytes;
  osla_pieces *pieces;
} moves;

static void compose_permutation(moves *x)
{
  for (int64_t i = 0; i < x->n; i++)
    x->from[i] = i;
  for (int64_t k = 0; k < x->n; k++) {
    int64_t i = x->backward ? x->n - 1 - k : k, line = x->from[i];
    x->from[i] = x->from[x->pivots[i]];
    x->from[x->pivots[i]] = line;
  }
}

/* True if row (or column) i had another index before the interchanges. *source and *dest: processes
 * that own it before and after. */
static bool is_moved(const moves *x, int64_t i, int *source, int *dest)
{
  if (x->from[i] == i) return false;
  *source = osla_index_owner(x->from[i], x->block, x->processes);
  *dest = osla_index_owner(i, x->block, x->processes);
  return true;
}

static void count_moves(moves *x)
{
  int source, dest;
  for (int64_t i = 0; i < x->n; i++) {
    if (!is_moved(x, i, &source, &dest)) continue;
    line_counts *there = &x->there[dest];
    there->all++;
    there->others += source != dest;
    there->before += source != dest && source < x->position;
    there->going += source == x->position;
    x->there[source].coming += dest == x->position;
  }
}

/* Lists the rows (or columns) that leave this rank, grouped by destination, and those that arrive,
 * grouped by source. Within a group they are in the order of their new indices. */
static void list_moves(moves *x)
{
  int64_t *leave = x->leave, *arrive = x->arrive;
  int source, dest;
  if (x->position < 0) return;
  for (line_counts *c = x->there; c < x->there + x->processes; c++) {
    c->leave = leave;
    c->arrive = arrive;
    leave += c->going;
    arrive += c->coming;
  }
  for (int64_t i = 0; i < x->n; i++) {
    if (!is_moved(x, i, &source, &dest)) continue;
    if (source == x->position)
      *x->there[dest].leave++ = osla_index_local(x->from[i], x->block, x->processes);
    if (dest == x->position)
      *x->there[source].arrive++ = osla_index_local(i, x->block, x->processes);
  }
}

/* ---- exchange of rows or columns ---- */

/* Copies elements [at, at + width) of `count` rows (or columns) of B to a dense column-major array:
 * count x width for rows, width x count for columns. */
static void pack_lines(const moves *x, int64_t count, const int64_t *lines, int64_t at,
                       int64_t width, unsigned char *to)
{
  const local_view *v = &x->v;
  size_t element = v->element;
  if (x->lines == OSLA_COLUMNS) {
    for (int64_t i = 0; i < count; i++, to += (size_t)width * element)
      osli_move_columns(element, width, 1, local_at(v, at, lines[i]), width, to, width);
    return;
  }
  unsigned char *pack = x->on_device ? x->on_device : to;
  move_rows(element, count, width, local_at(v, 0, at), v->lld, lines, pack, count, NULL);
  if (pack != to) osli_move_bytes(to, pack, (size_t)(count * width) * element);
  work_charge(OSLA_WORK_LASWP, v->dtype, 1, width, (count + 1) / 2);
}

static void unpack_lines(const moves *x, int64_t count, const int64_t *lines, int64_t at,
                         int64_t width, const unsigned char *from)
{
  const local_view *v = &x->v;
  size_t element = v->element;
  if (x->lines == OSLA_COLUMNS) {
    for (int64_t i = 0; i < count; i++, from += (size_t)width * element)
      osli_move_columns(element, width, 1, from, width, local_at(v, at, lines[i]), width);
    return;
  }
  if (x->on_device) {
    osli_move_bytes(x->on_device, from, (size_t)(count * width) * element);
    from = x->on_device;
  }
  move_rows(element, count, width, from, count, NULL, local_at(v, 0, at), v->lld, lines);
  work_charge(OSLA_WORK_LASWP, v->dtype, 1, width, (count + 1) / 2);
}

static int rank_of(const moves *x, int position)
{
  return x->lines == OSLA_ROWS ? rank_at(&x->v, position, x->v.pcol)
                               : rank_at(&x->v, x->v.prow, position);
}

static osla_err exchange_step(moves *x, int64_t step, int64_t at, int64_t width)
{
  size_t element = x->v.element, line = (size_t)width * element;
  unsigned char *mine = NULL;
  unsigned char *pack = x->packs + (size_t)(step % osli_pieces_depth(x->pieces)) * x->pack_bytes;
  const int64_t *leave = x->leave, *arrive = x->arrive;
  /* Wait until the previous contents of this send buffer have arrived. */
  OSLA_CALL(osli_pieces_wait_posted(x->pieces, step));
  for (int position = 0; position < x->processes; position++) {
    int64_t count = x->there[position].going;
    pack_lines(x, count, leave, at, width, pack);
    if (position == x->position)
      mine = pack;
    else if (count > 0)
      OSLA_CALL(osli_pieces_post(x->pieces, step, rank_of(x, position),
                                 (size_t)(x->there[position].before * x->width) * element, pack,
                                 (size_t)count * line));
    leave += count;
    pack += (size_t)count * line;
  }
  const unsigned char *buffer = osli_pieces_buffer(x->pieces, step);
  for (int position = 0; position < x->processes; position++) {
    int64_t count = x->there[position].coming;
    if (position != x->position && count > 0)
      osli_pieces_wait(x->pieces, step, rank_of(x, position));
    unpack_lines(x, count, arrive, at, width, position == x->position ? mine : buffer);
    arrive += count;
    if (position != x->position) buffer += (size_t)(count * x->width) * element;
  }
  return osli_pieces_finish(x->pieces, step);
}

/* Chooses the width of a pack (number of elements that it holds of each row or column, equal on all
 * ranks), and allocates the send buffers. The rank that sends or receives the most rows (or
 * columns) determines the width: its pack takes at most PACK_BYTES. */
static osla_err make_packs(moves *x)
{
  const local_view *v = &x->v;
  int64_t arrivals = 0, lines = 0;
  for (int position = 0; position < x->processes; position++) {
    if (x->there[position].others > arrivals) arrivals = x->there[position].others;
    if (x->there[position].all > lines) lines = x->there[position].all;
  }
  int64_t longest = x->lines == OSLA_ROWS ? osla_index_count(v->n, v->nb, 0, v->q)
                                          : osla_index_count(v->m, v->mb, 0, v->p);
  x->width = PACK_BYTES / (int64_t)v->element / (lines > 0 ? lines : 1);
  if (x->width > longest) x->width = longest;
  if (x->width < 1) x->width = 1;
  OSLA_CALL(osli_pieces_create(v->grid, (size_t)(arrivals * x->width) * v->element, 1,
                               x->lines == OSLA_COLUMNS, &x->pieces));
  x->pack_bytes = (size_t)(lines * x->width) * v->element;
  x->packs = malloc((size_t)osli_pieces_depth(x->pieces) * x->pack_bytes + 1);
  const bool needs_device = x->lines == OSLA_ROWS && v->p > 1 && osli_device_of(v->local);
  if (needs_device) x->on_device = osli_alloc_like(v->local, x->pack_bytes);
  osla_err err = OSLA_OK;
  if (!x->packs) err = osla_error_set(OSLA_ERR_MEM, "packs of %" PRId64 " lines", lines);
  if (needs_device && !x->on_device)
    err = osli_alloc_like_failed(v->local, x->pack_bytes, "interchange of rows");
  return osla_agree(v->t, err);
}

static osla_err prepare_moves(moves *x)
{
  x->from = malloc((size_t)x->n * sizeof *x->from + 1);
  x->leave = malloc((size_t)x->mine * sizeof *x->leave + 1);
  x->arrive = malloc((size_t)x->mine * sizeof *x->arrive + 1);
  x->there = calloc((size_t)x->processes, sizeof *x->there);
  osla_err err = OSLA_OK;
  if (!x->from || !x->leave || !x->arrive || !x->there)
    err = osla_error_set(OSLA_ERR_MEM, "interchanges of %" PRId64 " lines", x->n);
  OSLA_CALL(osla_agree(x->v.t, err));
  compose_permutation(x);
  count_moves(x);
  list_moves(x);
  return make_packs(x);
}

uint64_t osli_interchange_memory(const osla_shape *s, osla_lines lines, int64_t length)
{
  bool rows = lines == OSLA_ROWS;
  uint64_t mine = (uint64_t)(rows ? s->rows : s->cols);
  uint64_t processes = (uint64_t)(rows ? s->nprow : s->npcol);
  uint64_t least = mine * s->element, pack = least * (uint64_t)length;
  if (pack > PACK_BYTES) pack = least > PACK_BYTES ? least : PACK_BYTES;
  return ((uint64_t)s->n + 2 * mine) * sizeof(int64_t) + processes * sizeof(line_counts) +
         (uint64_t)osli_pieces_depth_for(1) * pack +
         osli_pieces_memory(processes > 1 ? pack : 0, 1, s);
}

osla_err osli_interchange_open(osla_matrix *b, osla_lines lines, const int64_t *pivots,
                               bool backward, osla_interchange **out)
{
  osla_transport *t = osla_grid_transport(osla_matrix_grid(b));
  bool rows = lines == OSLA_ROWS;
  void *memory;
  *out = NULL;
  OSLA_CALL(osli_agree_calloc(t, sizeof(moves), "interchanges of lines", &memory));
  moves *x = *out = memory;
  local_view *v = &x->v;
  *v = view_of(b);
  trim_blocks(v);
  x->lines = lines;
  x->pivots = pivots;
  x->backward = backward;
  x->n = rows ? v->m : v->n;
  x->block = rows ? v->mb : v->nb;
  x->processes = rows ? v->p : v->q;
  x->position = rows ? v->prow : v->pcol;
  x->mine = rows ? v->rows : v->cols;
  x->length = rows ? v->cols : v->rows;
  return prepare_moves(x);
}

osla_err osli_interchange_run(osla_interchange *x)
{
  const local_view *v = &x->v;
  osla_err err = OSLA_OK;
  if (x->lines == OSLA_ROWS && v->p == 1 && osli_device_of(v->local))
    err = osla_lapack_laswp(v->dtype, v->cols, v->local, v->lld, x->n, x->pivots, x->backward);
  else if (x->mine > 0)
    for (int64_t at = 0, step = 0; at < x->length && err == OSLA_OK; at += x->width, step++) {
      osla_at_step(x->v.t, "interchanges", step);
      int64_t left = x->length - at;
      err = exchange_step(x, step, at, left < x->width ? left : x->width);
    }
  /* An error ends the job, because other ranks wait for rows (or columns) of this rank. */
  if (err != OSLA_OK) osla_transport_abort(x->v.t, err);
  return osli_matrix_barrier(x->v.matrix); /* wait until B is complete on all ranks */
}

void osli_interchange_close(osla_interchange *x)
{
  if (!x) return;
  osli_pieces_destroy(&x->pieces);
  free(x->from);
  free(x->leave);
  free(x->arrive);
  free(x->there);
  free(x->packs);
  osli_free_like(x->on_device);
  free(x);
}
