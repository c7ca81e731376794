/* Checks of parts: whether they lie inside their matrices, and whether they overlap. */
#include "src/matrix/part_checks.h"
#include "src/matrix/memory_kind.h"
#include "src/matrix/part_local.h"

#include <inttypes.h>

osla_err osli_part_inside(const char *call, const osla_part *part, const char *name)
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

osla_err osli_part_check_stored(const char *call, const osla_part *part, const char *name)
{
  OSLA_CALL(osli_part_inside(call, part, name));
  const bool is_empty = part->m == 0 || part->n == 0;
  OSLA_CHECK(
    !osla_matrix_is_triangle(part->matrix) || is_empty || part_is_diagonal(part) ||
      part->i >= part->j + part->n,
    OSLA_ERR_UNSUPPORTED,
    "%s: %s is the %" PRId64 " x %" PRId64 " part at (%" PRId64 ", %" PRId64
    ") of a triangular matrix, which neither lies below the diagonal nor begins and ends on "
    "it: choose such a part, or use a full matrix (osla_matrix_copy)",
    call, name, part->m, part->n, part->i, part->j);
  return OSLA_OK;
}

osla_err osli_part_check_rectangle(const char *call, const osla_part *part, const char *name,
                                   const char *advice)
{
  OSLA_CALL(osli_part_check_stored(call, part, name));
  OSLA_CHECK(!osla_matrix_is_triangle(part->matrix) || !part_is_diagonal(part),
             OSLA_ERR_UNSUPPORTED,
             "%s: %s is the %" PRId64 " x %" PRId64 " part at (%" PRId64 ", %" PRId64
             ") of a triangular matrix, on its diagonal: %s",
             call, name, part->m, part->n, part->i, part->j, advice);
  return OSLA_OK;
}

osla_err osli_part_check(const char *call, const osla_part *part, const char *name)
{
  OSLA_NEEDS_FULL(call, part->matrix);
  return osli_part_inside(call, part, name);
}

/* Addresses [from, to) of this rank's elements of a part; from = to = 0 if it has none. For a part
 * of a triangular matrix, the addresses of the whole local array. */
typedef struct local_array {
  uintptr_t from, to;
  part_local p;
} local_array;

static local_array array_of(const osla_part *part)
{
  local_array a = {.p = part_local_of(part)};
  const part_local *p = &a.p;
  if (p->rows == 0) return a;
  if (osla_matrix_is_triangle(part->matrix)) {
    a.from = (uintptr_t)p->local;
    a.to = a.from + osla_segment_bytes(osla_matrix_segment(part->matrix));
    return a;
  }
  a.from = (uintptr_t)part_at(p, 0, 0);
  a.to = a.from + (size_t)((p->cols - 1) * p->lld + p->rows) * p->element;
  return a;
}

static bool share_memory(const osla_part *x, const osla_part *y)
{
  const local_array a = array_of(x), b = array_of(y);
  const int64_t element = (int64_t)a.p.element, lld = a.p.lld;
  if (a.p.rows == 0 || b.p.rows == 0) return false;
  if (a.from >= b.to || b.from >= a.to) return false;
  if (lld != b.p.lld || lld == 0) return true; /* lld is 0 if both matrices are triangular */
  const int64_t distance = b.from >= a.from ? (int64_t)(b.from - a.from) / element % lld
                                            : lld - (int64_t)(a.from - b.from) / element % lld;
  return distance < a.p.rows || distance + b.p.rows > lld;
}

/* True if an index (i, j) lies in both parts. */
static bool share_index(const osla_part *x, const osla_part *y)
{
  return x->i < y->i + y->m && y->i < x->i + x->m && x->j < y->j + y->n && y->j < x->j + x->n;
}

bool osli_parts_overlap(const osla_part *x, const osla_part *y)
{
  const osla_part mirrored = osla_part_at(y->matrix, y->j, y->i, y->n, y->m);
  if (x->m == 0 || x->n == 0 || y->m == 0 || y->n == 0) return false;
  if (x->matrix != y->matrix) return share_memory(x, y);
  return share_index(x, y) || (osla_matrix_is_triangle(x->matrix) && share_index(x, &mirrored));
}
