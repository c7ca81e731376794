/* Functions that return properties of a piece of an update. */
#include "kernels/hessian/hessian_piece.h"
#include "kernels/hessian/hessian_split.h"

int64_t osli_piece_elements(const piece *p)
{
  int64_t count = 0;
  for (int64_t c = 0; c < p->cols; c++)
    count += p->end[c] - p->begin[c];
  return count;
}

uint64_t osli_piece_stripes(const piece *p, int64_t nb)
{
  uint64_t mask = 0;
  for (int64_t c = 0; c < p->cols; c++)
    mask |= column_stripe(p->col[c], nb);
  return mask;
}

piece osli_piece_columns(const piece *p, int64_t from, int64_t cols, size_t element)
{
  piece part = *p;
  part.cols = cols;
  part.col += from;
  part.begin += from;
  part.end += from;
  if (part.col_position)
    part.col_position += from;
  else if (part.values)
    part.values += (size_t)(from * p->ld) * element;
  return part;
}
