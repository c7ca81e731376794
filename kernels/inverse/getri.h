/* Data structures and functions of the inverse from LU (internal). README.md lists the files. */
#ifndef GETRI_H
#define GETRI_H

#include "kernels/common/interchange.h"
#include "kernels/common/local_view.h"
#include "kernels/common/panels.h"
#include "osla_inverse.h"

#include <stdatomic.h>

/* Step k publishes block column k along process rows (LEFT), and block row k along process columns
 * (TOP). */
#define PANEL_LEFT PANEL_ROWS
#define PANEL_TOP  PANEL_COLS

typedef struct getri {
  local_view v;
  int64_t steps;
  int look_ahead;
  osla_forward forward;
  osla_panels *panels;
  osla_interchange *columns; /* interchanges of columns; NULL: none */
  unsigned char *inverse;    /* inverse of a diagonal block, dense */
  /* for each kind of panel, number of steps whose panel this rank has solved for */
  _Atomic int64_t solved[PANEL_KINDS];
  /* for each kind of panel, number of steps whose panel has been copied from A for publication */
  _Atomic int64_t packed[PANEL_KINDS];
} getri;

/* Geometry of step k on this rank, in local indices. */
typedef struct getri_step {
  int64_t k, start, size;
  int prow;           /* process row of the owner of the diagonal block */
  int pcol;           /* process column of the owner of the diagonal block */
  int64_t row_on;     /* first local row in block k */
  int64_t row_behind; /* first local row behind block k */
  int64_t col_on;     /* first local column in block k */
  int64_t col_behind; /* first local column behind block k */
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

/* osli_getri_block_bytes returns the bytes of `inverse`. osli_getri_plan returns the plan of the
 * panels without its function pointers. Pure. */
size_t osli_getri_block_bytes(const getri *f);
osla_panels_plan osli_getri_plan(const getri *f);

/* ---- getri_panels.c ---- */

/* Allocates all memory. `pivots` is the result of osli_pivots_gather, or NULL. Collective. Errors,
 * on all ranks together: MEM, MPI. */
osla_err osli_getri_allocate(getri *f, const int64_t *pivots);
void osli_getri_free(getri *f); /* collective */

/* Addresses of this rank's part of block column k (Y(i,k) for i < k, then the diagonal block and
 * L(i,k)) and of block row k (X(k,j) for j < k, then the diagonal block and U(k,j)). Waits for the
 * panel if this rank does not own it. Valid until the step is finished, or A changes there.
 * Local. */
operand osli_getri_wait_left(getri *f, const getri_step *s);
operand osli_getri_wait_top(getri *f, const getri_step *s);

/* Waits until this rank's panel of the given kind has been copied from A in step k. Then A may
 * change there. Local. */
void osli_getri_wait_packed(getri *f, panel_kind kind, const getri_step *s);

#endif
