/* Random products, updates, triangular solves and sums of integers, on contexts of all shapes. Two
 * contexts are open at a time, and some contexts leave processes out. Prints one line of bits for
 * each call. Argument: number of calls. */
#include "tests/adaptors/dropin_program.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct factors {
  double alpha_d[2], beta_d[2];
  float alpha_s[2], beta_s[2];
  const void *alpha, *beta;
  int alpha_is_zero, beta_is_zero;
} factors;

static void draw_factors(char type, factors *f)
{
  int is_complex = type == 'c' || type == 'z', is_double = type == 'd' || type == 'z';
  f->alpha_d[0] = draw(0, 5) == 0 ? 0 : draw(1, 2) * (2 * draw(0, 1) - 1);
  f->beta_d[0] = draw(0, 2) == 0 ? 0 : draw(-2, 2);
  f->alpha_d[1] = is_complex ? draw(-1, 1) : 0;
  f->beta_d[1] = is_complex && f->beta_d[0] != 0 ? draw(-1, 1) : 0;
  for (int i = 0; i < 2; i++) {
    f->alpha_s[i] = (float)f->alpha_d[i];
    f->beta_s[i] = (float)f->beta_d[i];
  }
  f->alpha = is_double ? (void *)f->alpha_d : (void *)f->alpha_s;
  f->beta = is_double ? (void *)f->beta_d : (void *)f->beta_s;
  f->alpha_is_zero = f->alpha_d[0] == 0 && f->alpha_d[1] == 0;
  f->beta_is_zero = f->beta_d[0] == 0;
}

typedef struct shape {
  int i, j, m, n; /* sub-matrix: first row and column, from 0, and size */
  /* 'A': the whole sub-matrix is used; 'l', 'u': a triangle without its diagonal is used */
  char uplo;
} shape;

/* Sets elements to NaN that must not be read: those of A and B if alpha = 0, and those of C if
 * beta = 0. */
static void set_nan(array *a, int row, int col, int i, int j, void *arg)
{
  const shape *s = arg;
  int down = i - s->i, right = j - s->j;
  if (down < 0 || down >= s->m || right < 0 || right >= s->n) return;
  int lower = s->uplo == 'L' || s->uplo == 'l', strict = s->uplo == 'l' || s->uplo == 'u';
  if (s->uplo == 'A' || (lower ? down - strict >= right : down + strict <= right))
    array_set(a, row, col, NAN, NAN);
}

static void poison_part(const context *c, array *a, int m, int n, char uplo)
{
  shape s = {a->i - 1, a->j - 1, m, n, uplo};
  if (c->prow >= 0) array_walk(c, a, set_nan, &s);
}

static void poison(const context *c, array *a, int m, int n)
{
  poison_part(c, a, m, n, 'A');
}

/* Sets few elements to non-zero values, so that solutions are integers of moderate size; some
 * values are imaginary if is_complex is set. */
static void set_sparse(array *a, int row, int col, int i, int j, void *is_complex)
{
  double value = (i * 31 + j * 17) % 11 == 0 ? (i + j) % 3 - 1 : 0;
  int turned = is_complex && (i + 2 * j) % 4 == 0;
  array_set(a, row, col, turned ? 0 : value, turned ? value : 0);
}

static uint64_t call_gemm(const context *c, void *arg)
{
  (void)arg;
  static gemm_routine *const of[] = {psgemm_, pdgemm_, pcgemm_, pzgemm_};
  int t = draw(0, 3), m = draw(1, 60), n = draw(1, 60), k = draw(1, 60);
  int same = draw(0, 7) == 0;
  char type = "sdcz"[t], ta = "NTC"[draw(0, 2)], tb = "NTC"[draw(0, 2)];
  factors f;
  if (same) n = k = m;
  array a = array_make(c, type, ta == 'N' ? m : k, ta == 'N' ? k : m, NULL);
  array b = array_make(c, type, tb == 'N' ? k : n, tb == 'N' ? n : k, NULL);
  array x = array_make(c, type, m, n, draw(0, 1) && ta == 'N' ? &a : NULL);
  draw_factors(type, &f);
  if (f.alpha_is_zero) {
    poison(c, &a, a.desc[2], a.desc[3]);
    poison(c, &b, b.desc[2], b.desc[3]);
  }
  if (f.beta_is_zero) poison(c, &x, m, n);
  const array *second = same ? &a : &b;
  if (c->prow >= 0)
    of[t](&ta, &tb, &m, &n, &k, f.alpha, a.at, &a.i, &a.j, a.desc, second->at, &second->i,
          &second->j, second->desc, f.beta, x.at, &x.i, &x.j, x.desc);
  uint64_t hash = array_hash(c, &x) + 3 * array_hash(c, &a) + 5 * array_hash(c, &b);
  array_free(&a);
  array_free(&b);
  array_free(&x);
  return hash;
}

static uint64_t call_syrk(const context *c, void *arg)
{
  (void)arg;
  static syrk_routine *const of[] = {pssyrk_, pdsyrk_, pcsyrk_, pzsyrk_, pcherk_, pzherk_};
  int t = draw(0, 5), n = draw(1, 60), k = draw(1, 60);
  char type = "sdczcz"[t], uplo = "LU"[draw(0, 1)], trans = (t < 4 ? "NT" : "NC")[draw(0, 1)];
  factors f;
  array a = array_make(c, type, trans == 'N' ? n : k, trans == 'N' ? k : n, NULL);
  array x = array_make(c, type, n, n, NULL);
  draw_factors(type, &f);
  if (t >= 4) f.alpha_is_zero = f.alpha_d[0] == 0; /* p?herk reads only the real part of alpha */
  if (f.alpha_is_zero) poison(c, &a, a.desc[2], a.desc[3]);
  if (f.beta_is_zero) poison_part(c, &x, n, n, uplo);
  if (c->prow >= 0)
    of[t](&uplo, &trans, &n, &k, f.alpha, a.at, &a.i, &a.j, a.desc, f.beta, x.at, &x.i, &x.j,
          x.desc);
  uint64_t hash = array_hash(c, &x) + 3 * array_hash(c, &a);
  array_free(&a);
  array_free(&x);
  return hash;
}

static uint64_t call_symm(const context *c, void *arg)
{
  (void)arg;
  static symm_routine *const of[] = {pssymm_, pdsymm_, pcsymm_, pzsymm_, pchemm_, pzhemm_};
  int t = draw(0, 5), m = draw(1, 60), n = draw(1, 60);
  char type = "sdczcz"[t], side = "LR"[draw(0, 1)], uplo = "LU"[draw(0, 1)];
  int order = side == 'L' ? m : n;
  factors f;
  array a = array_make(c, type, order, order, NULL), b = array_make(c, type, m, n, NULL);
  array x = array_make(c, type, m, n, NULL);
  draw_factors(type, &f);
  poison_part(c, &a, order, order, uplo == 'L' ? 'u' : 'l');
  if (f.alpha_is_zero) poison(c, &b, b.desc[2], b.desc[3]);
  if (f.beta_is_zero) poison(c, &x, m, n);
  if (c->prow >= 0)
    of[t](&side, &uplo, &m, &n, f.alpha, a.at, &a.i, &a.j, a.desc, b.at, &b.i, &b.j, b.desc, f.beta,
          x.at, &x.i, &x.j, x.desc);
  uint64_t hash = array_hash(c, &x) + 3 * array_hash(c, &b);
  array_free(&a);
  array_free(&b);
  array_free(&x);
  return hash;
}

static uint64_t call_trmm(const context *c, void *arg)
{
  (void)arg;
  static trsm_routine *const of[] = {pstrmm_, pdtrmm_, pctrmm_, pztrmm_};
  int t = draw(0, 3), m = draw(1, 60), n = draw(1, 60);
  char type = "sdcz"[t], side = "LR"[draw(0, 1)], uplo = "LU"[draw(0, 1)];
  char trans = "NTC"[draw(0, 2)], diag = "NU"[draw(0, 1)];
  int order = side == 'L' ? m : n;
  factors f;
  array a = array_make(c, type, order, order, NULL), b = array_make(c, type, m, n, NULL);
  draw_factors(type, &f);
  poison_part(c, &a, order, order, uplo == 'L' ? 'u' : 'l');
  if (f.alpha_is_zero) poison(c, &b, m, n);
  if (c->prow >= 0)
    of[t](&side, &uplo, &trans, &diag, &m, &n, f.alpha, a.at, &a.i, &a.j, a.desc, b.at, &b.i, &b.j,
          b.desc);
  uint64_t hash = array_hash(c, &b);
  array_free(&a);
  array_free(&b);
  return hash;
}

static uint64_t call_trsm(const context *c, void *arg)
{
  (void)arg;
  static trsm_routine *const of[] = {pstrsm_, pdtrsm_, pctrsm_, pztrsm_};
  static const size_t bytes[] = {4, 8, 8, 16};
  int t = draw(0, 3), m = draw(1, 40), n = draw(1, 40);
  char type = "sdcz"[t], diag = 'U';
  char side = "LR"[draw(0, 1)], uplo = "LU"[draw(0, 1)], trans = "NTC"[draw(0, t > 1 ? 2 : 1)];
  int order = side == 'L' ? m : n, fits = draw(0, 2) > 0;
  factors f;
  array a = array_make(c, type, order, order, NULL);
  if (fits) { /* aligned with a block, so that the drop-in offloads the call */
    a.desc[5] = a.desc[4];
    array b = array_make(c, type, order, order, &a);
    array_free(&a);
    a = b;
    a.j = a.i;
    if (a.desc[3] < a.j + order) a.desc[3] = a.j + order;
    if (c->prow >= 0) {
      a.cols = numroc_(&a.desc[3], &a.desc[5], &c->pcol, &a.desc[7], &c->npcol);
      a.at = realloc(a.at, (size_t)a.desc[8] * (size_t)(a.cols + 1) * bytes[t]);
    }
  }
  array b = array_make(c, type, m, n, fits ? &a : NULL);
  if (c->prow >= 0) array_walk(c, &a, set_sparse, t > 1 ? &a : NULL);
  draw_factors(type, &f);
  if (f.alpha_is_zero) {
    poison(c, &a, order, order);
    poison(c, &b, m, n);
  }
  if (c->prow >= 0)
    of[t](&side, &uplo, &trans, &diag, &m, &n, f.alpha, a.at, &a.i, &a.j, a.desc, b.at, &b.i, &b.j,
          b.desc);
  uint64_t hash = array_hash(c, &b);
  array_free(&a);
  array_free(&b);
  return hash;
}

static uint64_t call_geadd(const context *c, void *arg)
{
  (void)arg;
  int t = draw(0, 1), m = draw(1, 60), n = draw(1, 60);
  char trans = "NTC"[draw(0, 2)];
  factors f;
  array x = array_make(c, "sd"[t], m, n, NULL), turned = x;
  turned.i = x.j;
  turned.j = x.i;
  turned.desc[4] = x.desc[5];
  turned.desc[5] = x.desc[4];
  array a =
    array_make(c, "sd"[t], trans == 'N' ? m : n, trans == 'N' ? n : m, draw(0, 1) ? &turned : NULL);
  draw_factors("sd"[t], &f);
  if (f.alpha_is_zero) poison(c, &a, a.desc[2], a.desc[3]);
  if (f.beta_is_zero) poison(c, &x, m, n);
  if (c->prow >= 0)
    (t ? pdgeadd_ : psgeadd_)(&trans, &m, &n, f.alpha, a.at, &a.i, &a.j, a.desc, f.beta, x.at, &x.i,
                              &x.j, x.desc);
  uint64_t hash = array_hash(c, &x) + 3 * array_hash(c, &a);
  array_free(&a);
  array_free(&x);
  return hash;
}

int main(int argc, char **argv)
{
  static attempt *const calls[] = {call_gemm,  call_syrk, call_trsm,
                                   call_geadd, call_symm, call_trmm};
  static const char *const names[] = {"gemm", "syrk", "trsm", "geadd", "symm", "trmm"};
  enum { PER_CONTEXT = 8 };
  int rank, size, count = argc > 1 ? atoi(argv[1]) : 40;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int done = 0; done < count; done += PER_CONTEXT) {
    context c[2] = {context_draw(size), context_draw(size)};
    for (int i = 0; i < PER_CONTEXT && done + i < count; i++) {
      const context *x = &c[draw(0, 1)];
      int which = draw(0, 5);
      uint64_t hash = try_without_memory(x, calls[which], NULL);
      if (rank == 0)
        printf("%d %s %dx%d %016llx\n", done + i, names[which], x->nprow, x->npcol,
               (unsigned long long)hash);
    }
    context_free(&c[0]);
    if (done / PER_CONTEXT % 2 == 0)
      context_free(&c[1]); /* a context that is not freed stays open until the end */
  }
  MPI_Finalize();
  return 0;
}
