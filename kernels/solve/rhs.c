/* Right-hand sides: checks them, and copies them to the distribution that a solve needs. */
#include "kernels/solve/rhs.h"

#include "kernels/common/local_view.h"
#include "src/matrix/memory_kind.h"

#include <inttypes.h>

osla_err osli_rhs_check_matrix(const osla_matrix *a)
{
  osla_layout l = osla_matrix_layout(a);
  OSLA_CHECK(l.m == l.n && l.mb == l.nb, OSLA_ERR_ARG,
             "solve: A is %" PRId64 " x %" PRId64 " in blocks of %" PRId64 " x %" PRId64
             "; both must be square",
             l.m, l.n, l.mb, l.nb);
  OSLA_CHECK(is_shared(a), OSLA_ERR_ARG,
             "solve: A was made by osla_matrix_wrap_own, so other ranks cannot reach it");
  return OSLA_OK;
}

osla_err osli_rhs_check(osla_side side, const osla_matrix *a, const osla_matrix *b)
{
  osla_layout la = osla_matrix_layout(a), lb = osla_matrix_layout(b);
  osla_dtype ta = osla_matrix_dtype(a), tb = osla_matrix_dtype(b);
  bool left = side == OSLA_LEFT;
  OSLA_NEEDS_FULL("solve", b);
  OSLA_CALL(osli_rhs_check_matrix(a));
  OSLA_CHECK((left ? lb.m : lb.n) == la.n, OSLA_ERR_ARG,
             "solve: B has %" PRId64 " %s, A is of order %" PRId64, left ? lb.m : lb.n,
             left ? "rows" : "columns", la.n);
  OSLA_CHECK(ta == tb, OSLA_ERR_ARG, "solve: types '%c' and '%c' differ", osla_dtype_letter(ta),
             osla_dtype_letter(tb));
  OSLA_CHECK(osla_grid_transport(osla_matrix_grid(a)) == osla_grid_transport(osla_matrix_grid(b)),
             OSLA_ERR_ARG, "solve: A and B belong to different transports");
  bool as_distributed =
    left && lb.nprow == 1 && osla_grid_same(osla_matrix_grid(a), osla_matrix_grid(b));
  OSLA_CHECK(is_shared(b) || as_distributed, OSLA_ERR_ARG,
             "solve: B was made by osla_matrix_wrap_own, but other ranks need it");
  OSLA_NEEDS_ONE_MEMORY("solve", a, b);
  OSLA_CHECK(a != b, OSLA_ERR_ARG, "solve: A and B are one matrix");
  OSLA_CALL(osli_view_check_blas(a));
  return osli_view_check_blas(b);
}

bool osli_rhs_fits(const osla_matrix *a, const osla_matrix *b)
{
  local_view va = view_of(without_const(a)), vb = view_of(without_const(b));
  trim_blocks(&va);
  trim_blocks(&vb);
  return osla_grid_same(va.grid, vb.grid) && (va.p == 1 || va.nb == vb.mb);
}

/* Each process column that has right-hand sides reads all of A. On a single node all ranks share
 * the memory bandwidth, so one more process column is used only for every WORTH right-hand
 * sides. */
int64_t osli_rhs_width(int64_t nrhs, int npcol, int nodes)
{
  enum { WORTH = 8 };
  const int64_t worth = (nrhs + WORTH / 2) / WORTH;
  const int64_t columns = nodes > 1 || worth > npcol ? npcol : worth > 1 ? worth : 1;
  return nrhs > columns ? (nrhs + columns - 1) / columns : 1;
}

osla_err osli_rhs_create(const osla_matrix *a, osla_dtype dtype, int64_t nrhs, osla_matrix **out)
{
  const osla_layout l = osla_matrix_layout(a);
  osla_grid *grid = osla_matrix_grid(a);
  const int nodes = osla_transport_n_nodes(osla_grid_transport(grid));
  const osla_layout of = {
    .m = l.n, .n = nrhs, .mb = l.nb, .nb = osli_rhs_width(nrhs, l.npcol, nodes)};
  return osli_matrix_create_like(a, grid, dtype, &of, out);
}

osla_err osli_rhs_open(osla_rhs *r, const osla_matrix *a, osla_matrix *b, osla_trans turn)
{
  osla_layout l = osla_matrix_layout(b);
  *r = (osla_rhs){b, b, turn};
  if (turn == OSLA_NOTRANS && osli_rhs_fits(a, b)) return OSLA_OK;
  OSLA_CALL(osli_rhs_create(a, osla_matrix_dtype(b), turn == OSLA_NOTRANS ? l.n : l.m, &r->b));
  osla_err err =
    turn == OSLA_NOTRANS ? osla_matrix_copy(b, r->b) : osla_matrix_transpose(turn, b, r->b);
  if (err != OSLA_OK) osla_matrix_destroy(&r->b);
  return err;
}

osla_err osli_rhs_close(osla_rhs *r, osla_err err)
{
  if (r->b == r->given) return err;
  if (err == OSLA_OK)
    err = r->turn == OSLA_NOTRANS ? osla_matrix_copy(r->b, r->given)
                                  : osla_matrix_transpose(r->turn, r->b, r->given);
  osla_matrix_destroy(&r->b);
  return err;
}
