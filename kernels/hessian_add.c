/* Adding a piece to an owner's array: the innermost loops of the accumulator. */
#include "hessian.h"
#include "osla_trace.h"

int64_t osla_piece_elements(const piece *p)
{
  int64_t count = 0;
  for (int64_t c = 0; c < p->cols; c++)
    count += p->end[c] - p->begin[c];
  return count;
}

/* A stripe is a block column, modulo 64. */
uint64_t osla_piece_stripes(const osla_hessian *h, const piece *p)
{
  uint64_t mask = 0;
  for (int64_t c = 0; c < p->cols; c++)
    mask |= UINT64_C(1) << ((p->col[c] / h->options.nb) % 64);
  return mask;
}

static void add_column_double(int64_t count, const int64_t *row, const double *values, double *dest)
{
  for (int64_t r = 0; r < count; r++)
    dest[row[r]] += values[r];
}

static void add_column_float(int64_t count, const int64_t *row, const float *values, float *dest)
{
  for (int64_t r = 0; r < count; r++)
    dest[row[r]] += values[r];
}

void osla_piece_add(const osla_hessian *h, const piece *p, unsigned char *local, int64_t lld)
{
  size_t e = h->element;
  const unsigned char *packed = p->values;
  double since = osla_trace_now(h->v.t);
  int64_t added = 0;
  for (int64_t c = 0; c < p->cols; c++) {
    int64_t count = p->end[c] - p->begin[c];
    if (count <= 0) continue;
    const unsigned char *values =
      p->ld > 0 ? p->values + (size_t)(p->begin[c] + c * p->ld) * e : packed;
    void *dest = local + (size_t)(p->col[c] * lld) * e;
    if (h->options.dtype == OSLA_DOUBLE)
      add_column_double(count, p->row + p->begin[c], (const double *)(const void *)values, dest);
    else
      add_column_float(count, p->row + p->begin[c], (const float *)(const void *)values, dest);
    packed += (size_t)count * e;
    added += count;
  }
  osla_trace_add(h->v.t, OSLA_TRACE_UPDATE, since, (double)added);
}
