/* Pieces of an operand that this rank's part of C needs: index arithmetic only. */
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/gemm_sharing.h"

#include <inttypes.h>
#include <stdlib.h>

gemm_target osli_gemm_target_of(const osla_part *c)
{
  local_view v = view_of(c->matrix);
  gemm_target t = {
    .rows_of = {.n = c->m, .first = c->i, .nb = v.mb, .nprocs = v.p},
    .cols_of = {.n = c->n, .first = c->j, .nb = v.nb, .nprocs = v.q},
    .prow = v.prow,
    .pcol = v.pcol,
    .prows = {.n = 1, .first = v.prow},
    .pcols = {.n = 1, .first = v.pcol},
    .ld = v.lld,
  };
  if (osla_matrix_is_triangle(c->matrix)) {
    t.triangular = c->matrix;
    t.ld = v.rows > 1 ? v.rows : 1;
  }
  t.row = axis_below(&t.rows_of, 0, v.prow);
  t.col = axis_below(&t.cols_of, 0, v.pcol);
  t.rows = axis_below(&t.rows_of, c->m, v.prow) - t.row;
  t.cols = axis_below(&t.cols_of, c->n, v.pcol) - t.col;
  t.at = t.rows > 0 && t.cols > 0 && !t.triangular ? local_at(&v, t.row, t.col) : v.local;
  return t;
}

static int group_of(gemm_operand *x, int owner)
{
  for (int g = 0; g < x->n_groups; g++)
    if (x->groups[g].owner == owner) return g;
  x->groups[x->n_groups] = (gemm_group){.owner = owner, .lo = INT64_MAX};
  return x->n_groups++;
}

/* Appends a piece with elements [at, at + size), which begin at index i of the part. Extends the
 * previous piece of the share instead if the new elements continue it. */
static void add_piece(gemm_operand *x, const gemm_share *share, int64_t at, int64_t size, int64_t i)
{
  int g = group_of(x, axis_owner(&x->outer, i));
  int64_t local = axis_local(&x->outer, i);
  gemm_group *group = &x->groups[g];
  if (local < group->lo) group->lo = local;
  if (local + size > group->hi) group->hi = local + size;
  gemm_piece *last = x->n_pieces > share->n_below ? &x->pieces[x->n_pieces - 1] : NULL;
  if (last && last->group == g && last->local + last->size == local)
    last->size += size;
  else
    x->pieces[x->n_pieces++] = (gemm_piece){.at = at, .size = size, .local = local, .group = g};
}

/* Cuts the indices of a share into pieces. The indices begin with local index `first` of axis `c`
 * on process iproc. Stores the pieces if `keep`; otherwise only counts them. Returns an upper bound
 * of their number. */
static int64_t cut(const gemm_axis *c, int iproc, int64_t first, const gemm_share *share,
                   gemm_operand *x, bool keep)
{
  const int64_t count = share->size;
  int64_t runs = 0;
  for (int64_t at = 0; at < count; runs++) {
    int64_t i = osla_index_global(first + at, c->nb, iproc, c->nprocs) - c->first;
    int64_t run = axis_run(c, i), there = axis_run(&x->outer, i);
    if (c->nprocs == 1) run = count - at; /* with one process all local indices are consecutive */
    if (x->outer.nprocs == 1) there = x->outer.n - i;
    int64_t size = run < there ? run : there;
    if (size > count - at) size = count - at;
    if (keep) add_piece(x, share, share->at + at, size, i);
    at += size;
  }
  return runs;
}

/* Cuts the indices of all shares into pieces. Stores the shares and the pieces if `keep`. Returns
 * an upper bound of the number of pieces. */
static int64_t cut_shares(const gemm_axis *c, const gemm_procs *procs, bool none, gemm_operand *x,
                          bool keep)
{
  int64_t runs = 0, at = 0;
  for (int i = 0; i < procs->n; i++) {
    const int iproc = procs->first + i * procs->step;
    const int64_t first = axis_below(c, 0, iproc);
    const gemm_share share = {
      .at = at, .size = none ? 0 : axis_below(c, c->n, iproc) - first, .n_below = x->n_pieces};
    if (keep) x->shares[i] = share;
    runs += cut(c, iproc, first, &share, x, keep);
    if (x->n_pieces > share.n_below + 1) x->contiguous = false;
    at += share.size;
  }
  return runs;
}

/* Sets for each process of the inner axis whether its data are loaded, and whether they count as
 * data of another node. Both are true if the process contains a rank whose data this rank cannot
 * read in place. */
static void mark_far_owners(gemm_operand *x, const osla_gemm_ablation *ablation)
{
  int me = osla_transport_rank(x->v.t);
  for (int owner = 0; owner < x->inner.nprocs; owner++)
    for (int g = 0; g < x->n_groups; g++) {
      int rank = gemm_rank(x, g, owner);
      if (rank == me) continue;
      bool remote = !in_place(&x->v, rank);
      if (remote || ablation->unaware) x->outside[owner] = true;
      if (remote || ablation->unaware || ablation->copy) x->far[owner] = x->any_far = true;
    }
}

int64_t osli_gemm_operand_ld(const gemm_operand *x)
{
  int64_t most = 0;
  for (int owner = 0; owner < x->inner.nprocs; owner++)
    for (int g = 0; g < x->n_groups; g++) {
      int64_t lld = osla_matrix_lld(x->v.matrix, gemm_rank(x, g, owner));
      if (lld > most) most = lld;
    }
  return most;
}

osla_err osli_gemm_operand_make(gemm_work *w, int which, osla_trans trans, const osla_part *part)
{
  const gemm_target *c = &w->c;
  const bool is_a = which == GEMM_A;
  gemm_operand *x = &w->x[which];
  local_view v = view_of(part->matrix);
  gemm_axis rows = {.n = part->m, .first = part->i, .nb = v.mb, .nprocs = v.p};
  gemm_axis cols = {.n = part->n, .first = part->j, .nb = v.nb, .nprocs = v.q};
  bool outer_is_rows = is_a == (trans == OSLA_NOTRANS);
  *x = (gemm_operand){.v = v,
                      .trans = trans,
                      .panel = outer_is_rows,
                      .outer = outer_is_rows ? rows : cols,
                      .inner = outer_is_rows ? cols : rows};
  const gemm_axis *of = is_a ? &c->rows_of : &c->cols_of;
  const gemm_procs *procs = is_a ? &c->prows : &c->pcols;
  const bool none = c->rows == 0 || c->cols == 0;
  int64_t most = cut_shares(of, procs, none, x, false);
  x->n_shares = procs->n;
  x->contiguous = true;
  x->shares = malloc((size_t)procs->n * sizeof *x->shares);
  x->pieces = malloc((size_t)most * sizeof *x->pieces + 1);
  x->groups = malloc((size_t)x->outer.nprocs * sizeof *x->groups);
  x->owners = calloc((size_t)x->inner.nprocs, sizeof *x->owners);
  x->far = calloc((size_t)x->inner.nprocs, sizeof *x->far);
  x->outside = calloc((size_t)x->inner.nprocs, sizeof *x->outside);
  OSLA_CHECK(x->shares && x->pieces && x->groups && x->owners && x->far && x->outside, OSLA_ERR_MEM,
             "%s: list of %" PRId64 " pieces of an operand", w->call, most);
  (void)cut_shares(of, procs, none, x, true);
  mark_far_owners(x, &w->ablation);
  OSLA_CHECK(
    !x->any_far || osla_matrix_segment(part->matrix), OSLA_ERR_ARG,
    "%s: other ranks need the %" PRId64 " x %" PRId64
    " elements of an operand that was made by osla_matrix_wrap_own: make it by osla_matrix_wrap",
    w->call, part->m, part->n);
  return OSLA_OK;
}

void osli_gemm_operand_free(gemm_operand *x)
{
  free(x->shares);
  free(x->pieces);
  free(x->groups);
  free(x->owners);
  free(x->far);
  free(x->outside);
  free(x->loads);
  osli_gemm_sharing_free(x);
  *x = (gemm_operand){0};
}
