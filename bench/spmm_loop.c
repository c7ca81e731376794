#include "bench/spmm_loop.h"

#include <stdlib.h>
#include <string.h>

struct spmm_loop {
  const spmm_rows *a, *p;
  bool ptap;
  spmm_rows ap, pt, ptap_rows;
  int64_t *from; /* [entries of P] from[e] is the entry of P that is entry e of P^T (pt) */
  double *sum;   /* [columns of P] sums of one row of a product; all 0 between rows */
};

osla_err spmm_rows_create(int64_t rows, int64_t columns, int64_t entries, spmm_rows *r)
{
  *r = (spmm_rows){.rows = rows, .columns = columns};
  r->first = calloc((size_t)rows + 2, sizeof *r->first);
  r->column = malloc((size_t)(entries + 1) * sizeof *r->column);
  r->value = malloc((size_t)(entries + 1) * sizeof *r->value);
  OSLA_CHECK(r->first && r->column && r->value, OSLA_ERR_MEM, "%lld entries of a matrix",
             (long long)entries);
  return OSLA_OK;
}

void spmm_rows_free(spmm_rows *r)
{
  free(r->first);
  free(r->column);
  free(r->value);
  *r = (spmm_rows){0};
}

void spmm_rows_apply(const spmm_rows *a, bool transposed, const double *x, double *y)
{
  memset(y, 0, (size_t)(transposed ? a->columns : a->rows) * sizeof *y);
  for (int64_t i = 0; i < a->rows; i++)
    for (int64_t e = a->first[i]; e < a->first[i + 1]; e++) {
      if (transposed)
        y[a->column[e]] += a->value[e] * x[i];
      else
        y[i] += a->value[e] * x[a->column[e]];
    }
}

/* Lists the columns of each row of the product C = A B in c->column, or only counts them if
 * c->column is NULL. mark: work space, [columns of B] 1 + the last row of C that has the column, or
 * 0 if no row has it yet. */
static void list_columns(const spmm_rows *a, const spmm_rows *b, spmm_rows *c, int64_t *mark)
{
  int64_t n = 0;
  memset(mark, 0, (size_t)b->columns * sizeof *mark);
  for (int64_t i = 0; i < a->rows; i++) {
    for (int64_t e = a->first[i]; e < a->first[i + 1]; e++)
      for (int64_t k = b->first[a->column[e]]; k < b->first[a->column[e] + 1]; k++) {
        if (mark[b->column[k]] == i + 1) continue;
        mark[b->column[k]] = i + 1;
        if (c->column) c->column[n] = b->column[k];
        n++;
      }
    c->first[i + 1] = n;
  }
}

static osla_err find_pattern(const spmm_rows *a, const spmm_rows *b, spmm_rows *c)
{
  int64_t *mark = malloc((size_t)(b->columns + 1) * sizeof *mark);
  OSLA_CHECK(mark, OSLA_ERR_MEM, "marks of columns");
  osla_err err = spmm_rows_create(a->rows, b->columns, 0, c);
  if (err == OSLA_OK) {
    spmm_rows counted = {.rows = c->rows, .columns = c->columns, .first = c->first};
    list_columns(a, b, &counted, mark);
    const int64_t entries = c->first[c->rows];
    spmm_rows_free(c);
    err = spmm_rows_create(a->rows, b->columns, entries, c);
  }
  if (err == OSLA_OK) list_columns(a, b, c, mark);
  free(mark);
  return err;
}

/* Computes the values of the product C = A B. sum: [columns of B] work space, all 0 before and
 * after. */
static void add_products(const spmm_rows *a, const spmm_rows *b, spmm_rows *c, double *restrict sum)
{
  for (int64_t i = 0; i < a->rows; i++) {
    for (int64_t e = a->first[i]; e < a->first[i + 1]; e++)
      for (int64_t k = b->first[a->column[e]]; k < b->first[a->column[e] + 1]; k++)
        sum[b->column[k]] += a->value[e] * b->value[k];
    for (int64_t e = c->first[i]; e < c->first[i + 1]; e++) {
      c->value[e] = sum[c->column[e]];
      sum[c->column[e]] = 0.0;
    }
  }
}

static osla_err transpose_pattern(const spmm_rows *p, spmm_rows *pt, int64_t **from)
{
  const int64_t entries = p->first[p->rows];
  OSLA_CALL(spmm_rows_create(p->columns, p->rows, entries, pt));
  *from = malloc((size_t)(entries + 1) * sizeof **from);
  OSLA_CHECK(*from, OSLA_ERR_MEM, "%lld entries of a matrix", (long long)entries);
  int64_t *next = pt->first + 1; /* position of the next entry of row j, at last its end */
  for (int64_t e = 0; e < entries; e++)
    next[p->column[e] + 1]++;
  for (int64_t j = 0; j < pt->rows; j++)
    next[j + 1] += next[j];
  for (int64_t i = 0; i < p->rows; i++)
    for (int64_t e = p->first[i]; e < p->first[i + 1]; e++) {
      const int64_t at = next[p->column[e]]++;
      pt->column[at] = (int32_t)i;
      (*from)[at] = e;
    }
  return OSLA_OK;
}

static osla_err make_patterns(spmm_loop *l)
{
  OSLA_CALL(find_pattern(l->a, l->p, &l->ap));
  l->sum = calloc((size_t)l->p->columns + 1, sizeof *l->sum);
  OSLA_CHECK(l->sum, OSLA_ERR_MEM, "sums of a row");
  if (!l->ptap) return OSLA_OK;
  OSLA_CALL(transpose_pattern(l->p, &l->pt, &l->from));
  return find_pattern(&l->pt, &l->ap, &l->ptap_rows);
}

osla_err spmm_loop_initial(const spmm_rows *a, const spmm_rows *p, bool ptap, spmm_loop **out)
{
  spmm_loop *l = *out = calloc(1, sizeof *l);
  OSLA_CHECK(l, OSLA_ERR_MEM, "a product of sparse matrices");
  *l = (spmm_loop){.a = a, .p = p, .ptap = ptap};
  OSLA_CALL(make_patterns(l));
  spmm_loop_numeric(l);
  return OSLA_OK;
}

void spmm_loop_numeric(spmm_loop *l)
{
  add_products(l->a, l->p, &l->ap, l->sum);
  if (!l->ptap) return;
  for (int64_t e = 0; e < l->p->first[l->p->rows]; e++)
    l->pt.value[e] = l->p->value[l->from[e]];
  add_products(&l->pt, &l->ap, &l->ptap_rows, l->sum);
}

const spmm_rows *spmm_loop_result(const spmm_loop *l)
{
  return l->ptap ? &l->ptap_rows : &l->ap;
}

void spmm_loop_free(spmm_loop **loop)
{
  spmm_loop *l = *loop;
  if (!l) return;
  spmm_rows_free(&l->ap);
  spmm_rows_free(&l->pt);
  spmm_rows_free(&l->ptap_rows);
  free(l->from);
  free(l->sum);
  free(l);
  *loop = NULL;
}
