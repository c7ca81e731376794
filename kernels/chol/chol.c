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
 * The panel passes in two hops: across, whole, to whoever has the same block rows; from there the
 * blocks of L(j,k) along, to the ranks of the block columns j (panels.h says how). Who lies on the
 * node of the owner reads the blocks there, and needs neither.
 *
 * Memory per rank: a copy of the panel for my block columns; with other nodes also sets of panel
 * buffers (panels.h).
 */
#include "kernels/chol/chol_shape.h"
#include "kernels/common/pipeline.h"
#include "kernels/common/tile.h"
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

/* L(i,k) for my block rows: in its copy, or where it was made. */
static operand rows_at(const chol *f, const step *s, const void *copy)
{
  if (copy) return packed_operand(f, copy, s->along_left, s->size);
  return peer_element(f, rank_of(f, f->along, s->across), s->along_after,
                      osla_index_local(s->start, f->v.nb, f->n_across));
}

/* Do all of my process column read this panel's owner in place? Then nothing goes along. */
static bool reads_owner(const chol *f, int owner)
{
  return f->readable && f->column_node == osla_transport_node_of(f->v.t, owner);
}

/* ---- publishing ---- */

/* The first block behind step k that lies in the panel's blocks of `owner` along and in my block
 * columns: those are the ones that are every lcm-th from there on. */
static int64_t first_shared(const chol *f, int64_t k, int owner)
{
  int64_t behind = (owner - (k + 1) % f->n_along + f->n_along) % f->n_along, j = k + 1 + behind;
  while (j < f->steps && j % f->n_across != f->across)
    j += f->n_along;
  return j;
}

static size_t block_bytes(const chol *f)
{
  return (size_t)(f->v.nb * f->v.nb) * f->v.element;
}

/* osla_panels_plan: rows go across from the panel's column, to whoever has these block rows; the
 * blocks of block columns go on along from who has received them. */
static size_t panel_bytes(const void *kernel, panel_kind kind, int64_t k, int root)
{
  const chol *f = kernel;
  step s = make_step(f, k);
  if (kind == PANEL_ROWS)
    return root == s.across ? (size_t)(s.along_left * s.size) * f->v.element : 0;
  if (kind == PANEL_DIAGONAL)
    return root == s.along && f->across == s.across ? (size_t)(s.size * s.size) * f->v.element : 0;
  if (root % f->common != f->across % f->common || reads_owner(f, rank_of(f, root, s.across)))
    return 0;
  int64_t first = first_shared(f, k, root);
  return first < f->steps ? (size_t)((f->steps - 1 - first) / f->lcm + 1) * block_bytes(f) : 0;
}

/* The blocks of my panel that my process column needs as L(j,k), one after the other, size x nb
 * each. */
static void pack_columns(const chol *f, const step *s, operand rows, unsigned char *room)
{
  for (int64_t j = first_shared(f, s->k, f->along); j < f->steps; j += f->lcm) {
    int64_t at = along_below(f, j * f->v.nb);
    osli_chol_pack_block(f, block_size(f, j), s->size, advance_along(f, rows, at - s->along_after),
                         room);
    room += block_bytes(f);
  }
}

static bool rows_are_here(chol *f, const step *s, operand *rows)
{
  const void *copy;
  if (f->across == s->across) {
    *rows = element(f, s->along_after, across_below(f, s->start));
    return atomic_load(&f->factored) > s->k;
  }
  if (!osli_panels_has_arrived(f->panels, PANEL_ROWS, s->k, s->across, &copy)) return false;
  *rows = rows_at(f, s, copy);
  return true;
}

static bool panel_ready(void *kernel, panel_kind kind, int64_t k, void *room)
{
  chol *f = kernel;
  step s = make_step(f, k);
  operand rows, block;
  if (kind == PANEL_DIAGONAL) {
    if (atomic_load(&f->diagonals) <= k) return false;
    block = element(f, along_below(f, s.start), across_below(f, s.start));
    if (room) osli_chol_pack_block(f, s.size, s.size, block, room);
    return true;
  }
  if (!rows_are_here(f, &s, &rows)) return false;
  if (room && kind == PANEL_ROWS) osli_chol_pack_block(f, s.along_left, s.size, rows, room);
  if (room && kind == PANEL_COLS) pack_columns(f, &s, rows, room);
  return true;
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
  atomic_store(&f->diagonals, s->k + 1);
  osli_panels_progress(f->panels);
  return OSLA_OK;
}

static operand receive_diagonal(chol *f, const step *s)
{
  const void *copy = NULL;
  if (f->along != s->along) copy = osli_panels_wait(f->panels, PANEL_DIAGONAL, s->k, s->along);
  if (copy) return packed_operand(f, copy, s->size, s->size);
  return peer_element(f, rank_of(f, s->along, s->across),
                      osla_index_local(s->start, f->v.nb, f->n_along),
                      osla_index_local(s->start, f->v.nb, f->n_across));
}

static osla_err factor(void *kernel, int64_t k)
{
  chol *f = kernel;
  step made = make_step(f, k), *s = &made;
  if (f->along == s->along) OSLA_CALL(factor_diagonal(f, s));
  if (s->along_left > 0) {
    operand diagonal = receive_diagonal(f, s);
    operand panel = element(f, s->along_after, across_below(f, s->start));
    OSLA_CALL(osli_chol_solve_panel(f, s->along_left, s->size, diagonal, panel));
  }
  atomic_store(&f->factored, k + 1);
  for (int i = 0; i < f->n_readers; i++)
    OSLA_CALL(osli_panels_notify_rank(f->panels, k, f->readers[i]));
  return OSLA_OK;
}

/* ---- the update ---- */

/* L(i,k) for my block rows. */
static operand receive_along(chol *f, const step *s)
{
  const void *copy = NULL;
  if (f->across != s->across) copy = osli_panels_wait(f->panels, PANEL_ROWS, s->k, s->across);
  return rows_at(f, s, copy);
}

/* Where L(j,k) lies: in place, in my rows' panel, or among the blocks that came along. */
static operand find_block(chol *f, const step *s, operand rows, int64_t j)
{
  int owner = (int)(j % f->n_along), origin = rank_of(f, owner, s->across);
  int64_t at = osla_index_local(j * f->v.nb, f->v.nb, f->n_along);
  if (owner == f->along) return advance_along(f, rows, at - s->along_after);
  if (f->readable && osla_transport_same_node(f->v.t, origin)) {
    osli_panels_wait_rank(f->panels, s->k, origin);
    return peer_element(f, origin, at, osla_index_local(s->start, f->v.nb, f->n_across));
  }
  const unsigned char *blocks = osli_panels_wait(f->panels, PANEL_COLS, s->k, owner);
  size_t before = (size_t)((j - s->k - 1) / f->lcm); /* of this owner's, for me */
  return packed_operand(f, blocks + before * block_bytes(f), block_size(f, j), s->size);
}

/* Gathers L(j,k) for my block columns from across index `from` on in f->columns, dense. */
static operand gather_block_columns(chol *f, const step *s, operand rows, int64_t from)
{
  int64_t count = f->across_count - from;
  double since = osla_trace_now(f->v.t);
  operand all = packed_operand(f, f->columns, count, s->size);
  for (int64_t c = 0; c < count; c += f->v.nb) {
    int64_t j = osla_index_global(from + c, f->v.nb, f->across, f->n_across) / f->v.nb;
    operand block = find_block(f, s, rows, j);
    osli_chol_copy_block(f, block_size(f, j), s->size, block, advance_along(f, all, c));
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

/* A(i,j) -= L(i,k) L(j,k)^T for my along indices [behind, end) and across indices [from, to), all
 * in the triangle; in pieces, between which panels pass. */
static osla_err update_behind(chol *f, const update_of *u, int64_t behind, int64_t end,
                              int64_t from, int64_t to)
{
  osla_tile tile = osli_tile_choose(f->panels, end - behind, to - from);
  for (int64_t at = from; at < to; at += tile.cols)
    for (int64_t i = behind; i < end; i += tile.rows) {
      int64_t along = end - i < tile.rows ? end - i : tile.rows;
      int64_t across = to - at < tile.cols ? to - at : tile.cols;
      OSLA_CALL(osli_chol_update_block(
        f, along, across, u->s->size, advance_along(f, u->rows, i - u->s->along_after),
        advance_along(f, u->columns, at - u->first), element(f, i, at)));
      if (osli_panels_forwards(f->panels)) osla_progress(f->v.t);
    }
  return OSLA_OK;
}

/* A(i,j) -= L(i,k) L(j,k)^T for my across indices [from, to) and along indices below `end`, i >= j.
 * What lies behind the last of these columns is one product, the rest is halved down to blocks. */
static osla_err update(chol *f, const update_of *u, int64_t from, int64_t to, int64_t end)
{
  const int64_t nb = f->v.nb;
  if (from >= to) return OSLA_OK;
  int64_t start = osla_index_global(from, nb, f->across, f->n_across);
  int64_t last = osla_index_global(to - 1, nb, f->across, f->n_across);
  int64_t behind = along_below(f, last + 1);
  if (behind < end) OSLA_CALL(update_behind(f, u, behind, end, from, to));
  if (to - from > nb) {
    int64_t half = from + ((to - from) / nb + 1) / 2 * nb;
    OSLA_CALL(update(f, u, from, half, behind));
    return update(f, u, half, to, behind);
  }
  int64_t on = along_below(f, start);
  if (on >= behind) return OSLA_OK; /* the diagonal block is another rank's */
  return osli_chol_update_diagonal(
    f, to - from, u->s->size, advance_along(f, u->columns, from - u->first), element(f, on, from));
}

/* ---- the loop ---- */

static bool owns(const void *kernel, int64_t k)
{
  const chol *f = kernel;
  return f->across == k % f->n_across;
}

static osla_err apply(void *kernel, int64_t k, int64_t from, int64_t to)
{
  chol *f = kernel;
  step s = make_step(f, k);
  int64_t first = from < f->steps ? across_below(f, from * f->v.nb) : f->across_count;
  int64_t end = to < f->steps ? across_below(f, to * f->v.nb) : f->across_count;
  if (s.along_left == 0 || first >= end) return OSLA_OK;
  operand rows = receive_along(f, &s);
  bool one = to == from + 1; /* the look-ahead's block column needs no copy */
  update_of u = {&s, rows, {0}, first};
  u.columns = one ? find_block(f, &s, rows, from) : gather_block_columns(f, &s, rows, first);
  return update(f, &u, first, end, f->along_count);
}

static osla_err run_steps(chol *f)
{
  osla_pipeline p = {.name = "osla_potrf",
                     .steps = f->steps,
                     .look_ahead = f->look_ahead,
                     .panels = f->panels,
                     .kernel = f,
                     .owns = owns,
                     .apply = apply,
                     .factor = factor};
  return f->v.prow < 0 ? OSLA_OK : osli_pipeline_run(&p);
}

static osla_err agree_info(const chol *f, int64_t *info)
{
  int64_t first = f->info > 0 ? f->info : INT64_MAX;
  OSLA_CALL(osla_allreduce(f->v.t, &first, 1, MPI_INT64_T, MPI_MIN));
  *info = first == INT64_MAX ? 0 : first;
  return OSLA_OK;
}

osla_err osla_potrf(osla_uplo uplo, osla_matrix *a, const osla_chol_options *options, int64_t *info)
{
  chol f;
  osla_err err;
  *info = 0;
  err = osli_chol_init(&f, a, uplo, options);
  OSLA_CALL(osli_chol_agree(a, err, "osla_potrf", uplo, options)); /* also: A is complete */
  OSLA_TRY(osli_chol_allocate(&f, panel_bytes, panel_ready));
  err = run_steps(&f);
  if (err != OSLA_OK) osla_transport_abort(f.v.t, err); /* the others wait for my panels */
  OSLA_TRY(agree_info(&f, info));                       /* also: nobody reads my panels any more */
cleanup:
  osli_chol_free(&f);
  return err;
}
