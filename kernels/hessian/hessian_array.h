/* Arrays with the elements of one owner's part of H (internal). */
#ifndef OSLA_HESSIAN_ARRAY_H
#define OSLA_HESSIAN_ARRAY_H

#include "src/matrix/stored.h"

/* An array with the rows and columns of an owner's part of H: the part itself, this node's sum of
 * updates for the owner, or a copy of the part. */
typedef struct owner_array {
  unsigned char *at;         /* first byte of the array; NULL if this rank cannot access it */
  const osla_matrix *matrix; /* H */
  int owner;                 /* rank that owns the part */
  /* leading dimension; 0: the array has the triangular layout of H, with a leading dimension for
   * each block column */
  int64_t lld;
} owner_array;

/* Returns the run of columns that contains local column `col` of the array. In an array with one
 * leading dimension the run has no end. */
static inline stored_columns array_columns(const owner_array *a, int64_t col)
{
  if (a->lld > 0) return (stored_columns){.count = INT64_MAX, .ld = a->lld};
  return osli_stored_columns(a->matrix, a->owner, col);
}

/* Returns the index of local row 0 of column `col`, which need not be stored, so that the index may
 * be negative. *run caches a run of columns between calls: it is {0} before the first call, and a
 * call replaces it if it does not contain the column. So a loop over ascending columns looks up
 * each run once. */
static inline int64_t array_column(const owner_array *a, stored_columns *run, int64_t col)
{
  if (col < run->first || col - run->first >= run->count) *run = array_columns(a, col);
  return stored_index(run, 0, col);
}

/* Returns the address of the element with an index, or of row 0 of a column. */
static inline unsigned char *array_at(const owner_array *a, int64_t index, size_t element)
{
  return a->at + index * (int64_t)element;
}

#endif
