/* The part of the stand-in for the CUDA runtime that does factorisations, interchanges and
 * combinations. Their results differ from those of the fake device: pivots have 32 bits and count
 * from 1, and results lie in device memory. */
#include "src/device/fake/fake_work.h"
#include "tests/device/stand_in/stand_in.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double diagonal(const device_work *w, int64_t i)
{
  const unsigned char *at = w->c;
  const bool single = w->dtype == OSLA_FLOAT || w->dtype == OSLA_COMPLEX_FLOAT;
  float narrow;
  double wide;
  at += (size_t)(i * (w->ldc + 1)) * osla_dtype_size(w->dtype);
  memcpy(&narrow, at, sizeof narrow);
  memcpy(&wide, at, sizeof wide);
  return single ? (double)narrow : wide;
}

/* Gives potrf the result of cuSOLVER, which accepts a NaN pivot: info is 0, and the NaN spreads. */
static void accept_nan(const device_work *w, int64_t *info)
{
  if (*info == 0 || !isnan(diagonal(w, *info - 1))) return;
  const size_t e = osla_dtype_size(w->dtype);
  unsigned char *first = w->c;
  for (int64_t i = *info - 1; i < w->n; i++)
    memset(first + (size_t)(i * (w->ldc + 1)) * e, 0xff, e);
  *info = 0;
}

osla_err stand_in_run_factor(const stand_in_entry *e, void *data_at(const void *address))
{
  device_work w = e->work;
  int64_t info = 0, *pivots = w.kind == DEVICE_GETRF ? data_at(e->pivots) : NULL;
  w.info = &info;
  w.pivots = pivots;
  w.c = data_at(w.c);
  memset(data_at(e->workspace), 0xff, e->bytes);
  OSLA_CALL(osli_fake_work(&w));
  if (w.kind == DEVICE_POTRF) accept_nan(&w, &info);
  for (int64_t i = 0; pivots && i < w.m && i < w.n; i++)
    pivots[i]++;
  *(int *)data_at(e->info) = (int)info;
  return OSLA_OK;
}

osla_err stand_in_run_swap(const stand_in_entry *e, void *data_at(const void *address))
{
  device_work w = e->work;
  const int *narrow = data_at(e->pivots);
  w.c = data_at(w.c);
  w.pivots = malloc((size_t)w.k * sizeof *w.pivots);
  for (int64_t i = 0; i < w.k; i++)
    w.pivots[i] = narrow[i] - 1;
  const osla_err err = osli_fake_work(&w);
  free(w.pivots);
  return err;
}

void stand_in_run_combine(const stand_in_entry *e, void *data_at(const void *address))
{
  combine_loop l = *(const combine_loop *)e->staged;
  const int64_t **lists[] = {&l.target, &l.start, &l.begin, &l.end, &l.row, &l.position};
  for (int i = 0; i < 6; i++)
    *lists[i] = data_at(*lists[i]);
  l.values = data_at(l.values);
  l.elements = data_at(l.elements);
  *(uint64_t *)data_at(e->info) += (uint64_t)combine_all(&l);
}
