/* Checks of parts: inside of their matrices, and apart from each other. */
#include "part_checks.h"
#include "local_view.h"

#include <inttypes.h>

osla_err osla_part_check(const char *call, const osla_part *part, const char *name)
{
  const osla_layout l = osla_matrix_layout(part->matrix);
  OSLA_CHECK(part->m >= 0 && part->n >= 0 && part->i >= 0 && part->j >= 0 &&
               part->i <= l.m - part->m && part->j <= l.n - part->n,
             OSLA_ERR_ARG,
             "%s: part of %" PRId64 " x %" PRId64 " at (%" PRId64 ", %" PRId64
             ") is not inside the %" PRId64 " x %" PRId64 " matrix %s",
             call, part->m, part->n, part->i, part->j, l.m, l.n, name);
  return OSLA_OK;
}

/* This rank's array of a part. */
typedef struct local_array {
  uintptr_t from, to; /* addresses */
  int64_t rows, cols, ld;
} local_array;

static local_array array_of(const osla_part *p)
{
  const local_view v = view_of(p->matrix);
  const int64_t row = rows_below(&v, p->i), col = cols_below(&v, p->j);
  local_array a = {.rows = rows_below(&v, p->i + p->m) - row,
                   .cols = cols_below(&v, p->j + p->n) - col,
                   .ld = v.lld};
  if (a.rows == 0 || a.cols == 0) return a;
  a.from = (uintptr_t)local_at(&v, row, col);
  a.to = a.from + (size_t)((a.cols - 1) * a.ld + a.rows) * v.element;
  return a;
}

static bool share_memory(const osla_part *x, const osla_part *y)
{
  const local_array a = array_of(x), b = array_of(y);
  const size_t element = osla_dtype_size(osla_matrix_dtype(x->matrix));
  if (a.rows == 0 || a.cols == 0 || b.rows == 0 || b.cols == 0) return false;
  if (a.from >= b.to || b.from >= a.to) return false;
  if (a.ld != b.ld) return true;
  const int64_t distance = b.from >= a.from ? (int64_t)((b.from - a.from) / element) % a.ld
                                            : a.ld - (int64_t)((a.from - b.from) / element) % a.ld;
  return distance < a.rows || distance + b.rows > a.ld;
}

bool osla_parts_overlap(const osla_part *x, const osla_part *y)
{
  if (x->m == 0 || x->n == 0 || y->m == 0 || y->n == 0) return false;
  if (x->matrix != y->matrix) return share_memory(x, y);
  return x->i < y->i + y->m && y->i < x->i + x->m && x->j < y->j + y->n && y->j < x->j + x->n;
}
