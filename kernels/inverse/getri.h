/* What the files of the inverse from LU's factors share (internal).
 *
 *   getri.c         contract, the sweep (with the algorithm)
 *   getri_panels.c  what passes between the ranks
 *   getri_memory.c  what it takes of a rank
 */
#ifndef GETRI_H
#define GETRI_H

#include "kernels/common/interchange.h"
#include "kernels/common/local_view.h"
#include "kernels/common/panels.h"
#include "osla_inverse.h"

#include <stdatomic.h>

/* Step k publishes block column k along the process rows, and block row k along the process
 * columns. */
#define PANEL_LEFT PANEL_ROWS
#define PANEL_TOP  PANEL_COLS

typedef struct getri {
  local_view v;
  int64_t steps;
  int look_ahead;
  osla_forward forward;
  osla_panels *panels;
  osla_interchange *columns; /* NULL: none */
  unsigned char *inverse;    /* of a diagonal block, dense */
  /* Steps: my part of block column, of block row number solved[] is not solved for yet; and what I
   * publish in step packed[] still lies in A. By the panel's kind. */
  _Atomic int64_t solved[PANEL_KINDS], packed[PANEL_KINDS];
} getri;

/* Local indices. */
typedef struct getri_step {
  int64_t k, start, size;
  int prow, pcol;             /* process coordinates of the diagonal block */
  int64_t row_on, row_behind; /* my first row in block k, and behind it */
  int64_t col_on, col_behind; /* my columns in the same way */
} getri_step;

static inline getri_step getri_make_step(const local_view *v, int64_t k)
{
  getri_step s = {.k = k, .start = k * v->nb};
  s.size = osla_index_run(s.start, v->n, v->nb);
  s.prow = (int)(k % v->p);
  s.pcol = (int)(k % v->q);
  s.row_on = rows_below(v, s.start);
  s.row_behind = rows_below(v, s.start + s.size);
  s.col_on = cols_below(v, s.start);
  s.col_behind = cols_below(v, s.start + s.size);
  return s;
}

/* An address and its leading dimension. */
typedef struct operand {
  unsigned char *at;
  int64_t ld;
} operand;

static inline operand mine_at(const getri *f, int64_t row, int64_t col)
{
  return (operand){local_at(&f->v, row, col), f->v.lld};
}

static inline operand from_row(const getri *f, operand a, int64_t row)
{
  a.at += (size_t)row * f->v.element;
  return a;
}

static inline operand from_col(const getri *f, operand a, int64_t col)
{
  a.at += (size_t)(col * a.ld) * f->v.element;
  return a;
}

/* ---- getri_memory.c ---- */

/* Bytes of `inverse`; and the panels, but for the functions. Pure. */
size_t osli_getri_block_bytes(const getri *f);
osla_panels_plan osli_getri_plan(const getri *f);

/* ---- getri_panels.c ---- */

/* Takes all memory; pivots: as osli_pivots_gather, may be NULL. Collective. Errors, on all ranks
 * together: MEM, MPI. */
osla_err osli_getri_allocate(getri *f, const int64_t *pivots);
void osli_getri_free(getri *f); /* collective */

/* Block column k in my rows: U^-1(i,k), i < k, then L(i,k), under the diagonal block; and block row
 * k in my columns: L^-1(k,j), j < k, then U(k,j). In place, or waited for. Valid until the step is
 * finished, or A changes there. Local. */
operand osli_getri_wait_left(getri *f, const getri_step *s);
operand osli_getri_wait_top(getri *f, const getri_step *s);

/* Waits until what I publish of this kind in this step has been taken from A, which may then
 * change. Local. */
void osli_getri_wait_packed(getri *f, panel_kind kind, const getri_step *s);

#endif
