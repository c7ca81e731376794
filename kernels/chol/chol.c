/* Right-looking Cholesky on a block-cyclic matrix, driven by notify.
 *
 * Lower triangle: step k factors A(k,k) = L L^T, the ranks of its process column make
 * L(i,k) := A(i,k) L(k,k)^-T and publish it; then A(i,j) -= L(i,k) L(j,k)^T for i >= j > k. A rank
 * needs L(i,k) for its block rows i, from its row mate in the panel's column, and L(j,k) for its
 * block columns j, from the ranks of that column that own block row j. With look-ahead the column
 * of step k+1 is updated first and factored before the rest.
 *
 * Upper triangle (A = U^T U): the same with rows and columns exchanged. The code is written for the
 * lower one; "along" is the direction of the panel (rows if lower, columns if upper), "across" the
 * other one. chol_shape.h turns the two into row and column where memory is touched.
 *
 * Memory per rank: a copy of the panel for my block columns; off node also four sets of panel
 * buffers. Messages per step: at most p + q put_notify of a panel rank.
 */
#include "chol_shape.h"
#include "osla_chol.h"
#include "osla_trace.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct step {
  int64_t k, start, size;
  int along, across;                 /* process coordinates of the diagonal block */
  int64_t along_after, along_left;   /* my first index along, behind the block; how many */
  int64_t across_after, across_left; /* the same across */
} step;

static step make_step(const chol *f, int64_t k)
{
  step s = {.k = k, .start = k * f->v.nb};
  s.size = f->v.n - s.start < f->v.nb ? f->v.n - s.start : f->v.nb;
  s.along = (int)(k % f->n_along);
  s.across = (int)(k % f->n_across);
  s.along_after = along_below(f, s.start + s.size);
  s.across_after = across_below(f, s.start + s.size);
  s.along_left = f->along_count - s.along_after;
  s.across_left = f->across_count - s.across_after;
  return s;
}

/* ---- publishing ---- */

/* The blocks of my panel that a rank in `across` needs as L(j,k): every block j > k of mine that
 * lies in its block columns. Packed one after the other, size x nb each. Returns their number. */
static int64_t pack_columns_for(const chol *f, const step *s, int across, unsigned char *packed)
{
  int64_t count = 0;
  size_t bytes = (size_t)(f->v.nb * f->v.nb) * f->v.element;
  for (int64_t j = s->k + 1; j < f->steps; j++) {
    if (j % f->n_along != f->along || j % f->n_across != across) continue;
    int64_t start = j * f->v.nb, size = block_size(f, j);
    operand block = element(f, along_below(f, start), across_below(f, s->start));
    if (packed) osla_chol_pack_block(f, size, s->size, block, packed + (size_t)count * bytes);
    count++;
  }
  return count;
}

/* Row mates get the whole panel, the others the blocks of their block columns, if any. */
static osla_err publish_to(chol *f, const step *s, int along, int across, bool *is_packed)
{
  int target = rank_of(f, along, across);
  bool whole = along == f->along;
  if (!whole && pack_columns_for(f, s, across, NULL) == 0) return OSLA_OK;
  panel_kind kind = whole ? PANEL_ROWS : PANEL_COLS;
  if (in_place(&f->v, target))
    return osla_panels_publish(f->panels, kind, s->k, target, 0, NULL, 0);
  if (whole) {
    operand panel = element(f, s->along_after, across_below(f, s->start));
    if (!*is_packed) osla_chol_pack_block(f, s->along_left, s->size, panel, f->packed);
    *is_packed = true;
    return osla_panels_publish(f->panels, kind, s->k, target, 0, f->packed,
                               (size_t)(s->along_left * s->size) * f->v.element);
  }
  int64_t blocks = pack_columns_for(f, s, across, f->packed_columns);
  return osla_panels_publish(f->panels, kind, s->k, target, (size_t)f->along * f->region,
                             f->packed_columns,
                             (size_t)(blocks * f->v.nb * f->v.nb) * f->v.element);
}

static osla_err publish_panel(chol *f, const step *s)
{
  bool is_packed = false;
  if (s->along_left == 0) return OSLA_OK;
  for (int i = 0; i < f->n_along; i++)
    for (int j = 0; j < f->n_across; j++) {
      int along = (f->along + i) % f->n_along, across = (f->across + j) % f->n_across;
      if (i != 0 || j != 0) OSLA_CALL(publish_to(f, s, along, across, &is_packed));
    }
  return OSLA_OK;
}

/* ---- factoring a step ---- */

static osla_err factor_diagonal(chol *f, const step *s)
{
  int64_t info;
  operand block = element(f, along_below(f, s->start), across_below(f, s->start));
  double since = osla_trace_now(f->v.t), size = (double)s->size;
  OSLA_CALL(osla_lapack_potrf(f->v.dtype, f->uplo, s->size, block.at, block.ld, &info));
  osla_trace_add(f->v.t, OSLA_TRACE_PANEL, since, size * size * size / 3.0);
  if (info > 0 && f->info == 0) f->info = s->start + info;
  bool is_packed = false;
  for (int i = 1; i < f->n_along; i++) {
    int target = rank_of(f, (f->along + i) % f->n_along, f->across);
    size_t bytes = in_place(&f->v, target) ? 0 : (size_t)(s->size * s->size) * f->v.element;
    if (bytes > 0 && !is_packed) {
      since = osla_trace_now(f->v.t);
      osla_pack(f->v.element, s->size, s->size, block.at, block.ld, f->packed);
      osla_trace_add(f->v.t, OSLA_TRACE_PACK, since, (double)bytes);
      is_packed = true;
    }
    OSLA_CALL(osla_panels_publish(f->panels, PANEL_DIAGONAL, s->k, target, 0, f->packed, bytes));
  }
  return OSLA_OK;
}

static operand receive_diagonal(chol *f, const step *s)
{
  int origin = rank_of(f, s->along, s->across);
  if (f->along != s->along) osla_panels_wait(f->panels, PANEL_DIAGONAL, s->k, origin);
  if (in_place(&f->v, origin))
    return peer_element(f, origin, osla_index_local(s->start, f->v.nb, f->n_along),
                        osla_index_local(s->start, f->v.nb, f->n_across));
  return (operand){osla_panels_buffer(f->panels, PANEL_DIAGONAL, s->k), s->size};
}

static osla_err factor_step(chol *f, const step *s)
{
  if (f->across != s->across) return OSLA_OK;
  if (f->along == s->along) OSLA_CALL(factor_diagonal(f, s));
  if (s->along_left == 0) return OSLA_OK;
  operand diagonal = receive_diagonal(f, s);
  operand panel = element(f, s->along_after, across_below(f, s->start));
  OSLA_CALL(osla_chol_solve_panel(f, s->along_left, s->size, diagonal, panel));
  return publish_panel(f, s);
}

/* ---- the update ---- */

/* L(i,k) for my block rows. */
static operand receive_along(chol *f, const step *s)
{
  int origin = rank_of(f, f->along, s->across);
  if (f->across != s->across) osla_panels_wait(f->panels, PANEL_ROWS, s->k, origin);
  if (in_place(&f->v, origin))
    return peer_element(f, origin, s->along_after,
                        osla_index_local(s->start, f->v.nb, f->n_across));
  return packed_operand(f, osla_panels_buffer(f->panels, PANEL_ROWS, s->k), s->along_left, s->size);
}

/* How many blocks before j of this step's panel the owner of block row j puts here. */
static int64_t blocks_before(const chol *f, const step *s, int64_t j)
{
  int64_t count = 0;
  for (int64_t i = s->k + 1; i < j; i++)
    count += i % f->n_along == j % f->n_along && i % f->n_across == f->across;
  return count;
}

/* Where L(j,k) lies: in place, in my rows' panel, or among the blocks that its owner put here. */
static operand find_block(chol *f, const step *s, operand rows, int64_t j)
{
  int owner = (int)(j % f->n_along), origin = rank_of(f, owner, s->across);
  int64_t at = osla_index_local(j * f->v.nb, f->v.nb, f->n_along);
  if (owner == f->along) return advance_along(f, rows, at - s->along_after);
  osla_panels_wait(f->panels, PANEL_COLS, s->k, origin);
  if (in_place(&f->v, origin))
    return peer_element(f, origin, at, osla_index_local(s->start, f->v.nb, f->n_across));
  size_t block = (size_t)(f->v.nb * f->v.nb) * f->v.element;
  unsigned char *region =
    (unsigned char *)osla_panels_buffer(f->panels, PANEL_COLS, s->k) + (size_t)owner * f->region;
  return packed_operand(f, region + (size_t)blocks_before(f, s, j) * block, block_size(f, j),
                        s->size);
}

/* Gathers L(j,k) for my block columns from across index `from` on in f->columns, dense. */
static operand gather_columns(chol *f, const step *s, operand rows, int64_t from)
{
  int64_t count = f->across_count - from;
  double since = osla_trace_now(f->v.t);
  operand all = packed_operand(f, f->columns, count, s->size);
  for (int64_t c = 0; c < count; c += f->v.nb) {
    int64_t j = osla_index_global(from + c, f->v.nb, f->across, f->n_across) / f->v.nb;
    operand block = find_block(f, s, rows, j);
    osla_chol_copy_block(f, block_size(f, j), s->size, block, advance_along(f, all, c));
  }
  osla_trace_add(f->v.t, OSLA_TRACE_PACK, since,
                 (double)count * (double)s->size * (double)f->v.element);
  return all;
}

/* Operands of a step's update: L(i,k) for my block rows, L(j,k) from across index `first` on. */
typedef struct update_of {
  const step *s;
  operand rows, columns;
  int64_t first;
} update_of;

/* A(i,j) -= L(i,k) L(j,k)^T for my across indices [from, to) and along indices below `end`, i >= j.
 * What lies behind the last of these columns is one product, the rest is halved down to blocks. */
static osla_err update(chol *f, const update_of *u, int64_t from, int64_t to, int64_t end)
{
  const int64_t nb = f->v.nb, after = u->s->along_after;
  if (from >= to) return OSLA_OK;
  int64_t start = osla_index_global(from, nb, f->across, f->n_across);
  int64_t last = osla_index_global(to - 1, nb, f->across, f->n_across);
  int64_t behind = along_below(f, last + 1);
  operand l_j = advance_along(f, u->columns, from - u->first);
  if (behind < end)
    OSLA_CALL(osla_chol_update_block(f, end - behind, to - from, u->s->size,
                                     advance_along(f, u->rows, behind - after), l_j,
                                     element(f, behind, from)));
  if (to - from > nb) {
    int64_t half = from + ((to - from) / nb + 1) / 2 * nb;
    OSLA_CALL(update(f, u, from, half, behind));
    return update(f, u, half, to, behind);
  }
  int64_t on = along_below(f, start);
  if (on >= behind) return OSLA_OK; /* the diagonal block is another rank's */
  return osla_chol_update_diagonal(f, to - from, u->s->size, l_j, element(f, on, from));
}

/* ---- the loop ---- */

/* Brings a panel up to date with the steps from `from` on, factors and publishes it. */
static osla_err advance_panel(chol *f, int64_t k, int64_t from)
{
  step s = make_step(f, k);
  int64_t column = across_below(f, s.start);
  if (f->across != s.across) return OSLA_OK;
  for (int64_t i = from; i < k; i++) {
    step before = make_step(f, i);
    if (before.along_left == 0) continue;
    operand rows = receive_along(f, &before);
    update_of u = {&before, rows, find_block(f, &before, rows, k), column};
    OSLA_CALL(update(f, &u, column, column + s.size, f->along_count));
  }
  return factor_step(f, &s);
}

static osla_err run(chol *f)
{
  int64_t ready = 0; /* panels before this one are factored */
  if (f->v.prow < 0) return OSLA_OK;
  for (int64_t k = 0; k < f->steps; k++) {
    step s = make_step(f, k);
    osla_at_step(f->v.t, "osla_potrf", k);
    for (; ready <= k + f->look_ahead && ready < f->steps; ready++)
      OSLA_CALL(advance_panel(f, ready, k));
    int64_t rest = across_below(f, ready * f->v.nb);
    if (s.along_left > 0 && rest < f->across_count) {
      operand rows = receive_along(f, &s);
      update_of u = {&s, rows, gather_columns(f, &s, rows, rest), rest};
      OSLA_CALL(update(f, &u, rest, f->across_count, f->along_count));
    }
    OSLA_CALL(osla_panels_finish(f->panels, k));
  }
  return OSLA_OK;
}

static osla_err agree_info(const chol *f, int64_t *info)
{
  int64_t first = f->info > 0 ? f->info : INT64_MAX;
  OSLA_CALL(osla_allreduce(f->v.t, &first, 1, MPI_INT64_T, MPI_MIN));
  *info = first == INT64_MAX ? 0 : first;
  return OSLA_OK;
}

osla_err osla_potrf(osla_matrix *a, osla_uplo uplo, const osla_chol_options *options, int64_t *info)
{
  chol f;
  osla_err err;
  *info = 0;
  err = osla_chol_shape(&f, a, uplo, options ? options->look_ahead : 0);
  OSLA_CALL(osla_agree(f.v.t, err)); /* also: A is complete everywhere */
  OSLA_TRY(osla_chol_set_up(&f));
  err = run(&f);
  if (err != OSLA_OK) osla_transport_abort(f.v.t, err); /* the others wait for my panels */
  OSLA_TRY(agree_info(&f, info));                       /* also: nobody reads my panels any more */
cleanup:
  osla_chol_clean_up(&f);
  return err;
}
