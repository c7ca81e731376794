/* Panels of an inverse from a Cholesky factor: three in each step (potri.h), all packed in progress
 * steps.
 *
 * L(i,k) is in A from the beginning, so it is sent as soon as there are buffers. X(k,j) is sent
 * when its process row has solved for it. The ranks that receive X(k,j) then send the blocks that
 * their process row needs as X(k,i). The Cholesky factorisation sends L(j,k) in the same way. */
#include "kernels/inverse/potri.h"
#include "osla_trace.h"

#include <stdlib.h>

/* ---- the blocks that serve as X(k,i) ---- */

/* Index i of the first block whose block row this rank owns, and whose block column process column
 * `pcol` owns; -1 if there is none. Further blocks of this kind follow at distances of lcm. */
static int64_t first_shared(const chol *c, int pcol)
{
  if (pcol % c->common != c->prow % c->common) return -1;
  int64_t i = pcol;
  while (i % c->n_prows != c->prow)
    i += c->n_pcols;
  return i;
}

/* Address of the block X(k,i), where i is one of this rank's block columns. */
static operand block_of(const chol *c, x_row x, int64_t i)
{
  return x_at(c, x, osla_index_local(i * c->v.nb, c->v.nb, c->n_pcols));
}

/* Packs X(k,j) for this rank's block columns j < k, and L(k,k) if it is in these columns. */
static void pack_x(const chol *c, x_row x, unsigned char *room)
{
  const chol_step *s = x.s;
  const operand packed = packed_operand(c, room, s->size, s->col_after);
  double since = osla_trace_now(c->v.t);
  for (int64_t col = 0, n; col < s->col_after; col += n) {
    n = columns_from(c, col, s->col_after);
    osli_chol_copy_block(c, s->size, n, x_at(c, x, col), advance_cols(c, packed, col));
  }
  osla_trace_add(c->v.t, OSLA_TRACE_PACK, since,
                 (double)s->size * (double)s->col_after * (double)c->v.element);
}

static void pack_x_rows(const chol *c, const chol_step *s, x_row x, unsigned char *room)
{
  for (int64_t i = first_shared(c, c->pcol); i < s->k; i += c->lcm) {
    osli_chol_pack_block(c, s->size, c->v.nb, block_of(c, x, i), room);
    room += osli_potri_block_bytes(c);
  }
}

/* ---- functions of osla_panels_plan ---- */

static size_t panel_bytes(const void *kernel, panel_kind kind, int64_t k, int root)
{
  const chol *c = &((const potri *)kernel)->c;
  chol_step s = chol_step_make(c, k);
  if (kind == PANEL_L)
    return root == s.pcol ? (size_t)((c->n_rows - s.row_on) * s.size) * c->v.element : 0;
  if (kind == PANEL_X) return root == s.prow ? (size_t)(s.col_after * s.size) * c->v.element : 0;
  int64_t first = first_shared(c, root);
  if (first < 0 || first >= k) return 0;
  return (size_t)((k - 1 - first) / c->lcm + 1) * osli_potri_block_bytes(c);
}

/* True if X(k,j) for this rank's block columns has arrived, or has been computed by this rank. *x
 * then describes it. */
static bool x_is_here(potri *f, const chol_step *s, x_row *x)
{
  const chol *c = &f->c;
  *x = (x_row){.s = s};
  if (c->prow == s->prow) return atomic_load(&c->factored) > s->k;
  return osli_panels_has_arrived(c->panels, PANEL_X, s->k, s->prow, &x->copy);
}

static bool panel_ready(void *kernel, panel_kind kind, int64_t k, void *room)
{
  potri *f = kernel;
  const chol *c = &f->c;
  chol_step s = chol_step_make(c, k);
  x_row x;
  if (kind == PANEL_L) {
    if (room)
      osli_chol_pack_block(c, c->n_rows - s.row_on, s.size, element(c, s.row_on, s.col_on), room);
  } else {
    if (!x_is_here(f, &s, &x)) return false;
    if (room && kind == PANEL_X) pack_x(c, x, room);
    if (room && kind == PANEL_X_ROWS) pack_x_rows(c, &s, x, room);
  }
  atomic_store(&f->packed[kind], k + 1);
  return true;
}

/* ---- waits for panels ---- */

operand osli_potri_wait_l(potri *f, const chol_step *s)
{
  const chol *c = &f->c;
  if (c->pcol == s->pcol) return element(c, s->row_on, s->col_on);
  const void *copy = osli_panels_wait(c->panels, PANEL_L, s->k, s->pcol);
  return packed_operand(c, copy, c->n_rows - s->row_on, s->size);
}

x_row osli_potri_wait_x(potri *f, const chol_step *s)
{
  const chol *c = &f->c;
  x_row x = {.s = s};
  if (c->prow != s->prow) x.copy = osli_panels_wait(c->panels, PANEL_X, s->k, s->prow);
  return x;
}

static operand find_x_block(potri *f, const chol_step *s, x_row x, int64_t i)
{
  const chol *c = &f->c;
  int owner = (int)(i % c->n_pcols);
  if (owner == c->pcol) return block_of(c, x, i);
  const unsigned char *blocks = osli_panels_wait(c->panels, PANEL_X_ROWS, s->k, owner);
  size_t before = (size_t)((i - first_shared(c, owner)) / c->lcm);
  return packed_operand(c, blocks + before * osli_potri_block_bytes(c), s->size, c->v.nb);
}

operand osli_potri_wait_x_rows(potri *f, const chol_step *s, x_row x)
{
  const chol *c = &f->c;
  operand all = packed_operand(c, f->x_rows, s->size, s->row_on);
  for (int64_t i = c->prow, at = 0; i < s->k; i += c->n_prows, at += c->v.nb)
    osli_chol_copy_block(c, s->size, c->v.nb, find_x_block(f, s, x, i), advance_cols(c, all, at));
  return all;
}

void osli_potri_wait_packed(potri *f, panel_kind kind, int64_t k)
{
  const chol *c = &f->c;
  bool published = kind == PANEL_X ? c->n_prows > 1 : c->n_pcols > 1;
  int me = kind == PANEL_X ? c->prow : c->pcol;
  if (published && panel_bytes(f, kind, k, me) > 0)
    osli_panels_wait_count(c->panels, &f->packed[kind], k);
}

/* ---- memory ---- */

osla_err osli_potri_allocate(potri *f)
{
  chol *c = &f->c;
  osla_err err = OSLA_OK;
  f->x_rows = malloc(osli_potri_x_rows_bytes(c) + 1);
  f->negative = malloc(osli_potri_block_bytes(c) + 1);
  if (!f->x_rows || !f->negative) err = osla_error_set(OSLA_ERR_MEM, "inverse: copy of a panel");
  OSLA_CALL(osla_agree(c->v.t, err));
  osla_panels_plan plan = osli_potri_plan(c);
  plan.kernel = f;
  plan.bytes = panel_bytes;
  plan.ready = panel_ready;
  return osli_panels_create(c->v.grid, &plan, &c->panels);
}

void osli_potri_free(potri *f)
{
  osli_panels_destroy(&f->c.panels);
  free(f->x_rows);
  free(f->negative);
}
