/* Tests whether a Global Array has the memory layout of an osla_matrix. */
#include "ga_adapt/ga_internal.h"
#include "osla_index.h"

#include <stddef.h>

/* True if the patch is one whole block of this rank, and lies where a local array that begins at
 * `start` with leading dimension `ld` has this block. */
static bool is_at_position(const ga_array *a, const ga_patch *p, const unsigned char *start,
                           int64_t ld)
{
  osla_layout l = a->layout;
  if (p->i % l.mb != 0 || osla_index_owner(p->i, l.mb, l.nprow) != a->prow) return false;
  if (p->j % l.nb != 0 || osla_index_owner(p->j, l.nb, l.npcol) != a->pcol) return false;
  if (p->rows != osla_index_run(p->i, a->m, l.mb)) return false;
  if (p->cols != osla_index_run(p->j, a->n, l.nb)) return false;
  int64_t i = osla_index_local(p->i, l.mb, l.nprow), j = osla_index_local(p->j, l.nb, l.npcol);
  ptrdiff_t offset = (ptrdiff_t)(i + j * ld) * (ptrdiff_t)osla_dtype_size(a->dtype);
  return (p->ld == ld || p->cols == 1) && p->at - start == offset;
}

bool osli_ga_array_local(const ga_array *a, void **local, int64_t *lld)
{
  osla_layout l = a->layout;
  *local = NULL;
  *lld = 1;
  if (l.nprow == 0) return false;
  int64_t rows = osla_index_count(a->m, l.mb, a->prow, l.nprow);
  int64_t cols = osla_index_count(a->n, l.nb, a->pcol, l.npcol);
  int64_t missing = rows * cols;
  if (rows > 0) *lld = rows;
  /* patches are in the order of the blocks, so the first patch begins at local element (0, 0) */
  if (a->n_patches > 0) {
    *local = a->patches[0].at;
    if (cols > 1) *lld = a->patches[0].ld;
  }
  if (*lld < rows) return false;
  for (int64_t k = 0; k < a->n_patches; k++) {
    const ga_patch *p = &a->patches[k];
    if (!is_at_position(a, p, *local, *lld)) return false;
    missing -= p->rows * p->cols;
  }
  return missing == 0;
}
